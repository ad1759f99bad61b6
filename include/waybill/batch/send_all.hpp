// SPDX-License-Identifier: MIT
//
// send_all: sends a whole input through a function that sends one batch.
//
//     waybill::batch_sender s{{.limit = {.bytes = 262'144}, .header = 54}};
//     auto report = waybill::send_all(
//         inbox, body_size, s, clock, [&](auto batch) -> waybill::send_outcome {
//         switch (sdk.send(batch)) {
//             case sdk::ok:          return batch_sender::accepted{};
//             case sdk::over_limit:  return batch_sender::too_large{};
//             case sdk::busy:        return batch_sender::throttled{.retry_after = sdk.hint()};
//             default:               return batch_sender::outcome_unknown{};
//         }
//     });
//     for (const auto& r : report.outcomes) log(waybill::describe(r));
//
// It drives the sender with one attempt at a time and never sleeps. If nothing can be sent before a
// later time, it returns with `waiting` set. A further call with the same input, sender and
// function continues. The sender keeps its calibration for the next input. `clock` is a function
// that returns the steady time, or a fixed `steady_time`. For an input that can be read only once:
// `resend_buffer`.

#ifndef WAYBILL_BATCH_SEND_ALL_HPP
#define WAYBILL_BATCH_SEND_ALL_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/detail/sent_batch.hpp>
#include <waybill/batch/resend_buffer.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time_source.hpp>

namespace waybill::inline v0_2 {

/// The outcome of one batch. The driver fills in the attempt number. The target of a span in it
/// must be valid until the function is called again.
using send_outcome =
    std::variant<batch_sender::accepted, batch_sender::too_large, batch_sender::partial,
                 batch_sender::throttled, batch_sender::failed, batch_sender::outcome_unknown>;

namespace detail {

/// A function that returns the bytes of an item, or its bytes and key as `queued{bytes, key}`.
template <class F, class Item>
concept queueing = sizer<F, Item> || requires(const F& size, Item&& item) {
    { detail::measured(size, static_cast<Item&&>(item)) } -> std::same_as<batch_sender::queued>;
};

/// An input that can be walked again. Items are found by walking from the first unsettled one.
template <class I, class S, class F>
class walked_source {
public:
    walked_source(I first, S last, const F& size, std::uint64_t taken)
        : here_(first), next_(std::move(first)), last_(std::move(last)), size_(size)
    {
        while (taken_ != taken && next_ != last_) {
            ++next_;
            ++taken_;
        }
    }

    /// The number of items taken. After construction it is too low if the input is too short.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

    /// The next item. `take` is a second step, so an exception between the two loses no item.
    [[nodiscard]] std::optional<batch_sender::queued> peek()
    {
        if (next_ == last_) return {};
        return batch_sender::queued(detail::measured(size_, *next_));
    }
    void take()
    {
        ++next_;
        ++taken_;
    }

    /// The item with number `n`. `measure` returns its current size.
    [[nodiscard]] decltype(auto) item(std::uint64_t n) const { return *seek(here_, n - place_); }
    [[nodiscard]] batch_sender::queued measure(std::uint64_t n) const
    {
        return batch_sender::queued(detail::measured(size_, item(n)));
    }

    [[nodiscard]] auto batch(const batch_sender::send& a, std::uint64_t origin)
    {
        return sent_batch<I>(seek(here_, a.items.front().first - origin - place_), a);
    }

    void release(std::uint64_t n)
    {
        if (n > taken_) n = taken_;
        if (n <= place_) return;
        here_ = seek(here_, n - place_);
        place_ = n;
    }

private:
    static I seek(I from, std::uint64_t steps)
    {
        std::advance(from, static_cast<std::iter_difference_t<I>>(steps));
        return from;
    }

    I here_;  // item number place_
    I next_;  // item number taken_
    S last_;
    const F& size_;
    std::uint64_t place_ = 0;
    std::uint64_t taken_ = 0;
};

/// An input whose open items are stored in an `resend_buffer`.
template <class Box, class F>
class kept_source {
public:
    kept_source(Box& box, const F& size, std::uint64_t settled)
        : box_(box), size_(size), base_(settled)
    {
    }

    [[nodiscard]] std::optional<batch_sender::queued> peek()
    {
        const auto* item = box_.peek();
        if (!item) return {};
        return batch_sender::queued(detail::measured(size_, *item));
    }
    void take() noexcept { box_.take(); }

    [[nodiscard]] auto& item(std::uint64_t n) const { return *box_.at(base_ + n); }
    [[nodiscard]] batch_sender::queued measure(std::uint64_t n) const
    {
        return batch_sender::queued(detail::measured(size_, std::as_const(item(n))));
    }

    [[nodiscard]] auto batch(const batch_sender::send& a, std::uint64_t origin)
    {
        const auto* first = std::as_const(box_).at(base_ + a.items.front().first - origin);
        return sent_batch<decltype(first)>(first, a);
    }

    void release(std::uint64_t n) { box_.release(base_ + n); }

private:
    Box& box_;
    const F& size_;
    std::uint64_t base_;  // items of the box that were settled before this input was opened
};

/// Gives send_all access to the notes that the sender stores for its open input.
struct notes_of {
    [[nodiscard]] static send_notes& in(batch_sender& s) noexcept { return s.notes_; }
};

/// A guard for one attempt. Reports `outcome_unknown` if `send` throws or its result cannot be
/// processed: the batch may have arrived.
class unanswered {
public:
    unanswered(batch_sender& s, const batch_sender::send& a, steady_time now)
        : s_(s), attempt_(a.attempt), bytes_(a.bytes), now_(now)
    {
        s_.on(batch_sender::started{attempt_}, now);
        ++report().sends;
    }
    unanswered(const unanswered&) = delete;
    unanswered& operator=(const unanswered&) = delete;
    ~unanswered()
    {
        if (!open_) return;
        count(batch_sender::outcome_unknown{});
        s_.on(batch_sender::outcome_unknown{attempt_}, now_);
    }
    void over(const send_outcome& o) noexcept
    {
        open_ = false;
        count(o);
    }

private:
    [[nodiscard]] send_report& report() const noexcept { return notes_of::in(s_).report; }
    void count(const send_outcome& o) const noexcept
    {
        send_report& r = report();
        if (std::holds_alternative<batch_sender::too_large>(o)) ++r.refusals;
        if (std::holds_alternative<batch_sender::accepted>(o) ||
            std::holds_alternative<batch_sender::partial>(o))
            return;
        r.resent_bytes = saturating_add(r.resent_bytes, bytes_);
    }

    batch_sender& s_;
    std::uint64_t attempt_;
    std::uint64_t bytes_;
    steady_time now_;
    bool open_ = true;
};

/// Opens an input unless one is open. False if the sender has unsettled items that were queued
/// without an open input.
[[nodiscard]] inline bool open_for(batch_sender& s, steady_time now)
{
    if (s.origin()) return true;
    if (!s.finished()) return false;
    s.on(batch_sender::opened{}, now);
    return true;
}

/// The default for `replace`: the item stays as it is.
struct keep_too_large {
    template <class Item>
    [[nodiscard]] fault operator()(const Item&, const batch_sender::replace&) const
    {
        return {fault_kind::permanent, {}};
    }
};

template <class Source, class Clock, class Send, class Replace>
class sending {
public:
    sending(Source& source, batch_sender& s, Clock& clock, Send& send, Replace& replace)
        : source_(source),
          s_(s),
          clock_(clock),
          send_(send),
          replace_(replace),
          origin_(*s.origin()),
          notes_(notes_of::in(s))
    {
    }

    send_report run()
    {
        while (going_) {
            const steady_time now = time_of(clock_);
            match(
                s_.next(now),
                [&](const batch_sender::send& a) {
                    if (!feed(now)) transmit(a, now);
                },
                [&](const batch_sender::report& x) { note(x, now); },
                [&](const batch_sender::replace& r) { replace(r, now); },
                [&](const wait_until& w) {
                    if (feed(now)) return;
                    notes_.report.waiting = w.time;
                    going_ = false;
                },
                [&](idle) {
                    if (feed(now)) return;
                    // After a failed allocation, waiting items may be in no batch. Flushing cuts
                    // them.
                    if (!s_.finished() && !std::exchange(flushed_anyway_, true)) {
                        s_.on(batch_sender::flushed{}, now);
                        return;
                    }
                    if (s_.finished()) s_.on(batch_sender::closed{}, now);
                    going_ = false;
                });
        }
        notes_.report.stopped = s_.has_stopped();
        notes_.report.taken = s_.end() - origin_;
        return std::exchange(notes_, {}).report;
    }

private:
    void transmit(const batch_sender::send& a, steady_time now)
    {
        const std::uint64_t attempt = a.attempt;
        auto batch = source_.batch(a, origin_);
        unanswered guard(s_, a, now);
        // `started` has moved the runs into the flight. The view in `batch` is still valid.
        send_outcome o = send_(batch);
        notes_.failure.clear();
        if (batch_sender::failed* f = std::get_if<batch_sender::failed>(&o))
            notes_.failure = std::move(f->text);
        const event_result h = std::visit(
            [&](auto& event) {
                event.attempt = attempt;
                return s_.on(event, time_of(clock_));
            },
            o);
        // An invalid result does not show what has arrived.
        if (h == event_result::invalid)
            s_.on(batch_sender::outcome_unknown{attempt}, time_of(clock_));
        guard.over(o);
    }

    /// `replace_` may send, store and throw. After an exception the same item is requested again.
    void replace(batch_sender::replace r, steady_time now)
    {
        const std::uint64_t item = r.item;
        r.item -= origin_;
        fault f = replace_(source_.item(r.item), std::as_const(r));
        notes_.not_replaced.clear();
        if (f.ok()) {
            s_.on(batch_sender::replaced{item, source_.measure(r.item).bytes}, now);
        } else {
            notes_.not_replaced = std::move(f.text);
            s_.on(batch_sender::not_replaced{item}, now);  // the outcome `too_large` follows
        }
    }

    void note(const batch_sender::report& x, steady_time now)
    {
        item_report r{{x.items.first - origin_, x.items.count},
                      x.outcome,
                      x.kind,
                      x.bytes,
                      x.limit,
                      x.envelope,
                      {}};
        if (x.outcome == item_outcome::failed) r.text = notes_.failure;
        if (x.outcome == item_outcome::too_large) r.text = notes_.not_replaced;
        notes_.report.add(std::move(r));
        if (x.outcome == item_outcome::too_large) notes_.not_replaced.clear();
        s_.on(batch_sender::reported{x.items}, now);
        source_.release(saturating_sub(s_.first_open(), origin_));
    }

    /// Queues the next item if the next batch has room, before any action: items of a failed batch
    /// travel with new ones. Flushes at the end of the input. False if nothing was done.
    bool feed(steady_time now)
    {
        if (flushed_ || !s_.wants_more()) return false;
        if (const std::optional<batch_sender::queued> q = source_.peek()) {
            s_.on(*q, now);
            source_.take();
        } else {
            flushed_ = true;
            s_.on(batch_sender::flushed{}, now);
        }
        return true;
    }

    Source& source_;
    batch_sender& s_;
    Clock& clock_;
    Send& send_;
    Replace& replace_;
    std::uint64_t origin_;
    send_notes& notes_;
    bool going_ = true;
    bool flushed_ = false;
    bool flushed_anyway_ = false;
};

}  // namespace detail

/// Sends [first, last) in as few batches as `s` can. Each item is in exactly one outcome of this
/// report or of a later one. Calls `size` once for each item. O(items) time, O(batch) memory. A
/// further call for the same input walks a list to the position where the last call stopped.
///
/// The sender must not have open items, except from earlier calls for the same input. Otherwise the
/// report contains `other_input`, also if the input is shorter than the part that was taken from
/// it.
///
/// If the policy is `send_policy::when_too_large::replace`, `replace(item, batch_sender::replace)`
/// is called once for each item that fits into no batch, before earlier waiting items are sent. It
/// stores the item elsewhere, puts a smaller reference in its place and returns an empty fault. The
/// reference is measured and sent under the same number. With any other fault the item stays and
/// ends as `too_large`, with the text of the fault.
///
/// If the policy uses keys, `size` returns `queued{bytes, key}`. A plain number has the key 0, so
/// an `ordered` input stops at its first item that does not arrive. A replaced item keeps its key.
///
/// Exceptions of the caller's functions pass through. The sender stores the report of that call.
/// The next call for the same input returns it together with its own; until then
/// `batch_sender::unreported` returns it. An attempt whose `send` has thrown may have arrived.
/// ext/exceptions.hpp turns exceptions into outcomes.
template <std::forward_iterator I, std::sentinel_for<I> S,
          detail::queueing<std::iter_reference_t<I>> F, time_source Clock, class Send,
          class Replace = detail::keep_too_large>
[[nodiscard]] send_report send_all(I first, S last, const F& size, batch_sender& s, Clock now,
                                   Send&& send, Replace&& replace = {})
{
    if (!detail::open_for(s, time_of(now))) return {.other_input = true};
    const std::uint64_t taken = s.end() - *s.origin();
    detail::walked_source<I, S, F> source(std::move(first), std::move(last), size, taken);
    if (source.taken() != taken) return {.other_input = true};
    return detail::sending(source, s, now, send, replace).run();
}

/// The same for a container or view that can be walked again.
template <class Items, class F, time_source Clock, class Send,
          class Replace = detail::keep_too_large>
    requires std::forward_iterator<decltype(std::begin(std::declval<Items&>()))>
    [[nodiscard]] send_report send_all(Items& items, const F& size, batch_sender& s, Clock now,
                                       Send&& send, Replace&& replace = {})
    {
        return send_all(std::begin(items), std::end(items), size, s, std::move(now),
                        std::forward<Send>(send), std::forward<Replace>(replace));
    }

/// The same for an input that can be read only once.
    template <class I, class S, detail::queueing<const std::iter_value_t<I>&> F, time_source Clock,
              class Send, class Replace = detail::keep_too_large>
    [[nodiscard]] send_report send_all(resend_buffer<I, S>& box, const F& size, batch_sender& s,
                                       Clock now, Send&& send, Replace&& replace = {})
    {
        if (!detail::open_for(s, time_of(now))) return {.other_input = true};
        const std::uint64_t taken = s.end() - *s.origin();
        const std::uint64_t settled_before = saturating_sub(box.pulled(), taken);
        const std::uint64_t first_needed = settled_before + (s.first_open() - *s.origin());
        if (box.pulled() < taken || box.first() > first_needed) return {.other_input = true};
        detail::kept_source<resend_buffer<I, S>, F> source(box, size, settled_before);
        return detail::sending(source, s, now, send, replace).run();
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_ALL_HPP

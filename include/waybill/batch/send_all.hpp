// SPDX-License-Identifier: MIT
//
// send_all: a whole input on its way, through a function that sends one batch.
//
//     waybill::sender s{{.limit = {.bytes = 262'144}, .header = 54}};
//     auto report = waybill::send_all(inbox, body_size, s, clock, [&](auto batch) -> waybill::send_outcome {
//         switch (sdk.send(batch)) {
//             case sdk::ok:          return accepted{};
//             case sdk::over_limit:  return refused{};
//             case sdk::busy:        return throttled{.retry_after = sdk.hint()};
//             default:               return unknown{};
//         }
//     });
//     for (const auto& r : report.outcomes) log(waybill::text(r));
//
// It drives the sender, one attempt at a time, and never sleeps. When nothing can be sent before a
// point in time it returns with `waiting` set; called again with the same input, sender and function
// it goes on where it stopped. What the sender learnt stays in the sender, for the next input.
//
// An input that can be read only once is wrapped in an `outbox`. `clock` is a function that answers
// the steady time, or that time itself where it stands still.

#ifndef WAYBILL_BATCH_SEND_ALL_HPP
#define WAYBILL_BATCH_SEND_ALL_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/outbox.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sender.hpp>
#include <waybill/batch/sent_batch.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time_source.hpp>

namespace waybill::inline v0_2 {

/// What came of one batch. The attempt number is filled in by the driver. Whatever a span in it
/// points at must live until the function is called again.
using send_outcome = std::variant<accepted, refused, partial, throttled, failed, unknown>;

/// Tells how many bytes an item takes, or that and its key: `queued{bytes, key}`.
template <class F, class Item>
concept queueing = sizer<F, Item> || requires(const F& size, Item&& item) {
    { detail::measured(size, static_cast<Item&&>(item)) } -> std::same_as<queued>;
};

namespace detail {

/// Items that stay where they are; found again by walking from the first unsettled one.
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

    /// How many items of those that the sender has taken are there.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

    /// The next item, which is taken in a second step: a failure in between loses nothing.
    [[nodiscard]] std::optional<queued> peek()
    {
        if (next_ == last_) return {};
        return queued(detail::measured(size_, *next_));
    }
    void take()
    {
        ++next_;
        ++taken_;
    }

    /// The item that was taken as number `n`, and what it measures now.
    [[nodiscard]] decltype(auto) item(std::uint64_t n) const { return *seek(here_, n - place_); }
    [[nodiscard]] queued measure(std::uint64_t n) const
    {
        return queued(detail::measured(size_, item(n)));
    }

    [[nodiscard]] auto batch(const act::send& a, std::uint64_t origin)
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

/// Items that an outbox keeps.
template <class Box, class F>
class kept_source {
public:
    kept_source(Box& box, const F& size, std::uint64_t settled)
        : box_(box), size_(size), base_(settled)
    {
    }

    [[nodiscard]] std::optional<queued> peek()
    {
        const auto* item = box_.peek();
        if (!item) return {};
        return queued(detail::measured(size_, *item));
    }
    void take() noexcept { box_.take(); }

    [[nodiscard]] auto& item(std::uint64_t n) const { return *box_.at(base_ + n); }
    [[nodiscard]] queued measure(std::uint64_t n) const
    {
        return queued(detail::measured(size_, std::as_const(item(n))));
    }

    [[nodiscard]] auto batch(const act::send& a, std::uint64_t origin)
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

/// Gives send_all access to the notes that the sender keeps for its open input.
struct notes_of {
    [[nodiscard]] static send_notes& in(sender& s) noexcept { return s.notes_; }
};

/// An attempt may have arrived whose function left by an exception, or whose answer could not be taken.
class unanswered {
public:
    unanswered(sender& s, const act::send& a, steady_time now)
        : s_(s), attempt_(a.attempt), bytes_(a.bytes), now_(now)
    {
        s_.on(started{attempt_}, now);
        ++report().sends;
    }
    unanswered(const unanswered&) = delete;
    unanswered& operator=(const unanswered&) = delete;
    ~unanswered()
    {
        if (!open_) return;
        count(unknown{});
        s_.on(unknown{attempt_}, now_);
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
        if (std::holds_alternative<refused>(o)) ++r.refusals;
        if (std::holds_alternative<accepted>(o) || std::holds_alternative<partial>(o)) return;
        r.resent_bytes = saturating_add(r.resent_bytes, bytes_);
    }

    sender& s_;
    std::uint64_t attempt_;
    std::uint64_t bytes_;
    steady_time now_;
    bool open_ = true;
};

/// Opens an input unless one is open. False where items of something else are still on their way.
[[nodiscard]] inline bool open_for(sender& s, steady_time now)
{
    if (s.origin()) return true;
    if (!s.finished()) return false;
    s.on(opened{}, now);
    return true;
}

/// Leaves an item that is too large as it is.
struct keep_too_large {
    template <class Item>
    [[nodiscard]] fault operator()(const Item&, const act::replace&) const
    {
        return {fault_class::permanent, {}};
    }
};

template <class Source, class Clock, class Send, class Replace>
class sending {
public:
    sending(Source& source, sender& s, Clock& clock, Send& send, Replace& replace)
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
                [&](const act::send& a) {
                    if (!feed(now)) transmit(a, now);
                },
                [&](const act::settle& x) { note(x, now); },
                [&](const act::replace& r) { replace(r, now); },
                [&](const act::wait& w) {
                    if (feed(now)) return;
                    notes_.report.waiting = w.until;
                    going_ = false;
                },
                [&](act::idle) {
                    if (feed(now)) return;
                    // What an allocation that failed has left undone is done by flushing.
                    if (!s_.finished() && !std::exchange(flushed_anyway_, true)) {
                        s_.on(flushed{}, now);
                        return;
                    }
                    if (s_.finished()) s_.on(closed{}, now);
                    going_ = false;
                });
        }
        notes_.report.stopped = s_.has_stopped();
        notes_.report.taken = s_.end() - origin_;
        return std::exchange(notes_, {}).report;
    }

private:
    void transmit(const act::send& a, steady_time now)
    {
        const std::uint64_t attempt = a.attempt;
        auto batch = source_.batch(a, origin_);
        unanswered guard(s_, a, now);
        // `started` has moved the runs; what the batch looks at stays where it was.
        send_outcome o = send_(batch);
        notes_.failure.clear();
        if (failed* f = std::get_if<failed>(&o)) notes_.failure = std::move(f->text);
        const heard h = std::visit(
            [&](auto& event) {
                event.attempt = attempt;
                return s_.on(event, time_of(clock_));
            },
            o);
        // An answer that contradicts itself leaves open what arrived.
        if (h == heard::invalid) s_.on(unknown{attempt}, time_of(clock_));
        guard.over(o);
    }

    /// What replaces an item may send, store and throw; the item is asked for again then.
    void replace(act::replace r, steady_time now)
    {
        const std::uint64_t item = r.item;
        r.item -= origin_;
        fault f = replace_(source_.item(r.item), std::as_const(r));
        notes_.not_replaced.clear();
        if (f.ok()) {
            s_.on(replaced{item, source_.measure(r.item).bytes}, now);
        } else {
            notes_.not_replaced = std::move(f.text);
            s_.on(kept{item}, now);  // and that it is too large is said next
        }
    }

    void note(const act::settle& x, steady_time now)
    {
        item_report r{{x.items.first - origin_, x.items.count}, x.outcome, x.how, x.bytes, x.limit,
                      x.envelope, {}};
        if (x.outcome == item_outcome::failed) r.text = notes_.failure;
        if (x.outcome == item_outcome::too_large) r.text = notes_.not_replaced;
        notes_.report.add(std::move(r));
        if (x.outcome == item_outcome::too_large) notes_.not_replaced.clear();
        s_.on(settled{x.items}, now);
        source_.release(saturating_sub(s_.first_open(), origin_));
    }

    /// Reads on as long as the next batch has room, whatever it is asked for: what comes back from
    /// a failed batch travels with what is new. False when there is nothing to be read.
    bool feed(steady_time now)
    {
        if (flushed_ || !s_.wants_more()) return false;
        if (const std::optional<queued> q = source_.peek()) {
            s_.on(*q, now);
            source_.take();
        } else {
            flushed_ = true;
            s_.on(flushed{}, now);
        }
        return true;
    }

    Source& source_;
    sender& s_;
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

/// Sends [first, last) in as few batches as `s` can. Each item is in exactly one of the outcomes of
/// this report or of those to come. Calls `size` once an item. O(items) with O(batch) memory; on
/// being called again a list is walked to where it stopped. The sender must have settled all that it
/// was given before, other than by a call for the same input; otherwise the report says
/// `other_input`, as it does where the input is shorter than what was taken from it.
///
/// Where the policy says `when_too_large::replace`, an item that fits into no batch is handed to
/// `replace(item, act::replace)`: it stores the item elsewhere, puts a smaller reference in its place
/// and returns an empty fault, and the reference is measured and sent under the same number. With any
/// other fault the item stays and ends as `too_large`, with the fault's text. That comes before items
/// in front of it are sent, and once for each item.
///
/// With a policy that goes by keys, `size` answers `queued{bytes, key}`; a mere number has the key 0,
/// so that an `ordered` input stops at its first item that does not arrive. An item that is replaced
/// keeps its key.
///
/// An exception of the caller's functions passes through. The sender keeps the report of that call.
/// The next call for the same input returns it together with its own; until then
/// `sender::unreported` returns it. An attempt whose `send` has thrown may have arrived.
/// ext/exceptions.hpp turns exceptions into outcomes.
template <std::forward_iterator I, std::sentinel_for<I> S, queueing<std::iter_reference_t<I>> F,
          time_source Clock, class Send, class Replace = detail::keep_too_large>
[[nodiscard]] send_report send_all(I first, S last, const F& size, sender& s, Clock now,
                                   Send&& send, Replace&& replace = {})
{
    if (!detail::open_for(s, time_of(now))) return {.other_input = true};
    const std::uint64_t taken = s.end() - *s.origin();
    detail::walked_source<I, S, F> source(std::move(first), std::move(last), size, taken);
    if (source.taken() != taken) return {.other_input = true};
    return detail::sending(source, s, now, send, replace).run();
}

/// The same for a container or a view that can be walked again.
template <class Items, class F, time_source Clock, class Send,
          class Replace = detail::keep_too_large>
    requires std::forward_iterator<decltype(std::begin(std::declval<Items&>()))>
[[nodiscard]] send_report send_all(Items& items, const F& size, sender& s, Clock now, Send&& send,
                                   Replace&& replace = {})
{
    return send_all(std::begin(items), std::end(items), size, s, std::move(now),
                    std::forward<Send>(send), std::forward<Replace>(replace));
}

/// The same for an input that can be read only once.
template <class I, class S, queueing<const std::iter_value_t<I>&> F, time_source Clock, class Send,
          class Replace = detail::keep_too_large>
[[nodiscard]] send_report send_all(outbox<I, S>& box, const F& size, sender& s, Clock now,
                                   Send&& send, Replace&& replace = {})
{
    if (!detail::open_for(s, time_of(now))) return {.other_input = true};
    const std::uint64_t taken = s.end() - *s.origin();
    const std::uint64_t settled_before = saturating_sub(box.pulled(), taken);
    const std::uint64_t first_needed = settled_before + (s.first_open() - *s.origin());
    if (box.pulled() < taken || box.first() > first_needed) return {.other_input = true};
    detail::kept_source<outbox<I, S>, F> source(box, size, settled_before);
    return detail::sending(source, s, now, send, replace).run();
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_ALL_HPP

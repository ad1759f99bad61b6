// SPDX-License-Identifier: MIT
//
// send_loop: drives a `batch_sender` over one input. Part of `send_all`.

#ifndef WAYBILL_BATCH_DETAIL_SEND_LOOP_HPP
#define WAYBILL_BATCH_DETAIL_SEND_LOOP_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2::detail {

/// Gives send_all access to what the sender stores about its open input and its attempts.
struct open_report_of {
    [[nodiscard]] static open_report& in(batch_sender& s) noexcept { return s.open_report_; }
    /// True if `next` returns the same action after an item that certainly fits.
    [[nodiscard]] static bool takes_ahead(const batch_sender& s)
    {
        return s.queue_.draft().looks_ahead() && !s.queue_.lingers() && s.settlements_.empty() &&
               s.queue_.first_replace_request() == nullptr;
    }
    /// Queues an item if it certainly fits. False, without a change, if not.
    [[nodiscard]] static bool push_if_certain(batch_sender& s, std::uint64_t bytes)
    {
        return s.queue_.push_if_certain(bytes);
    }
};

/// A guard for one attempt. Reports `outcome_unknown` if `send` throws or its result cannot be
/// processed: the batch may have arrived.
class attempt_guard {
public:
    attempt_guard(batch_sender& s, const batch_sender::send& a, steady_time now)
        : s_(s), attempt_(a.attempt), bytes_(a.bytes), now_(now)
    {
        const std::uint64_t before = s_.maybe_twice();
        s_.on(batch_sender::started{attempt_}, now);
        report().maybe_twice = saturating_add(report().maybe_twice, s_.maybe_twice() - before);
        ++report().sends;
    }
    attempt_guard(const attempt_guard&) = delete;
    attempt_guard& operator=(const attempt_guard&) = delete;
    ~attempt_guard()
    {
        if (!pending_) return;
        count(batch_sender::outcome_unknown{});
        s_.on(batch_sender::outcome_unknown{attempt_}, now_);
    }
    void complete(const send_outcome& o) noexcept
    {
        pending_ = false;
        count(o);
    }

private:
    [[nodiscard]] send_report& report() const noexcept { return open_report_of::in(s_).report; }
    void count(const send_outcome& o) const noexcept
    {
        send_report& r = report();
        if (holds_alternative<batch_sender::too_large>(o)) ++r.refusals;
        if (holds_alternative<batch_sender::throttled>(o)) ++r.throttled;
        if (holds_alternative<batch_sender::accepted>(o) ||
            holds_alternative<batch_sender::partial>(o))
            return;
        r.unaccepted_bytes = saturating_add(r.unaccepted_bytes, bytes_);
    }

    batch_sender& s_;
    std::uint64_t attempt_;
    std::uint64_t bytes_;
    steady_time now_;
    bool pending_ = true;
};

/// Opens an input unless one is open. False if the sender has unsettled items that were queued
/// without an open input.
[[nodiscard]] inline bool open_input(batch_sender& s, steady_time now)
{
    if (s.input_begin()) return true;
    if (!s.finished()) return false;
    s.on(batch_sender::input_opened{}, now);
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

/// Refuses functions of a wrong type that send a batch or replace an item.
template <class Source, class Send, class Replace>
struct checked_send {
    using batch_type = typename Source::batch_type;

    static constexpr bool takes_batch = requires(Send& send, batch_type& b) { send(b); };
    static constexpr bool returns_outcome = !takes_batch || requires(Send& send, batch_type& b) {
        { send(b) } -> std::convertible_to<send_outcome>;
    };
    static constexpr bool replaces =
        requires(Replace& replace, Source& source, const batch_sender::replace& action) {
            { replace(source.item(0), action) } -> std::convertible_to<fault>;
        };

    static_assert(takes_batch,
                  "send_all: the send function must accept a batch, which is a range "
                  "of items");
    static_assert(returns_outcome,
                  "send_all: the send function must return a send_outcome, such "
                  "as batch_sender::accepted{}, and not bool or void");
    static_assert(replaces,
                  "send_all: the replace function must accept an item and a "
                  "batch_sender::replace, and return a fault");
    static constexpr bool ok = takes_batch && returns_outcome && replaces;
};

template <class Source, class Clock, class Send, class Replace>
class send_loop {
    static_assert(checked_send<Source, Send, Replace>::ok);

public:
    send_loop(Source& source, batch_sender& s, Clock& clock, Send& send, Replace& replace)
        : source_(source),
          s_(s),
          clock_(clock),
          send_(send),
          replace_(replace),
          input_begin_(*s.input_begin()),
          open_report_(open_report_of::in(s))
    {
    }

    send_report run()
    {
        while (running_) {
            const steady_time now = clock_.now();
            match(
                s_.next(now),
                [&](const batch_sender::send& a) {
                    if (clock_.stop_requested()) return end_with(now);
                    if (!feed(now)) transmit(a, now);
                },
                [&](const batch_sender::report& x) { record(x, now); },
                [&](const batch_sender::replace& r) {
                    if (clock_.stop_requested()) return end_with(now);
                    replace(r, now);
                },
                [&](const wait_until& w) {
                    if (!feed(now) && !clock_.sleep_until(w.time)) end_with(w.time);
                },
                [&](idle) {
                    if (feed(now)) return;
                    // After a failed allocation, waiting items may be in no batch. Flushing cuts
                    // them.
                    if (!s_.finished() && !std::exchange(flushed_when_idle_, true)) {
                        s_.on(batch_sender::flushed{}, now);
                        return;
                    }
                    if (s_.finished()) s_.on(batch_sender::input_closed{}, now);
                    running_ = false;
                });
        }
        open_report_.report.stopped = s_.has_stopped();
        open_report_.report.taken = s_.end() - input_begin_;
        return std::exchange(open_report_, {}).report;
    }

private:
    /// Ends the call with items left, for a further call at `t`.
    void end_with(steady_time t) noexcept
    {
        open_report_.report.waiting = t;
        running_ = false;
    }

    void transmit(const batch_sender::send& a, steady_time now)
    {
        const std::uint64_t attempt = a.attempt;
        auto batch = source_.batch(a, input_begin_);
        attempt_guard guard(s_, a, now);
        // `started` has moved the runs into the flight. The view in `batch` is still valid.
        send_outcome o = send_(batch);
        const event_result result = match(o, [&](auto& event) {
            event.attempt = attempt;
            if constexpr (requires { event.random; }) {
                if (event.random == 1) event.random = clock_.random();
            }
            return s_.on(event, clock_.now());
        });
        // An invalid result does not show what has arrived.
        if (result == event_result::invalid)
            s_.on(batch_sender::outcome_unknown{attempt, clock_.random()}, clock_.now());
        guard.complete(o);
    }

    /// `replace_` may send, store and throw. After an exception the same item is requested again.
    void replace(batch_sender::replace r, steady_time now)
    {
        const std::uint64_t item = r.item;
        r.item -= input_begin_;
        fault f = replace_(source_.item(r.item), std::as_const(r));
        open_report_.not_replaced.clear();
        if (f.ok()) {
            s_.on(batch_sender::replaced{item, source_.measure(r.item).bytes}, now);
        } else {
            open_report_.not_replaced = std::move(f.text);
            s_.on(batch_sender::not_replaced{item}, now);  // the outcome `too_large` follows
        }
    }

    void record(const batch_sender::report& x, steady_time now)
    {
        item_report r = as_item_report(x);
        r.items.first -= input_begin_;
        if (x.outcome == item_outcome::too_large) r.text = open_report_.not_replaced;
        open_report_.report.add(std::move(r));
        if (x.outcome == item_outcome::too_large) open_report_.not_replaced.clear();
        s_.on(batch_sender::reported{x.items}, now);
        source_.release(saturating_sub(s_.first_open(), input_begin_));
    }

    /// Queues the next item if the next batch has room, and more items that certainly fit. It is
    /// called before a batch is sent, so items of a failed batch are sent together with new ones.
    /// Flushes at the end of the input. False if nothing was done.
    bool feed(steady_time now)
    {
        if (flushed_ || !s_.wants_more()) return false;
        const bool ahead = open_report_of::takes_ahead(s_);
        const auto queue_certain = [&](const batch_sender::queued& q) {
            return ahead && open_report_of::push_if_certain(s_, q.bytes);
        };
        const std::optional<batch_sender::queued> q = source_.take_while(queue_certain);
        if (q) {
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
    std::uint64_t input_begin_;
    open_report& open_report_;
    bool running_ = true;
    bool flushed_ = false;
    bool flushed_when_idle_ = false;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_LOOP_HPP

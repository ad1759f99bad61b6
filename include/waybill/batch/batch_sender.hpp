// SPDX-License-Identifier: MIT
//
// batch_sender: a state machine that sends items in as few batches as the broker accepts.
//
//     waybill::batch_sender s{{.limit = {.bytes = 262'144, .items = 4'500}, .item_overhead = 54}};
//     s.on(batch_sender::queued{body.size()}, now);                    // items are 0, 1, 2 ...
//     match(s.next(now),
//         [&](batch_sender::send a)    { s.on(batch_sender::started{a.attempt}, now); submit(a); },
//         [&](batch_sender::report r)  { note(r); s.on(batch_sender::reported{r.items}, now); },
//         [&](batch_sender::replace r) { s.on(batch_sender::not_replaced{r.item}, now); },
//         [&](wait_until w)            { wake_at(w.time); },
//         [&](idle)                    { /* queue more, or flush */ });
//
//   1. Every queued item is settled exactly once.
//   2. It ends: refused batches shrink, and retries are limited. Only throttling has no limit.
//   3. Batches are cut in queue order; with one attempt in flight they arrive in that order.
//   4. A batch that may have arrived is repeated identically, or its items end as `in_doubt`.
//   5. A batch above the limits is a single item that may still fit: the broker decides.
//   6. If `ordered`, a key stops at its first item that does not arrive, until `resumed`.
// A value without locks: one thread at a time.

#ifndef WAYBILL_BATCH_BATCH_SENDER_HPP
#define WAYBILL_BATCH_BATCH_SENDER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/batch/calibration.hpp>
#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/detail/flights.hpp>
#include <waybill/batch/detail/pace.hpp>
#include <waybill/batch/detail/send_queue.hpp>
#include <waybill/batch/detail/settlements.hpp>
#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sending.hpp>

namespace waybill::inline v0_2 {

namespace detail {
struct notes_of;  // access for send_all
}

/// The state machine. It uses only numbers and no items, so it serves any SDK, event loop or
/// coroutine. The caller reports the result of each attempt as an event: accepted, refused,
/// partial, throttled, failed or unknown. Stale results change nothing (`event_result::stale`).
///
/// Cost: 16 bytes for each item from the oldest unsettled one on. No allocation after the buffers
/// have grown. An event is O(1), but items that come back are walked to the end of the next batch.
class batch_sender : public batch_sender_types {
public:
    using action = std::variant<send, report, replace, wait_until, idle>;

    /// Starts with the knowledge of an earlier sender for the same destination. If it was learnt
    /// under other limits, the policy's limits apply, but the knowledge about items stays. An empty
    /// `known` starts from the policy. A shared `budget` replaces the policy's and must outlive the
    /// sender and its copies. Attempts are numbered from `first_attempt`. If results for an earlier
    /// sender can still arrive, pass its `attempts_end()`; those results are then stale. After a
    /// restart pass a number that only grows, such as the wall time in nanoseconds.
    explicit batch_sender(const send_policy& p, const calibration& known = {},
                          shared_budget budget = {}, std::uint64_t first_attempt = 0)
        : policy_(p),
          learnt_(known == calibration() ? detail::calibrator(p.limit, p.item_overhead)
                                         : detail::calibrator(known.under(p.limit))),
          queue_(p),
          pace_(p.retry, p.budget, budget),
          attempts_(first_attempt)
    {
        if (policy_.in_flight == 0) policy_.in_flight = 1;
    }

    /// The next action at time `now`. It stays the same until an event or a later time. O(attempts
    /// in flight).
    [[nodiscard]] action next(steady_time now) const
    {
        if (!settlements_.empty()) return settlements_.front();
        if (const replace* r = queue_.outsized()) return *r;
        std::optional<steady_time> wake;
        for (const detail::flight& f : flights_) {
            if (f.on_its_way) continue;
            const steady_time due = detail::later(pace_.not_before(), f.not_before);
            if (due <= now) return sending(f.attempt, f.parts, f.sizes, f.closed);
            wake = wake ? detail::earlier(*wake, due) : due;
        }
        if (queue_.may_go() && flights_.size() < policy_.in_flight) {
            const steady_time due = detail::later(pace_.not_before(), queue_.due());
            const detail::send_draft& d = queue_.head();
            if (due <= now) return sending(attempts_, d.parts, d.sizes, queue_.closed());
            wake = wake ? detail::earlier(*wake, due) : due;
        }
        if (wake) return wait_until{*wake};
        return idle{};
    }

    event_result on(input_opened, steady_time)
    {
        if (origin_) return event_result::stale;
        origin_ = end();
        notes_ = {};
        return event_result::applied;
    }

    event_result on(input_closed, steady_time)
    {
        return std::exchange(origin_, std::nullopt) ? event_result::applied : event_result::stale;
    }

    [[gnu::always_inline]] event_result on(const queued& q, steady_time now)
    {
        if (!queue_.push_sure(q.bytes)) push(q, now);
        return event_result::applied;
    }

    event_result on(const replaced& r, steady_time now)
    {
        return put_in_place(r.item, r.bytes, now);
    }
    event_result on(const not_replaced& k, steady_time now)
    {
        return put_in_place(k.item, std::nullopt, now);
    }
    event_result on(const resumed& r, steady_time) { return queue_.resume(r.key); }

    event_result on(flushed, steady_time now)
    {
        queue_.hurry(end());
        cut(now, cutting::on);
        return event_result::applied;
    }

    event_result on(stopped, steady_time now)
    {
        if (std::exchange(stopped_, true)) return event_result::stale;
        while (const detail::flight* f = flights_.to_be_repeated()) {
            queue_.settle_all(f->parts, item_outcome::in_doubt, settlements_);
            flights_.drop(*f);
        }
        cut(now, cutting::again);
        return event_result::applied;
    }

    event_result on(const started& s, steady_time now)
    {
        if (const detail::flight* f = flights_.find(s.attempt); f && f->on_its_way)
            return event_result::stale;
        detail::flight* f = in_flight_with(s.attempt, now);
        if (!f) return event_result::stale;
        f->on_its_way = true;
        return event_result::applied;
    }

    event_result on(const accepted& a, steady_time now)
    {
        detail::flight* f = in_flight_with(a.attempt, now);
        if (!f) return event_result::stale;
        const cutting how = share(*f, a.actual.value_or(0)) ? cutting::again : cutting::fit;
        learnt_.accepted(f->sizes, a.actual, f->full(learnt_), f->cut);
        pace_.succeeded(now);
        if (f->sizes.items == 1) queue_.tried_alone(f->parts.front().first, true);
        queue_.settle_all(f->parts, item_outcome::accepted, settlements_);
        land(*f, now, how);
        return event_result::applied;
    }

    event_result on(const too_large& r, steady_time now)
    {
        if (!r.item_sizes.empty() && r.item_sizes.size() != items_of(r.attempt)) {
            return invalid_or_late(r.attempt);
        }
        detail::flight* f = in_flight_with(r.attempt, now);
        if (!f) return event_result::stale;
        pace_.not_throttled();
        share(*f, r.actual.value_or(0));
        const std::uint64_t guess = learnt_.predict(f->sizes);
        learnt_.refused(f->sizes, r.actual, r.limit, queue_.items().samples(f->parts, r.item_sizes),
                        f->cut);
        if (f->sizes.items > 1) flights_.outdate();
        // An earlier send of the same batch may have arrived.
        if (f->tries != 0) return hand_back(*f, now);
        if (f->sizes.items == 1) {
            const std::uint64_t n = f->parts.front().first;
            const std::uint64_t told = r.item_sizes.empty() ? 0 : r.item_sizes.front();
            queue_.tried_alone(n, false);
            queue_.give_back(f->parts);
            queue_.outsize(n, r.actual.value_or(told > guess ? told : guess),
                           r.limit.value_or(learnt_.limit()), settlements_);
        } else {
            queue_.items().shrink(f->parts, f->sizes, learnt_, r.item_sizes, r.actual);
            queue_.give_back(f->parts);
        }
        land(*f, now, cutting::again);
        return event_result::applied;
    }

    event_result on(const partial& p, steady_time now)
    {
        const std::uint64_t items = items_of(p.attempt);
        for (const batch_sender::entry_fault& e : p.failed) {
            if (e.index >= items) return invalid_or_late(p.attempt);
        }
        detail::flight* f = in_flight_with(p.attempt, now);
        if (!f) return event_result::stale;
        settlements_.make_room(2 * p.failed.size() + f->parts.size());
        pace_.not_throttled();
        if (p.failed.size() < items) pace_.succeeded(now);
        // A batch that was accepted in part was not too large.
        learnt_.accepted(f->sizes, std::nullopt, f->full(learnt_), f->cut);
        queue_.items().mark(f->parts, detail::send_item::state::over);
        failures seen;
        for (const batch_sender::entry_fault& e : p.failed) {
            detail::send_item& i = queue_.items()[f->item_at(e.index)];
            const bool told_twice = i.kind != detail::send_item::state::over;
            if (e.kind != fault_kind::none && !told_twice) fail(*f, i, e.kind, seen, now);
        }
        finish(*f, seen, now, p.random, p.retry_after);
        return event_result::applied;
    }

    event_result on(const throttled& t, steady_time now)
    {
        detail::flight* f = in_flight_with(t.attempt, now);
        if (!f) return event_result::stale;
        pace_.throttled(now, t.random, t.retry_after);
        if (f->tries != 0 && stopped_) return hand_back(*f, now);
        if (f->tries == 0) {
            queue_.give_back(f->parts);
            land(*f, now, cutting::again);
        } else {
            f->on_its_way = false;  // an earlier result was unknown: the batch stays the same
        }
        return event_result::applied;
    }

    event_result on(const failed& e, steady_time now)
    {
        if (e.kind == fault_kind::none) return invalid_or_late(e.attempt);
        detail::flight* f = in_flight_with(e.attempt, now);
        if (!f) return event_result::stale;
        if (f->tries != 0 && detail::pace::retriable(e.kind))
            return on(outcome_unknown{e.attempt, e.random}, now);
        pace_.not_throttled();
        failures seen;
        queue_.items().for_each(f->parts,
                                [&](detail::send_item& i) { fail(*f, i, e.kind, seen, now); });
        finish(*f, seen, now, e.random, {});
        return event_result::applied;
    }

    event_result on(const outcome_unknown& u, steady_time now)
    {
        detail::flight* f = in_flight_with(u.attempt, now);
        if (!f) return event_result::stale;
        ++f->tries;
        const bool repeat =
            policy_.on_unknown == send_policy::when_unknown::repeat && pace_.again(f->tries);
        if (stopped_ || !repeat || !pace_.spend(now)) return hand_back(*f, now);
        f->on_its_way = false;
        f->not_before = pace_.retry_at(now, f->tries, u.random, {});
        return event_result::applied;
    }

    event_result on(const reported& s, steady_time)
    {
        if (settlements_.empty()) return event_result::stale;
        if (!(settlements_.front().items == s.items)) return event_result::invalid;
        settlements_.pop();
        return event_result::applied;
    }

    /// The knowledge so far, to be stored for the next sender.
    [[nodiscard]] calibration learnt() const noexcept { return learnt_.state(); }
    [[nodiscard]] const send_policy& policy() const noexcept { return policy_; }
    /// The number of the next item to be queued.
    [[nodiscard]] std::uint64_t end() const noexcept { return queue_.end(); }
    /// The number of the first item that is not settled; `end()` if all are.
    [[nodiscard]] std::uint64_t first_open() const { return settlements_.first(queue_.begin()); }
    /// The number of the first item of the open input, if one is open.
    [[nodiscard]] std::optional<std::uint64_t> origin() const noexcept { return origin_; }
    /// True if items that are queued now would be examined for the next batch.
    [[nodiscard]] bool wants_more() const noexcept { return queue_.wants_more(stopped_); }
    /// True after `stopped`: no new batch is sent.
    [[nodiscard]] bool has_stopped() const noexcept { return stopped_; }
    /// True if no item is waiting, in flight or to be settled.
    [[nodiscard]] bool finished() const noexcept { return settlements_.empty() && queue_.done(); }
    /// A number above the numbers of all attempts that `next` has returned.
    [[nodiscard]] std::uint64_t attempts_end() const noexcept { return attempts_ + 1; }
    /// The number of attempts in flight.
    [[nodiscard]] std::size_t in_flight() const noexcept { return flights_.on_their_way(); }

    /// The report of the calls of send_all that ended with an exception. The next call for the same
    /// input returns it together with its own. Empty after a call that returned.
    [[nodiscard]] const send_report& unreported() const noexcept { return notes_.report; }

    friend bool operator==(const batch_sender&, const batch_sender&) = default;

private:
    friend struct detail::notes_of;

    struct failures {                // of one result
        std::uint32_t tries = 0;     // highest number of tries of an item to be sent again
        std::optional<bool> paid{};  // the result of `spend`, once for all items
        bool stop = false;
    };

    [[nodiscard]] send sending(std::uint64_t attempt, const std::vector<item_range>& parts,
                               const detail::batch_sizes& sizes, batch_close_reason reason) const
    {
        return {attempt, {parts.data(), parts.size()}, learnt_.predict(sizes), reason};
    }

    void push(queued q, steady_time now)
    {
        // `next` may have returned the draft, so it gets a new number.
        if (queue_.lingers() && queue_.push_shown(q.bytes)) return void(++attempts_);
        queue_.push(q, settlements_);
        cut(now, cutting::on);
    }

    /// How the draft changes: it grows, is refitted to new knowledge, or is cut again from the
    /// head.
    enum class cutting : std::uint8_t { on, fit, again };

    /// If `next` may have returned the draft (`asked`) and it changes, it gets a new number. A
    /// result for the old number is then stale, and settles nothing that was never sent.
    void cut(steady_time now, cutting how) { cut(now, how, is_head(attempts_)); }
    void cut(steady_time now, cutting how, bool asked)
    {
        if (stopped_) {
            flights_.mark_away(queue_.items());
            return queue_.end_waiting(settlements_);
        }
        const std::uint64_t items = queue_.head().sizes.items;
        if (how == cutting::on) queue_.extend(learnt_, now, settlements_);
        if (how == cutting::fit && !queue_.refit(learnt_, now, settlements_)) how = cutting::again;
        if (how == cutting::again) {
            flights_.mark_away(queue_.items());
            queue_.recut(learnt_, now, settlements_);
        }
        const bool changed = how == cutting::again || queue_.head().sizes.items != items;
        if (asked && (changed || !queue_.may_go())) ++attempts_;
    }

    /// Uses the reported size of a batch whose items had only a share of a reported sum. Corrects
    /// the other items of that sum. True if any of them changed.
    bool share(const detail::flight& f, std::uint64_t actual)
    {
        if (f.sizes.reported == 0 || f.sizes.guessed != 0 || actual == 0) return false;
        flights_.mark_away(queue_.items());
        const double size = static_cast<double>(actual);
        const double less = static_cast<double>(learnt_.predict(f.sizes)) - size;
        const std::uint64_t others = queue_.items().share(
            f.parts.back().end(), less, size / static_cast<double>(f.sizes.items));
        learnt_.shared(f.sizes, less, others);
        return others != 0;
    }

    event_result put_in_place(std::uint64_t item, std::optional<std::uint64_t> bytes,
                              steady_time now)
    {
        const replace* asked = queue_.outsized();
        if (!asked) return event_result::stale;
        if (asked->item != item) return event_result::invalid;
        queue_.replace(bytes, settlements_);
        cut(now, cutting::again);
        return event_result::applied;
    }

    [[nodiscard]] bool is_head(std::uint64_t attempt) const
    {
        return attempt == attempts_ && queue_.may_go() && flights_.size() < policy_.in_flight;
    }

    [[nodiscard]] std::uint64_t items_of(std::uint64_t attempt) const
    {
        if (const detail::flight* f = flights_.find(attempt)) return f->sizes.items;
        return is_head(attempt) ? queue_.head().sizes.items : 0;
    }

    [[nodiscard]] event_result invalid_or_late(std::uint64_t attempt) const
    {
        return items_of(attempt) == 0 ? event_result::stale : event_result::invalid;
    }

    /// The flight that a result belongs to, or null. Starts the attempt if `started` is missing.
    [[nodiscard]] detail::flight* in_flight_with(std::uint64_t attempt, steady_time now)
    {
        if (detail::flight* f = flights_.find(attempt)) return f;
        if (!is_head(attempt)) return nullptr;
        flights_.make_room();
        std::vector<item_range> buffer = flights_.buffer();
        detail::flight& f = flights_.add(attempts_++, queue_.head().sizes, queue_.closed(),
                                 learnt_.next_cut());
        f.parts = queue_.take_head(std::move(buffer));
        learnt_.hold_probes(flights_.probe());
        cut(now, cutting::on, false);
        return &f;
    }

    /// Ends a flight. If items came back or a key is free again, the draft is cut again.
    void land(detail::flight& f, steady_time now, cutting how)
    {
        const bool waited =
            f.closed == batch_close_reason::deadline || f.closed == batch_close_reason::end;
        // Items that have waited once do not wait again.
        if (waited && how == cutting::again) queue_.hurry(f.parts.back().end());
        // Before `drop`, as `next` saw it: this flight may have been the last one allowed.
        const bool asked = is_head(attempts_);
        flights_.drop(f);
        learnt_.hold_probes(flights_.probe());
        queue_.trim();
        cut(now, policy_.ordered ? cutting::again : how, asked);
    }

    /// Ends the items of a flight as `in_doubt`: the outcome is unknown, and they are not
    /// repeated.
    event_result hand_back(detail::flight& f, steady_time now)
    {
        queue_.settle_all(f.parts, item_outcome::in_doubt, settlements_);
        land(f, now, cutting::again);
        return event_result::applied;
    }

    void fail(const detail::flight& f, detail::send_item& i, fault_kind kind, failures& seen,
              steady_time now)
    {
        const bool stop = kind == fault_kind::cancelled || kind == fault_kind::ownership_lost;
        bool retry = f.tries == 0 && detail::pace::retriable(kind) && pace_.again(i.tries + 1U);
        if (retry) retry = seen.paid ? *seen.paid : *(seen.paid = pace_.spend(now));
        if (stop) seen.stop = true;
        detail::send_queue::fail(i, kind, stop || retry, f.tries != 0);
        if (retry && ++i.tries > seen.tries) seen.tries = i.tries;
    }

    /// Settles the ended items of a flight with failures. The others wait again.
    void finish(detail::flight& f, const failures& seen, steady_time now, double random,
                duration hint)
    {
        queue_.settle(f.parts, settlements_);
        if (seen.tries != 0) pace_.failed(now, seen.tries, random, hint);
        land(f, now, cutting::again);
        if (seen.stop) on(stopped{}, now);
    }

    send_policy policy_;
    detail::calibrator learnt_;
    detail::send_queue queue_;
    detail::pace pace_;
    detail::flights flights_;
    detail::settlements settlements_;
    std::uint64_t attempts_;               // number of the next new attempt
    std::optional<std::uint64_t> origin_;  // first item of the open input
    detail::send_notes notes_;
    bool stopped_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_BATCH_SENDER_HPP

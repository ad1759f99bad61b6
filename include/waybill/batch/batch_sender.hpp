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
//   2. Sending ends: refused batches shrink, and retries are limited, except after throttling.
//   3. Batches are cut in queue order, except for items that wait for their key; with one attempt in
//      flight they arrive in that order.
//   4. A batch that may have arrived is repeated identically, or its items end as `in_doubt`. If
//      the repetition is too large or fails in part, its items may be sent in other batches.
//   5. A batch above the limits is a single item that may still fit: the broker decides.
//   6. If `ordered`, the first arrivals of a key are in queue order, and a key stops at its first
//      item that does not arrive, until `resumed`. If the broker answers for each entry of a
//      batch, this needs `limit.answers_per_entry`. Without it, or with `may_overtake`, an item can
//      arrive before an earlier one of its key; each one is reported as `overtook`.
// A value without locks: one thread at a time.

#ifndef WAYBILL_BATCH_BATCH_SENDER_HPP
#define WAYBILL_BATCH_BATCH_SENDER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2 {

namespace detail {
struct open_report_of;  // access for send_all
}

/// The state machine. It uses only numbers and no items, so it serves any SDK, event loop or
/// coroutine. The caller reports the result of each attempt as an event: accepted, refused,
/// partial, throttled, failed or unknown. Stale results change nothing (`event_result::stale`).
///
/// Cost: 16 bytes for each item from the oldest unsettled one on. No allocation after the buffers
/// have grown. An event is O(1). Exception: items that come back are examined up to the end of the
/// next batch.
class batch_sender : public batch_sender_types {
public:
    using action = variant<send, report, replace, wait_until, idle>;

    /// Starts with the knowledge of an earlier sender for the same destination. If it was learnt
    /// under other limits, the policy's limits apply, but the knowledge about items stays. An empty
    /// `known` starts from the policy. A shared `budget` replaces the policy's and must outlive the
    /// sender and its copies. Attempts are numbered from `first_attempt`. If results for an earlier
    /// sender can still arrive, pass its `attempts_end()`; those results are then stale. After a
    /// restart pass a number that only grows, such as the wall time in nanoseconds.
    explicit batch_sender(const send_policy& p, const calibration& known = {},
                          shared_budget budget = {}, std::uint64_t first_attempt = 0)
        : policy_(p),
          calibrator_(known == calibration() ? detail::calibrator(p.limit, p.item_overhead)
                                             : detail::calibrator(known.for_limits(p.limit))),
          queue_(p),
          pace_(p.retry, p.budget, budget),
          next_attempt_(first_attempt)
    {
        if (policy_.in_flight == 0) policy_.in_flight = 1;
    }

    /// The next action at time `now`. It stays the same until an event or a later time. O(attempts
    /// in flight).
    [[nodiscard]] action next(steady_time now) const
    {
        if (!settlements_.empty()) return settlements_.front();
        if (const replace* r = queue_.first_replace_request()) return *r;
        std::optional<steady_time> wake;
        for (const detail::flight& f : flights_) {
            if (f.in_flight) continue;
            const steady_time due = detail::later(pace_.not_before(), f.not_before);
            if (due <= now) return sending(f.attempt, f.runs, f.sizes, f.closed);
            wake = wake ? detail::earlier(*wake, due) : due;
        }
        if (queue_.can_be_sent(draft_waits()) && flights_.size() < policy_.in_flight) {
            const steady_time due = detail::later(pace_.not_before(), queue_.due(draft_waits()));
            const detail::send_draft& d = queue_.draft();
            if (due <= now) return sending(next_attempt_, d.runs, d.sizes, queue_.close_reason());
            wake = wake ? detail::earlier(*wake, due) : due;
        }
        if (wake) return wait_until{*wake};
        return idle{};
    }

    event_result on(input_opened, steady_time)
    {
        if (input_begin_) return event_result::stale;
        input_begin_ = end();
        open_report_ = {};
        return event_result::applied;
    }

    event_result on(input_closed, steady_time)
    {
        return std::exchange(input_begin_, std::nullopt) ? event_result::applied
                                                         : event_result::stale;
    }

    event_result on(const queued& q, steady_time now)
    {
        if (!queue_.push_if_certain(q.bytes)) push(q, now);
        return event_result::applied;
    }

    event_result on(const replaced& r, steady_time now)
    {
        return end_replace(r.item, r.bytes, now);
    }
    event_result on(const not_replaced& k, steady_time now)
    {
        return end_replace(k.item, std::nullopt, now);
    }
    event_result on(const resumed& r, steady_time) { return queue_.resume(r.key); }

    event_result on(flushed, steady_time now)
    {
        queue_.flush_before(end());
        update_draft(now, draft_change::extend);
        return event_result::applied;
    }

    event_result on(stopped, steady_time now)
    {
        if (std::exchange(stopped_, true)) return event_result::stale;
        while (const detail::flight* f = flights_.first_to_repeat()) {
            settle_all(*f, item_outcome::in_doubt);
            flights_.remove(*f);
        }
        update_draft(now, draft_change::recut);
        return event_result::applied;
    }

    event_result on(discarded, steady_time now)
    {
        const draft_seen seen = is_draft_seen();
        flights_.clear();
        calibrator_.hold_probes(false);
        settlements_.clear();
        queue_.clear();
        input_begin_.reset();
        open_report_ = {};
        if (seen == draft_seen::possibly) ++next_attempt_;
        update_draft(now, draft_change::extend, draft_seen::no);
        return event_result::applied;
    }

    event_result on(const started& s, steady_time now)
    {
        detail::flight* f = flights_.find(s.attempt);
        if (!f) return flight_of(s.attempt, now) ? event_result::applied : event_result::stale;
        if (f->in_flight) return event_result::stale;
        const draft_seen seen = is_draft_seen();
        f->in_flight = true;
        count_sent_again(*f);
        // The draft may now wait for the result of this attempt.
        if (seen == draft_seen::possibly && !is_draft(next_attempt_)) ++next_attempt_;
        return event_result::applied;
    }

    event_result on(const accepted& a, steady_time now)
    {
        detail::flight* f = flight_of(a.attempt, now);
        if (!f) return event_result::stale;
        calibrator_.accepted(f->sizes, a.actual, f->full(calibrator_), f->cut);
        pace_.succeeded(now);
        queue_.clear_suspects(f->sizes.items);
        if (f->sizes.items == 1) {
            queue_.record_single(f->runs.front().first, item_outcome::accepted);
        }
        settle_all(*f, item_outcome::accepted);
        end_flight(*f, now, draft_change::refit);
        return event_result::applied;
    }

    event_result on(const too_large& r, steady_time now)
    {
        if (!r.item_sizes.empty() && r.item_sizes.size() != item_count_of(r.attempt)) {
            return invalid_or_stale(r.attempt);
        }
        detail::flight* f = flight_of(r.attempt, now);
        if (!f) return event_result::stale;
        pace_.not_throttled();
        const std::uint64_t predicted = calibrator_.predict(f->sizes);
        calibrator_.refused(f->sizes, r.actual, r.limit,
                            queue_.items().sum_of(f->runs, r.item_sizes), f->cut);
        if (f->sizes.items > 1) flights_.mark_older();
        if (f->sizes.items == 1) {
            const std::uint64_t n = f->runs.front().first;
            const std::uint64_t item_size = r.item_sizes.empty() ? 0 : r.item_sizes.front();
            queue_.record_single(n, item_outcome::too_large);
            queue_.refuse_alone(n, r.actual.value_or(item_size > predicted ? item_size : predicted),
                                r.limit.value_or(calibrator_.limit()), settlements_);
        } else {
            queue_.items().learn_refusal(f->runs, f->sizes.items, r.item_sizes,
                                         r.actual.has_value());
            queue_.give_back(f->runs);
        }
        end_flight(*f, now, draft_change::recut);
        return event_result::applied;
    }

    event_result on(const partial& p, steady_time now)
    {
        const std::uint64_t items = item_count_of(p.attempt);
        for (const entry_fault& e : p.failed) {
            if (e.index >= items) return invalid_or_stale(p.attempt);
        }
        std::vector<std::uint32_t>& faults = aside_.faults;
        faults.clear();
        const std::uint32_t no_fault = 0;
        while (faults.size() != items) faults.push_back(no_fault);
        std::uint64_t refused = 0;
        for (std::size_t k = p.failed.size(); k-- != 0;) {
            const entry_fault& e = p.failed[k];
            const failed* f = get_if<failed>(&e.answer);
            if (holds_alternative<accepted>(e.answer)) continue;
            if (faults[e.index] == 0) ++refused;
            faults[e.index] = static_cast<std::uint32_t>(k + 1);
            if (f) settlements_.keep_text(f->text);
        }
        std::size_t position = 0;
        const auto next_fault = [&]() -> const entry_fault* {
            const std::uint32_t k = faults[position++];
            return k == 0 ? nullptr : &p.failed[k - 1];
        };
        detail::flight* f = flight_of(p.attempt, now);
        if (!f) return event_result::stale;
        queue_.make_room_for_requests(refused);
        settlements_.make_room(2 * refused + f->runs.size());  // a refused item ends two runs
        if (refused != items) pace_.succeeded(now);
        // A batch that was accepted in part was not too large.
        calibrator_.accepted(f->sizes, std::nullopt, f->full(calibrator_), f->cut);
        queue_.find_overtaken(f->runs, [&] {
            using answer = detail::send_queue::entry_answer;
            const entry_fault* e = next_fault();
            if (!e) return answer::accepted;
            return is_unknown(*e) ? answer::unknown : answer::refused;
        });
        position = 0;
        failures all{.hint = p.retry_after};
        queue_.settle(f->runs, settlements_, [&](std::uint64_t n, detail::send_item& i) {
            const entry_fault* e = next_fault();
            if (e) return refuse(*f, n, i, *e, all, now);
            return ends({.overtook = queue_.accept_entry(i)});
        });
        return finish(*f, all, now, p.random);
    }

    event_result on(const throttled& t, steady_time now)
    {
        detail::flight* f = flight_of(t.attempt, now);
        if (!f) return event_result::stale;
        pace_.throttled(now, t.random, t.retry_after);
        if (f->unknown_outcomes != 0 && stopped_) return end_in_doubt(*f, now);
        if (f->unknown_outcomes == 0) {
            queue_.give_back(f->runs);
            end_flight(*f, now, draft_change::recut);
        } else {
            f->in_flight = false;  // an earlier result was unknown: the batch stays the same
        }
        return event_result::applied;
    }

    event_result on(const failed& e, steady_time now)
    {
        if (e.kind == fault_kind::none) return invalid_or_stale(e.attempt);
        detail::flight* f = flight_of(e.attempt, now);
        if (!f) return event_result::stale;
        if (f->unknown_outcomes != 0 && detail::pace::retriable(e.kind))
            return on(outcome_unknown{e.attempt, e.random}, now);
        pace_.not_throttled();
        if (e.kind == fault_kind::permanent && f->sizes.items > 1) {
            // One item may be the reason. Smaller batches find it.
            queue_.isolate(f->sizes.items);
            queue_.give_back(f->runs);
            end_flight(*f, now, draft_change::recut);
            return event_result::applied;
        }
        if (e.kind == fault_kind::permanent) queue_.clear_suspects(unlimited);  // it was alone
        settlements_.keep_text(e.text);
        settlements_.make_room(f->sizes.items);
        failures all;
        queue_.settle(f->runs, settlements_, [&](std::uint64_t, detail::send_item& i) {
            return fail(*f, i, e, all, now);
        });
        return finish(*f, all, now, e.random);
    }

    event_result on(const outcome_unknown& u, steady_time now)
    {
        detail::flight* f = flight_of(u.attempt, now);
        if (!f) return event_result::stale;
        ++f->unknown_outcomes;
        queue_.mark_maybe_arrived(f->runs);
        const bool repeat = policy_.on_unknown == send_policy::when_unknown::repeat &&
                            pace_.may_retry(f->unknown_outcomes);
        if (stopped_ || !repeat || !pace_.spend(now)) return end_in_doubt(*f, now);
        f->in_flight = false;
        f->not_before = pace_.retry_at(now, f->unknown_outcomes, u.random, {});
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
    [[nodiscard]] calibration learnt() const noexcept { return calibrator_.state(); }
    [[nodiscard]] const send_policy& policy() const noexcept { return policy_; }
    /// The number of the next item to be queued.
    [[nodiscard]] std::uint64_t end() const noexcept { return queue_.end(); }
    /// The number of the first item that is not settled; `end()` if all are.
    [[nodiscard]] std::uint64_t first_open() const { return settlements_.first(queue_.begin()); }
    /// The number of the first item of the current input: after `input_opened`, before
    /// `input_closed`.
    [[nodiscard]] std::optional<std::uint64_t> input_begin() const noexcept { return input_begin_; }
    /// True if items that are queued now would be examined for the next batch.
    [[nodiscard]] bool wants_more() const noexcept { return queue_.wants_more(stopped_); }
    /// True after `stopped`: no new batch is sent.
    [[nodiscard]] bool has_stopped() const noexcept { return stopped_; }
    /// True if no item is waiting, in flight or to be settled.
    [[nodiscard]] bool finished() const noexcept
    {
        return settlements_.empty() && queue_.all_ended();
    }
    /// A number above the numbers of all attempts that `next` has returned.
    [[nodiscard]] std::uint64_t attempts_end() const noexcept { return next_attempt_ + 1; }
    /// The number of items that were sent again after an unknown outcome, each counted once. They
    /// may have arrived twice or more often, unless the broker drops duplicates.
    [[nodiscard]] std::uint64_t maybe_twice() const noexcept { return aside_.maybe_twice; }
    /// The number of attempts in flight.
    [[nodiscard]] std::size_t in_flight() const noexcept { return flights_.in_flight_count(); }

    /// The report of the calls of send_all that ended with an exception. The next call for the same
    /// input returns it together with its own. Empty after a call that returned.
    [[nodiscard]] const send_report& unreported() const noexcept { return open_report_.report; }

    friend bool operator==(const batch_sender&, const batch_sender&) = default;

private:
    friend struct detail::open_report_of;

    /// A summary of the failed items of one result.
    struct failures {
        duration hint{};                   // pause that the broker requires, or 0
        std::uint32_t max_attempts = 0;    // of an item that is sent again
        std::optional<bool> retry_paid{};  // result of `spend`, called once for all items
        bool throttled = false;
        bool stops_sender = false;
    };
    using ending = report;  // of an item; `items.count` is 1, or 0 if it waits again
    [[nodiscard]] static ending ends(report r) noexcept
    {
        r.items.count = 1;
        return r;
    }

    /// Data that no decision depends on. It is not part of the value.
    struct aside {
        // Of the partial result that is processed: for each item 0, or 1 + the index of its fault.
        std::vector<std::uint32_t> faults{};
        std::uint64_t maybe_twice = 0;

        friend bool operator==(const aside&, const aside&) { return true; }
    };

    [[nodiscard]] send sending(std::uint64_t attempt, const std::vector<item_range>& runs,
                               const detail::batch_sizes& sizes, batch_close_reason reason) const
    {
        return {attempt, {runs.data(), runs.size()}, calibrator_.predict(sizes), reason};
    }

    void push(queued q, steady_time now)
    {
        // `next` may have returned the draft, so it gets a new number.
        if (queue_.lingers() && queue_.push_visible(q.bytes)) {
            ++next_attempt_;
            return;
        }
        queue_.push(q, settlements_);
        update_draft(now, draft_change::extend);
    }

    /// The change of the draft: it grows, is refitted to new knowledge, or is cut again from the
    /// head.
    enum class draft_change : std::uint8_t { extend, refit, recut };

    /// `possibly` if `next` may have returned the draft. If such a draft changes, it gets a new
    /// number. A result for the old number is then stale, and settles no item that was never sent.
    enum class draft_seen : bool { no, possibly };

    [[nodiscard]] draft_seen is_draft_seen() const
    {
        return is_draft(next_attempt_) ? draft_seen::possibly : draft_seen::no;
    }

    void update_draft(steady_time now, draft_change change)
    {
        update_draft(now, change, is_draft_seen());
    }
    void update_draft(steady_time now, draft_change change, draft_seen seen)
    {
        if (stopped_) {
            flights_.mark_in_flight(queue_.items());
            return queue_.end_waiting(settlements_);
        }
        const std::uint64_t items = queue_.draft().sizes.items;
        if (change == draft_change::extend) queue_.extend(calibrator_, now, settlements_);
        if (change == draft_change::refit && !queue_.refit(calibrator_, now, settlements_))
            change = draft_change::recut;
        if (change == draft_change::recut) {
            if (!policy_.ordered) flights_.mark_in_flight(queue_.items());
            queue_.recut(calibrator_, now, settlements_);
        }
        const bool changed = change == draft_change::recut || queue_.draft().sizes.items != items;
        if (seen == draft_seen::possibly && (changed || !queue_.can_be_sent(draft_waits())))
            ++next_attempt_;
    }

    event_result end_replace(std::uint64_t item, std::optional<std::uint64_t> bytes,
                             steady_time now)
    {
        const replace* request = queue_.first_replace_request();
        if (!request) return event_result::stale;
        if (request->item != item) return event_result::invalid;
        queue_.replace(bytes, settlements_);
        update_draft(now, draft_change::recut);
        return event_result::applied;
    }

    /// True if the draft waits for keys in flight, and a result is expected.
    [[nodiscard]] bool draft_waits() const noexcept
    {
        return queue_.draft().waits_for_keys && flights_.in_flight_count() != 0;
    }

    [[nodiscard]] bool is_draft(std::uint64_t attempt) const
    {
        return attempt == next_attempt_ && queue_.can_be_sent(draft_waits()) &&
               flights_.size() < policy_.in_flight;
    }

    [[nodiscard]] std::uint64_t item_count_of(std::uint64_t attempt) const
    {
        if (const detail::flight* f = flights_.find(attempt)) return f->sizes.items;
        return is_draft(attempt) ? queue_.draft().sizes.items : 0;
    }

    [[nodiscard]] event_result invalid_or_stale(std::uint64_t attempt) const
    {
        return item_count_of(attempt) == 0 ? event_result::stale : event_result::invalid;
    }

    /// The flight that a result belongs to, or null. Starts the attempt if `started` is missing.
    [[nodiscard]] detail::flight* flight_of(std::uint64_t attempt, steady_time now)
    {
        if (detail::flight* f = flights_.find(attempt)) return f;
        if (!is_draft(attempt)) return nullptr;
        flights_.make_room();
        detail::flight& f = flights_.add(next_attempt_++, queue_.draft().sizes,
                                         queue_.close_reason(), calibrator_.next_cut_with());
        queue_.take_draft(f.runs);
        calibrator_.hold_probes(flights_.has_probe());
        count_sent_again(f);
        update_draft(now, draft_change::extend, draft_seen::no);
        return &f;
    }

    /// Ends a flight. If items came back or a key is free again, the draft is cut again.
    void end_flight(detail::flight& f, steady_time now, draft_change change)
    {
        const bool waited =
            f.closed == batch_close_reason::deadline || f.closed == batch_close_reason::end;
        // Items that have waited once do not wait again.
        if (waited && change == draft_change::recut) queue_.flush_before(f.runs.back().end());
        // Before `remove`: with this flight, `next` may have had no room to return the draft.
        const draft_seen seen = is_draft_seen();
        flights_.remove(f);
        calibrator_.hold_probes(flights_.has_probe());
        queue_.trim();
        update_draft(now, queue_.draft_is_late() ? draft_change::recut : change, seen);
    }

    /// Ends all items of a flight.
    void settle_all(const detail::flight& f, item_outcome o)
    {
        if (!queue_.any_maybe_overtook()) return queue_.settle_all(f.runs, o, settlements_);
        settlements_.make_room(f.sizes.items);
        queue_.settle(f.runs, settlements_, [&](std::uint64_t, const detail::send_item& i) {
            return ends({.outcome = o, .overtook = i.maybe_overtook != 0});
        });
    }

    /// Ends the items of a flight as `in_doubt`: the outcome is unknown, and they are not
    /// repeated.
    event_result end_in_doubt(detail::flight& f, steady_time now)
    {
        settle_all(f, item_outcome::in_doubt);
        end_flight(f, now, draft_change::recut);
        return event_result::applied;
    }

    void count_sent_again(const detail::flight& f)
    {
        const std::uint64_t items = queue_.count_sent_again(f.runs);
        aside_.maybe_twice = detail::saturating_add(aside_.maybe_twice, items);
    }

    /// True if an item is sent again after a failure. Counts the try.
    [[nodiscard]] bool retries(const detail::flight& f, detail::send_item& i, failures& all,
                               steady_time now)
    {
        const std::uint32_t attempts = i.failed_attempts + f.unknown_outcomes + 1U;
        if (!pace_.may_retry(attempts)) return false;
        if (!all.retry_paid) all.retry_paid = pace_.spend(now);
        if (!*all.retry_paid) return false;
        i.failed_attempts = static_cast<std::uint8_t>(attempts);  // less than 255, see pace
        if (attempts > all.max_attempts) all.max_attempts = attempts;
        return true;
    }

    /// The end of an item after a failure. If a batch with it may have arrived, it is in doubt.
    [[nodiscard]] ending fail(const detail::flight& f, detail::send_item& i, const failed& e,
                              failures& all, steady_time now)
    {
        if (e.kind == fault_kind::cancelled || e.kind == fault_kind::ownership_lost) {
            all.stops_sender = true;
            return {};  // the stop ends it
        }
        if (detail::pace::retriable(e.kind) && retries(f, i, all, now)) return {};
        if (i.maybe_arrived != 0) return ends(queue_.in_doubt(i));
        return ends({.outcome = item_outcome::failed, .kind = e.kind, .text = e.text});
    }

    /// An item waits again without using up a try, except those after an unknown outcome.
    [[nodiscard]] ending wait(const detail::flight& f, detail::send_item& i, duration hint,
                              failures& all)
    {
        all.throttled = true;
        all.hint = detail::greater(all.hint, hint);
        const std::uint32_t tries = i.failed_attempts + f.unknown_outcomes;
        i.failed_attempts = static_cast<std::uint8_t>(detail::lesser(tries, pace_.most_failed()));
        return {};
    }

    [[nodiscard]] static bool is_unknown(const entry_fault& e) noexcept
    {
        return holds_alternative<outcome_unknown>(e.answer) || holds_alternative<partial>(e.answer);
    }

    /// The kind of a refused entry. Without one, the broker has not said why.
    [[nodiscard]] static fault_kind kind_of(const failed* x) noexcept
    {
        if (!x) return fault_kind::transient;
        return x->kind == fault_kind::none ? fault_kind::infrastructure : x->kind;
    }

    /// The end of an item whose entry was refused.
    [[nodiscard]] ending refuse(const detail::flight& f, std::uint64_t n, detail::send_item& i,
                                const entry_fault& e, failures& all, steady_time now)
    {
        if (is_unknown(e)) queue_.doubt_entry(i);
        const bool key_ends = queue_.refuse_entry(i);
        const failed* x = get_if<failed>(&e.answer);
        const fault_kind kind = kind_of(x);
        ending end{};
        if (x) {
            end =
                kind == fault_kind::infrastructure ? wait(f, i, {}, all) : fail(f, i, *x, all, now);
        } else if (const throttled* t = get_if<throttled>(&e.answer)) {
            end = wait(f, i, t->retry_after, all);
        } else if (const too_large* l = get_if<too_large>(&e.answer)) {
            const std::uint64_t bytes = l->actual.value_or(i.bytes);
            const std::uint64_t limit = l->limit.value_or(policy_.limit.single);
            if (key_ends || !queue_.request_replacement(n, bytes, limit))
                end = ends(queue_.report_of_too_large(n, bytes, limit));
        } else if (policy_.on_unknown != send_policy::when_unknown::repeat ||
                   !retries(f, i, all, now)) {
            end = ends(queue_.in_doubt(i));
        }
        if (end.items.count != 0 || !key_ends || all.stops_sender) return end;
        if (i.maybe_arrived != 0) return ends(queue_.in_doubt(i));
        return ends({.outcome = item_outcome::failed,
                     .kind = kind,
                     .text = x ? std::string_view(x->text) : std::string_view()});
    }

    /// Ends a flight with failures, whose items are settled or wait again.
    event_result finish(detail::flight& f, const failures& all, steady_time now, double random)
    {
        if (all.throttled) pace_.throttled(now, random, all.hint);
        else pace_.not_throttled();
        if (all.max_attempts != 0) pace_.failed(now, all.max_attempts, random, all.hint);
        end_flight(f, now, draft_change::recut);
        if (all.stops_sender) on(stopped{}, now);
        return event_result::applied;
    }

    send_policy policy_;
    detail::calibrator calibrator_;
    detail::send_queue queue_;
    detail::pace pace_;
    detail::flights flights_;
    detail::settlements settlements_;
    std::uint64_t next_attempt_;                // number of the next attempt
    std::optional<std::uint64_t> input_begin_;  // first item of the open input
    aside aside_;
    detail::open_report open_report_;
    bool stopped_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_BATCH_SENDER_HPP

// SPDX-License-Identifier: MIT
//
// settle_batches: settles messages in as few calls to the queue as possible. Messages are numbered
// 0, 1, 2 ... in the order of `decided`; the caller maps the numbers to its messages.
//
//     waybill::settle_batches out{{.items = 10, .linger = 50ms}};
//     const auto s = settle(policy, delivery, f.kind, dice());
//     if (auto kind = settle_batches::kind_of(s))             // empty for let_lock_expire
//         out.on(settle_batches::decided{*kind, lock_left}, now);
//     match(out.next(now),
//         [&](settle_batches::settle_batch b) { out.on(queue.call(b), now); },  // batch_settled
//         [&](settle_batches::report r) { log(r); out.on(settle_batches::reported{r.item}, now); },
//         [&](wait_until w) { ... }, [&](idle) {});
//
// Guarantees (details: guide)
//   1. Each message is reported once. A `complete` gets one call even after its lock has expired.
//   2. A call has one kind and at most `items` messages, in the order in which they were decided.
//   3. A message waits for others at most `linger`, and only until `to_settle` before its lock
//      ends. The earliest end of a lock comes first.
//   4. Only the failed part of a call is retried. A result that is reported twice counts once.
// Cost: at most n log n, for n unreported messages. A value without locks: one thread at a time.

#ifndef WAYBILL_QUEUE_SETTLE_BATCHES_HPP
#define WAYBILL_QUEUE_SETTLE_BATCHES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `settle_batches`, which inherits them.
struct settle_batches_types {
    /// The kind of a settlement that calls the queue, without its data.
    enum class settle_kind : std::uint8_t { complete, abandon, defer, dead_letter };
    [[nodiscard]] friend constexpr std::string_view texts_of(settle_kind) noexcept
    {
        return "complete, abandon, defer, dead_letter";
    }

    struct config {
        std::uint64_t items = 10;  ///< Maximum messages of a call; 10 in SQS; 0 is read as 1.
        duration linger{};         ///< Maximum time that a message waits for others, at least 0.
        duration to_settle = duration::seconds(1);  ///< Maximum duration of a call, at least 0.
        std::uint32_t tries = 3;  ///< Maximum calls for a message; 0 is read as 1.
        backoff pauses{};         ///< Before each further call for a message.

        friend bool operator==(const config&, const config&) = default;
    };

    /// The outcome of the settlement of a message.
    enum class settle_outcome : std::uint8_t {
        done,  ///< The queue has confirmed the settlement.
        /// The queue has not confirmed the settlement, and no time is left for another call. The
        /// lock is lost or has expired, or a call failed and at most `to_settle` of the lock is
        /// left. The queue delivers the message again after the lock, unless the last call took
        /// effect.
        lost,
        /// The last call failed, and the fault is permanent or cancelled, or `tries` calls were
        /// made. The queue delivers the message again after the lock.
        given_up,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(settle_outcome) noexcept
    {
        return "done, lost, given_up";
    }

    /// Settle these messages in one call to the queue. The driver reports the result as
    /// `batch_settled`.
    struct settle_batch {
        std::uint64_t call = 0;
        settle_kind kind = settle_kind::complete;
        std::vector<std::uint64_t> items{};
        friend bool operator==(const settle_batch&, const settle_batch&) = default;
    };

    /// The settling of this message has ended. The driver reports `reported` after it has recorded
    /// that.
    struct report {
        std::uint64_t item = 0;
        settle_kind kind = settle_kind::complete;
        settle_outcome outcome = settle_outcome::done;
        /// The result of the last call; `none` without a call.
        fault_kind fault = fault_kind::none;
        std::uint32_t tries = 0;  ///< Calls that contained this message.
        friend bool operator==(const report&, const report&) = default;
    };

    /// The settlement of the next message, and the rest of its lock.
    struct decided {
        settle_kind kind = settle_kind::complete;
        duration lock_left = duration::highest();
        friend bool operator==(const decided&, const decided&) = default;
    };

    /// Pending messages do not wait for others any more, until the next one is decided.
    struct last_decided {
        friend bool operator==(const last_decided&, const last_decided&) = default;
    };

    /// The call with these messages has begun. Needed only if the result is reported later.
    struct batch_started {
        std::uint64_t call = 0;  ///< As in the action.
        std::vector<std::uint64_t> items{};
        friend bool operator==(const batch_started&, const batch_started&) = default;
    };

    /// A message that failed, by its index in the call.
    struct not_settled {
        std::uint64_t index = 0;
        fault_kind kind = fault_kind::transient;
        friend bool operator==(const not_settled&, const not_settled&) = default;
    };

    /// The result of a call with these messages. If `kind` is not `none`, all of them failed with
    /// it. Otherwise exactly those in `failed` failed. `random` in [0, 1) spreads the pauses. The
    /// event is `invalid` if an index is past the end or `items` contains a message twice. It is
    /// `stale` if the call already has a result.
    struct batch_settled {
        std::uint64_t call = 0;  ///< As in the action.
        std::vector<std::uint64_t> items{};
        fault_kind kind = fault_kind::none;
        std::vector<not_settled> failed{};
        double random = 0.5;
        friend bool operator==(const batch_settled&, const batch_settled&) = default;
    };

    /// The driver has recorded the report of this message.
    struct reported {
        std::uint64_t item = 0;
        friend bool operator==(const reported&, const reported&) = default;
    };

    static constexpr settle_kind settle_kinds[] = {settle_kind::complete, settle_kind::abandon,
                                                   settle_kind::defer, settle_kind::dead_letter};

    /// Returns no value for let_lock_expire, which does not call the queue.
    [[nodiscard]] static constexpr std::optional<settle_kind> kind_of(const settlement& s) noexcept
    {
        if (holds_alternative<complete>(s)) return settle_kind::complete;
        if (holds_alternative<abandon>(s)) return settle_kind::abandon;
        if (holds_alternative<defer>(s)) return settle_kind::defer;
        if (holds_alternative<dead_letter_message>(s)) return settle_kind::dead_letter;
        return {};
    }

    friend bool operator==(const settle_batches_types&, const settle_batches_types&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(
    const settle_batches_types::config& p) noexcept
{
    if (p.items == 0) return config_error{"items", 0, "must be at least", 1};
    if (p.linger < duration{}) {
        return config_error{.field = "linger",
                            .value = detail::magnitude(p.linger),
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    if (p.to_settle < duration{}) {
        return config_error{.field = "to_settle",
                            .value = detail::magnitude(p.to_settle),
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    if (p.tries == 0) return config_error{"tries", 0, "must be at least", 1};
    return validate(p.pauses);
}

class settle_batches : public settle_batches_types {
public:
    using action = variant<settle_batch, report, wait_until, idle>;

    explicit settle_batches(detail::no_options = {}) : settle_batches(config{}) {}
    explicit settle_batches(const config& p) : policy_(p)
    {
        if (policy_.items == 0) policy_.items = 1;
        if (policy_.tries == 0) policy_.tries = 1;
        policy_.to_settle = detail::greater(policy_.to_settle, duration{});
    }

    /// Returns a due report, else a due call, else the time until which to wait. Idle if no message
    /// waits. At most n log n, for n messages not yet reported.
    [[nodiscard]] action next(steady_time now) const
    {
        for (const entry& e : entries_) {
            if (report_due(e, now)) return report_of(e);
        }
        std::optional<settle_kind> most_urgent;
        steady_time earliest_lock_end;
        for (const settle_kind k : settle_kinds) {
            const std::optional<steady_time> lock_end = lock_end_if_due(k, now);
            if (!lock_end || (most_urgent && *lock_end >= earliest_lock_end)) continue;
            most_urgent = k;
            earliest_lock_end = *lock_end;
        }
        if (most_urgent) return most_urgent_batch(*most_urgent, now);

        std::optional<steady_time> until;
        for (const entry& e : entries_) {
            if (e.current_stage != stage::waiting) continue;
            const steady_time due_at = detail::earlier(
                detail::later(e.not_before, waits_for_others_until(e)), e.locked_until);
            until = until ? detail::earlier(*until, due_at) : due_at;
        }
        if (until) return wait_until{*until};
        return idle{};
    }

    event_result on(const decided& d, steady_time now)
    {
        entry e;
        e.item = next_item_;
        e.kind = d.kind;
        e.decided_at = now;
        e.locked_until = now + d.lock_left;
        entries_.push_back(e);
        ++next_item_;
        no_linger_ = false;
        return event_result::applied;
    }

    event_result on(const last_decided&, steady_time)
    {
        if (entries_.empty()) return event_result::stale;
        no_linger_ = true;
        return event_result::applied;
    }

    event_result on(const batch_started& s, steady_time)
    {
        if (s.call != next_call_) return event_result::stale;
        for (const std::uint64_t item : s.items) {
            entry* const e = find(item);
            if (e == nullptr || e->current_stage != stage::waiting) continue;
            e->current_stage = stage::called;
            e->call = s.call;
            next_call_ = s.call + 1;
        }
        return next_call_ == s.call ? event_result::stale : event_result::applied;
    }

    event_result on(const batch_settled& s, steady_time now)
    {
        std::vector<fault_kind> faults(s.items.size(), s.kind);
        // In reverse order: if `failed` contains an index twice, its first entry counts.
        for (std::size_t i = s.failed.size(); i-- != 0;) {
            const not_settled& f = s.failed[i];
            if (f.index >= faults.size()) return event_result::invalid;
            if (s.kind != fault_kind::none) continue;
            // An entry of `failed` without a fault counts as `infrastructure`.
            const bool has_no_fault = f.kind == fault_kind::none;
            faults[f.index] = has_no_fault ? fault_kind::infrastructure : f.kind;
        }
        const std::set<std::uint64_t> distinct_items(s.items.begin(), s.items.end());
        if (distinct_items.size() != s.items.size()) return event_result::invalid;
        event_result result = event_result::stale;
        for (std::size_t i = 0; i != s.items.size(); ++i) {
            entry* const e = find(s.items[i]);
            if (e == nullptr || e->current_stage == stage::ended) continue;
            if (s.call != (e->current_stage == stage::called ? e->call : next_call_)) continue;
            record_result(*e, faults[i], s.random, now);
            result = event_result::applied;
        }
        if (result == event_result::applied && s.call == next_call_) ++next_call_;
        return result;
    }

    /// The time does not matter: the clock may have gone back since the report.
    event_result on(const reported& r, steady_time)
    {
        const entry* const e = find(r.item);
        if (e == nullptr) return event_result::stale;
        if (!report_due(*e, steady_time::highest())) return event_result::invalid;
        entries_.erase(entries_.begin() + (e - entries_.data()));
        if (entries_.empty()) no_linger_ = false;
        return event_result::applied;
    }

    /// Number of messages decided so far; also the number of the next message.
    [[nodiscard]] std::uint64_t decided_items() const noexcept { return next_item_; }
    /// Number of messages decided and not yet reported.
    [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

    friend bool operator==(const settle_batches&, const settle_batches&) = default;

private:
    enum class stage : std::uint8_t { waiting, called, ended };

    struct entry {
        std::uint64_t item = 0;
        settle_kind kind = settle_kind::complete;
        stage current_stage = stage::waiting;
        settle_outcome outcome = settle_outcome::lost;
        fault_kind fault = fault_kind::none;
        std::uint32_t tries = 0;
        std::uint64_t call = 0;  // if called: the number of that call
        steady_time decided_at{};
        steady_time locked_until{};
        steady_time not_before = steady_time::lowest();
        friend bool operator==(const entry&, const entry&) = default;
    };

    /// True if a report is due. If a lock ends during a call, the result of the call comes first.
    [[nodiscard]] static bool report_due(const entry& e, steady_time now)
    {
        if (e.current_stage != stage::waiting) return e.current_stage == stage::ended;
        const bool first_call_due = e.kind == settle_kind::complete && e.tries == 0;
        return e.locked_until <= now && !first_call_due;
    }

    [[nodiscard]] static report report_of(const entry& e)
    {
        const settle_outcome outcome =
            e.current_stage == stage::ended ? e.outcome : settle_outcome::lost;
        return {e.item, e.kind, outcome, e.fault, e.tries};
    }

    /// From this time on, the message does not wait for others, so its call is due. A retry, or any
    /// message after `last_decided`, waits for no others.
    [[nodiscard]] steady_time waits_for_others_until(const entry& e) const
    {
        if (e.tries != 0 || no_linger_) return e.not_before;
        return detail::earlier(e.decided_at + policy_.linger, e.locked_until - policy_.to_settle);
    }

    [[nodiscard]] static bool is_ready(const entry& e, settle_kind k, steady_time now)
    {
        return e.kind == k && e.current_stage == stage::waiting && e.not_before <= now;
    }

    /// If a call of kind `k` is due, the earliest lock end of its messages; otherwise no value.
    [[nodiscard]] std::optional<steady_time> lock_end_if_due(settle_kind k, steady_time now) const
    {
        std::uint64_t waiting = 0;
        bool is_due = false;
        steady_time earliest_lock_end = steady_time::highest();
        for (const entry& e : entries_) {
            if (!is_ready(e, k, now)) continue;
            ++waiting;
            earliest_lock_end = detail::earlier(earliest_lock_end, e.locked_until);
            is_due = is_due || waits_for_others_until(e) <= now;
        }
        if (is_due || waiting >= policy_.items) return earliest_lock_end;
        return {};
    }

    struct more_urgent {
        bool operator()(const entry* a, const entry* b) const
        {
            if (a->locked_until != b->locked_until) return a->locked_until < b->locked_until;
            return a->item < b->item;
        }
    };

    /// The call for the most urgent messages of this kind.
    [[nodiscard]] settle_batch most_urgent_batch(settle_kind k, steady_time now) const
    {
        std::set<const entry*, more_urgent> chosen;
        const auto least_urgent = [&] {
            auto last = chosen.end();
            return *--last;
        };
        for (const entry& e : entries_) {
            if (!is_ready(e, k, now)) continue;
            if (chosen.size() < policy_.items) {
                chosen.insert(chosen.end(), &e);
            } else if (more_urgent{}(&e, least_urgent())) {
                chosen.erase(least_urgent());
                chosen.insert(&e);
            }
        }
        settle_batch b{.call = next_call_, .kind = k};
        // `chosen` is ordered by urgency; a call has its messages in the order of their numbers.
        for (const entry& e : entries_) {
            if (is_ready(e, k, now) && !more_urgent{}(least_urgent(), &e))
                b.items.push_back(e.item);
        }
        return b;
    }

    /// Binary search: the numbers in `entries_` ascend.
    [[nodiscard]] entry* find(std::uint64_t item)
    {
        std::size_t first = 0;
        std::size_t end = entries_.size();
        while (first != end) {
            const std::size_t middle = first + (end - first) / 2;
            entry& e = entries_[middle];
            if (e.item == item) return &e;
            if (e.item < item) first = middle + 1;
            else end = middle;
        }
        return nullptr;
    }

    void record_result(entry& e, fault_kind kind, double random, steady_time now)
    {
        ++e.tries;
        e.fault = kind;
        e.current_stage = stage::ended;
        e.outcome = settle_outcome::given_up;
        if (kind == fault_kind::none) e.outcome = settle_outcome::done;
        if (kind == fault_kind::ownership_lost) e.outcome = settle_outcome::lost;
        if (kind != fault_kind::transient && kind != fault_kind::infrastructure) return;
        if (e.tries >= policy_.tries) return;
        // Retry if time is left. The pause ends in time for another call.
        const steady_time latest_retry = e.locked_until - policy_.to_settle;
        e.outcome = settle_outcome::lost;
        if (latest_retry <= now) return;
        e.current_stage = stage::waiting;
        e.not_before = detail::earlier(now + pause(policy_.pauses, e.tries, random), latest_retry);
    }

    config policy_;
    std::vector<entry> entries_;  // not yet reported, in the order of `decided`
    std::uint64_t next_item_ = 0;
    std::uint64_t next_call_ = 0;
    bool no_linger_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_SETTLE_BATCHES_HPP

// SPDX-License-Identifier: MIT
//
// settle_batches: what is to be told to a queue, gathered into as few calls as it allows.
//
// A machine. It sees numbers only: messages are numbered 0, 1, 2 ... as they are decided, and who
// drives it keeps what belongs to the numbers.
//
//     waybill::settle_batches calls{{.items = 10, .linger = 50ms}};
//     if (auto kind = kind_of(settle(policy, delivery, f.how, dice(), wall)))   // `leave` has none
//         calls.on(decided{*kind, lock_left}, now);
//     match(calls.next(now),
//         [&](act::settle_batch b) { calls.on(queue.call(b), now); },      // answers batch_settled
//         [&](act::report r)       { log(r.item, r.end); calls.on(reported{r.item}, now); },
//         [&](act::wait w)         { ... }, [&](act::idle) {});
//
// What holds whatever the answers are:
//   1. every message is reported once, with one end: `done` if the queue has confirmed it, `lost`
//      if it has not and no time is left for another call, `given_up` if it was refused for good or
//      tried often enough. After a failed call, `lost` is reported up to `to_settle` before the
//      lock expires: the caller may still hold the lock;
//   2. a call has one kind and at most `items` messages, in the order in which they were decided.
//      Those that failed are asked for again after a pause, while others may go ahead of them;
//   3. no message waits for others longer than `linger`, or until `to_settle` before its lock ends.
//      Of calls that are due, and of messages for one call, those whose locks end first go first;
//   4. what failed is tried again while more than `to_settle` of its lock is left, `tries` times in
//      all; and of a call that failed in part only the failed part is. Calls are numbered: an
//      answer that comes twice counts once;
//   5. it ends: each answer ends a message or counts one of its tries, and locks run out.
//
// A completion is told once even after its lock is over: at worst it is refused, and if it is not a
// repeated effect is saved. A step costs n log n at the most, for n messages not reported yet.
// A value without locks: one thread at a time.

#ifndef WAYBILL_CONSUME_SETTLE_BATCH_HPP
#define WAYBILL_CONSUME_SETTLE_BATCH_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include <waybill/consume/settle.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/check.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

/// How the settling of a message ended.
enum class settle_end : std::uint8_t {
    done,  ///< The queue has confirmed it.
    /// The queue has not confirmed it, and no time is left for another call: the lock is lost or
    /// has expired, or a call failed and at most `to_settle` of the lock is left. The queue
    /// delivers the message again after the lock, unless the last call took effect.
    lost,
    given_up,  ///< The queue does not take it. It delivers the message again after the lock.
};

[[nodiscard]] constexpr std::string_view name(settle_end e) noexcept
{
    switch (e) {
        case settle_end::done: return "done";
        case settle_end::lost: return "lost";
        case settle_end::given_up: return "given_up";
    }
    return "?";
}

namespace act {

/// Tell the queue about these messages in one call. Answered by `batch_settled`.
struct settle_batch {
    std::uint64_t call = 0;
    settle_kind kind = settle_kind::complete;
    std::vector<std::uint64_t> items{};
    friend bool operator==(const settle_batch&, const settle_batch&) = default;
};

/// The settling of this message has ended so. Answered by `reported` once it is noted.
struct report {
    std::uint64_t item = 0;
    settle_kind kind = settle_kind::complete;
    settle_end end = settle_end::done;
    fault_class how = fault_class::none;  ///< The last failure; none if there was none.
    std::uint32_t tries = 0;              ///< Calls that were about it.
    friend bool operator==(const report&, const report&) = default;
};

}  // namespace act

/// What to tell about the next message, and for how long it is locked still.
struct decided {
    settle_kind kind = settle_kind::complete;
    duration lock_left = duration::highest();
    friend bool operator==(const decided&, const decided&) = default;
};

/// No other messages are to be waited for, until the next one is decided.
struct last_decided {
    friend bool operator==(const last_decided&, const last_decided&) = default;
};

/// A call about these is under way: only for those whose answer comes later.
struct batch_started {
    std::uint64_t call = 0;  ///< As in the action.
    std::vector<std::uint64_t> items{};
    friend bool operator==(const batch_started&, const batch_started&) = default;
};

/// One that failed, by its index in the call.
struct not_settled {
    std::uint64_t index = 0;
    fault_class how = fault_class::transient;
    friend bool operator==(const not_settled&, const not_settled&) = default;
};

/// The call about these has been answered: all of it failed in this way, or none but those named.
/// `draw` in [0, 1) spreads the pauses. `invalid` where an index is past the end, or an item twice
/// in it; `late` where the call was answered.
struct batch_settled {
    std::uint64_t call = 0;  ///< As in the action.
    std::vector<std::uint64_t> items{};
    fault_class how = fault_class::none;
    std::vector<not_settled> failed{};
    double draw = 0.5;
    friend bool operator==(const batch_settled&, const batch_settled&) = default;
};

/// The end of this message is noted.
struct reported {
    std::uint64_t item = 0;
    friend bool operator==(const reported&, const reported&) = default;
};

struct settle_batch_policy {
    std::uint64_t items = 10;  ///< Most messages in a call, as SQS has it; 0 reads as 1.
    duration linger{};         ///< So long a message waits for others; by default not at all.
    duration to_settle = duration::seconds(1);  ///< So long a call may take, at least 0.
    std::uint32_t tries = 3;                    ///< Calls about one message; 0 reads as 1.
    backoff pauses{};                           ///< Before the second one.

    friend bool operator==(const settle_batch_policy&, const settle_batch_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const settle_batch_policy& p) noexcept
{
    if (p.items == 0) return config_error{"items", 0, "must be at least", 1};
    if (p.linger < duration{}) {
        return config_error{"linger", detail::magnitude(p.linger),
                            "nanoseconds must be at least", 0, true};
    }
    if (p.to_settle < duration{}) {
        return config_error{"to_settle", detail::magnitude(p.to_settle),
                            "nanoseconds must be at least", 0, true};
    }
    if (p.tries == 0) return config_error{"tries", 0, "must be at least", 1};
    return check(p.pauses);
}

class settle_batches {
public:
    using action = std::variant<act::settle_batch, act::report, act::wait, act::idle>;

    explicit settle_batches(const settle_batch_policy& p = {}) : policy_(p)
    {
        if (policy_.items == 0) policy_.items = 1;
        if (policy_.tries == 0) policy_.tries = 1;
        policy_.to_settle = greater(policy_.to_settle, duration{});
    }

    [[nodiscard]] action next(steady_time now) const
    {
        for (const entry& e : list_) {
            if (over(e, now)) return report_of(e);
        }
        std::optional<settle_kind> most_urgent;
        steady_time ends;
        for (const settle_kind k : settle_kinds) {
            const std::optional<steady_time> lock = due(k, now);
            if (!lock || (most_urgent && *lock >= ends)) continue;
            most_urgent = k;
            ends = *lock;
        }
        if (most_urgent) return call(*most_urgent, now);

        std::optional<steady_time> until;
        for (const entry& e : list_) {
            if (e.at != stage::waiting) continue;
            const steady_time then = earlier(later(e.not_before, latest(e)), e.locked_until);
            until = until ? earlier(*until, then) : then;
        }
        if (until) return act::wait{*until};
        return act::idle{};
    }

    heard on(const decided& d, steady_time now)
    {
        entry e;
        e.item = next_item_;
        e.kind = d.kind;
        e.since = now;
        e.locked_until = now + d.lock_left;
        list_.push_back(e);
        ++next_item_;
        no_more_ = false;
        return heard::taken;
    }

    heard on(const last_decided&, steady_time)
    {
        if (list_.empty()) return heard::late;
        no_more_ = true;
        return heard::taken;
    }

    heard on(const batch_started& s, steady_time)
    {
        if (s.call != next_call_) return heard::late;
        for (const std::uint64_t item : s.items) {
            entry* const e = find(item);
            if (e == nullptr || e->at != stage::waiting) continue;
            e->at = stage::called;
            e->call = s.call;
            next_call_ = s.call + 1;
        }
        return next_call_ == s.call ? heard::late : heard::taken;
    }

    heard on(const batch_settled& s, steady_time now)
    {
        std::vector<fault_class> how(s.items.size(), s.how);
        for (auto f = s.failed.rbegin(); f != s.failed.rend(); ++f) {
            if (f->index >= how.size()) return heard::invalid;
            if (s.how != fault_class::none) continue;
            // An error that claims to be none is one.
            const bool none = f->how == fault_class::none;
            how[f->index] = none ? fault_class::infrastructure : f->how;
        }
        const std::set<std::uint64_t> once(s.items.begin(), s.items.end());
        if (once.size() != s.items.size()) return heard::invalid;
        heard h = heard::late;
        for (std::size_t i = 0; i != s.items.size(); ++i) {
            entry* const e = find(s.items[i]);
            if (e == nullptr || e->at == stage::ended) continue;
            if (s.call != (e->at == stage::called ? e->call : next_call_)) continue;
            answer(*e, how[i], s.draw, now);
            h = heard::taken;
        }
        if (h == heard::taken && s.call == next_call_) ++next_call_;
        return h;
    }

    heard on(const reported& r, steady_time now)
    {
        const entry* const e = find(r.item);
        if (e == nullptr) return heard::late;
        if (!over(*e, now)) return heard::invalid;
        list_.erase(list_.begin() + (e - list_.data()));
        if (list_.empty()) no_more_ = false;
        return heard::taken;
    }

    /// Messages that were decided, and those of them that are not reported yet.
    [[nodiscard]] std::uint64_t decided_items() const noexcept { return next_item_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return list_.size(); }
    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

    friend bool operator==(const settle_batches&, const settle_batches&) = default;

private:
    enum class stage : std::uint8_t { waiting, called, ended };

    struct entry {
        std::uint64_t item = 0;
        settle_kind kind = settle_kind::complete;
        stage at = stage::waiting;
        settle_end end = settle_end::lost;
        fault_class how = fault_class::none;
        std::uint32_t tries = 0;
        std::uint64_t call = 0;  // the one that is under way
        steady_time since{};
        steady_time locked_until{};
        steady_time not_before = steady_time::lowest();
        friend bool operator==(const entry&, const entry&) = default;
    };

    /// To be reported. A lock that ends during a call is waited for: the answer says more.
    [[nodiscard]] static bool over(const entry& e, steady_time now)
    {
        if (e.at != stage::waiting) return e.at == stage::ended;
        const bool once_more = e.kind == settle_kind::complete && e.tries == 0;
        return e.locked_until <= now && !once_more;
    }

    [[nodiscard]] static act::report report_of(const entry& e)
    {
        const settle_end end = e.at == stage::ended ? e.end : settle_end::lost;
        return {e.item, e.kind, end, e.how, e.tries};
    }

    /// When its call is to begin at the latest.
    [[nodiscard]] steady_time latest(const entry& e) const
    {
        if (e.tries != 0 || no_more_) return e.not_before;
        return earlier(e.since + policy_.linger, e.locked_until - policy_.to_settle);
    }

    [[nodiscard]] static bool ready(const entry& e, settle_kind k, steady_time now)
    {
        return e.kind == k && e.at == stage::waiting && e.not_before <= now;
    }

    /// Whether a call of this kind is due, told as when the first lock of its messages ends.
    [[nodiscard]] std::optional<steady_time> due(settle_kind k, steady_time now) const
    {
        std::uint64_t waiting = 0;
        bool is_due = false;
        steady_time ends = steady_time::highest();
        for (const entry& e : list_) {
            if (!ready(e, k, now)) continue;
            ++waiting;
            ends = earlier(ends, e.locked_until);
            is_due = is_due || latest(e) <= now;
        }
        if (is_due || waiting >= policy_.items) return ends;
        return {};
    }

    struct more_urgent {
        bool operator()(const entry* a, const entry* b) const
        {
            if (a->locked_until != b->locked_until) return a->locked_until < b->locked_until;
            return a->item < b->item;
        }
    };

    /// The most urgent ones of the kind.
    [[nodiscard]] act::settle_batch call(settle_kind k, steady_time now) const
    {
        std::set<const entry*, more_urgent> chosen;
        for (const entry& e : list_) {
            if (!ready(e, k, now)) continue;
            if (chosen.size() < policy_.items) {
                chosen.insert(chosen.end(), &e);
            } else if (more_urgent{}(&e, *chosen.rbegin())) {
                chosen.erase(*chosen.rbegin());
                chosen.insert(&e);
            }
        }
        act::settle_batch b{next_call_, k, {}};
        for (const entry& e : list_) {
            if (ready(e, k, now) && !more_urgent{}(*chosen.rbegin(), &e)) b.items.push_back(e.item);
        }
        return b;
    }

    /// By bisection: items ascend.
    [[nodiscard]] entry* find(std::uint64_t item)
    {
        std::size_t first = 0;
        std::size_t last = list_.size();
        while (first != last) {
            const std::size_t middle = first + (last - first) / 2;
            entry& e = list_[middle];
            if (e.item == item) return &e;
            (e.item < item ? first : last) = e.item < item ? middle + 1 : middle;
        }
        return nullptr;
    }

    void answer(entry& e, fault_class how, double draw, steady_time now)
    {
        ++e.tries;
        e.how = how;
        e.at = stage::ended;
        e.end = settle_end::given_up;
        if (how == fault_class::none) e.end = settle_end::done;
        if (how == fault_class::ownership_lost) e.end = settle_end::lost;
        if (how != fault_class::transient && how != fault_class::infrastructure) return;
        if (e.tries >= policy_.tries) return;
        // Once more, and in time: no pause goes past the last moment for a call.
        const steady_time last = e.locked_until - policy_.to_settle;
        e.end = settle_end::lost;
        if (last <= now) return;
        e.at = stage::waiting;
        e.not_before = earlier(now + pause(policy_.pauses, e.tries, draw), last);
    }

    settle_batch_policy policy_;
    std::vector<entry> list_;  // not reported yet, in the order in which they were decided
    std::uint64_t next_item_ = 0;
    std::uint64_t next_call_ = 0;
    bool no_more_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_SETTLE_BATCH_HPP

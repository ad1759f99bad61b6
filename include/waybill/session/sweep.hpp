// SPDX-License-Identifier: MIT
//
// sweep: finds the stored states to clear, and those that an operator should check.
//
//     std::vector<waybill::sweep_item::swept_state> rows;  // {session, outcome, progress, written}
//     for (const auto& s : all_that_have_a_state()) rows.push_back(read(s));
//     const auto plan = waybill::plan_sweep(rows, wall(), {.stuck_after = 1h});
//     if (!plan) return log(waybill::describe(plan.error()));      // an invalid policy
//     for (const waybill::sweep_item& i : *plan) {
//         if (!i.clears()) print(waybill::describe(i));            // "stuck at 2 of 5 for 36h"
//         else if (auto s = accept(rows[i.index].session); s && i.may_clear(read(*s)))
//             s->clear();                              // under its lock, or by its version
//     }
//
// Every system with a pipeline runs a sweep regularly; the guide explains why. Guarantees
//   1. A state is cleared only `messages_live` after its last change, when no message of its
//      session can arrive.
//   2. A state that cannot be read or has no time is never cleared, and always reported.
//   3. A session that has neither failed nor finished is stuck after `stuck_after`. It is reported,
//      and cleared only after `give_up_after`. Steps that arrive later are dead-lettered as a gap.
//   4. A state that changed after it was read is not cleared: call `may_clear` under the lock.

#ifndef WAYBILL_SESSION_SWEEP_HPP
#define WAYBILL_SESSION_SWEEP_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/session/progress.hpp>

namespace waybill::inline v0_2 {

/// The times after which a sweep clears or reports a state.
struct sweep_policy {
    /// The time to live of a message, as configured in the broker. Default: 14 days.
    duration messages_live = duration::seconds(14 * std::int64_t{86'400});
    /// The time for which the state of a failed session is kept; at least `messages_live`. Default:
    /// 30 days.
    duration keep_failed = duration::seconds(30 * std::int64_t{86'400});
    /// A session is stuck if its state has not changed for longer than this; more than 0. Default:
    /// one day.
    duration stuck_after = duration::seconds(86'400);
    /// A stuck state older than this is cleared; at least `messages_live`, by default never.
    duration give_up_after = duration::highest();

    friend bool operator==(const sweep_policy&, const sweep_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const sweep_policy& p) noexcept
{
    const auto wrong = [](std::string_view field, duration d, std::string_view rule,
                          duration bound) {
        return config_error{field, detail::magnitude(d), rule, detail::magnitude(bound),
                            d < duration{}};
    };
    if (p.messages_live <= duration{}) {
        return wrong("sweep.messages_live", p.messages_live, "nanoseconds must be more than",
                     duration{});
    }
    if (p.keep_failed < p.messages_live) {
        return wrong("sweep.keep_failed", p.keep_failed,
                     "nanoseconds must be at least messages_live, or a failed session begins again",
                     p.messages_live);
    }
    if (p.stuck_after <= duration{}) {
        return wrong("sweep.stuck_after", p.stuck_after, "nanoseconds must be more than",
                     duration{});
    }
    if (p.give_up_after < p.messages_live) {
        return wrong("sweep.give_up_after", p.give_up_after,
                     "nanoseconds must be at least messages_live, or a step may run twice",
                     p.messages_live);
    }
    return {};
}

/// A state to clear or to check.
struct sweep_item {
    /// A stored state for a sweep. A codec provides `outcome` and `progress`.
    struct swept_state {
        std::string session{};
        state_read outcome = state_read::absent;
        session_progress progress{};  ///< Valid if `outcome` is ok.
        wall_time written{};          ///< The store's time of the write, if `progress` has none.

        friend bool operator==(const swept_state&, const swept_state&) = default;
    };

    /// The first three verdicts clear the state; the others only report it.
    enum class sweep_verdict : std::uint8_t {
        clear_finished,  ///< All steps are done, but the state was not cleared. Clear it.
        clear_failed,    ///< It failed more than `keep_failed` ago. Clear it.
        clear_stuck,     ///< Unchanged for more than `give_up_after`. Clear it.
        stuck,           ///< Unchanged for more than `stuck_after`; neither failed nor finished.
        unreadable,      ///< Newer, corrupt or too large. Leave it to a program that can read it.
        no_time,         ///< Neither the state nor the store has a time.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(sweep_verdict) noexcept
    {
        return "clear_finished, clear_failed, clear_stuck, stuck, unreadable, no_time";
    }

    std::uint64_t index = 0;  ///< The index in the states that were swept.
    sweep_verdict verdict = sweep_verdict::stuck;
    state_read outcome = state_read::ok;
    duration age{};           ///< Time since the last change; 0 if it is unknown.
    wall_time changed{};      ///< The time of the last change when the state was read.
    std::uint64_t done = 0;   ///< The last step that is done.
    std::uint64_t total = 0;  ///< The last step of the session; 0 if it is not known.

    /// True if the state is to be cleared, false if it is only reported.
    [[nodiscard]] constexpr bool clears() const noexcept
    {
        return verdict <= sweep_verdict::clear_stuck;
    }

    /// True if `found`, read again under the lock, is still the state that this item clears.
    [[nodiscard]] bool may_clear(const swept_state& found) const noexcept
    {
        const session_progress& p = found.progress;
        const wall_time last_change = p.changed == wall_time{} ? found.written : p.changed;
        return clears() && found.outcome == state_read::ok && last_change == changed &&
               p.done == done;
    }

    friend bool operator==(const sweep_item&, const sweep_item&) = default;
};

/// One line for a log, for example "stuck at 2 of 5 for 36h".
template <std::same_as<sweep_item> T>
[[nodiscard]] std::string describe(const T& i)
{
    std::string line(name(i.verdict));
    if (i.verdict == sweep_item::sweep_verdict::unreadable)
        return line + ": " + std::string(name(i.outcome));
    line += " at " + std::to_string(i.done);
    if (i.total != 0) line += " of " + std::to_string(i.total);
    if (i.verdict == sweep_item::sweep_verdict::no_time) return line;
    constexpr std::int64_t seconds_per_hour = 3'600;
    constexpr duration hour = duration::seconds(seconds_per_hour);
    const duration whole_hours = duration::seconds(i.age.count() / hour.count() * seconds_per_hour);
    return line + " for " + to_text(whole_hours == duration{} ? i.age : whole_hours);
}

namespace detail {

[[nodiscard]] inline std::optional<sweep_item::sweep_verdict> verdict_of(
    const session_progress& p, duration age, const sweep_policy& s) noexcept
{
    if (p.failed) {
        if (age > s.keep_failed) return sweep_item::sweep_verdict::clear_failed;
        return {};
    }
    if (p.finished()) {
        if (age > s.messages_live) return sweep_item::sweep_verdict::clear_finished;
        return {};
    }
    if (age > s.give_up_after) return sweep_item::sweep_verdict::clear_stuck;
    if (age > s.stuck_after) return sweep_item::sweep_verdict::stuck;
    return {};
}

}  // namespace detail

/// The states to clear or to check, in the order of `states`, or the first invalid field of the
/// policy. A state with a time in the future has a negative age and is not cleared. O(n).
[[nodiscard]] inline result<std::vector<sweep_item>, config_error> plan_sweep(
    std::span<const sweep_item::swept_state> states, wall_time now, const sweep_policy& p = {})
{
    if (const std::optional<config_error> bad = validate(p)) return unexpected(*bad);
    std::vector<sweep_item> items;
    for (std::size_t i = 0; i != states.size(); ++i) {
        const sweep_item::swept_state& s = states[i];
        if (s.outcome == state_read::absent) continue;
        if (s.outcome != state_read::ok) {
            items.push_back({.index = i,
                             .verdict = sweep_item::sweep_verdict::unreadable,
                             .outcome = s.outcome,
                             .changed = s.written});
            continue;
        }
        const bool has_change_time = s.progress.changed != wall_time{};
        const wall_time changed = has_change_time ? s.progress.changed : s.written;
        sweep_item item{.index = i,
                        .verdict = sweep_item::sweep_verdict::no_time,
                        .outcome = s.outcome,
                        .age = now - changed,
                        .changed = changed,
                        .done = s.progress.done,
                        .total = s.progress.total};
        if (changed == wall_time{}) item.age = {};
        else if (const auto v = detail::verdict_of(s.progress, item.age, p)) item.verdict = *v;
        else continue;
        items.push_back(item);
    }
    return items;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_SWEEP_HPP

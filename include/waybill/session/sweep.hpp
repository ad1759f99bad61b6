// SPDX-License-Identifier: MIT
//
// sweep: which states of sessions may go, and which somebody should look at.
//
//     std::vector<waybill::swept_state> rows;      // {session, how, progress, written}
//     for (const auto& s : all_that_have_a_state()) rows.push_back(read(s));
//     auto plan = waybill::plan_sweep(rows, wall(), {.stuck_after = 1h});
//     for (const waybill::sweep_item& i : plan) {
//         if (!i.clears()) print(waybill::text(i));            // "stuck at 2 of 5 for 36h"
//         else if (auto s = accept(rows[i.index].session); s && waybill::may_clear(i, read(*s)))
//             s->clear();                              // under its lock, or by its version
//     }
//
// `how` and `progress` are what a codec decodes; `written` is the time that the store itself says,
// where it says one.
//
// A state is cleared after the last step is settled. If the process ends between the two, that call
// fails, or the last step never comes, the state stays and takes up the broker's room. Nothing but a
// sweep removes it, so every system with a pipeline runs one regularly. Guarantees:
//   1. a state goes only when no message of its session can come any more, `messages_live` after it
//      was written. A step that came after that would find none: a session that has failed would
//      begin anew, and one that is finished would do its only step twice;
//   2. one that cannot be read is never cleared, and always named. Neither is one without any time;
//   3. a session that has neither failed nor finished is stuck after `stuck_after`: a step was
//      lost, or its sender has stopped. It is named; it goes only after `give_up_after`, if that
//      is said. Steps that still come then are parked as a gap;
//   4. what has changed since it was read stays: `may_clear` compares, under the session's lock.

#ifndef WAYBILL_SESSION_SWEEP_HPP
#define WAYBILL_SESSION_SWEEP_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/check.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/retry/nanoseconds.hpp>
#include <waybill/session/progress.hpp>

namespace waybill::inline v0_2 {

struct sweep_policy {
    /// So long can a message stay in the queue: its time to live, as set at the broker.
    duration messages_live = duration::seconds(14 * 86'400);
    /// A failed state is kept for so long, at least as long as messages live.
    duration keep_failed = duration::seconds(30 * 86'400);
    duration stuck_after = duration::seconds(86'400);  ///< Without a step for so long.
    duration give_up_after = duration::highest();      ///< It goes; by default never.

    friend bool operator==(const sweep_policy&, const sweep_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const sweep_policy& p) noexcept
{
    const auto wrong = [](std::string_view field, duration d, std::string_view rule,
                          duration bound) {
        return config_error{field, detail::magnitude(d), rule, detail::magnitude(bound),
                            d < duration{}};
    };
    if (p.messages_live <= duration{}) {
        return wrong("sweep.messages_live", p.messages_live, "nanoseconds must be more than", {});
    }
    if (p.keep_failed < p.messages_live) {
        return wrong("sweep.keep_failed", p.keep_failed,
                     "nanoseconds must be at least messages_live, or a failed session begins anew",
                     p.messages_live);
    }
    if (p.stuck_after <= duration{}) {
        return wrong("sweep.stuck_after", p.stuck_after, "nanoseconds must be more than", {});
    }
    if (p.give_up_after < p.messages_live) {
        return wrong("sweep.give_up_after", p.give_up_after,
                     "nanoseconds must be at least messages_live, or a step may run twice",
                     p.messages_live);
    }
    return {};
}

/// A state as it was found.
struct swept_state {
    std::string session{};
    state_read how = state_read::absent;
    session_progress progress{};  ///< Counts where it is ok.
    wall_time written{};          ///< As the store says, where the state itself says nothing.

    friend bool operator==(const swept_state&, const swept_state&) = default;
};

enum class sweep_verdict : std::uint8_t {
    clear_finished,  ///< All its steps are done, and clearing it failed.
    clear_failed,    ///< It failed so long ago that none of its steps can come any more.
    clear_stuck,     ///< Nothing has come for longer than anybody waits.
    stuck,           ///< Nothing has come for a while, and it is not finished.
    unreadable,      ///< Newer, corrupt or too large. Leave it to who can read it.
    ageless,         ///< Nobody knows how old it is.
};

[[nodiscard]] constexpr std::string_view name(sweep_verdict v) noexcept
{
    switch (v) {
        case sweep_verdict::clear_finished: return "clear_finished";
        case sweep_verdict::clear_failed: return "clear_failed";
        case sweep_verdict::clear_stuck: return "clear_stuck";
        case sweep_verdict::stuck: return "stuck";
        case sweep_verdict::unreadable: return "unreadable";
        case sweep_verdict::ageless: return "ageless";
    }
    return "?";
}

/// A state about which there is something to say.
struct sweep_item {
    std::uint64_t index = 0;  ///< In what was swept.
    sweep_verdict verdict = sweep_verdict::stuck;
    state_read how = state_read::ok;
    duration age{};
    wall_time changed{};      ///< As it was read.
    std::uint64_t done = 0;
    std::uint64_t total = 0;

    /// To be cleared; otherwise to be looked at.
    [[nodiscard]] constexpr bool clears() const noexcept
    {
        return verdict <= sweep_verdict::clear_stuck;
    }

    friend bool operator==(const sweep_item&, const sweep_item&) = default;
};

/// Whether a state that is to be cleared is still the one that was read.
[[nodiscard]] inline bool may_clear(const sweep_item& i, const swept_state& found) noexcept
{
    const session_progress& p = found.progress;
    const wall_time changed = p.changed == wall_time{} ? found.written : p.changed;
    return i.clears() && found.how == state_read::ok && changed == i.changed && p.done == i.done;
}

/// As in "stuck at 2 of 5 for 36h".
[[nodiscard]] inline std::string text(const sweep_item& i)
{
    std::string line(name(i.verdict));
    if (i.verdict == sweep_verdict::unreadable) return line + ": " + std::string(name(i.how));
    line += " at " + std::to_string(i.done);
    if (i.total != 0) line += " of " + std::to_string(i.total);
    if (i.verdict == sweep_verdict::ageless) return line;
    const duration hours = duration::seconds(i.age.count() / 3'600'000'000'000 * 3'600);
    return line + " for " + text(hours == duration{} ? i.age : hours);
}

namespace detail {

[[nodiscard]] inline std::optional<sweep_verdict> swept(const session_progress& p, duration age,
                                                        const sweep_policy& s) noexcept
{
    if (p.failed) {
        if (age > s.keep_failed) return sweep_verdict::clear_failed;
        return {};
    }
    if (p.finished()) {
        if (age > s.messages_live) return sweep_verdict::clear_finished;
        return {};
    }
    if (age > s.give_up_after) return sweep_verdict::clear_stuck;
    if (age > s.stuck_after) return sweep_verdict::stuck;
    return {};
}

}  // namespace detail

/// What there is to say of these states, in their order. A state from the future, by a clock that
/// was wrong, is not old. Under a policy that `check` refuses nothing is cleared.
[[nodiscard]] inline std::vector<sweep_item> plan_sweep(std::span<const swept_state> states,
                                                        wall_time now, const sweep_policy& p = {})
{
    const bool wrong = check(p).has_value();
    std::vector<sweep_item> items;
    for (std::size_t i = 0; i != states.size(); ++i) {
        const swept_state& s = states[i];
        if (s.how == state_read::absent) continue;
        if (s.how != state_read::ok) {
            items.push_back({i, sweep_verdict::unreadable, s.how, {}, s.written, 0, 0});
            continue;
        }
        const bool says = s.progress.changed != wall_time{};
        const wall_time changed = says ? s.progress.changed : s.written;
        sweep_item item{i, sweep_verdict::ageless, s.how, now - changed, changed, s.progress.done,
                        s.progress.total};
        if (changed == wall_time{}) item.age = {};
        else if (const auto v = detail::swept(s.progress, item.age, p)) item.verdict = *v;
        else continue;
        if (!wrong || !item.clears()) items.push_back(item);
    }
    return items;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_SWEEP_HPP

// SPDX-License-Identifier: MIT
//
// state: the stored data that a decision depends on, besides the metrics. A plain value of fixed
// size that fits into one small row of a table (see ext/json/scaling.hpp). A restart with the
// stored state changes no decision.
//
//     scaling::decision d = scaling::decide(policy, metrics, state, instances, now);
//     state.on(d);                                    // not for a dry run
//     ...
//     state.on(scaling::applied{d.command->id}, now);  // the cooldown begins
//
// If one period has more recommendations than the state has room for, the two that are closest in
// time are merged. That never shortens stabilisation.
// A value without locks: one thread at a time.

#ifndef WAYBILL_SCALING_STATE_HPP
#define WAYBILL_SCALING_STATE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/bounded_list.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/detail/numbers.hpp>

namespace waybill::inline v0_2::scaling {

/// A number of instances that was wanted up to the time `at`.
struct recommendation {
    wall_time at{};
    std::uint64_t instances = 0;

    friend bool operator==(const recommendation&, const recommendation&) = default;
};

/// An applied change. A merged entry stands for several changes in one direction: then only the
/// difference between `from` and `to` counts.
struct applied_change {
    wall_time at{};
    std::uint64_t from = 0;
    std::uint64_t to = 0;

    [[nodiscard]] constexpr bool is_up() const noexcept { return to > from; }

    friend bool operator==(const applied_change&, const applied_change&) = default;
};

/// A command without a result.
struct pending_command {
    command issued{};
    wall_time at{};
    duration warm_up{};

    friend bool operator==(const pending_command&, const pending_command&) = default;
};

/// The stored state of a scaled service.
struct state {
    /// The maximum size of `highest` and of `lowest`. Both maxima keep the stored row below 2 KB.
    static constexpr std::size_t recommendations = 12;
    /// The maximum size of `applied_changes`.
    static constexpr std::size_t changes = 16;
    /// Times more than this ahead of now are treated as clock errors.
    static constexpr duration most_ahead = duration::seconds(3'600);

    std::uint64_t last_id = 0;  ///< The id of the last command; 0 if there was none.
    std::optional<pending_command> pending{};
    std::optional<wall_time> last_up{};
    std::optional<wall_time> last_down{};
    std::optional<wall_time> last_failure{};
    std::uint64_t warm_instances = 0;  ///< The number of instances warmed up before `warm_at`.
    /// The end of the warm-up of the newest instances.
    std::optional<wall_time> warm_at{};
    /// The time since which no instance has been needed.
    std::optional<wall_time> inactive_since{};
    /// The recommendations that may delay a change down, in order of time. Each is higher than all
    /// later ones.
    bounded_list<recommendation, recommendations> highest{};
    /// The recommendations that may delay a change up, in order of time. Each is lower than all
    /// later ones.
    bounded_list<recommendation, recommendations> lowest{};
    /// Applied changes, oldest first.
    bounded_list<applied_change, changes> applied_changes{};

    /// Records a decision. First corrects stored times as `correct_future_times(d.now)`. Constant
    /// time.
    void on(const decision& d)
    {
        correct_future_times(d.now);
        const bool already_recorded = d.command && d.command->id <= last_id;
        const bool arrived = d.arrived && pending && pending->issued.to == d.from;
        if (arrived && !already_recorded) begin_cooldown(d.now);
        if (d.activation != tribool::no || d.needed) inactive_since.reset();
        else if (!inactive_since) inactive_since = d.now;
        const std::uint64_t max_instances = detail::greater(d.from, d.desired);
        const std::uint64_t min_instances = detail::lesser(d.from, d.desired);
        const recommendation newest{.at = d.now, .instances = d.desired};
        remember(highest, newest, max_instances, d.stabilise.down,
                 [](auto earlier, auto later) { return earlier <= later; });
        remember(lowest, newest, min_instances, d.stabilise.up,
                 [](auto earlier, auto later) { return earlier >= later; });
        if (d.command && d.command->id > last_id) {
            last_id = d.command->id;
            pending = pending_command{.issued = *d.command, .at = d.now, .warm_up = d.warm_up};
        }
    }

    /// Records that a command was applied. If it is pending, first corrects stored times as
    /// `correct_future_times(now)`; then its cooldown and warm-up begin now.
    command_result on(const applied& a, wall_time now)
    {
        const command_result result = result_for(a.id);
        if (result != command_result::applied) return result;
        correct_future_times(now);
        begin_cooldown(now);
        return result;
    }
    /// Records that a command failed. If it is pending, the policy's `after_failure` begins now.
    command_result on(const failed& f, wall_time now)
    {
        const command_result result = result_for(f.id);
        if (result != command_result::applied) return result;
        last_failure = now;
        pending.reset();
        return result;
    }

    /// True if a stored time is more than `most_ahead` after now: a clock must have been wrong.
    /// Linear in the stored entries.
    [[nodiscard]] bool has_future_times(wall_time now) const
    {
        const wall_time latest = now + most_ahead;
        const auto ahead = [&](const auto& t) { return t && latest < *t; };
        bool any = ahead(last_up) || ahead(last_down) || ahead(last_failure) ||
                   ahead(inactive_since) || (pending && latest < pending->at);
        for (const recommendation& r : highest) any = any || latest < r.at;
        for (const recommendation& r : lowest) any = any || latest < r.at;
        for (const applied_change& c : applied_changes) any = any || latest < c.at;
        return any;
    }

    /// Sets each stored time that is more than `most_ahead` after now to now. Otherwise, after one
    /// wrong clock, changes would be blocked until that time.
    void correct_future_times(wall_time now)
    {
        if (!has_future_times(now)) return;
        const wall_time latest = now + most_ahead;
        const auto limit_time = [&](wall_time& t) {
            if (latest < t) t = now;
        };
        if (warm_at && last_up && latest < *last_up) *warm_at = now + (*warm_at - *last_up);
        if (last_up) limit_time(*last_up);
        if (last_down) limit_time(*last_down);
        if (last_failure) limit_time(*last_failure);
        if (inactive_since) limit_time(*inactive_since);
        if (pending) limit_time(pending->at);
        for (std::size_t n = 0; n != applied_changes.size(); ++n) limit_time(applied_changes[n].at);
        // Keeps the order of time: entries slightly ahead of now stay before later ones.
        for (auto* list : {&highest, &lowest}) {
            for (std::size_t n = 0; n != list->size(); ++n) {
                limit_time((*list)[n].at);
                if (n != 0)
                    (*list)[n].at = waybill::detail::later((*list)[n].at, (*list)[n - 1].at);
            }
        }
    }

    friend bool operator==(const state&, const state&) = default;

private:
    /// The result of an event for command `id`: `applied` if that command is pending.
    [[nodiscard]] command_result result_for(std::uint64_t id) const noexcept
    {
        if (id == 0 || id > last_id) return command_result::unknown;
        return pending && pending->issued.id == id ? command_result::applied
                                                   : command_result::stale;
    }

    /// Records the pending command as applied: its cooldown and warm-up begin.
    void begin_cooldown(wall_time now)
    {
        const command c = pending->issued;
        if (c.to > c.from) {
            last_up = now;
            if (pending->warm_up > duration{}) {
                const bool warming = warm_at && now < *warm_at;
                warm_instances = warming ? detail::lesser(warm_instances, c.from) : c.from;
                warm_at = now + pending->warm_up;
            }
        } else {
            last_down = now;
            warm_instances = detail::lesser(warm_instances, c.to);
        }
        if (applied_changes.is_full()) merge_oldest();
        applied_changes.push({.at = now, .from = c.from, .to = c.to});
        pending.reset();
    }

    /// Merges the two oldest entries of one direction, with the later time of both. Only the oldest
    /// entry of a direction may stand for several changes; limits of the other direction ignore it.
    void merge_oldest()
    {
        std::optional<std::size_t> oldest_of[2];  // 0: of changes down, 1: of changes up
        for (std::size_t n = 0; n != applied_changes.size(); ++n) {
            applied_change& c = applied_changes[n];
            std::optional<std::size_t>& oldest = oldest_of[c.is_up() ? 1 : 0];
            if (!oldest) {
                oldest = n;
                continue;
            }
            const applied_change earlier = applied_changes[*oldest];
            const std::uint64_t added = waybill::detail::saturating_sub(c.to, c.from);
            const std::uint64_t removed = waybill::detail::saturating_sub(c.from, c.to);
            c.to = waybill::detail::saturating_add(
                added, waybill::detail::saturating_sub(earlier.to, earlier.from));
            c.from = waybill::detail::saturating_add(
                removed, waybill::detail::saturating_sub(earlier.from, earlier.to));
            c.at = waybill::detail::later(c.at, earlier.at);
            return applied_changes.erase(*oldest);
        }
    }

    /// Appends a recommendation and removes those that it supersedes or that are too old. A
    /// recommendation is valid until the next one, and counts for `period` after that. Before the
    /// first one it is unknown: `assumed_instances` is used.
    template <class Supersedes>
    static void remember(bounded_list<recommendation, recommendations>& list, recommendation r,
                         std::uint64_t assumed_instances, duration period, Supersedes supersedes)
    {
        if (period <= duration{}) return;
        if (list.empty()) list.push({.at = r.at, .instances = assumed_instances});
        r.at = waybill::detail::later(r.at, list.back().at);
        list[list.size() - 1].at = r.at;  // the previous one was valid until now
        while (!list.empty() && supersedes(list.back().instances, r.instances)) list.pop();
        while (!list.empty() && r.at - list[0].at >= period) list.erase(0);
        if (list.is_full()) merge_nearest(list);
        list.push(r);
    }

    /// Merges the two neighbours with the shortest time between them. The result has the instances
    /// of the earlier and the time of the later one, so stabilisation never becomes shorter.
    static void merge_nearest(bounded_list<recommendation, recommendations>& list)
    {
        std::size_t nearest = 0;
        for (std::size_t n = 1; n + 1 < list.size(); ++n) {
            const bool nearer =
                list[n + 1].at - list[n].at < list[nearest + 1].at - list[nearest].at;
            if (nearer) nearest = n;
        }
        list[nearest].at = list[nearest + 1].at;
        list.erase(nearest + 1);
    }
};

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_STATE_HPP

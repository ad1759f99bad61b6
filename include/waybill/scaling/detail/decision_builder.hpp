// SPDX-License-Identifier: MIT
//
// decision_builder: computes one decision, step by step. Part of `decide`, whose head lists the
// steps.

#ifndef WAYBILL_SCALING_DETAIL_DECISION_BUILDER_HPP
#define WAYBILL_SCALING_DETAIL_DECISION_BUILDER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/desired.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/situation.hpp>
#include <waybill/scaling/state.hpp>
#include <waybill/scaling/tribool.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// Computes one decision. Steps may move `d_.to` towards `d_.from` and then set the reason.
template <condition Up, condition Down>
class decision_builder {
public:
    decision_builder(const basic_policy<Up, Down>& p, std::span<const reading> metrics,
                     const state& s, std::uint64_t instances, wall_time now)
        : p_(p), metrics_(metrics), s_(s)
    {
        d_.from = d_.desired = d_.to = instances;
        d_.now = now;
        d_.stabilise = p.stabilise;
        d_.warm_up = p.warm_up;
    }

    [[nodiscard]] decision build() &&
    {
        compute_desired();
        if (d_.to != d_.from) apply_delays();
        if (d_.to > d_.from) d_.verdict = verdict::up;
        else if (d_.to < d_.from) d_.verdict = verdict::down;
        else if (d_.why != reason::nothing && !is_lowest_wanted()) d_.verdict = verdict::held;
        if (d_.to != d_.from) {
            d_.command = command{waybill::detail::saturating_add(s_.last_id, 1), d_.from, d_.to};
        }
        return std::move(d_);
    }

private:
    [[nodiscard]] std::uint64_t lowest() const { return p_.instances.lowest; }
    [[nodiscard]] std::uint64_t highest() const
    {
        const std::uint64_t bound = greater(p_.instances.lowest, p_.instances.highest);
        return p_.ladder.empty() ? bound : lesser(bound, p_.ladder.size() - 1);
    }
    [[nodiscard]] std::uint64_t capacity(std::uint64_t at) const
    {
        return capacity_at(p_.ladder, at);
    }
    [[nodiscard]] bool is_outside() const { return d_.from < lowest() || d_.from > highest(); }
    [[nodiscard]] bool is_up() const { return d_.to > d_.from; }
    /// True at the lower bound if fewer are requested. The verdict is then steady, not held.
    [[nodiscard]] bool is_lowest_wanted() const
    {
        return d_.why == reason::bounds && d_.from == lowest() && d_.desired < d_.from;
    }
    /// True if `last` is less than `wait` ago. A time in the future, after a clock was set back,
    /// counts as recent. A wait of zero or less is never within.
    [[nodiscard]] bool is_within(duration wait, wall_time last) const
    {
        return wait > duration{} && d_.now - last < wait;
    }
    [[nodiscard]] bool is_warming() const { return s_.warm_at && d_.now < *s_.warm_at; }

    /// The situation with `at` instances (with a ladder: tier `at`) and the current metrics.
    [[nodiscard]] situation situation_at(std::uint64_t at) const
    {
        const auto current = static_cast<double>(capacity(d_.from));
        const auto projected = static_cast<double>(capacity(at));
        return {.metrics = metrics_,
                .instances = capacity(at),
                .now = d_.now,
                .min_points = p_.min_points,
                .max_age = p_.max_age,
                .load = at == d_.from ? 1.0 : current / projected};
    }

    /// Changes the result to `to` for the reason `why`. Does nothing if it is `to` already.
    void limit(std::uint64_t to, reason why, std::optional<wall_time> until = {})
    {
        if (to == d_.to) return;
        d_.to = to;
        d_.why = why;
        d_.until = until;
    }
    void hold(reason why, std::optional<wall_time> until = {}) { limit(d_.from, why, until); }

    /// Steps 1 and 2.
    void compute_desired()
    {
        const std::uint64_t ready = is_warming() ? lesser(s_.warm_instances, d_.from) : d_.from;
        const rule_results results =
            evaluate(p_, situation_at(d_.from), ready, d_.from, d_.reasons);
        d_.up = results.up;
        d_.down = results.down;
        d_.activation = results.activation;
        d_.needed = results.needed;
        if (d_.from == 0 && p_.activation && p_.ladder.empty()) desire_first_instance(results);
        else desire_change(results);
        d_.to = d_.desired;
        if (is_outside()) {
            d_.to = d_.desired < lowest() ? lowest() : lesser(d_.desired, highest());
            d_.why = reason::bounds;
        } else if (d_.from == lowest() && d_.desired < d_.from) {
            hold(reason::bounds);
        }
    }

    void desire_first_instance(const rule_results& results)
    {
        if (results.activation == tribool::yes) d_.desired = greater(results.target.value_or(0), 1);
        else if (results.activation == tribool::unknown) hold_unknown();
    }

    void desire_change(const rule_results& results)
    {
        if (results.above > d_.from) d_.desired = results.above;
        if (results.target && *results.target > d_.desired) d_.desired = *results.target;
        if (d_.desired > d_.from) return;
        if (results.up == tribool::yes) return;  // enough instances are warming up
        if (!is_set(p_.down) && p_.targets.empty() && !p_.activation) {
            if (results.up == tribool::unknown) hold_unknown();
            return;
        }
        if (results.up == tribool::unknown || !results.all_targets_known) return hold_unknown();
        if (removes_all(results)) return;
        std::uint64_t fewer = d_.from;
        if (is_set(p_.down)) {
            if (results.down == tribool::unknown) return hold_unknown();
            if (results.down == tribool::no) return;
            fewer = results.below;
            if (results.target) fewer = greater(fewer, *results.target);
        } else if (results.target) {
            fewer = *results.target;
        }
        d_.desired = lesser(fewer, d_.from);
        keep_last_instance(results);
    }

    /// If no instance has been needed for `zero_after`, requests 0 instances and returns true.
    [[nodiscard]] bool removes_all(const rule_results& results)
    {
        if (!p_.activation || !p_.ladder.empty() || lowest() != 0) return false;
        if (results.activation != tribool::no || results.needed) return false;
        if (is_within(p_.zero_after, inactive_since())) return false;
        d_.desired = 0;
        removes_all_ = true;
        return true;
    }

    [[nodiscard]] wall_time inactive_since() const { return s_.inactive_since.value_or(d_.now); }

    void keep_last_instance(const rule_results& results)
    {
        if (d_.desired != 0 || d_.from == 0 || !p_.activation || !p_.ladder.empty()) return;
        if (lowest() != 0) return;
        d_.desired = 1;
        if (d_.from != 1) return;
        d_.why = reason::active;
        if (results.activation == tribool::no) d_.until = inactive_since() + p_.zero_after;
    }

    /// Keeps all instances and requests at least `if_unknown`.
    void hold_unknown()
    {
        d_.why = reason::unknown;
        if (p_.if_unknown) d_.desired = greater(d_.from, lesser(*p_.if_unknown, highest()));
    }

    /// Steps 3 to 8.
    void apply_delays()
    {
        if (is_pending()) return hold(reason::pending, s_.pending->at + p_.patience);
        if (s_.last_failure && is_within(p_.after_failure, *s_.last_failure)) {
            return hold(reason::failed, *s_.last_failure + p_.after_failure);
        }
        if (is_outside()) return;
        if (!(is_up() ? p_.allow.up : p_.allow.down)) return hold(reason::disabled);
        if (d_.from == 0 && p_.ladder.empty()) return bring_within_bounds();
        if (!is_up() && is_warming()) return hold(reason::warming, s_.warm_at);
        if (!removes_all_) slow_change();
        if (d_.to != d_.from) wait_for_cooldown();
    }

    /// Steps 5 to 7.
    void slow_change()
    {
        stabilise();
        bring_within_bounds();
        if (d_.to < d_.from) avoid_flapping();
        if (d_.to != d_.from) limit_rate();
        if (d_.to < d_.from && d_.why == reason::rate) avoid_flapping();
    }

    [[nodiscard]] bool is_pending() const
    {
        return s_.pending && is_within(p_.patience, s_.pending->at);
    }

    /// Step 5. A recommendation is valid until the next one, the last one until now. Without
    /// earlier decisions, a change waits for the whole period.
    void stabilise()
    {
        const duration period = is_up() ? p_.stabilise.up : p_.stabilise.down;
        const auto& list = is_up() ? s_.lowest : s_.highest;
        if (period <= duration{}) return;
        if (list.empty()) return hold(reason::stabilising, d_.now + period);
        for (const recommendation& r : list) {
            const wall_time valid_until = (&r == &list.back() ? d_.now : r.at) + period;
            if (!(d_.now < valid_until)) continue;
            // The first recommendation in the period is the farthest from the number wanted now.
            const std::uint64_t to = is_up() ? greater(d_.from, lesser(d_.to, r.instances))
                                             : lesser(d_.from, greater(d_.to, r.instances));
            return limit(to, reason::stabilising, valid_until);
        }
    }

    /// Step 6. Finds the lowest number that would not be raised again, by a binary search.
    void avoid_flapping()
    {
        const std::uint64_t wanted = d_.to;
        if (capacity(wanted) == 0) return;  // no projection: the load would be infinite
        if (is_enough(wanted)) return;
        std::uint64_t too_few = wanted;
        std::uint64_t enough = d_.from;
        while (enough - too_few > 1) {
            const std::uint64_t middle = too_few + (enough - too_few) / 2;
            if (is_enough(middle)) enough = middle;
            else too_few = middle;
        }
        (void)is_enough_by_rules(too_few);  // keeps the rows of this projection
        limit(enough, reason::flapping);
    }

    /// Like `is_enough_by_rules`, without the rows.
    [[nodiscard]] bool is_enough(std::uint64_t at)
    {
        const auto rows = static_cast<std::ptrdiff_t>(d_.reasons.size());
        const bool enough = is_enough_by_rules(at);
        d_.reasons.erase(d_.reasons.begin() + rows, d_.reasons.end());
        return enough;
    }

    /// True if no rule or target would request more than `at`. Adds the rows of the projection.
    [[nodiscard]] bool is_enough_by_rules(std::uint64_t at)
    {
        std::vector<evidence>& rows = d_.reasons;
        const situation projected = situation_at(at);
        tribool up = evaluate(p_.up, projected, role::projected, rows);
        for (const band& b : p_.bands.up) {
            up = either(up, evaluate(b.when, projected, role::projected, rows));
        }
        bool enough = up == tribool::no;
        for (const target& t : p_.targets) {
            const std::optional<std::uint64_t> n = evaluate(t, projected, rows);
            rows.back().part = role::projected;
            enough = enough && n && *n <= capacity(at);
        }
        return enough;
    }

    /// Step 7. Opposite changes within the period are subtracted first, as in Kubernetes.
    void limit_rate()
    {
        for (const rate_limit& r : is_up() ? p_.rate.up : p_.rate.down) {
            std::uint64_t more = 0;
            std::uint64_t fewer = 0;
            std::optional<wall_time> until;
            // In a full list, the oldest entry of a direction may be a joined one. That of the
            // opposite direction is ignored.
            bool ignore_opposite = s_.applied_changes.is_full();
            for (const applied_change& c : s_.applied_changes) {
                const bool same_direction = c.is_up() == is_up();
                const bool counts = same_direction || !ignore_opposite;
                ignore_opposite = ignore_opposite && same_direction;
                if (!counts || !is_within(r.per, c.at)) continue;
                more = waybill::detail::saturating_add(
                    more, waybill::detail::saturating_sub(c.to, c.from));
                fewer = waybill::detail::saturating_add(
                    fewer, waybill::detail::saturating_sub(c.from, c.to));
                if (same_direction && !until) until = c.at + r.per;
            }
            const std::uint64_t start = waybill::detail::saturating_sub(
                waybill::detail::saturating_add(d_.from, fewer), more);
            const std::uint64_t to =
                is_up() ? lesser(d_.to, highest_allowed(p_.ladder, start, r.max_change))
                        : greater(d_.to, lowest_allowed(p_.ladder, start, r.max_change));
            const bool reversed = is_up() ? to < d_.from : to > d_.from;
            limit(reversed ? d_.from : to, reason::rate, until);
            if (d_.to == d_.from) return;
        }
    }

    /// Step 8.
    void wait_for_cooldown()
    {
        std::optional<wall_time> last = is_up() ? s_.last_up : s_.last_down;
        const std::optional<wall_time> other = is_up() ? s_.last_down : s_.last_up;
        const bool both_directions = !is_up() || p_.cooldown.shared;
        if (both_directions && other && (!last || *last < *other)) last = other;
        const duration wait = is_up() ? p_.cooldown.up : p_.cooldown.down;
        if (last && is_within(wait, *last)) hold(reason::cooldown, *last + wait);
    }

    void bring_within_bounds()
    {
        if (d_.to > highest()) limit(highest(), reason::bounds);
        if (d_.to < lowest()) limit(lowest(), reason::bounds);
    }

    const basic_policy<Up, Down>& p_;
    std::span<const reading> metrics_;
    const state& s_;
    decision d_;
    bool removes_all_ = false;  // no instance has been needed for `zero_after`
};

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_DECISION_BUILDER_HPP

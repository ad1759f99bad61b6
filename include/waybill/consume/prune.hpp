// SPDX-License-Identifier: MIT
//
// prune: plans which dead letters to remove, and why.
//
//     auto plan = waybill::plan_prune(rows, {.age = 7 * 24h, .count = 100'000}, now);
//     for (const waybill::prune_plan::removal& r : plan.removals)
//         db.exec("delete from letters where id=? and at=? and redriving=0", r.id,
//                 r.dead_lettered_at);
//     if (plan.spike) alarm(plan.recent);
//     if (plan.limit_reached) breaker.force_open(steady);  // a circuit_breaker: no space for a row
//
// Guarantees (the guide has the reasons)
//   1. A row older than `age` is removed, also in a spike.
//   2. At `count` rows or `bytes` bytes, the oldest are removed down to the share `low_water`.
//   3. A `redriving` row is being resubmitted and is never removed.
//   4. In a spike, `count` and `bytes` remove no row unless `full` is `drop_oldest`.
//   5. A row that changed after the plan stays if the delete statement also compares
//      `dead_lettered_at` and `redriving` (`may_remove`). All orders are tested:
//      tests/enumerate/consume/prune.test.cpp.
//   6. A policy that `validate` rejects removes no row, and the plan contains the error.
// Cost: if rows are ordered oldest first, two passes, no sort, memory only for the removals.
// Otherwise O(n log n), and memory for each row that is not `redriving`.

#ifndef WAYBILL_CONSUME_PRUNE_HPP
#define WAYBILL_CONSUME_PRUNE_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <set>

#include <waybill/consume/detail/prune_planner.hpp>
#include <waybill/consume/prune_plan.hpp>
#include <waybill/consume/prune_policy.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// Returns the rows to remove at `now`. Calls `row_of` twice for each row. Rows with equal times
/// are removed in the order of the range. A row with a time after `now` is not old. A rejected
/// policy is reported in `prune_plan::wrong`. Two passes if the rows are ordered oldest first,
/// otherwise O(n log n).
template <std::forward_iterator I, std::sentinel_for<I> S,
          detail::prune_view<I> F = detail::as_it_is>
[[nodiscard]] prune_plan plan_prune(I first, S last, const prune_policy& policy, wall_time now,
                                    F row_of = {})
{
    prune_plan plan;
    plan.wrong = validate(policy);
    detail::pruner prune(plan.wrong ? prune_policy{} : policy, now, plan);
    for (I i = first; i != last; ++i) prune.count_row(row_of(*i));
    prune.set_limits();
    std::set<detail::aged_row> sorted;
    std::uint64_t index = 0;
    for (I i = first; i != last; ++i, ++index) {
        const prune_plan::row r = row_of(*i);
        if (plan.rows_in_order) prune.remove_if_needed(r, index);
        else if (!r.redriving) sorted.insert({r, index});
    }
    for (const detail::aged_row& a : sorted) prune.remove_if_needed(a.row, a.index);
    prune.finish();
    return plan;
}

/// The same for a range.
template <class R, class F = detail::as_it_is>
    requires requires(const R& rows, F& f) {
        { f(*std::begin(rows)) } -> std::convertible_to<prune_plan::row>;
        std::end(rows);
    }
[[nodiscard]] prune_plan plan_prune(const R& rows, const prune_policy& policy, wall_time now,
                                    F row_of = {})
{
    return plan_prune(std::begin(rows), std::end(rows), policy, now, row_of);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_PRUNE_HPP

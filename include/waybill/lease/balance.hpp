// SPDX-License-Identifier: MIT
//
// balance: which partitions an owner claims and how many it releases, so that all get their share.
//
// A pure function. Owners with the same view never want the same partition:
//
//     waybill::balance_plan::lease_view v = observer.view(me);
//     waybill::balance_plan p = waybill::balance(v, random);
//     for (std::uint32_t i : p.claim) ...                  // free partitions, all at once
//     if (p.surplus != 0) ...                              // release this many partitions
//
// The target of an owner is partitions / owners, rounded down. The owners with the lowest numbers
// get the remainder, one more each. So targets depend only on the set of owners. Guarantees, proved
// for all states of up to 10 partitions and 4 owners in tests/enumerate/lease/balance.test.cpp:
//   1. No owner takes more than its target or releases below it. A balanced state does not change.
//   2. If an owner joins, only the partitions that it gets are released. If it leaves, none is.
//   3. If an owner leaves and returns under its name, all have as many partitions as before.
//   4. All this also holds if several owners act on the same view at the same time.
// Exception: in each round, an owner with no other claim takes one partition that was free for two
// expiries, even above its target. It keeps as many above its target as are free for that long.

#ifndef WAYBILL_LEASE_BALANCE_HPP
#define WAYBILL_LEASE_BALANCE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <waybill/lease/balance_plan.hpp>
#include <waybill/lease/detail/shares.hpp>

namespace waybill::inline v0_2 {

/// The plan for `v.self`; empty if `v.self` is not in [0, v.owners). `random` in [0, 1) selects the
/// first partition to claim, so that owners that do not see each other yet start at different ones.
/// Linear in partitions and owners.
[[nodiscard]] inline balance_plan balance(const balance_plan::lease_view& v, double random)
{
    balance_plan plan;
    if (v.self >= v.owners) return plan;
    const detail::shares shares(v);
    plan.mine = shares.held_count(v.self);
    plan.target = shares.target_count(v.self);
    plan.surplus = shares.surplus_count(v.self);

    std::vector<std::uint32_t> free;
    std::vector<std::uint32_t> free_for_long;
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] < v.owners) continue;
        free.push_back(i);
        if (v.holders[i] == balance_plan::lease_view::free_for_long) free_for_long.push_back(i);
    }
    const double below_one = 1.0 - 0x1p-53;  // the highest valid random number
    const double bounded = random >= 0.0 ? (random < 1.0 ? random : below_one) : 0.0;
    const auto start = static_cast<std::uint32_t>(bounded * static_cast<double>(free.size()));
    detail::plan_claims(v, shares, free, start, plan);
    if (plan.claim.empty() && plan.steal.empty() && !free_for_long.empty()) {
        const auto at =
            static_cast<std::size_t>(bounded * static_cast<double>(free_for_long.size()));
        plan.claim.push_back(free_for_long[at]);
    }
    plan.balanced = free.empty();
    for (std::uint32_t o = 0; o != v.owners; ++o) {
        if (shares.surplus_count(o) != 0) plan.balanced = false;
        if (o != v.self) plan.others_surplus += shares.surplus_count(o);
    }
    // If an owner does not claim its share, the others keep what they have claimed in its place.
    plan.surplus -= static_cast<std::uint32_t>(detail::lesser(plan.surplus, free_for_long.size()));
    return plan;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_BALANCE_HPP

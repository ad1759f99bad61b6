// SPDX-License-Identifier: MIT
//
// shares: the actual and the target number of partitions of each owner, and the plan of one owner.

#ifndef WAYBILL_LEASE_DETAIL_SHARES_HPP
#define WAYBILL_LEASE_DETAIL_SHARES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/lease/balance_plan.hpp>

namespace waybill::inline v0_2::detail {

/// The actual and the target number of partitions of each owner, and the order of the owners.
class shares {
public:
    /// Requires: at least one owner.
    explicit shares(const balance_plan::lease_view& v)
        : owners_(v.owners), held_counts_(owners_), target_counts_(owners_)
    {
        for (const std::uint32_t h : v.holders) {
            if (h < owners_) ++held_counts_[h];
        }
        const std::size_t all = v.holders.size();
        // Counting sort, largest first: owners with c partitions start at first[all - c].
        std::vector<std::uint32_t> first(all + 2);
        for (const std::uint32_t n : held_counts_) ++first[all - n + 1];
        for (std::size_t i = 1; i != first.size(); ++i) first[i] += first[i - 1];
        order_.resize(owners_);
        for (std::uint32_t o = 0; o != owners_; ++o) order_[first[all - held_counts_[o]]++] = o;
        const auto min_target = static_cast<std::uint32_t>(all / owners_);
        const std::size_t larger_targets = all % owners_;
        for (std::uint32_t i = 0; i != owners_; ++i) {
            target_counts_[order_[i]] = min_target + (i < larger_targets ? 1 : 0);
        }
    }

    [[nodiscard]] std::uint32_t held_count(std::uint32_t owner) const
    {
        return held_counts_[owner];
    }
    [[nodiscard]] std::uint32_t target_count(std::uint32_t owner) const
    {
        return target_counts_[owner];
    }
    [[nodiscard]] std::uint32_t missing_count(std::uint32_t owner) const
    {
        return held_counts_[owner] < target_counts_[owner]
                   ? target_counts_[owner] - held_counts_[owner]
                   : 0;
    }
    [[nodiscard]] std::uint32_t surplus_count(std::uint32_t owner) const
    {
        return held_counts_[owner] > target_counts_[owner]
                   ? held_counts_[owner] - target_counts_[owner]
                   : 0;
    }
    /// Owners, sorted by their number of partitions, largest first.
    [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

private:
    std::uint32_t owners_;
    std::vector<std::uint32_t> held_counts_;
    std::vector<std::uint32_t> target_counts_;
    std::vector<std::uint32_t> order_;
};

/// The n-th partition of `owner`, counted from 0 in the order of the partitions; empty if the owner
/// has fewer.
[[nodiscard]] inline std::optional<std::uint32_t> nth_partition_of(
    const balance_plan::lease_view& v, std::uint32_t owner, std::uint32_t n)
{
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] == owner && n-- == 0) return i;
    }
    return {};
}

/// Plans the claims of `v.self`. The free partitions are distributed in the order of `free` to the
/// owners, fewest partitions first, each up to its target. The n-th owner below its target that
/// gets none of them steals the n-th surplus partition. `start` rotates the claims of `v.self`.
inline void plan_claims(const balance_plan::lease_view& v, const shares& s,
                        const std::vector<std::uint32_t>& free, std::uint32_t start,
                        balance_plan& plan)
{
    std::size_t distributed = 0;
    std::uint32_t earlier_thieves = 0;
    for (std::size_t i = s.order().size(); i-- != 0;) {
        const std::uint32_t owner = s.order()[i];
        const std::size_t remaining = free.size() - distributed;
        const std::size_t missing = s.missing_count(owner);
        const std::size_t share = missing < remaining ? missing : remaining;
        if (owner != v.self) {
            distributed += share;
            if (share == 0 && missing != 0) ++earlier_thieves;
            continue;
        }
        for (std::size_t k = 0; k != share; ++k) {
            plan.claim.push_back(free[distributed + (k + start) % share]);
        }
        if (share != 0 || missing == 0) return;
        for (const std::uint32_t victim : s.order()) {
            const std::uint32_t surplus = s.surplus_count(victim);
            if (earlier_thieves < surplus) {
                plan.steal = nth_partition_of(v, victim, earlier_thieves);
                return;
            }
            earlier_thieves -= surplus;
        }
        return;
    }
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_SHARES_HPP

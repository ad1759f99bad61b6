// SPDX-License-Identifier: MIT
//
// shares: the actual and the target number of partitions of each owner, and the plan of one owner.

#ifndef WAYBILL_LEASE_DETAIL_SHARES_HPP
#define WAYBILL_LEASE_DETAIL_SHARES_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
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
        for (std::uint32_t o = 0; o != owners_; ++o) {
            target_counts_[o] = min_target + (o < larger_targets ? 1 : 0);
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

/// The surplus partitions of all owners, in the same order for all owners with this view. The
/// owners with the most partitions come first, each with its first partitions. Linear in the
/// partitions.
[[nodiscard]] inline std::vector<std::uint32_t> surplus_partitions(
    const balance_plan::lease_view& v, const shares& s)
{
    std::vector<std::uint32_t> next(v.owners);  // index of the next partition of each owner
    std::uint32_t count = 0;
    for (const std::uint32_t owner : s.order()) {
        next[owner] = count;
        count += s.surplus_count(owner);
    }
    std::vector<std::uint32_t> all(count);
    std::vector<std::uint32_t> found(v.owners);
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        const std::uint32_t owner = v.holders[i];
        if (owner < v.owners && found[owner]++ < s.surplus_count(owner)) all[next[owner]++] = i;
    }
    return all;
}

/// Plans the claims of `v.self`. The free partitions are distributed in the order of `free` to the
/// owners, fewest partitions first, each up to its target. If the view is overdue, the surplus
/// partitions are distributed in the same way to the owners that have still less than their
/// targets. `start` rotates the claims of `v.self`.
inline void plan_claims(const balance_plan::lease_view& v, const shares& s,
                        const std::vector<std::uint32_t>& free, std::uint32_t start,
                        balance_plan& plan)
{
    std::uint64_t distributed = 0;  // of the free partitions
    std::uint64_t stolen = 0;       // of the surplus partitions
    for (std::size_t i = s.order().size(); i-- != 0;) {
        const std::uint32_t owner = s.order()[i];
        const std::uint64_t missing = s.missing_count(owner);
        const std::uint64_t share = lesser(missing, free.size() - distributed);
        if (owner != v.self) {
            distributed += share;
            stolen += missing - share;
            continue;
        }
        for (std::uint64_t k = 0; k != share; ++k)
            plan.claim.push_back(free[distributed + (k + start) % share]);
        if (!v.overdue || missing == share) return;
        const std::vector<std::uint32_t> surplus = surplus_partitions(v, s);
        const std::uint64_t end = lesser(stolen + missing - share, surplus.size());
        for (std::uint64_t k = lesser(stolen, end); k != end; ++k) plan.steal.push_back(surplus[k]);
        return;
    }
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_SHARES_HPP

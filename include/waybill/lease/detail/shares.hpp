// SPDX-License-Identifier: MIT
//
// shares: actual and target numbers of partitions of all owners, and the plan of one of them.

#ifndef WAYBILL_LEASE_DETAIL_SHARES_HPP
#define WAYBILL_LEASE_DETAIL_SHARES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/lease/balance_plan.hpp>

namespace waybill::inline v0_2::detail {

/// Actual and target numbers of partitions of all owners, and the order of the owners.
class shares {
public:
    /// Requires: at least one owner.
    explicit shares(const balance_plan::lease_view& v)
        : owners_(v.owners), has_(owners_), target_(owners_)
    {
        for (const std::uint32_t h : v.holders) {
            if (h < owners_) ++has_[h];
        }
        const std::size_t all = v.holders.size();
        // Counting sort, largest first: owners with c partitions start at first[all - c].
        std::vector<std::uint32_t> first(all + 2);
        for (const std::uint32_t n : has_) ++first[all - n + 1];
        for (std::size_t i = 1; i != first.size(); ++i) first[i] += first[i - 1];
        order_.resize(owners_);
        for (std::uint32_t o = 0; o != owners_; ++o) order_[first[all - has_[o]]++] = o;
        const auto least = static_cast<std::uint32_t>(all / owners_);
        const std::size_t one_more = all % owners_;
        for (std::uint32_t i = 0; i != owners_; ++i) {
            target_[order_[i]] = least + (i < one_more ? 1 : 0);
        }
    }

    [[nodiscard]] std::uint32_t has(std::uint32_t owner) const { return has_[owner]; }
    [[nodiscard]] std::uint32_t target(std::uint32_t owner) const { return target_[owner]; }
    [[nodiscard]] std::uint32_t lacks(std::uint32_t owner) const
    {
        return has_[owner] < target_[owner] ? target_[owner] - has_[owner] : 0;
    }
    [[nodiscard]] std::uint32_t exceeds(std::uint32_t owner) const
    {
        return has_[owner] > target_[owner] ? has_[owner] - target_[owner] : 0;
    }
    /// Owners, sorted by their number of partitions, largest first.
    [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

private:
    std::uint32_t owners_;
    std::vector<std::uint32_t> has_;
    std::vector<std::uint32_t> target_;
    std::vector<std::uint32_t> order_;
};

[[nodiscard]] inline std::optional<std::uint32_t> nth_of(const balance_plan::lease_view& v,
                                                         std::uint32_t owner, std::uint32_t n)
{
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] == owner && n-- == 0) return i;
    }
    return {};
}

/// Serves the owners with the fewest partitions first. Each takes free partitions up to its target.
/// The n-th owner that gets none of them steals the n-th surplus partition.
inline void serve(const balance_plan::lease_view& v, const shares& s,
                  const std::vector<std::uint32_t>& free, std::uint32_t start, balance_plan& plan)
{
    std::size_t given = 0;
    std::uint32_t thieves = 0;
    for (std::size_t i = s.order().size(); i-- != 0;) {
        const std::uint32_t owner = s.order()[i];
        const std::size_t left = free.size() - given;
        const std::size_t part = s.lacks(owner) < left ? s.lacks(owner) : left;
        if (owner != v.self) {
            given += part;
            if (part == 0 && s.lacks(owner) != 0) ++thieves;
            continue;
        }
        for (std::size_t k = 0; k != part; ++k) {
            plan.claim.push_back(free[given + (k + start) % part]);
        }
        if (part != 0 || s.lacks(owner) == 0) return;
        for (const std::uint32_t victim : s.order()) {
            const std::uint32_t extra = s.exceeds(victim);
            if (thieves < extra) {
                plan.steal = nth_of(v, victim, thieves);
                return;
            }
            thieves -= extra;
        }
        return;
    }
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_SHARES_HPP

// SPDX-License-Identifier: MIT
//
// balance: which partitions an owner takes next, so that all owners get an equal share.
//
// A pure function. Owners with the same view never want the same partition:
//
//     waybill::lease_view v = observer.view(me);
//     waybill::balance_plan p = waybill::balance(v, draw);
//     for (std::uint32_t i : p.claim) ...                  // free partitions, all at once
//     if (p.steal) ...                                     // at most one in a round
//
// The target of an owner is partitions / owners, rounded down. The owners with the most partitions
// get the remainder, one more each. Guarantees, proved for all states of up to 10 partitions and 4
// owners in tests/enumerate/lease/balance.test.cpp:
//   1. It ends. Then no partition is free, and the counts differ by at most one.
//   2. No owner takes more than its target or loses a partition below it. A balanced state stays.
//   3. No other rule needs fewer steals.
//   4. 2 and 3 also hold if several owners act on the same view at the same time.
// Exception: any owner may take a partition that was free for two expiries, one in a round.

#ifndef WAYBILL_LEASE_BALANCE_HPP
#define WAYBILL_LEASE_BALANCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace waybill::inline v0_2 {

/// The holder of each partition, as seen by one owner. All owners number the owners in the same
/// order.
struct lease_view {
    static constexpr std::uint32_t free = ~std::uint32_t{0};
    static constexpr std::uint32_t left_over = free - 1;  ///< Free for at least two expiries.

    std::vector<std::uint32_t> holders{};  ///< Per partition: its owner, `free` or `left_over`.
    std::uint32_t owners = 1;              ///< Number of live owners, with or without partitions.
    std::uint32_t self = 0;                ///< The owner to plan for, in [0, owners).

    friend bool operator==(const lease_view&, const lease_view&) = default;
};

struct balance_plan {
    std::vector<std::uint32_t> claim{};    ///< Free partitions to take now, in this order.
    std::optional<std::uint32_t> steal{};  ///< A partition of another owner, if `claim` is empty.
    std::uint32_t mine = 0;                ///< Partitions that `self` has.
    std::uint32_t target = 0;              ///< Partitions that `self` should have.
    bool balanced = false;                 ///< No free partition; no owner exceeds its target.

    friend bool operator==(const balance_plan&, const balance_plan&) = default;
};

namespace detail {

/// Actual and target numbers of partitions of all owners, and the order of the owners.
class shares {
public:
    /// Requires: at least one owner.
    explicit shares(const lease_view& v) : owners_(v.owners), has_(owners_), target_(owners_)
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

[[nodiscard]] inline std::optional<std::uint32_t> nth_of(const lease_view& v, std::uint32_t owner,
                                                         std::uint32_t n)
{
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] == owner && n-- == 0) return i;
    }
    return {};
}

/// Serves the owners with the fewest partitions first. Each takes free partitions up to its target.
/// The n-th owner that gets none of them steals the n-th surplus partition.
inline void serve(const lease_view& v, const shares& s, const std::vector<std::uint32_t>& free,
                  std::uint32_t start, balance_plan& plan)
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

}  // namespace detail

/// The plan for `v.self`; empty if `v.self` is not in [0, v.owners). `random` in [0, 1) selects the
/// first partition to claim, so that owners that do not see each other yet start at different ones.
/// Linear in partitions and owners.
[[nodiscard]] inline balance_plan balance(const lease_view& v, double random)
{
    balance_plan plan;
    if (v.self >= v.owners) return plan;
    const detail::shares shares(v);
    plan.mine = shares.has(v.self);
    plan.target = shares.target(v.self);

    std::vector<std::uint32_t> free;
    std::vector<std::uint32_t> left_over;
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] < v.owners) continue;
        free.push_back(i);
        if (v.holders[i] == lease_view::left_over) left_over.push_back(i);
    }
    const double share = random >= 0.0 ? (random < 1.0 ? random : 0.999) : 0.0;
    const auto start = static_cast<std::uint32_t>(share * static_cast<double>(free.size()));
    detail::serve(v, shares, free, start, plan);
    if (plan.claim.empty() && !plan.steal && !left_over.empty()) {
        const auto at = static_cast<std::size_t>(share * static_cast<double>(left_over.size()));
        plan.claim.push_back(left_over[at]);
    }
    plan.balanced = free.empty();
    for (std::uint32_t o = 0; o != v.owners; ++o) {
        if (shares.exceeds(o) != 0) plan.balanced = false;
    }
    return plan;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_BALANCE_HPP

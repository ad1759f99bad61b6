// SPDX-License-Identifier: MIT
//
// balance: which partitions an owner should take next so that all have their share.
//
// A pure function of what an owner sees. Each owner works out what all of them should do, and does
// his own part of it; those who see the same never want the same partition:
//
//     waybill::lease_view v = observer.view(me);
//     waybill::balance_plan p = waybill::balance(v, draw);
//     for (std::uint32_t i : p.claim) ...                  // free ones, all at once
//     if (p.steal) ...                                     // from who has most, one in a round
//
// The target of an owner is partitions / owners, and one more for those who have most already, as
// many as the division leaves over. What holds, proved for all states up to 10 partitions and 4
// owners by tests/enumerate/consume/balance.test.cpp:
//   1. it ends, and then the counts differ by one at the most and nothing is free;
//   2. nobody takes more, nobody is robbed of more than that, nothing moves when balanced;
//   3. no other rule gets there with fewer steals;
//   4. both also hold where all act at once on the same view.
// What nobody has taken for two expiries is free to all, whosever share it is.

#ifndef WAYBILL_CONSUME_BALANCE_HPP
#define WAYBILL_CONSUME_BALANCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace waybill::inline v0_2 {

/// Who has which partition, as one owner sees it. Owners are numbered in an order that all agree
/// on.
struct lease_view {
    static constexpr std::uint32_t free = ~std::uint32_t{0};
    static constexpr std::uint32_t left_over = free - 1;  ///< Free, and for a long time.

    std::vector<std::uint32_t> holders{};  ///< Of each partition: an owner, or free, or left_over.
    std::uint32_t owners = 1;              ///< How many are alive, with partitions or without.
    std::uint32_t self = 0;                ///< Who asks. One of them.

    friend bool operator==(const lease_view&, const lease_view&) = default;
};

struct balance_plan {
    std::vector<std::uint32_t> claim{};    ///< Free partitions to take now, in this order.
    std::optional<std::uint32_t> steal{};  ///< Somebody else's, if nothing is to be claimed.
    std::uint32_t mine = 0;                ///< How many this owner has,
    std::uint32_t target = 0;              ///< and how many he should have.
    bool balanced = false;                 ///< Nothing is free, and all have what they should.

    friend bool operator==(const balance_plan&, const balance_plan&) = default;
};

namespace detail {

/// What all owners have and should have, and in which order they are served.
class shares {
public:
    /// Requires: at least one owner.
    explicit shares(const lease_view& v) : owners_(v.owners), has_(owners_), target_(owners_)
    {
        for (const std::uint32_t h : v.holders) {
            if (h < owners_) ++has_[h];
        }
        const std::size_t all = v.holders.size();
        // Sorted by counting, the largest first: first[all - c] is where those with c begin.
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
    /// Who has most comes first.
    [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

private:
    std::uint32_t owners_;
    std::vector<std::uint32_t> has_;
    std::vector<std::uint32_t> target_;
    std::vector<std::uint32_t> order_;
};

/// The n-th partition of an owner.
[[nodiscard]] inline std::optional<std::uint32_t> nth_of(const lease_view& v, std::uint32_t owner,
                                                         std::uint32_t n)
{
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] == owner && n-- == 0) return i;
    }
    return {};
}

/// Serves in turn those who have least. Free ones come first, all at once; who gets none of these
/// is a thief, and the n-th thief has the n-th partition that somebody has too many.
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

/// What `v.self` should do now. `draw` in [0, 1) says with which of his free partitions he begins,
/// for the sake of those who do not see each other yet. Linear in partitions and owners.
[[nodiscard]] inline balance_plan balance(const lease_view& v, double draw)
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
    const double share = draw >= 0.0 ? (draw < 1.0 ? draw : 0.999) : 0.0;
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

#endif  // WAYBILL_CONSUME_BALANCE_HPP

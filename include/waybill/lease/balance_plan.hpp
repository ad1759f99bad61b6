// SPDX-License-Identifier: MIT
//
// balance_plan: the owner of each partition, and the claims and releases of one owner.

#ifndef WAYBILL_LEASE_BALANCE_PLAN_HPP
#define WAYBILL_LEASE_BALANCE_PLAN_HPP

#include <cstdint>
#include <optional>
#include <vector>

namespace waybill::inline v0_2 {

/// The claims and releases of one owner, as `balance` computes them.
struct balance_plan {
    /// The holder of each partition, as seen by one owner. All owners number the owners in the same
    /// order.
    struct lease_view {
        /// The holder of a partition without an owner.
        static constexpr std::uint32_t free = ~std::uint32_t{0};
        /// The same, if the partition was free for at least two expiries.
        static constexpr std::uint32_t free_for_long = free - 1;

        /// For each partition: its owner, `free` or `free_for_long`.
        std::vector<std::uint32_t> holders{};
        std::uint32_t owners = 1;  ///< Number of live owners, with or without partitions.
        std::uint32_t self = 0;    ///< The owner to plan for, in [0, owners).
        /// True if the others had an expiry to release what they have above their targets, and have
        /// released nothing. Only then `self` steals.
        bool overdue = false;

        friend bool operator==(const lease_view&, const lease_view&) = default;
    };

    std::vector<std::uint32_t> claim{};  ///< Free partitions to claim now, in this order.
    std::vector<std::uint32_t> steal{};  ///< Partitions of other owners, if `overdue`.
    std::uint32_t surplus = 0;           ///< Number of partitions that `self` should release.
    std::uint32_t others_surplus = 0;    ///< Number of partitions that the others should release.
    std::uint32_t mine = 0;              ///< Number of partitions that `self` has.
    std::uint32_t target = 0;            ///< Number of partitions that `self` should have.
    bool balanced = false;               ///< Each owner has its target; no partition is free.

    friend bool operator==(const balance_plan&, const balance_plan&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_BALANCE_PLAN_HPP

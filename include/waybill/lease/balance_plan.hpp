// SPDX-License-Identifier: MIT
//
// balance_plan: which owner has each partition, and the partitions that one owner should take.

#ifndef WAYBILL_LEASE_BALANCE_PLAN_HPP
#define WAYBILL_LEASE_BALANCE_PLAN_HPP

#include <cstdint>
#include <optional>
#include <vector>

namespace waybill::inline v0_2 {

/// The leases that an owner should take, as `balance` computes them.
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

        friend bool operator==(const lease_view&, const lease_view&) = default;
    };

    std::vector<std::uint32_t> claim{};    ///< Free partitions to claim now, in this order.
    std::optional<std::uint32_t> steal{};  ///< A partition of another owner, if `claim` is empty.
    std::uint32_t mine = 0;                ///< Partitions that `self` has.
    std::uint32_t target = 0;              ///< Partitions that `self` should have.
    bool balanced = false;                 ///< No free partition; no owner exceeds its target.

    friend bool operator==(const balance_plan&, const balance_plan&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_BALANCE_PLAN_HPP

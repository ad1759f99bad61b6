// SPDX-License-Identifier: MIT
//
// prune_plan: the rows that plan_prune reads, and the plan that it returns.

#ifndef WAYBILL_CONSUME_PRUNE_PLAN_HPP
#define WAYBILL_CONSUME_PRUNE_PLAN_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <waybill/core/config_error.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The rows to remove, and the state of the store before and after.
struct prune_plan {
    /// The properties of a dead letter that pruning needs.
    struct row {
        std::uint64_t id = 0;
        std::uint64_t bytes = 0;
        wall_time dead_lettered_at{};  ///< The last time at which the message became a dead letter.
        bool redriving = false;        ///< The dead letter is being resubmitted.

        friend bool operator==(const row&, const row&) = default;
    };

    /// A row to remove. Remove it only if `may_remove` is still true.
    struct removal {
        /// The limit that removes a row.
        enum class limit : std::uint8_t { age, count, bytes };
        [[nodiscard]] friend constexpr std::string_view texts_of(limit) noexcept
        {
            return "age, count, bytes";
        }

        std::uint64_t id = 0;
        std::uint64_t index = 0;  ///< Index of the row in the range given to plan_prune, from 0.
        std::uint64_t bytes = 0;
        wall_time dead_lettered_at{};
        limit reason = limit::age;

        /// True if the current row is unchanged since the plan: same id, same `dead_lettered_at`,
        /// and not `redriving`. Compare and remove in one statement.
        [[nodiscard]] constexpr bool may_remove(const row& current) const noexcept
        {
            return id == current.id && dead_lettered_at == current.dead_lettered_at &&
                   !current.redriving;
        }

        friend bool operator==(const removal&, const removal&) = default;
    };

    /// Number and size of rows.
    struct totals {
        std::uint64_t rows = 0;
        std::uint64_t bytes = 0;  ///< Saturates. The plan itself is computed from the exact sum.

        friend bool operator==(const totals&, const totals&) = default;
    };

    std::vector<removal> removals{};  ///< Oldest first.
    totals before{};                  ///< All rows.
    totals after{};                   ///< The rows that are left after all removals.
    totals redriving{};               ///< The rows in `after` that are `redriving`.
    std::uint64_t recent = 0;         ///< Rows not older than `spike.within` of the policy.
    bool spike = false;          ///< `recent` has reached `spike.count`: a dependency may be down.
    bool limit_reached = false;  ///< After all removals a limit is still reached: refuse new rows.
    bool rows_in_order = true;   ///< The rows were ordered oldest first.
    std::optional<config_error> wrong{};  ///< The error of a rejected policy. No row is removed.

    friend bool operator==(const prune_plan&, const prune_plan&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_PRUNE_PLAN_HPP

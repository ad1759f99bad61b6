// SPDX-License-Identifier: MIT
//
// evidence: one comparison of a decision: a value, its threshold and the result.

#ifndef WAYBILL_SCALING_EVIDENCE_HPP
#define WAYBILL_SCALING_EVIDENCE_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/tribool.hpp>

namespace waybill::inline v0_2::scaling {

using v0_2::name;

/// The relation of a value to its threshold.
enum class relation : std::uint8_t {
    above,     ///< value > threshold
    at_least,  ///< value >= threshold
    below,     ///< value < threshold
    at_most,   ///< value <= threshold
};

/// The symbols of the relations, as `name` returns them.
[[nodiscard]] constexpr std::string_view texts_of(relation) noexcept
{
    return ">, >=, <, <=";
}

[[nodiscard]] constexpr bool holds(double value, relation r, double limit) noexcept
{
    switch (r) {
        case relation::above: return value > limit;
        case relation::at_least: return value >= limit;
        case relation::below: return value < limit;
        case relation::at_most: return value <= limit;
    }
    return false;
}

/// The reason why a comparison could not be made.
enum class missing_part : std::uint8_t {
    nothing,       ///< It was made.
    metric,        ///< There is no reading of this metric.
    points,        ///< There are fewer points than required.
    fresh_points,  ///< The last sample is too old, or its time is unknown.
    value,         ///< The statistic is not measured, or is not a finite number.
    limit,         ///< There is no threshold for this number of instances.
    samples,       ///< Samples that were pushed out of the window could change the result.
};

[[nodiscard]] constexpr std::string_view texts_of(missing_part) noexcept
{
    return "nothing, metric, points, fresh_points, value, limit, samples";
}

/// The purpose of a comparison.
enum class role : std::uint8_t {
    up,          ///< Tests if more instances are needed.
    down,        ///< Tests if fewer instances are enough.
    activation,  ///< Tests if any instance is needed.
    target,      ///< Computes the number of instances that is needed.
    projected,   ///< Tests if fewer instances would need more at once.
};

[[nodiscard]] constexpr std::string_view texts_of(role) noexcept
{
    return "up, down, activation, target, projected";
}

/// One comparison with its numbers. It views the name of the metric in the rule.
struct evidence {
    role part = role::up;
    std::string_view metric{};
    statistic what = statistic::mean;
    relation how = relation::above;
    std::optional<double> value{};
    std::optional<double> limit{};
    std::uint64_t points = 0;
    bool cut = false;      ///< Samples of the span were pushed out of the window.
    bool sampled = false;  ///< Samples represent more events than their number.
    bool timed = false;    ///< The times `first` and `last` are known.
    wall_time first{};
    wall_time last{};
    tribool holds = tribool::unknown;
    missing_part missing = missing_part::nothing;
    /// The capacity that a target needs: instances or, with a ladder, the unit of its capacities.
    std::optional<std::uint64_t> wants{};
    /// The text of a custom condition, which must outlive this row.
    std::string_view note{};

    friend bool operator==(const evidence&, const evidence&) = default;
};

/// True if the value is only a bound, because events were not sampled or samples were pushed out of
/// the window. The true highest may be higher, the true lowest may be lower.
[[nodiscard]] constexpr bool is_only_a_bound(const evidence& e) noexcept
{
    const bool extreme = e.what == statistic::highest || e.what == statistic::lowest;
    return extreme && (e.cut || e.sampled);
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_EVIDENCE_HPP

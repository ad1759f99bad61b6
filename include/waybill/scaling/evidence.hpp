// SPDX-License-Identifier: MIT
//
// evidence: one row of a decision: which number was held against which, and what came of it.

#ifndef WAYBILL_SCALING_EVIDENCE_HPP
#define WAYBILL_SCALING_EVIDENCE_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/time.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/truth.hpp>

namespace waybill::inline v0_2::scaling {

/// How a value has to stand to its threshold.
enum class relation : std::uint8_t {
    above,     ///< value > threshold
    at_least,  ///< value >= threshold
    below,     ///< value < threshold
    at_most,   ///< value <= threshold
};

/// As it is written.
[[nodiscard]] constexpr std::string_view name(relation r) noexcept
{
    switch (r) {
        case relation::above: return ">";
        case relation::at_least: return ">=";
        case relation::below: return "<";
        case relation::at_most: return "<=";
    }
    return "?";
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

/// Why a comparison could not be made.
enum class lack_of : std::uint8_t {
    nothing,       ///< It was made.
    metric,        ///< Nobody told anything of this metric.
    points,        ///< There were too few.
    fresh_points,  ///< The last one was too old.
    value,         ///< This statistic is not measured, or no number.
    limit,         ///< There is no such threshold for so many instances.
    samples,       ///< Some were pushed out of the window, and might say otherwise.
};

[[nodiscard]] constexpr std::string_view name(lack_of l) noexcept
{
    switch (l) {
        case lack_of::nothing: return "nothing";
        case lack_of::metric: return "metric";
        case lack_of::points: return "points";
        case lack_of::fresh_points: return "fresh_points";
        case lack_of::value: return "value";
        case lack_of::limit: return "limit";
        case lack_of::samples: return "samples";
    }
    return "?";
}

/// What a comparison was made for.
enum class role : std::uint8_t {
    up,          ///< Whether more are needed.
    down,        ///< Whether fewer will do.
    activation,  ///< Whether any is needed at all.
    target,      ///< How many are needed.
    projected,   ///< Whether more would be needed if there were fewer.
};

[[nodiscard]] constexpr std::string_view name(role r) noexcept
{
    switch (r) {
        case role::up: return "up";
        case role::down: return "down";
        case role::activation: return "activation";
        case role::target: return "target";
        case role::projected: return "projected";
    }
    return "?";
}

/// One comparison, with all of its numbers. It views the name of the metric, which is the rule's.
struct evidence {
    role part = role::up;
    std::string_view metric{};
    statistic what = statistic::mean;
    relation how = relation::above;
    std::optional<double> value{};
    std::optional<double> limit{};
    std::uint64_t points = 0;
    bool cut = false;      ///< Samples of the span were pushed out of the window.
    bool sampled = false;  ///< Its samples stand for more events than they are.
    bool timed = false;  ///< Whether the times are known.
    wall_time first{};
    wall_time last{};
    truth holds = truth::unknown;
    lack_of lacks = lack_of::nothing;
    std::optional<std::uint64_t> wants{};  ///< So many instances, where it is a target.
    std::string_view note{};  ///< What a condition of one's own has to say; it has to last.

    friend bool operator==(const evidence&, const evidence&) = default;
};

/// Whether what is not in the value may be beyond it: a highest may be higher, a lowest lower.
[[nodiscard]] constexpr bool is_one_sided(const evidence& e) noexcept
{
    const bool extreme = e.what == statistic::highest || e.what == statistic::lowest;
    return extreme && (e.cut || e.sampled);
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_EVIDENCE_HPP

// SPDX-License-Identifier: MIT
//
// change: the size of a change, in instances or percent, and rate limits.
//
//     .step = {.up = {.count = 2}, .down = {.percent = 10}}
//
// If both `count` and `percent` are set, the larger change counts. Each change is at least one
// instance, as in AWS: a percentage of few instances may be less than one.

#ifndef WAYBILL_SCALING_CHANGE_HPP
#define WAYBILL_SCALING_CHANGE_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/detail/whole_instances.hpp>

namespace waybill::inline v0_2::scaling {

/// A setting with a value per direction.
template <class T>
struct per_direction {
    T up{};
    T down{};

    friend bool operator==(const per_direction&, const per_direction&) = default;
};

/// The larger of `count` instances and `percent` percent of the current instances; at least one
/// instance.
struct change {
    std::uint64_t count = 0;
    double percent = 0;

    friend bool operator==(const change&, const change&) = default;
};

/// At most a change of `max_change` within any period `per`. Only applied changes count. Fractions
/// of an instance are rounded up, as in Kubernetes.
struct rate_limit {
    change max_change{};
    duration per{};

    friend bool operator==(const rate_limit&, const rate_limit&) = default;
};

namespace detail {

/// `c.percent` percent of `of`.
[[nodiscard]] constexpr double share(const change& c, std::uint64_t of) noexcept
{
    return static_cast<double>(of) / 100 * c.percent;
}

}  // namespace detail

/// The number of instances that a change c adds to `instances` or removes. A percentage is rounded
/// down; the result is at least 1.
[[nodiscard]] constexpr std::uint64_t step_of(const change& c, std::uint64_t instances) noexcept
{
    const std::uint64_t part =
        detail::whole_instances(detail::share(c, instances) * (1 + detail::rounding_tolerance));
    return detail::greater(detail::greater(c.count, part), 1);
}

/// The number of instances that a limit c allows to add or remove. A percentage is rounded up; the
/// result is at least 1.
[[nodiscard]] constexpr std::uint64_t limit_of(const change& c, std::uint64_t instances) noexcept
{
    const std::uint64_t part = detail::enough_instances(detail::share(c, instances));
    return detail::greater(detail::greater(c.count, part), 1);
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_CHANGE_HPP

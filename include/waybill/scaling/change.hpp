// SPDX-License-Identifier: MIT
//
// change: by how much, up and down.
//
//     .step = {.up = {.count = 2}, .down = {.percent = 10}}
//
// A share of few instances may be less than one, and then nothing would ever happen; so every
// change is one instance at least (AWS rounds so, too). Where there is a count and a share, the
// greater counts.

#ifndef WAYBILL_SCALING_CHANGE_HPP
#define WAYBILL_SCALING_CHANGE_HPP

#include <cstdint>

#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::scaling {

/// A setting that may differ by direction.
template <class T>
struct both_ways {
    T up{};
    T down{};

    friend bool operator==(const both_ways&, const both_ways&) = default;
};

/// So many instances, or so many percent of them: whichever is more, and one at least.
struct change {
    std::uint64_t count = 0;
    double percent = 0;

    friend bool operator==(const change&, const change&) = default;
};

/// At most so much within any such period, counted from what was applied. A part of an instance
/// that a share comes to is rounded up, as Kubernetes does.
struct rate_limit {
    change most{};
    duration per{};

    friend bool operator==(const rate_limit&, const rate_limit&) = default;
};

namespace detail {

/// A number of instances, or the end of ours that it lies beyond; 0 for what is no number.
[[nodiscard]] constexpr std::uint64_t whole_instances(double x) noexcept
{
    if (!(x > 0)) return 0;
    if (x >= 18446744073709549568.0) return highest_size;
    return static_cast<std::uint64_t>(x);
}

/// The same, where a part of an instance needs a whole one. A part that only comes of rounding in
/// the division before it is none: 0.3 / 0.1 instances are 3.
[[nodiscard]] constexpr std::uint64_t enough_instances(double x) noexcept
{
    const std::uint64_t n = whole_instances(x);
    const double rest = x - static_cast<double>(n);
    return rest > x * 1e-12 ? saturating_add(n, 1) : n;
}

[[nodiscard]] constexpr double share(const change& c, std::uint64_t of) noexcept
{
    return static_cast<double>(of) / 100 * c.percent;
}

}  // namespace detail

/// What a change of so many comes to, towards zero but one at least.
[[nodiscard]] constexpr std::uint64_t step_of(const change& c, std::uint64_t instances) noexcept
{
    const std::uint64_t part = detail::whole_instances(detail::share(c, instances) * (1 + 1e-12));
    return greater(greater(c.count, part), 1);
}

/// The same as a limit: a part of an instance allows a whole one.
[[nodiscard]] constexpr std::uint64_t limit_of(const change& c, std::uint64_t instances) noexcept
{
    const std::uint64_t part = detail::enough_instances(detail::share(c, instances));
    return greater(greater(c.count, part), 1);
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_CHANGE_HPP

// SPDX-License-Identifier: MIT
//
// time_parse: reads the digits of durations and of times in UTC.
//
// Part of time_text.hpp.

#ifndef WAYBILL_CORE_DETAIL_TIME_PARSE_HPP
#define WAYBILL_CORE_DETAIL_TIME_PARSE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/detail/time_format.hpp>

namespace waybill::inline v0_2::detail {

/// Removes all digits at the start of `from` and returns their value. Empty if there is no digit or
/// more than 19.
[[nodiscard]] constexpr std::optional<std::uint64_t> take_digits(std::string_view& from)
{
    constexpr std::size_t max_digits = 19;  // 19 digits always fit into 64 bits
    std::uint64_t n = 0;
    std::size_t count = 0;
    while (count < from.size() && from[count] >= '0' && from[count] <= '9') {
        if (count == max_digits) return {};
        n = n * 10 + static_cast<std::uint64_t>(from[count] - '0');
        ++count;
    }
    if (count == 0) return {};
    from.remove_prefix(count);
    return n;
}

/// Removes exactly `digits` digits and then the character `after`, and returns the value of the
/// digits. '\0' means no character.
[[nodiscard]] constexpr std::optional<std::int64_t> take_field(std::string_view& from,
                                                               std::size_t digits, char after)
{
    if (from.size() < digits) return {};
    std::int64_t n = 0;
    for (std::size_t i = 0; i != digits; ++i) {
        if (from[i] < '0' || from[i] > '9') return {};
        n = n * 10 + (from[i] - '0');
    }
    from.remove_prefix(digits);
    if (after != '\0') {
        if (from.empty() || from.front() != after) return {};
        from.remove_prefix(1);
    }
    return n;
}

/// Removes a decimal fraction such as ".25" and returns it multiplied by `one`, a power of ten; 0
/// if there is no fraction. Empty if it has no digit, or if a digit other than 0 exceeds the
/// precision of `one`.
[[nodiscard]] constexpr std::optional<std::uint64_t> take_fraction(std::string_view& from,
                                                                   std::uint64_t one)
{
    if (from.empty() || from.front() != '.') return 0;
    from.remove_prefix(1);
    std::uint64_t part = 0;
    std::size_t count = 0;
    while (!from.empty() && from.front() >= '0' && from.front() <= '9') {
        const auto digit = static_cast<std::uint64_t>(from.front() - '0');
        from.remove_prefix(1);
        ++count;
        one /= 10;
        if (one == 0 && digit != 0) return {};
        part += digit * one;
    }
    if (count == 0) return {};
    return part;
}

/// The number of days from 1970-01-01 to the date.
[[nodiscard]] constexpr std::int64_t days_to(const civil_date& d) noexcept
{
    const std::int64_t year = d.month > 2 ? d.year : d.year - 1;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const std::int64_t year_of_era = year - era * 400;
    const std::int64_t day_of_year = (153 * (d.month + (d.month > 2 ? -3 : 9)) + 2) / 5 + d.day - 1;
    return era * days_per_era + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
           day_of_year - days_before_1970;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_TIME_PARSE_HPP

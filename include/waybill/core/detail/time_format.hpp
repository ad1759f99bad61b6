// SPDX-License-Identifier: MIT
//
// time_format: writes and reads the digits of durations and of times in UTC.
//
// Part of time_text.hpp.

#ifndef WAYBILL_CORE_DETAIL_TIME_FORMAT_HPP
#define WAYBILL_CORE_DETAIL_TIME_FORMAT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/digits.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

struct time_unit {
    std::string_view name;
    std::int64_t ns;
};

// A duration is written in the first unit that fits: h and min if whole, the others if at least 1.
inline constexpr time_unit time_units[] = {{"h", 3'600'000'000'000}, {"min", 60'000'000'000},
                                           {"s", 1'000'000'000},     {"ms", 1'000'000},
                                           {"us", 1'000},            {"ns", 1}};

/// Appends part / one as a decimal fraction, such as ".25"; nothing for 0. `one` is a power of ten.
inline void append_fraction(std::string& to, std::uint64_t part, std::uint64_t one)
{
    if (part == 0) return;
    to += '.';
    while (part != 0) {
        one /= 10;
        to += static_cast<char>('0' + part / one);
        part %= one;
    }
}

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

struct civil_date {
    std::int64_t year = 1970;
    std::int64_t month = 1;
    std::int64_t day = 1;
};

// The algorithms are those of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms",
// https://howardhinnant.github.io/date_algorithms.html. In them years start in March, so the leap
// day is the last day of a year. An era is 400 years, the period of the calendar.
inline constexpr std::int64_t days_per_era = 146'097;
inline constexpr std::int64_t days_before_1970 = 719'468;  // from 0000-03-01

/// The date that is `days` days after 1970-01-01.
[[nodiscard]] constexpr civil_date date_of(std::int64_t days) noexcept
{
    days += days_before_1970;
    const std::int64_t era = (days >= 0 ? days : days - (days_per_era - 1)) / days_per_era;
    const std::int64_t day_of_era = days - era * days_per_era;
    const std::int64_t year =
        (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const std::int64_t day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    const std::int64_t month = (5 * day_of_year + 2) / 153;
    return {year + era * 400 + (month >= 10 ? 1 : 0), month + (month < 10 ? 3 : -9),
            day_of_year - (153 * month + 2) / 5 + 1};
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

inline constexpr std::size_t max_time_size = 30;  // the maximum length of a wall time

/// Writes the time to `to`, which must have space for `max_time_size` characters. Returns the
/// number of characters written.
constexpr std::size_t put_time(char* to, wall_time t) noexcept
{
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t ns = t.since_epoch().count();
    const std::int64_t seconds = ns / second - (ns % second < 0 ? 1 : 0);
    const std::int64_t days = seconds / 86'400 - (seconds % 86'400 < 0 ? 1 : 0);
    const civil_date date = date_of(days);
    const auto second_of_day = static_cast<std::uint64_t>(seconds - days * 86'400);
    std::size_t size = 0;
    const auto put = [&](std::size_t digits, std::uint64_t n, char after) {
        put_digits(to + size, digits, n);
        size += digits;
        to[size++] = after;
    };
    put(4, static_cast<std::uint64_t>(date.year), '-');  // 1677 to 2262: always four digits
    put(2, static_cast<std::uint64_t>(date.month), '-');
    put(2, static_cast<std::uint64_t>(date.day), 'T');
    put(2, second_of_day / 3'600, ':');
    put(2, second_of_day / 60 % 60, ':');
    put(2, second_of_day % 60, '.');
    const std::int64_t rest = ns % second;
    put(9, static_cast<std::uint64_t>(rest < 0 ? rest + second : rest), 'Z');
    --size;  // the 'Z' follows the last digit other than 0
    while (to[size - 1] == '0') --size;
    if (to[size - 1] == '.') --size;
    to[size++] = 'Z';
    return size;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_TIME_FORMAT_HPP

// SPDX-License-Identifier: MIT
//
// time_format: writes durations and times in UTC.
//
// Part of time_text.hpp.

#ifndef WAYBILL_CORE_DETAIL_TIME_FORMAT_HPP
#define WAYBILL_CORE_DETAIL_TIME_FORMAT_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
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
inline constexpr time_unit time_units[] = {
    {"h", 3'600'000'000'000}, {"min", 60'000'000'000}, {"s", 1'000'000'000},
    {"ms", 1'000'000},        {"us", 1'000},           {"ns", 1}};

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

/// The text of to_text(duration). As a template, it costs nothing until it is called.
template <std::same_as<duration> D>
[[nodiscard]] std::string written(D d)
{
    if (d == duration::highest()) return "forever";
    if (d == duration::lowest()) return "-forever";
    if (d == duration{}) return "0s";
    const auto ns = static_cast<std::uint64_t>(d.count() < 0 ? -d.count() : d.count());
    std::string line = d.count() < 0 ? "-" : "";
    for (const time_unit& u : time_units) {
        const auto unit_ns = static_cast<std::uint64_t>(u.ns);
        const bool allows_decimals = u.name != "h" && u.name != "min";
        const bool fits = allows_decimals ? ns >= unit_ns : ns % unit_ns == 0;
        if (!fits) continue;
        line += std::to_string(ns / unit_ns);
        append_fraction(line, ns % unit_ns, unit_ns);
        line += u.name;
        break;
    }
    return line;
}

/// The text of to_text(wall_time).
template <std::same_as<wall_time> T>
[[nodiscard]] std::string written(T t)
{
    char line[max_time_size] = {};
    return std::string(line, put_time(line, t));
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_TIME_FORMAT_HPP

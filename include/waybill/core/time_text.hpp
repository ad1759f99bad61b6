// SPDX-License-Identifier: MIT
//
// time_text: converts durations and wall times to readable text and back, without loss.
//
//     waybill::to_text(waybill::duration(1500ms))             // "1.5s"
//     waybill::to_text(waybill::wall_time(...))               // "2024-02-29T12:00:00.25Z"
//     waybill::duration_in("10min")                        // empty if it is not one
//
// A duration is written in one unit: h or min only for whole multiples, else s, ms, us or ns with
// the necessary decimals. A wall time is written as ISO 8601 in UTC.
//
// Guarantees
//   1. Written text is read back as the same value, to the nanosecond.
//   2. Text without an exact value is refused, never rounded: more than nine decimals of a second,
//      a year outside 64-bit nanoseconds, 30 February.

#ifndef WAYBILL_CORE_TIME_TEXT_HPP
#define WAYBILL_CORE_TIME_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/digits.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

namespace detail {

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

/// Removes all digits at the start of `from`. Empty if there is no digit or more than 19.
[[nodiscard]] constexpr std::optional<std::uint64_t> take_digits(std::string_view& from)
{
    constexpr std::size_t most = 19;  // 19 digits always fit into 64 bits
    std::uint64_t n = 0;
    std::size_t count = 0;
    while (count < from.size() && from[count] >= '0' && from[count] <= '9') {
        if (count == most) return {};
        n = n * 10 + static_cast<std::uint64_t>(from[count] - '0');
        ++count;
    }
    if (count == 0) return {};
    from.remove_prefix(count);
    return n;
}

/// Removes exactly `digits` digits and then the character `after`. '\0' means no character.
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

// Years start in March, so the leap day is the last day of a year. An era is 400 years, the period
// of the calendar. From 0000-03-01 to 1970-01-01 there are 719468 days.
[[nodiscard]] constexpr civil_date date_of(std::int64_t days) noexcept
{
    days += 719'468;
    const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
    const std::int64_t of_era = days - era * 146'097;
    const std::int64_t year = (of_era - of_era / 1'460 + of_era / 36'524 - of_era / 146'096) / 365;
    const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const std::int64_t month = (5 * of_year + 2) / 153;
    return {year + era * 400 + (month >= 10 ? 1 : 0), month + (month < 10 ? 3 : -9),
            of_year - (153 * month + 2) / 5 + 1};
}

[[nodiscard]] constexpr std::int64_t days_to(const civil_date& d) noexcept
{
    const std::int64_t year = d.month > 2 ? d.year : d.year - 1;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const std::int64_t of_era = year - era * 400;
    const std::int64_t of_year = (153 * (d.month + (d.month > 2 ? -3 : 9)) + 2) / 5 + d.day - 1;
    return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

inline constexpr std::size_t time_most = 30;  // the maximum length of a wall time

/// Writes the time to `to`, which must have space for `time_most` characters. Returns the number of
/// characters written.
constexpr std::size_t put_time(char* to, wall_time t) noexcept
{
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t ns = t.since_epoch().count();
    const std::int64_t seconds = ns / second - (ns % second < 0 ? 1 : 0);
    const std::int64_t days = seconds / 86'400 - (seconds % 86'400 < 0 ? 1 : 0);
    const civil_date date = date_of(days);
    const auto of_day = static_cast<std::uint64_t>(seconds - days * 86'400);
    std::size_t size = 0;
    const auto put = [&](std::size_t digits, std::uint64_t n, char after) {
        put_digits(to + size, digits, n);
        size += digits;
        to[size++] = after;
    };
    put(4, static_cast<std::uint64_t>(date.year), '-');  // 1677 to 2262: always four digits
    put(2, static_cast<std::uint64_t>(date.month), '-');
    put(2, static_cast<std::uint64_t>(date.day), 'T');
    put(2, of_day / 3'600, ':');
    put(2, of_day / 60 % 60, ':');
    put(2, of_day % 60, '.');
    const std::int64_t rest = ns % second;
    put(9, static_cast<std::uint64_t>(rest < 0 ? rest + second : rest), 'Z');
    --size;
    while (to[size - 1] == '0') --size;
    if (to[size - 1] == '.') --size;
    to[size++] = 'Z';
    return size;
}

}  // namespace detail

/// Such as "0s", "10min", "1.5s" or "-300ms". "forever" for highest(), "-forever" for lowest().
[[nodiscard]] inline std::string to_text(duration d)
{
    if (d == duration::highest()) return "forever";
    if (d == duration::lowest()) return "-forever";
    if (d == duration{}) return "0s";
    const auto ns = static_cast<std::uint64_t>(d.count() < 0 ? -d.count() : d.count());
    std::string line = d.count() < 0 ? "-" : "";
    for (const detail::time_unit& u : detail::time_units) {
        const auto one = static_cast<std::uint64_t>(u.ns);
        const bool decimal = u.name != "h" && u.name != "min";
        if (decimal ? ns < one : ns % one != 0) continue;
        line += std::to_string(ns / one);
        detail::append_fraction(line, ns % one, one);
        line += u.name;
        break;
    }
    return line;
}

/// The time as ISO 8601 in UTC, with the necessary decimals.
[[nodiscard]] inline std::string to_text(wall_time t)
{
    char line[detail::time_most] = {};
    return std::string(line, detail::put_time(line, t));
}

/// Parses a duration: an optional minus sign, digits, optional decimals (not for min and h) and one
/// of ns, us, ms, s, min, h; or "forever". Empty if the text is invalid or nanoseconds cannot
/// represent it exactly.
[[nodiscard]] constexpr std::optional<duration> duration_in(std::string_view written)
{
    const bool negative = !written.empty() && written.front() == '-';
    if (negative) written.remove_prefix(1);
    if (written == "forever") return negative ? duration::lowest() : duration::highest();
    const std::optional<std::uint64_t> whole = detail::take_digits(written);
    if (!whole) return {};
    // The unit at the end determines the value of the decimals.
    std::string_view unit = written;
    while (!unit.empty() && (unit.front() == '.' || (unit.front() >= '0' && unit.front() <= '9'))) {
        unit.remove_prefix(1);
    }
    for (const detail::time_unit& u : detail::time_units) {
        if (u.name != unit) continue;
        const auto one = static_cast<std::uint64_t>(u.ns);
        const bool decimal = u.name != "h" && u.name != "min";
        if (!decimal && written != unit) return {};
        const std::optional<std::uint64_t> part = detail::take_fraction(written, one);
        if (!part || written != unit) return {};
        constexpr auto most = static_cast<std::uint64_t>(INT64_MAX);
        if (*whole > (most - *part) / one) return {};
        const auto ns = static_cast<std::int64_t>(*whole * one + *part);
        return duration::nanoseconds(negative ? -ns : ns);
    }
    return {};
}

/// Parses a wall time in the format of to_text(wall_time): "2024-02-29T12:00:00.25Z". Empty if the
/// text is invalid, or if the time does not exist or exceeds 64-bit nanoseconds.
[[nodiscard]] constexpr std::optional<wall_time> wall_time_in(std::string_view written)
{
    const auto year = detail::take_field(written, 4, '-');
    if (!year) return {};
    const auto month = detail::take_field(written, 2, '-');
    if (!month) return {};
    const auto day = detail::take_field(written, 2, 'T');
    if (!day) return {};
    const auto hour = detail::take_field(written, 2, ':');
    if (!hour) return {};
    const auto minute = detail::take_field(written, 2, ':');
    if (!minute) return {};
    const auto second = detail::take_field(written, 2, '\0');
    if (!second) return {};
    const auto part = detail::take_fraction(written, 1'000'000'000);
    if (!part || written != "Z") return {};

    const std::int64_t days = detail::days_to({*year, *month, *day});
    const detail::civil_date back = detail::date_of(days);
    const bool exists = back.year == *year && back.month == *month && back.day == *day;
    if (!exists || *hour > 23 || *minute > 59 || *second > 59) return {};

    const std::int64_t seconds = days * 86'400 + *hour * 3'600 + *minute * 60 + *second;
    const auto ns = static_cast<std::int64_t>(*part);
    // Round the seconds towards zero: near the lowest time, the rounded-down seconds alone would
    // overflow.
    const std::int64_t whole = seconds < 0 && ns != 0 ? seconds + 1 : seconds;
    const std::int64_t rest = seconds < 0 && ns != 0 ? ns - 1'000'000'000 : ns;
    constexpr std::int64_t most = INT64_MAX / 1'000'000'000;
    if (whole > most || whole < -most) return {};
    const std::int64_t base = whole * 1'000'000'000;
    if (rest > 0 ? base > INT64_MAX - rest : base < INT64_MIN - rest) return {};
    return wall_time::at(duration::nanoseconds(base + rest));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_TIME_TEXT_HPP

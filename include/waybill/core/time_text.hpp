// SPDX-License-Identifier: MIT
//
// time_text: converts durations and wall times to readable text and back, without loss.
//
//     waybill::to_text(waybill::duration(1500ms))             // "1.5s"
//     waybill::to_text(waybill::wall_time(...))               // "2024-02-29T12:00:00.25Z"
//     waybill::parse_duration("10min")                        // empty if it is not one
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

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/time_format.hpp>
#include <waybill/core/detail/time_parse.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The duration as text, such as "0s", "10min", "1.5s" or "-300ms". "forever" for highest(),
/// "-forever" for lowest().
[[nodiscard]] inline std::string to_text(duration d)
{
    return detail::written(d);
}

/// The time as ISO 8601 in UTC, with the necessary decimals.
[[nodiscard]] inline std::string to_text(wall_time t)
{
    return detail::written(t);
}

/// Parses a duration: an optional minus sign, then "forever", or digits, optional decimals and a
/// unit. The units are ns, us, ms, s, min and h; min and h have no decimals. Empty if the text is
/// invalid or nanoseconds cannot represent it exactly.
[[nodiscard]] constexpr std::optional<duration> parse_duration(std::string_view written)
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
        const auto unit_ns = static_cast<std::uint64_t>(u.ns);
        const bool allows_decimals = u.name != "h" && u.name != "min";
        if (!allows_decimals && written != unit) return {};
        const std::optional<std::uint64_t> fraction_ns = detail::take_fraction(written, unit_ns);
        if (!fraction_ns || written != unit) return {};
        constexpr auto max_ns = static_cast<std::uint64_t>(INT64_MAX);
        if (*whole > (max_ns - *fraction_ns) / unit_ns) return {};
        const auto ns = static_cast<std::int64_t>(*whole * unit_ns + *fraction_ns);
        return duration::nanoseconds(negative ? -ns : ns);
    }
    return {};
}

/// Parses a wall time in the format of to_text(wall_time): "2024-02-29T12:00:00.25Z". Empty if the
/// text is invalid, or if the time does not exist or exceeds 64-bit nanoseconds.
[[nodiscard]] constexpr std::optional<wall_time> parse_wall_time(std::string_view written)
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
    const auto fraction_ns = detail::take_fraction(written, 1'000'000'000);
    if (!fraction_ns || written != "Z") return {};

    const std::int64_t days = detail::days_to({*year, *month, *day});
    const detail::civil_date date = detail::date_of(days);
    const bool exists = date.year == *year && date.month == *month && date.day == *day;
    if (!exists || *hour > 23 || *minute > 59 || *second > 59) return {};

    const std::int64_t seconds = days * 86'400 + *hour * 3'600 + *minute * 60 + *second;
    const auto ns = static_cast<std::int64_t>(*fraction_ns);
    // Round the seconds towards zero: near the lowest time, the rounded-down seconds alone would
    // overflow.
    const std::int64_t whole = seconds < 0 && ns != 0 ? seconds + 1 : seconds;
    const std::int64_t rest = seconds < 0 && ns != 0 ? ns - 1'000'000'000 : ns;
    constexpr std::int64_t max_seconds = INT64_MAX / 1'000'000'000;
    if (whole > max_seconds || whole < -max_seconds) return {};
    const std::int64_t base = whole * 1'000'000'000;
    if (rest > 0 ? base > INT64_MAX - rest : base < INT64_MIN - rest) return {};
    return wall_time::at(duration::nanoseconds(base + rest));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_TIME_TEXT_HPP

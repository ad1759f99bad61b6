// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/time_text.hpp>

namespace time_text_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;

struct written {
    duration value;
    std::string_view text;
};

TEST_CASE("durations are written in the unit with the shortest text, and read back")
{
    const written table[] = {
        {0ns, "0s"},
        {1ns, "1ns"},
        {999ns, "999ns"},
        {1us, "1us"},
        {1500ns, "1.5us"},
        {100ms, "100ms"},
        {1001us, "1.001ms"},
        {1500ms, "1.5s"},
        {1s, "1s"},
        {1s + 1ns, "1.000000001s"},
        {59s, "59s"},
        {60s, "1min"},
        {90s, "90s"},
        {10min, "10min"},
        {59min, "59min"},
        {60min, "1h"},
        {90min, "90min"},
        {24h, "24h"},
        {-300ms, "-300ms"},
        {-2h, "-2h"},
        {duration::highest(), "forever"},
        {duration::lowest(), "-forever"},
        {duration::nanoseconds(INT64_MAX - 1), "9223372036.854775806s"},
        {duration::nanoseconds(INT64_MIN + 1), "-9223372036.854775807s"},
    };
    for (const written& w : table) {
        CAPTURE(w.text);
        CHECK(to_text(w.value) == w.text);
        CHECK(parse_duration(w.text) == w.value);
    }
}

TEST_CASE("parse_duration: refuses text that is not a duration or not exact in nanoseconds")
{
    for (const std::string_view bad : {"",
                                       "-",
                                       "s",
                                       "1",
                                       "1 s",
                                       " 1s",
                                       "1s ",
                                       "1.s",
                                       ".5s",
                                       "1.5",
                                       "1e3s",
                                       "+1s",
                                       "--1s",
                                       "1S",
                                       "1m",
                                       "1.5min",
                                       "0.5h",
                                       "1..5s",
                                       "1.5.5s",
                                       "0.5ns",
                                       "1.0000000001s",
                                       "1,5s",
                                       "ever",
                                       "Forever",
                                       "9223372037s",
                                       "9223372036.854775808s",
                                       "2562048h",
                                       "99999999999999999999ns",
                                       "18446744073709551616ns",
                                       "18446744073709551617ns",
                                       "1\0s"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_duration(bad));
    }
    // trailing zeros do not matter
    CHECK(parse_duration("1.500000000000000s") == duration(1500ms));
    CHECK(parse_duration("9223372036.854775807s") == duration::highest());
}

struct written_time {
    std::int64_t ns;
    std::string_view text;
};

TEST_CASE("wall times are written in ISO 8601, and exact over the whole range")
{
    const written_time table[] = {
        {0, "1970-01-01T00:00:00Z"},
        {1, "1970-01-01T00:00:00.000000001Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {-1'000'000'000, "1969-12-31T23:59:59Z"},
        {951'782'400'000'000'000, "2000-02-29T00:00:00Z"},
        {1'709'208'000'250'000'000, "2024-02-29T12:00:00.25Z"},
        {4'107'542'399'000'000'000, "2100-02-28T23:59:59Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
    };
    for (const written_time& w : table) {
        CAPTURE(w.text);
        const wall_time t = wall_time::at(duration::nanoseconds(w.ns));
        CHECK(to_text(t) == w.text);
        CHECK(parse_wall_time(w.text) == t);
    }
}

TEST_CASE("parse_wall_time: refuses text that is not a time or out of range")
{
    for (const std::string_view bad : {"",
                                       "Z",
                                       "2024-02-29",
                                       "2024-02-29T12:00:00",
                                       "2024-02-29 12:00:00Z",
                                       "2024-02-29T12:00:00z",
                                       "2024-02-29T12:00:00+00:00",
                                       "2024-02-29T12:00:00.Z",
                                       "2024-02-29T12:00:00.0000000001Z",
                                       "2023-02-29T12:00:00Z",
                                       "2024-02-30T00:00:00Z",
                                       "2024-00-01T00:00:00Z",
                                       "2024-13-01T00:00:00Z",
                                       "2024-01-00T00:00:00Z",
                                       "2024-01-32T00:00:00Z",
                                       "2024-01-01T24:00:00Z",
                                       "2024-01-01T00:60:00Z",
                                       "2024-01-01T00:00:60Z",
                                       "24-01-01T00:00:00Z",
                                       "2024-1-01T00:00:00Z",
                                       "2024-01-01T0:00:00Z",
                                       "-024-01-01T00:00:00Z",
                                       "2262-04-11T23:47:16.854775808Z",
                                       "1677-09-21T00:12:43.145224191Z",
                                       "9999-01-01T00:00:00Z",
                                       "0000-01-01T00:00:00Z",
                                       "2024-01-01T00:00:00ZZ"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_wall_time(bad));
    }
}

TEST_CASE("the calendar equals that of the standard library on every day in range")
{
    bool same = true;
    for (int n = -106'752; n <= 106'752; ++n) {
        const std::chrono::year_month_day day{std::chrono::sys_days{std::chrono::days{n}}};
        const detail::civil_date ours = detail::date_of(n);
        same = same && ours.year == int(day.year()) && ours.month == unsigned(day.month()) &&
               ours.day == unsigned(day.day()) && detail::days_to(ours) == n;
    }
    CHECK(same);
}

TEST_CASE("random durations and wall times are read back")
{
    std::mt19937_64 dice(42);
    for (int i = 0; i < 20'000; ++i) {
        // All lengths have the same probability: most values of 64 bits would be centuries.
        const auto ns = static_cast<std::int64_t>(dice()) >> (dice() % 64);
        const duration d = duration::nanoseconds(ns);
        REQUIRE(parse_duration(to_text(d)) == d);
        const wall_time t = wall_time::at(d);
        REQUIRE(parse_wall_time(to_text(t)) == t);
    }
}

static_assert(parse_duration("1.5s") == duration(1500ms));
static_assert(parse_wall_time("1970-01-01T00:00:01Z") == wall_time::at(1s));

}  // namespace
}  // namespace time_text_test

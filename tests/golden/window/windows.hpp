// SPDX-License-Identifier: MIT
//
// The windows in the files of version 1: every kind of value, with and without weights and a clock,
// even and uneven steps, and extreme values.

#ifndef WAYBILL_TESTS_GOLDEN_WINDOW_WINDOWS_HPP
#define WAYBILL_TESTS_GOLDEN_WINDOW_WINDOWS_HPP

#include <cstdint>
#include <limits>
#include <string_view>

#include <waybill/window/sliding_window.hpp>

namespace golden_windows {

/// The stored form of a window.
struct stored {
    std::string_view name;
    std::string_view bytes;  ///< As hexadecimal digits.
    std::string_view json;
};

inline constexpr stored version_1[] = {
#include <golden/window/version_1.inc>
};

inline constexpr std::int64_t noon = 1'709'208'000;  // on 29 February 2024

inline waybill::wall_time ns(std::int64_t n)
{
    return waybill::wall_time::at(waybill::duration::nanoseconds(n));
}
inline waybill::wall_time seconds(std::int64_t n)
{
    return waybill::wall_time::at(waybill::duration::seconds(n));
}

template <class V>
using plain = waybill::sliding_window<waybill::stats<V>>;
template <class V>
using weighted = waybill::sliding_window<waybill::weighted_stats<V>>;

/// f(name, window) for each of them.
template <class F>
void each(F f)
{
    {
        plain<std::int64_t> w;
        f("nothing", w);
        w.advance(seconds(noon));
        f("nothing_but_a_clock", w);
    }
    {
        plain<std::int64_t> w({.span = waybill::duration::seconds(600)});
        constexpr std::int64_t backlog[] = {120, 135, 129, 0, -1, 64, 8'191, 8'192, 9'000, 9'000};
        for (std::int64_t n = 0; n != 10; ++n) w.insert(seconds(noon + 60 * n), backlog[n]);
        w.advance(seconds(noon + 9 * 60 + 5));
        f("whole_minutes", w);
    }
    {
        plain<std::uint8_t> w;
        for (const std::int64_t t : {-7, -7, -1, 0, 5, 6, 7, 8, 1'000}) {
            w.insert(ns(t), static_cast<std::uint8_t>(t & 0xFF));
        }
        f("bytes_at_odd_times", w);
    }
    {
        plain<std::int64_t> w;
        w.insert(ns(INT64_MIN), INT64_MAX);
        w.insert(ns(0), INT64_MIN);
        w.insert(ns(INT64_MAX), INT64_MAX);
        w.advance(ns(INT64_MIN));
        f("ends_of_whole_numbers", w);
    }
    {
        plain<double> w;
        using of = std::numeric_limits<double>;
        constexpr double values[] = {
            0.0, -0.0, 0.1, 1.5, 1.5, -1e300, of::max(), of::lowest(), of::denorm_min(), 100};
        for (std::int64_t n = 0; n != 10; ++n) w.insert(ns(1'500'000 * n + n / 7), values[n]);
        w.advance(ns(1'000'000'000));
        f("doubles", w);
    }
    {
        plain<float> w;
        for (std::int64_t n = 0; n != 6; ++n) {
            w.insert(seconds(noon + n * n), 0.25F * static_cast<float>(n));
        }
        f("floats", w);
    }
    {
        weighted<double> w;
        for (std::int64_t n = 0; n != 6; ++n) {
            w.insert(seconds(noon + n), 12.5 + static_cast<double>(n), n == 3 ? 0xFFFF'FFFFU : 20);
        }
        w.advance(seconds(noon - 3'600));
        f("weighted_doubles", w);
    }
    {
        weighted<std::uint64_t> w;
        w.insert(seconds(noon), UINT64_MAX, 1);
        w.insert(seconds(noon), 0, 127);
        w.insert(seconds(noon + 1), UINT64_MAX, 128);
        w.advance(seconds(noon + 2));
        f("weighted_whole_numbers", w);
    }
}

/// The entry of that name; the file has no others.
inline const stored* find(std::string_view name)
{
    for (const stored& s : version_1) {
        if (s.name == name) return &s;
    }
    return nullptr;
}

}  // namespace golden_windows

#endif  // WAYBILL_TESTS_GOLDEN_WINDOW_WINDOWS_HPP

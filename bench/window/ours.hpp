// SPDX-License-Identifier: MIT
//
// ours: waybill's windows with the interface of the peers, and variants that cost more.

#ifndef WAYBILL_BENCH_WINDOW_OURS_HPP
#define WAYBILL_BENCH_WINDOW_OURS_HPP

#include <cstdint>

#include <benchmark/benchmark.h>

#include "data.hpp"
#include <waybill/window/sliding_window.hpp>

namespace window_bench {

using plain = waybill::measures<double, waybill::summed, waybill::extremes>;
using weighted =
    waybill::measures<double, waybill::weighted_count, waybill::summed, waybill::extremes>;
using exact = waybill::measures<double, waybill::compensated, waybill::extremes>;
using everything = waybill::stats<double>;

// The documented memory: 16 bytes for a sample, and one measure.
static_assert(sizeof(waybill::sample<double>) == 16);
static_assert(sizeof(plain) == 32);
static_assert(sizeof(exact) == 40);

inline waybill::wall_time time_of(std::int64_t at)
{
    return waybill::wall_time::at(waybill::duration::nanoseconds(at));
}

/// `Slack` is the number of samples beyond `n` for which there is room.
template <class Measure, template <class> class How, std::uint64_t Slack = 0>
class ours {
public:
    static constexpr bool extremes = true;
    using window = waybill::sliding_window<Measure, waybill::wall_time, How>;

    explicit ours(std::uint64_t n, waybill::window_options::equal_time on_equal_time =
                                       waybill::window_options::equal_time::keep)
        : window_({.span = waybill::duration::nanoseconds(static_cast<std::int64_t>(n) * step),
                   .max_points = n + Slack,
                   .on_equal_time = on_equal_time})
    {
    }

    [[gnu::always_inline]] answer take(std::int64_t at, double value)
    {
        return take(at, at, value);
    }

    /// The same for a sample whose time is not `now`.
    [[gnu::always_inline]] answer take(std::int64_t now, std::int64_t at, double value)
    {
        window_.advance(time_of(now));
        if constexpr (window::weighted) window_.insert(time_of(at), value, 3);
        else window_.insert(time_of(at), value);
        const auto s = window_.query(time_of(now));
        if constexpr (requires { s.squares; }) benchmark::DoNotOptimize(s.variance());
        return {s.points, s.sum().value_or(0), s.mean().value_or(0), s.lowest().value_or(0),
                s.highest().value_or(0)};
    }

protected:
    window window_;
};

struct amortised : ours<plain, waybill::amortised> {
    static constexpr const char* name = "amortised";
    using ours::ours;
};
struct worst_case : ours<plain, waybill::worst_case> {
    static constexpr const char* name = "worst_case";
    using ours::ours;
};

/// A window in which every second sample is late: `Behind` others are newer.
template <class Window, std::int64_t Behind>
class late : public Window {
public:
    using Window::Window;

    static std::int64_t date(std::int64_t now)
    {
        const bool delayed = (now / step) % 2 != 0;
        return delayed ? now - 2 * Behind * step + step / 2 : now;
    }
    [[gnu::always_inline]] answer take(std::int64_t now, double value)
    {
        return Window::take(now, date(now), value);
    }
    /// Inserts the samples of the first n operations whose times are not negative, in the order of
    /// times. The time of this does not depend on `Behind`.
    template <class Series>
    void fill(const Series& values, std::uint64_t n)
    {
        for (std::uint64_t i = 0; i != n; ++i) {
            const std::uint64_t from = i % 2 == 0 ? i : i + 2 * static_cast<std::uint64_t>(Behind);
            if (from >= n) continue;
            const std::int64_t at = date(static_cast<std::int64_t>(from) * step);
            benchmark::DoNotOptimize(Window::take(at, at, values[from]));
        }
    }
};

/// Every sample is inserted twice, as in a repeated delivery, and counts once.
template <template <class> class How>
class repeated : public ours<plain, How> {
public:
    explicit repeated(std::uint64_t n)
        : ours<plain, How>(n, waybill::window_options::equal_time::replace)
    {
    }

    [[gnu::always_inline]] answer take(std::int64_t now, double value)
    {
        this->window_.insert(time_of(now), value, time_of(now));
        return ours<plain, How>::take(now, value);
    }
};

/// The time of every sample is two steps ahead of the clock.
template <template <class> class How>
class early : public ours<plain, How, 4> {
public:
    using ours<plain, How, 4>::ours;

    [[gnu::always_inline]] answer take(std::int64_t now, double value)
    {
        return ours<plain, How, 4>::take(now, now + 2 * step, value);
    }
};

}  // namespace window_bench

#endif  // WAYBILL_BENCH_WINDOW_OURS_HPP

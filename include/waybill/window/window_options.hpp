// SPDX-License-Identifier: MIT
//
// window_options: how a window is kept, and what becomes of a sample.
//
// Part of the sliding window, and of all that is made of such.

#ifndef WAYBILL_WINDOW_WINDOW_OPTIONS_HPP
#define WAYBILL_WINDOW_WINDOW_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// What to do with a second sample of the same time.
enum class same_time : std::uint8_t {
    keep,     ///< It is another sample.
    replace,  ///< It is the same one, told again: the newer value counts, and it is one sample.
};

/// How a window is kept. A plain value; `check` finds what cannot work.
struct window_options {
    duration span = duration::highest();           ///< Samples older than this go.
    std::uint64_t max_points = highest_size;       ///< The oldest go where there are more.
    duration ahead = duration::highest();          ///< How far a sample may be ahead of the clock.
    same_time twins = same_time::keep;

    friend bool operator==(const window_options&, const window_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const window_options& o) noexcept
{
    if (o.span <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.span.count());
        return config_error{"span", ns, "nanoseconds must be more than", 0, o.span < duration{}};
    }
    if (o.max_points == 0) return config_error{"max_points", 0, "must be at least", 1};
    constexpr std::uint64_t most = std::uint64_t{1} << 32U;
    if (o.max_points > most && o.max_points != highest_size) {
        return config_error{"max_points", o.max_points, "must be at most", most};
    }
    if (o.ahead < duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.ahead.count());
        return config_error{"ahead", ns, "nanoseconds must be at least", 0, true};
    }
    return {};
}

/// The outcome of a sample. If several reasons apply, the first counts: not_finite, no_weight, then
/// those about its time.
enum class inserted : std::uint8_t {
    newest,      ///< Taken, as the newest one.
    late,        ///< Taken, at its place among older ones.
    replaced,    ///< Taken in the place of one of the same time.
    too_old,     ///< Not taken: its time had left the window, or there is room for newer ones only.
    future,      ///< Not taken: farther ahead of the clock than allowed.
    not_finite,  ///< Not taken: an infinity, or not a number.
    no_weight,   ///< Not taken: stands for no event, or for 2^32 and more.
};

[[nodiscard]] constexpr std::string_view name(inserted i) noexcept
{
    switch (i) {
        case inserted::newest: return "newest";
        case inserted::late: return "late";
        case inserted::replaced: return "replaced";
        case inserted::too_old: return "too_old";
        case inserted::future: return "future";
        case inserted::not_finite: return "not_finite";
        case inserted::no_weight: return "no_weight";
    }
    return "?";
}

/// How many samples were not taken, and why; and how many the limit of points has pushed out.
struct window_losses {
    std::uint64_t too_old = 0;
    std::uint64_t future = 0;
    std::uint64_t not_finite = 0;
    std::uint64_t no_weight = 0;
    std::uint64_t pushed_out = 0;

    friend bool operator==(const window_losses&, const window_losses&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_WINDOW_OPTIONS_HPP

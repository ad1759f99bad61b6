// SPDX-License-Identifier: MIT
//
// window_options: the options of a window, and the outcome of each insertion.
//
// Used by `sliding_window` and all types that are built on it.

#ifndef WAYBILL_WINDOW_WINDOW_OPTIONS_HPP
#define WAYBILL_WINDOW_WINDOW_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The options of a window. A plain value; `validate` checks it.
struct window_options {
    /// The treatment of a second sample of the same time.
    enum class equal_time : std::uint8_t {
        keep,     ///< It is another sample.
        replace,  ///< It replaces the first: the newer value counts, as one sample.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(equal_time) noexcept
    {
        return "keep, replace";
    }

    duration span = duration::highest();              ///< Older samples are removed. More than 0.
    std::uint64_t max_points = detail::highest_size;  ///< The newest are kept. 1 to 2^32 if set.
    duration ahead = duration::highest();             ///< Maximum time of a sample after the clock.
    equal_time on_equal_time = equal_time::keep;      ///< For a second sample of the same time.

    friend bool operator==(const window_options&, const window_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const window_options& o) noexcept
{
    if (o.span <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.span.count());
        return config_error{.field = "span",
                            .value = ns,
                            .rule = "nanoseconds must be more than",
                            .bound = 0,
                            .negative = o.span < duration{}};
    }
    if (o.max_points == 0) return config_error{"max_points", 0, "must be at least", 1};
    constexpr std::uint64_t highest_max_points = std::uint64_t{1} << 32U;
    if (o.max_points > highest_max_points && o.max_points != detail::highest_size) {
        return config_error{"max_points", o.max_points, "must be at most", highest_max_points};
    }
    if (o.ahead < duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.ahead.count());
        return config_error{.field = "ahead",
                            .value = ns,
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    return {};
}

/// The outcome of an insertion. If several reasons against it apply, the first of this order is
/// reported: `not_finite`, `no_weight`, then `too_old` or `future`.
enum class insert_result : std::uint8_t {
    newest,      ///< Inserted as the newest sample.
    late,        ///< Inserted before samples with later times.
    replaced,    ///< Inserted in place of a sample with the same time.
    too_old,     ///< Not inserted: before the window, or older than all samples of a full window.
    future,      ///< Not inserted: farther ahead of the clock than allowed.
    not_finite,  ///< Not inserted: an infinity or NaN.
    no_weight,   ///< Not inserted: the weight is 0 or at least 2^32 (slotted_window: only 0).
};

[[nodiscard]] constexpr std::string_view texts_of(insert_result) noexcept
{
    return "newest, late, replaced, too_old, future, not_finite, no_weight";
}

/// The number of samples that were not inserted, by reason, and the number that `max_points`
/// removed. A sample that is older than all samples of a full window counts in `pushed_out` only.
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

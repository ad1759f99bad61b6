// SPDX-License-Identifier: MIT
//
// window_snapshot: stores the samples of a window as bytes, and loads them into a window again.
//
//     store.put(key, waybill::save(backlog));
//     ...
//     auto again = waybill::load<backlog_window>(bytes, {.span = 10min});
//     if (!again) return start_anew(waybill::describe(again.error()));
//     auto s = again->query(now);                // empty after a long gap, never stale
//
//   1. Samples and clock are restored exactly; equal ones give equal bytes, for any policy and
//      measure. Losses and `missing()` are not stored: loaded summaries report that they are
//      complete. A caller that stores `missing()` as well calls missed(at) after loading.
//   2. Options are not stored. `load` sets the clock, then inserts the samples. Samples that the
//      new options do not allow are losses. Options that `validate` refuses are an error.
//   3. `load` returns a complete window or the first error, and accepts only the bytes of `save`.
//   4. `load` allocates nothing for samples that the bytes do not contain, except for `max_points`.
//   5. Integers at even time steps take 1 byte each if they change by less than 64, 2 below 8,192.
//
// Only wall-clock times are stored. The module's guide describes the format.

#ifndef WAYBILL_WINDOW_WINDOW_SNAPSHOT_HPP
#define WAYBILL_WINDOW_WINDOW_SNAPSHOT_HPP

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/snapshot_bytes.hpp>
#include <waybill/window/window_options.hpp>

namespace waybill::inline v0_2 {

/// A window whose samples can be stored: times on the wall clock, and values that are integers of
/// up to 64 bits, float or double.
template <class W>
concept storable_window =
    std::same_as<typename W::time_type, wall_time> && measurable<typename W::value_type> &&
    (std::integral<typename W::value_type> || sizeof(typename W::value_type) <= 8) &&
    std::constructible_from<W, const window_options&> &&
    requires(W& w, const W& stored, const typename W::sample_type& s) {
        { W::weighted } -> std::convertible_to<bool>;
        { stored.size() } -> std::same_as<std::uint64_t>;
        { stored[0] } -> std::same_as<const typename W::sample_type&>;
        { stored.clock() } -> std::same_as<std::optional<wall_time>>;
        { stored.options() } -> std::convertible_to<const window_options&>;
        w.insert(s);
        w.advance(wall_time{});
    };

namespace detail {

inline constexpr std::int64_t snapshot_units[] = {1, 1'000, 1'000'000, 1'000'000'000,
                                                  60'000'000'000};
inline constexpr std::uint8_t coarsest_unit = 4;
inline constexpr std::uint8_t snapshot_weighted = 4;
inline constexpr std::uint8_t snapshot_clocked = 8;

/// The coarsest unit of which `ns` is a multiple, but no coarser than `than`.
[[nodiscard]] constexpr std::uint8_t unit_of(std::int64_t ns, std::uint8_t than) noexcept
{
    while (ns % snapshot_units[than] != 0) --than;
    return than;
}

/// The difference modulo 2^64. Added to `from` it always results in `to`.
[[nodiscard]] constexpr std::int64_t apart(std::int64_t to, std::int64_t from) noexcept
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from));
}

template <class W>
[[nodiscard]] constexpr std::uint8_t snapshot_kind() noexcept
{
    using V = typename W::value_type;
    constexpr std::uint8_t weights = W::weighted ? snapshot_weighted : 0;
    if constexpr (std::signed_integral<V>) return weights;
    else if constexpr (std::integral<V>) return weights + 1;
    else return weights + (sizeof(V) == 4 ? 2 : 3);
}

template <class V>
[[nodiscard]] constexpr std::uint64_t bits_of(V v) noexcept
{
    if constexpr (std::signed_integral<V>) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
    } else if constexpr (std::integral<V>) {
        return static_cast<std::uint64_t>(v);
    } else if constexpr (sizeof(V) == 4) {
        return std::bit_cast<std::uint32_t>(v);
    } else {
        return std::bit_cast<std::uint64_t>(v);
    }
}

/// Converts the bits of a V. If the bits are those of no V, `bits_of` of the result differs from
/// them.
template <class V>
[[nodiscard]] constexpr V value_of(std::uint64_t bits) noexcept
{
    if constexpr (std::integral<V>) return static_cast<V>(bits);
    else if constexpr (sizeof(V) == 4) return std::bit_cast<V>(static_cast<std::uint32_t>(bits));
    else return std::bit_cast<V>(bits);
}

/// The fields before the samples.
struct snapshot_head {
    bool clocked = false;
    std::uint8_t unit = coarsest_unit;
    std::uint8_t clock_unit = 0;
    std::uint64_t count = 0;
    std::int64_t first = 0;  ///< In units. 0 without samples.
    std::optional<wall_time> clock{};
};

/// Reads a number of units since the epoch. Fails if it is out of range in nanoseconds.
[[nodiscard]] inline std::int64_t read_ticks(snapshot_reader& in, std::uint8_t unit) noexcept
{
    const auto ticks = static_cast<std::int64_t>(in.difference());
    const std::int64_t u = snapshot_units[unit];
    if (ticks <= INT64_MAX / u && ticks >= INT64_MIN / u) return ticks;
    in.fail(snapshot_error::code::out_of_range);
    return 0;
}

/// The state of reading the times of samples after the first.
struct snapshot_steps {
    std::uint64_t step = 0;  ///< From the previous sample to the last one read.
    std::uint64_t same = 0;  ///< The number of further steps of the same length.
    bool again = false;      ///< The last step had the length of the one before it.
};

/// Reads the time of the sample after that at `from`, in units. `left` is the number of samples to
/// read, this one included. Fails if the time is after `latest`.
[[nodiscard]] inline std::int64_t read_step(snapshot_reader& in, snapshot_steps& s,
                                            std::int64_t from, std::uint64_t left,
                                            std::int64_t latest) noexcept
{
    if (s.same != 0) {
        --s.same;
    } else {
        const std::uint64_t longer = in.difference();
        if (longer == 0 && s.again) in.fail(snapshot_error::code::corrupt);
        s.again = longer == 0;
        s.step += longer;
        if (s.again) s.same = in.whole();
        if (s.same >= left) in.fail(snapshot_error::code::corrupt);
    }
    if (s.step <= static_cast<std::uint64_t>(apart(latest, from))) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + s.step);
    }
    const bool back = s.step > static_cast<std::uint64_t>(INT64_MAX);
    in.fail(back ? snapshot_error::code::unsorted : snapshot_error::code::out_of_range);
    return from;
}

[[nodiscard]] inline snapshot_head read_head(snapshot_reader& in, std::uint8_t kind) noexcept
{
    snapshot_head h;
    const std::uint8_t theirs = in.byte();
    h.clocked = (theirs & snapshot_clocked) != 0;
    if ((theirs & ~unsigned{snapshot_clocked}) != kind) in.fail(snapshot_error::code::other_kind);
    const std::uint8_t units = in.byte();
    h.unit = units % 16;
    h.clock_unit = units / 16;
    if (h.unit > coarsest_unit || h.clock_unit > (h.clocked ? coarsest_unit : 0)) {
        in.fail(snapshot_error::code::corrupt);
        h.unit = h.clock_unit = 0;
    }
    h.count = in.whole();
    if (h.count > in.left()) in.fail(snapshot_error::code::corrupt);  // at least one byte each
    if (h.count != 0) h.first = read_ticks(in, h.unit);
    if (h.clocked) {
        const std::int64_t after = read_ticks(in, h.clock_unit) * snapshot_units[h.clock_unit];
        if (unit_of(after, coarsest_unit) != h.clock_unit) in.fail(snapshot_error::code::corrupt);
        const std::int64_t ns = apart(h.first * snapshot_units[h.unit], apart(0, after));
        h.clock = wall_time::at(duration::nanoseconds(ns));
    }
    return h;
}

}  // namespace detail

/// The samples of `w` and its clock as bytes. O(n).
template <storable_window W>
[[nodiscard]] std::string save(const W& w)
{
    using V = typename W::value_type;
    const std::uint64_t count = w.size();
    const auto ns = [&](std::uint64_t n) { return w[n].at.since_epoch().count(); };
    std::uint8_t unit = detail::coarsest_unit;
    for (std::uint64_t n = 0; n != count; ++n) unit = detail::unit_of(ns(n), unit);
    const std::int64_t first = count == 0 ? 0 : ns(0);
    std::int64_t after = 0;
    std::uint8_t kind = detail::snapshot_kind<W>();
    std::uint8_t clock_unit = 0;
    if (const std::optional<wall_time> clock = w.clock()) {
        after = detail::apart(clock->since_epoch().count(), first);
        kind |= detail::snapshot_clocked;
        clock_unit = detail::unit_of(after, detail::coarsest_unit);
    }

    detail::snapshot_writer out(static_cast<std::size_t>(count));
    out.byte(kind);
    out.byte(static_cast<std::uint8_t>(clock_unit * 16 + unit));
    out.whole(count);
    const auto ticks = [](std::int64_t t, std::uint8_t u) {
        return static_cast<std::uint64_t>(t / detail::snapshot_units[u]);
    };
    if (count != 0) out.difference(ticks(first, unit));
    if (w.clock()) out.difference(ticks(after, clock_unit));
    const auto step_to = [&](std::uint64_t n) {
        return ticks(ns(n), unit) - ticks(ns(n - 1), unit);
    };
    std::uint64_t step = 0;
    std::uint64_t same_until = 1;
    std::uint64_t bits = 0;
    for (std::uint64_t n = 0; n != count; ++n) {
        if (n >= same_until) {
            const std::uint64_t longer = step_to(n) - step;
            out.difference(longer);
            step += longer;
            same_until = n + 1;
            while (longer == 0 && same_until != count && step_to(same_until) == step) ++same_until;
            if (longer == 0) out.whole(same_until - n - 1);
        }
        const std::uint64_t value = detail::bits_of<V>(w[n].value);
        if constexpr (std::integral<V>) out.difference(value - bits);
        else out.middle(value ^ bits);
        bits = value;
        if constexpr (W::weighted) out.whole(weight_of(w[n]));
    }
    return static_cast<detail::snapshot_writer&&>(out).finish();
}

/// Loads a window from the bytes of `save`, with new options. O(n). Errors: see
/// `snapshot_error::code`.
template <storable_window W>
[[nodiscard]] result<W, snapshot_error> load(std::string_view bytes, const window_options& options)
{
    using V = typename W::value_type;
    if (const std::optional<config_error> bad = validate(options)) {
        return unexpected(snapshot_error{snapshot_error::code::bad_options, 0, *bad});
    }
    detail::snapshot_reader in(bytes);
    const detail::snapshot_head head = detail::read_head(in, detail::snapshot_kind<W>());
    if (in.error()) return unexpected(*in.error());

    result<W, snapshot_error> loaded = W(options);
    if (head.clock) loaded->advance(*head.clock);
    const std::int64_t ns = detail::snapshot_units[head.unit];
    std::int64_t at = head.first;
    std::uint8_t unit = detail::coarsest_unit;
    detail::snapshot_steps steps;
    std::uint64_t bits = 0;
    for (std::uint64_t n = 0; n != head.count; ++n) {
        if (n != 0) at = detail::read_step(in, steps, at, head.count - n, INT64_MAX / ns);
        unit = detail::unit_of(at * ns, unit);
        typename W::sample_type s{wall_time::at(duration::nanoseconds(at * ns)), V{}};
        if constexpr (std::integral<V>) bits += in.difference();
        else bits ^= in.middle();
        s.value = detail::value_of<V>(bits);
        if (detail::bits_of<V>(s.value) != bits) in.fail(snapshot_error::code::out_of_range);
        if (!detail::is_finite(s.value)) in.fail(snapshot_error::code::not_finite);
        if constexpr (W::weighted) {
            const std::uint64_t weight = in.whole();
            if (weight == 0 || weight > UINT32_MAX) in.fail(snapshot_error::code::out_of_range);
            s.weight = static_cast<std::uint32_t>(weight);
        }
        if (in.error()) return unexpected(*in.error());
        loaded->insert(s);
    }
    if (in.left() != 0 || unit != head.unit) {
        (void)in.byte();
        in.fail(snapshot_error::code::corrupt);
        return unexpected(*in.error());
    }
    return loaded;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_WINDOW_SNAPSHOT_HPP

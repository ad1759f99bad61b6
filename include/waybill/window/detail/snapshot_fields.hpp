// SPDX-License-Identifier: MIT
//
// snapshot_fields: the fields of a stored window: its head, times and values.
//
// Part of window_snapshot.hpp. The module's guide describes the format.

#ifndef WAYBILL_WINDOW_DETAIL_SNAPSHOT_FIELDS_HPP
#define WAYBILL_WINDOW_DETAIL_SNAPSHOT_FIELDS_HPP

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>

#include <waybill/core/time.hpp>
#include <waybill/window/detail/snapshot_bytes.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/snapshot_error.hpp>

namespace waybill::inline v0_2::detail {

/// The units of times in nanoseconds: ns, us, ms, s, min. A `unit` is an index of this array.
inline constexpr std::int64_t snapshot_units[] = {1, 1'000, 1'000'000, 1'000'000'000,
                                                  60'000'000'000};
inline constexpr std::uint8_t coarsest_unit = 4;

/// Bits of the kind byte: the samples have weights; there is a clock.
inline constexpr std::uint8_t snapshot_weighted = 4;
inline constexpr std::uint8_t snapshot_clocked = 8;

/// The coarsest unit of which `ns` is a multiple, but no coarser than `coarsest`.
[[nodiscard]] constexpr std::uint8_t unit_of(std::int64_t ns, std::uint8_t coarsest) noexcept
{
    while (ns % snapshot_units[coarsest] != 0) --coarsest;
    return coarsest;
}

/// The difference modulo 2^64. Added to `from` it always results in `to`.
[[nodiscard]] constexpr std::int64_t difference_of(std::int64_t to, std::int64_t from) noexcept
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from));
}

/// The kind byte of a window type, without the clock bit. The type of the values is 0 for
/// signed, 1 for unsigned, 2 for float, 3 for double.
template <class W>
[[nodiscard]] constexpr std::uint8_t snapshot_kind() noexcept
{
    using V = typename W::value_type;
    constexpr std::uint8_t weights = W::weighted ? snapshot_weighted : 0;
    if constexpr (std::signed_integral<V>) return weights;
    else if constexpr (std::integral<V>) return weights + 1;
    else return weights + (sizeof(V) == 4 ? 2 : 3);
}

/// The bits of a value: two's complement with 64 bits, or IEEE 754.
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

/// The time of a sample in nanoseconds since the epoch.
template <class Sample>
[[nodiscard]] constexpr std::int64_t ns_of(const Sample& s)
{
    return s.at.since_epoch().count();
}

/// The coarsest unit of which the times of all samples are multiples.
template <class W>
[[nodiscard]] constexpr std::uint8_t coarsest_common_unit(const W& w)
{
    std::uint8_t unit = coarsest_unit;
    for (const auto& s : w) unit = unit_of(ns_of(s), unit);
    return unit;
}

/// A time or difference in units, in two's complement.
[[nodiscard]] constexpr std::uint64_t ticks_of(std::int64_t ns, std::uint8_t unit) noexcept
{
    return static_cast<std::uint64_t>(ns / snapshot_units[unit]);
}

/// Writes the fields before the samples.
template <class W>
void write_head(snapshot_writer& out, const W& w, std::uint8_t unit)
{
    const std::uint64_t count = w.size();
    const std::int64_t first = count == 0 ? 0 : ns_of(w[0]);
    std::int64_t clock_offset = 0;  // from the first sample to the clock
    std::uint8_t kind = snapshot_kind<W>();
    std::uint8_t clock_unit = 0;
    if (const std::optional<wall_time> clock = w.clock()) {
        clock_offset = difference_of(clock->since_epoch().count(), first);
        kind |= snapshot_clocked;
        clock_unit = unit_of(clock_offset, coarsest_unit);
    }
    out.byte(kind);
    out.byte(static_cast<std::uint8_t>(clock_unit * 16 + unit));  // 4 bits each
    out.integer(count);
    if (count != 0) out.signed_integer(ticks_of(first, unit));
    if (w.clock()) out.signed_integer(ticks_of(clock_offset, clock_unit));
}

/// Writes each sample: the change of its time step, its value and its weight. If the change is 0,
/// the number of further equal steps follows; their samples have no field for the step.
template <class W>
void write_samples(snapshot_writer& out, const W& w, std::uint8_t unit)
{
    using V = typename W::value_type;
    const std::uint64_t count = w.size();
    const auto step_between = [unit](const auto& earlier, const auto& later) {
        return ticks_of(ns_of(later), unit) - ticks_of(ns_of(earlier), unit);
    };
    auto s = w.begin();
    auto previous = s;
    std::uint64_t step = 0;
    std::uint64_t equal_steps_end = 1;
    std::uint64_t previous_bits = 0;
    for (std::uint64_t n = 0; n != count; ++n, previous = s, ++s) {
        if (n >= equal_steps_end) {
            const std::uint64_t step_change = step_between(*previous, *s) - step;
            out.signed_integer(step_change);
            step += step_change;
            equal_steps_end = n + 1;
            auto last = s;
            for (auto next = s; step_change == 0 && equal_steps_end != count; last = next) {
                ++next;
                if (step_between(*last, *next) != step) break;
                ++equal_steps_end;
            }
            if (step_change == 0) out.integer(equal_steps_end - n - 1);
        }
        const std::uint64_t bits = bits_of<V>(s->value);
        if constexpr (std::integral<V>) out.signed_integer(bits - previous_bits);
        else out.trimmed_integer(bits ^ previous_bits);
        previous_bits = bits;
        if constexpr (W::weighted) out.integer(weight_of(*s));
    }
}

/// Reads a number of units since the epoch. Fails if it is out of range in nanoseconds.
[[nodiscard]] inline std::int64_t read_ticks(snapshot_reader& in, std::uint8_t unit) noexcept
{
    const auto ticks = static_cast<std::int64_t>(in.signed_integer());
    const std::int64_t u = snapshot_units[unit];
    if (ticks <= INT64_MAX / u && ticks >= INT64_MIN / u) return ticks;
    in.fail(snapshot_error::code::out_of_range);
    return 0;
}

/// The state of reading the times of samples after the first.
struct snapshot_steps {
    std::uint64_t step = 0;              ///< The last time step, in units.
    std::uint64_t equal_steps_left = 0;  ///< The number of further steps of the same length.
    bool repeated = false;               ///< The last step had the length of the one before it.
};

/// Reads the time of the sample after that at `from`, in units. `left` is the number of samples to
/// read, this one included. Fails if a step is malformed, or if the time is after `latest`.
[[nodiscard]] inline std::int64_t read_step(snapshot_reader& in, snapshot_steps& s,
                                            std::int64_t from, std::uint64_t left,
                                            std::int64_t latest) noexcept
{
    if (s.equal_steps_left != 0) {
        --s.equal_steps_left;
    } else {
        const std::uint64_t step_change = in.signed_integer();
        if (step_change == 0 && s.repeated) in.fail(snapshot_error::code::corrupt);
        s.repeated = step_change == 0;
        s.step += step_change;
        if (s.repeated) s.equal_steps_left = in.integer();
        if (s.equal_steps_left >= left) in.fail(snapshot_error::code::corrupt);
    }
    if (s.step <= static_cast<std::uint64_t>(difference_of(latest, from))) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + s.step);
    }
    const bool is_negative = s.step > static_cast<std::uint64_t>(INT64_MAX);
    in.fail(is_negative ? snapshot_error::code::unsorted : snapshot_error::code::out_of_range);
    return from;
}

/// Reads the fields before the samples. Fails if the kind, without the clock bit, is not `kind`.
[[nodiscard]] inline snapshot_head read_head(snapshot_reader& in, std::uint8_t kind) noexcept
{
    snapshot_head h;
    const std::uint8_t stored_kind = in.byte();
    h.clocked = (stored_kind & snapshot_clocked) != 0;
    if ((stored_kind & ~unsigned{snapshot_clocked}) != kind)
        in.fail(snapshot_error::code::other_kind);
    const std::uint8_t units = in.byte();
    h.unit = units % 16;
    h.clock_unit = units / 16;
    if (h.unit > coarsest_unit || h.clock_unit > (h.clocked ? coarsest_unit : 0)) {
        in.fail(snapshot_error::code::corrupt);
        h.unit = h.clock_unit = 0;
    }
    h.count = in.integer();
    if (h.count > in.left()) in.fail(snapshot_error::code::corrupt);  // at least one byte each
    if (h.count != 0) h.first = read_ticks(in, h.unit);
    if (h.clocked) {
        const std::int64_t offset = read_ticks(in, h.clock_unit) * snapshot_units[h.clock_unit];
        if (unit_of(offset, coarsest_unit) != h.clock_unit) in.fail(snapshot_error::code::corrupt);
        // The first time plus the offset. It wraps like the difference in `write_head`.
        const std::int64_t first = h.first * snapshot_units[h.unit];
        const std::int64_t ns = difference_of(first, difference_of(0, offset));
        h.clock = wall_time::at(duration::nanoseconds(ns));
    }
    return h;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_SNAPSHOT_FIELDS_HPP

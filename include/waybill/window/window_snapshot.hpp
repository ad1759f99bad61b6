// SPDX-License-Identifier: MIT
//
// window_snapshot: stores the samples of a window as bytes, and loads them into a window again.
//
//     store.put(key, waybill::save(backlog));
//     ...
//     auto again = waybill::load<backlog_window>(bytes, {.span = 10min});
//     if (!again) return begin_empty(waybill::describe(again.error()));
//     auto s = again->query(now);                // empty after a long gap, never stale
//
//   1. Samples and clock are restored exactly; equal ones give equal bytes, for any policy and
//      measure. Losses and `missing()` are not stored: loaded summaries report that they are
//      complete. A caller that stores `missing()` as well calls missed(at) after loading.
//   2. Options are not stored. `load` sets the clock, then inserts the samples. Samples that the
//      new options do not allow are losses. Options that `validate` refuses are an error.
//   3. `load` returns a complete window or the first error, and accepts only the bytes of `save`.
//   4. `load` allocates nothing for samples that the bytes do not contain, except the room for
//      `max_points`.
//   5. At even time steps, an integer takes 1 byte if it differs from the one before by less than
//      64, and 2 bytes if by less than 8,192.
//
// Only wall-clock times are stored. The module's guide describes the format.

#ifndef WAYBILL_WINDOW_WINDOW_SNAPSHOT_HPP
#define WAYBILL_WINDOW_WINDOW_SNAPSHOT_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/detail/snapshot_bytes.hpp>
#include <waybill/window/detail/snapshot_fields.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/snapshot_error.hpp>
#include <waybill/window/window_options.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// A window whose samples can be stored: times on the wall clock, and values that are integers of
/// up to 64 bits, float or double.
template <class W>
concept storable_window =
    std::same_as<typename W::time_type, wall_time> && detail::measurable<typename W::value_type> &&
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

}  // namespace detail

/// The samples of `w` and its clock as bytes. O(n).
template <detail::storable_window W>
[[nodiscard]] std::string save(const W& w)
{
    detail::snapshot_writer out(static_cast<std::size_t>(w.size()));
    const std::uint8_t unit = detail::coarsest_common_unit(w);
    detail::write_head(out, w, unit);
    detail::write_samples(out, w, unit);
    return static_cast<detail::snapshot_writer&&>(out).finish();
}

/// Loads a window from the bytes of `save`, with new options. O(n). Errors: see
/// `snapshot_error::code`.
template <detail::storable_window W>
[[nodiscard]] result<W, snapshot_error> load(std::string_view bytes, const window_options& options)
{
    using V = typename W::value_type;
    if (const std::optional<config_error> bad = validate(options)) {
        return unexpected(
            snapshot_error{.kind = snapshot_error::code::bad_options, .options = *bad});
    }
    detail::snapshot_reader in(bytes);
    const detail::snapshot_head head = detail::read_head(in, detail::snapshot_kind<W>());
    if (in.error()) return unexpected(*in.error());

    result<W, snapshot_error> loaded = W(options);
    if (head.clock) loaded->advance(*head.clock);
    const std::int64_t ns = detail::snapshot_units[head.unit];
    std::int64_t at = head.first;
    std::uint8_t common_unit = detail::coarsest_unit;
    detail::snapshot_steps steps;
    std::uint64_t bits = 0;
    for (std::uint64_t n = 0; n != head.count; ++n) {
        if (n != 0) at = detail::read_step(in, steps, at, head.count - n, INT64_MAX / ns);
        common_unit = detail::unit_of(at * ns, common_unit);
        typename W::sample_type s{wall_time::at(duration::nanoseconds(at * ns)), V{}};
        if constexpr (std::integral<V>) bits += in.signed_integer();
        else bits ^= in.trimmed_integer();
        s.value = detail::value_of<V>(bits);
        if (detail::bits_of<V>(s.value) != bits) in.fail(snapshot_error::code::out_of_range);
        if (!detail::is_finite(s.value)) in.fail(snapshot_error::code::not_finite);
        if constexpr (W::weighted) {
            const std::uint64_t weight = in.integer();
            if (weight == 0 || weight > UINT32_MAX) in.fail(snapshot_error::code::out_of_range);
            s.weight = static_cast<std::uint32_t>(weight);
        }
        if (in.error()) return unexpected(*in.error());
        loaded->insert(s);
    }
    // Bytes are left over, or the unit is not the one that `save` would have used.
    if (in.left() != 0 || common_unit != head.unit) {
        (void)in.byte();  // the error is reported after the last sample
        in.fail(snapshot_error::code::corrupt);
        return unexpected(*in.error());
    }
    return loaded;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_WINDOW_SNAPSHOT_HPP

// SPDX-License-Identifier: MIT
//
// limits: what a destination takes in one batch.
//
// Four numbers say it for every broker: bytes of the whole batch, items in it, bytes of one item,
// and the bytes that a batch takes before its first item. They are plain data, from a preset, from
// a link that was opened, or from a refusal that taught better:
//
//     waybill::limits l{.bytes = 262'144, .items = 4'500, .envelope = 512};
//     if (auto bad = waybill::check(l)) explain(bad->field, bad->value, bad->rule, bad->bound);
//
// Two things hold for everything that works with limits:
//   1. "no limit" is said by name, and a zero is never mistaken for it;
//   2. limits that `check` refuses still do no harm: no batch is empty, and what cannot fit is
//      a batch of one item that says so.

#ifndef WAYBILL_WIRE_LIMITS_HPP
#define WAYBILL_WIRE_LIMITS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

/// No limit at all; said by name, so that a zero is never mistaken for it.
inline constexpr std::uint64_t unlimited = highest_size;

/// What a broker takes in one batch. A limit is the last value that is still taken.
struct limits {
    std::uint64_t bytes = unlimited;   ///< Most bytes of a whole batch, the envelope counted.
    std::uint64_t items = unlimited;   ///< Most items in a batch; 0 reads as 1.
    std::uint64_t single = unlimited;  ///< Most bytes of one item, the envelope not counted.
    std::uint64_t envelope = 0;        ///< Bytes that a batch takes before its first item.

    friend bool operator==(const limits&, const limits&) = default;
};

/// The first field that makes no sense, if any.
[[nodiscard]] constexpr std::optional<config_error> check(const limits& l)
{
    constexpr std::string_view something = "must be at least 1, or unlimited";
    if (l.bytes == 0) return config_error{"limits.bytes", l.bytes, something, 1};
    if (l.items == 0) return config_error{"limits.items", l.items, something, 1};
    if (l.single == 0) return config_error{"limits.single", l.single, something, 1};
    if (l.envelope >= l.bytes) {
        return config_error{"limits.envelope", l.envelope, "must be less than bytes", l.bytes};
    }
    return std::nullopt;
}

/// Whether an item of `own` bytes fits into a batch of its own. If it does not, no cut can save it.
/// A sum that has reached the largest value fits nowhere, even where there is no limit: it has
/// saturated, and nobody knows how large it really is.
[[nodiscard]] constexpr bool fits_alone(const limits& l, std::uint64_t own) noexcept
{
    const std::uint64_t whole = saturating_add(l.envelope, own);
    return own <= l.single && whole <= l.bytes && whole != highest_size;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WIRE_LIMITS_HPP

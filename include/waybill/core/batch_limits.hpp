// SPDX-License-Identifier: MIT
//
// batch_limits: the limits of a destination for one batch.
//
//     waybill::batch_limits l{.bytes = 262'144, .items = 4'500, .envelope = 512};
//     if (auto bad = waybill::validate(l)) explain(bad->field, bad->value, bad->rule, bad->bound);
//
// Four numbers describe every broker: bytes and items of a batch, bytes of one item, and bytes of a
// batch before its first item. The caller takes them from a preset, from an opened link, or from a
// refusal that contains the limit.
//
// Guarantees
//   1. "No limit" has a name, `unlimited`. 0 never means "no limit".
//   2. Limits that `validate` refuses do no harm: no batch is empty, and an item that cannot fit
//      becomes a batch of one item that is marked as too large.

#ifndef WAYBILL_CORE_BATCH_LIMITS_HPP
#define WAYBILL_CORE_BATCH_LIMITS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2 {

/// No limit.
inline constexpr std::uint64_t unlimited = detail::highest_size;

/// The limits of a broker for one batch. A limit is the largest value that is accepted.
struct batch_limits {
    struct oversized_item;  ///< The first item that no batch can hold: batch/too_large.hpp.

    std::uint64_t bytes = unlimited;   ///< Maximum bytes of a batch, envelope included.
    std::uint64_t items = unlimited;   ///< Maximum items in a batch; 0 is treated as 1.
    std::uint64_t single = unlimited;  ///< Maximum bytes of one item, envelope excluded.
    std::uint64_t envelope = 0;        ///< Bytes of a batch before its first item.
    /// False if the destination accepts or refuses a batch as a whole. True if it answers for each
    /// item, or if that is not known.
    bool answers_per_entry = true;

    /// True if an item of `own` bytes fits into a batch without other items. If not, no smaller
    /// batch can help. A sum of 2^64 - 1 never fits, even if there is no limit: it has saturated,
    /// so the true size is unknown. Constant time.
    [[nodiscard]] constexpr bool fits_alone(std::uint64_t own) const noexcept
    {
        const std::uint64_t whole = detail::saturating_add(envelope, own);
        return own <= single && whole <= bytes && whole != detail::highest_size;
    }

    friend bool operator==(const batch_limits&, const batch_limits&) = default;
};

/// The first invalid field with its rule, or nullopt if all limits are valid. Constant time.
[[nodiscard]] constexpr std::optional<config_error> validate(const batch_limits& l)
{
    constexpr std::string_view rule = "must be `unlimited` or at least";
    if (l.bytes == 0) return config_error{"limits.bytes", l.bytes, rule, 1};
    if (l.items == 0) return config_error{"limits.items", l.items, rule, 1};
    if (l.single == 0) return config_error{"limits.single", l.single, rule, 1};
    if (l.envelope >= l.bytes) {
        return config_error{"limits.envelope", l.envelope, "must be less than bytes", l.bytes};
    }
    return std::nullopt;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_BATCH_LIMITS_HPP

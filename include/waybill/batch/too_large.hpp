// SPDX-License-Identifier: MIT
//
// too_large: finds an item that fits into no batch, before anything is sent.
//
// chunk_by gives such an item a chunk of its own and continues with the others. To send all items
// or nothing, check first:
//
//     if (auto bad = waybill::first_too_large(inbox, limits, wire_size))
//         return refuse(describe(*bad));  // item 7: too_large, 300512 bytes where the limit is ...
//
// An item is reported if and only if its chunk from chunk_by would not fit.

#ifndef WAYBILL_BATCH_TOO_LARGE_HPP
#define WAYBILL_BATCH_TOO_LARGE_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2 {

/// An item that fits into no batch. Sizes in bytes.
struct batch_limits::oversized_item {
    std::uint64_t index = 0;       ///< Position of the item in the input.
    std::uint64_t bytes = 0;       ///< Size of a batch that contains only this item.
    std::uint64_t item_bytes = 0;  ///< Size of the item, as a part of `bytes`.
    std::uint64_t envelope = 0;    ///< Size of the envelope, as a part of `bytes`.
    /// The exceeded limit: of `item_bytes` if `single`, otherwise of `bytes`.
    std::uint64_t limit = 0;
    bool single = false;  ///< The item exceeds the limit of one item, `limits.single`.

    friend bool operator==(const batch_limits::oversized_item&,
                           const batch_limits::oversized_item&) = default;
};

/// One line: the item, its size, the limit that it exceeds, the envelope.
template <std::same_as<batch_limits::oversized_item> T>
[[nodiscard]] std::string describe(const T& o)
{
    std::string line = "item " + std::to_string(o.index) + ": too_large, ";
    // A saturated sum is not a known size.
    const std::uint64_t size = o.single ? o.item_bytes : o.bytes;
    line += size == detail::highest_size ? "size negative or above 2^64 - 2 bytes"
                                         : std::to_string(size) + " bytes";
    line += o.limit == unlimited ? " without a limit"
                                 : " where the limit is " + std::to_string(o.limit);
    if (o.single) line += " for one item";
    else if (size != detail::highest_size) line += ", item " + std::to_string(o.item_bytes);
    return line + ", envelope " + std::to_string(o.envelope);
}

/// The first item of [first, last) that fits into no batch. Computes each size once, and no size
/// after that item. O(items).
template <std::input_iterator I, std::sentinel_for<I> S, class F = std::identity>
[[nodiscard]] constexpr std::optional<batch_limits::oversized_item> first_too_large(
    I first, S last, const batch_limits& l, F size = {})
{
    using item = std::iter_value_t<I>;
    const auto f = detail::framing_of<item, F>(std::move(size));
    for (std::uint64_t index = 0; first != last; ++first, ++index) {
        const item& one = *first;
        batch_limits alone = l;
        alone.envelope = detail::envelope_of(l, f, one);
        const std::uint64_t item_bytes =
            detail::as_size(f.delta(typename detail::framing_for<item, F>::state{}, one));
        if (alone.fits_alone(item_bytes)) continue;
        const bool single = item_bytes > l.single;
        return batch_limits::oversized_item{
            .index = index,
            .bytes = detail::saturating_add(alone.envelope, item_bytes),
            .item_bytes = item_bytes,
            .envelope = alone.envelope,
            .limit = single ? l.single : l.bytes,
            .single = single};
    }
    return {};
}

/// The same for a container.
template <class Items, class F = std::identity>
[[nodiscard]] constexpr auto first_too_large(const Items& items, const batch_limits& l, F size = {})
    -> decltype(first_too_large(std::begin(items), std::end(items), l, std::move(size)))
{
    return first_too_large(std::begin(items), std::end(items), l, std::move(size));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_TOO_LARGE_HPP

// SPDX-License-Identifier: MIT
//
// owned: the batches of `owned_chunks`.

#ifndef WAYBILL_BATCH_DETAIL_OWNED_HPP
#define WAYBILL_BATCH_DETAIL_OWNED_HPP

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/batch/chunk.hpp>
#include <waybill/batch/detail/chunk_range.hpp>
#include <waybill/core/batch_limits.hpp>

namespace waybill::inline v0_2::detail {

template <class Items>
using element = decltype(*std::begin(std::declval<Items&>()));

// True for an rvalue of a container that owns its items: if the container is const, its items are,
// too. False for a view, whose items stay as they are, and for an lvalue (a reference type).
template <class Items>
concept owns_its_items = !std::same_as<element<Items>, element<const Items>>;

// Cuts [first, last) into `Chunk`s. `ItemIterator` reads the items: I, or std::move_iterator<I>.
template <template <class, class> class Chunk, class Items, class ItemIterator, class I, class S,
          class F>
[[nodiscard]] auto owned(I first, S last, const batch_limits& l, F size)
{
    using item = std::iter_value_t<I>;
    using kept = std::conditional_t<std::is_void_v<Items>, std::vector<item>, Items>;
    std::vector<Chunk<item, kept>> batches;
    std::vector<chunk<I>> parts;
    for (const chunk<I>& part : chunk_range<I, S, F>(first, last, l, std::move(size))) {
        parts.push_back(part);
        batches.push_back(
            {.items = {}, .bytes = part.bytes, .fits = part.fits, .closed = part.closed});
        if constexpr (requires(kept& k) { k.reserve(std::size_t{}); }) {
            batches.back().items.reserve(static_cast<std::size_t>(part.count));
        }
    }
    auto batch = batches.begin();
    for (const chunk<I>& part : parts) {
        kept& items = (batch++)->items;
        items.insert(items.end(), ItemIterator{part.first}, ItemIterator{part.last});
    }
    return batches;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_OWNED_HPP

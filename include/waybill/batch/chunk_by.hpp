// SPDX-License-Identifier: MIT
//
// chunk_by: cuts a sequence of messages into the fewest batches that a broker accepts.
//
//     constexpr waybill::batch_limits l{.bytes = 262'144, .items = 4'500, .envelope = 512};
//     for (auto part : waybill::chunk_by(inbox, l, wire_size))
//         part.fits ? send(part) : store_elsewhere(*part.begin());
//
//     for (auto part : waybill::chunk_by(records, l, waybill::framed(model, to_record))) ...
//     for (auto part : waybill::chunk_by(sizes, l)) ...
//
// bytes(batch) = envelope + sum of size(item). `size` returns the bytes of an item on the wire. If
// they depend on the item's place in the batch, pass a framing. Integers are their own sizes.
//
//   1. Every item is in exactly one chunk, in the order of the input.
//   2. No chunk is empty, so a loop over the chunks ends.
//   3. A chunk that does not fit is a single item that fits into no batch.
//   4. No other way to cut the sequence in order needs fewer chunks.
//   5. No copies, no allocation. One pass measures each item once.
// With a framing, 3 to 5 hold with restrictions: see the guide. Cost: linear in the items.

#ifndef WAYBILL_BATCH_CHUNK_BY_HPP
#define WAYBILL_BATCH_CHUNK_BY_HPP

#include <cstdint>
#include <iterator>
#include <utility>

#include <waybill/batch/chunk.hpp>
#include <waybill/batch/detail/chunk_range.hpp>
#include <waybill/batch/detail/cut.hpp>
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>

namespace waybill::inline v0_2 {

/// Returns the longest chunk at the beginning of [first, last) that fits, or the first item alone
/// if it fits into no batch. Empty only if the input is empty. A loop over `front_chunk` can change
/// the limits between chunks, for example after a refusal. Linear in the items of the chunk;
/// measures these and the next item.
template <std::forward_iterator I, std::sentinel_for<I> S, class F = std::identity>
[[nodiscard]] constexpr chunk<I> front_chunk(I first, S last, const batch_limits& l,
                                             const F& size = {})
{
    static_assert(detail::checked_size<F, std::iter_reference_t<I>>::ok);
    if (first == last) return {first, first};
    const detail::limits_for<F, I> limits(l);
    std::uint64_t item_bytes = detail::first_size(first, last, size);
    const std::uint64_t previous_count = 0;  // there is no previous chunk
    return detail::cut(first, last, limits, size, item_bytes, previous_count);
}

/// Cuts [first, last) into chunks within `l`. The chunks point into the input. Constant time; each
/// chunk is cut when the loop reaches it.
template <std::forward_iterator I, std::sentinel_for<I> S, class F = std::identity>
[[nodiscard]] constexpr detail::chunk_range<I, S, F> chunk_by(I first, S last,
                                                              const batch_limits& l, F size = {})
{
    return {std::move(first), std::move(last), l, std::move(size)};
}

/// The same for a container. It must be an lvalue, so that it outlives its chunks.
template <class Items, class F = std::identity>
    requires requires(Items& items) { std::begin(items); }
[[nodiscard]] constexpr auto chunk_by(Items& items, const batch_limits& l, F size = {})
{
    return chunk_by(std::begin(items), std::end(items), l, std::move(size));
}

namespace detail {

template <class Items>
struct chunks_of_temporary {
    static_assert(sizeof(Items) == 0,
                  "chunk_by: the container is a temporary, destroyed before its chunks are read; "
                  "give it a name first");
};

}  // namespace detail

/// Refused: a temporary container would be destroyed before its chunks are read.
template <class Items, class F = std::identity>
detail::chunks_of_temporary<Items> chunk_by(const Items&& temporary, const batch_limits&, F = {});

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_CHUNK_BY_HPP

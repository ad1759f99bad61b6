// SPDX-License-Identifier: MIT
//
// owned_chunks: all batches of a sequence at once, each with its items inside.
//
// chunk_by points into the caller's container. Where that has to go while its batches are still on
// their way, into a queue, another thread or a coroutine, the items go with them:
//
//     auto batches = waybill::owned_chunks(std::move(inbox), limits, wire_size);
//     auto others = waybill::owned_chunks<std::deque<order>>(first, last, limits, wire_size);
//
//   1. The cuts are those of chunk_by, and each size is asked for before its item moves.
//   2. Items are moved out of a container that is given away, and from `std::move_iterator`s. They
//      are copied from one that has a name, and from a span: it does not own what it shows.
//   3. All batches have their room before the first item moves. What an allocator throws leaves the
//      input as it was, if the container of a batch can `reserve`.

#ifndef WAYBILL_BATCH_OWNED_CHUNKS_HPP
#define WAYBILL_BATCH_OWNED_CHUNKS_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/closed_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

/// A batch that holds its items itself.
template <class Item, class Items = std::vector<Item>>
struct owned_chunk {
    Items items{};
    std::uint64_t bytes = 0;  ///< With the envelope; the true sum where it does not fit, too.
    bool fits = true;         ///< False only for a single item that is over a limit by itself.
    closed_by closed = closed_by::end;  ///< Why nothing more went in.

    [[nodiscard]] auto begin() noexcept { return items.begin(); }
    [[nodiscard]] auto end() noexcept { return items.end(); }
    [[nodiscard]] auto begin() const noexcept { return items.begin(); }
    [[nodiscard]] auto end() const noexcept { return items.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return items.size(); }
    [[nodiscard]] bool empty() const noexcept { return items.empty(); }

    friend bool operator==(const owned_chunk&, const owned_chunk&) = default;
};

namespace detail {

template <class Items>
using element = decltype(*std::begin(std::declval<Items&>()));

// What is constant when its container is belongs to it; a view shows the same as before. Of what
// has a name, which comes as a reference, nothing is given away.
template <class Items>
concept owns_its_items = !std::same_as<element<Items>, element<const Items>>;

// `Walk` is how the items are taken along: I, or a std::move_iterator of it.
template <class Items, class Walk, class I, class S, class F>
[[nodiscard]] auto owned(I first, S last, const limits& l, F size)
{
    using item = std::iter_value_t<I>;
    using kept = std::conditional_t<std::is_void_v<Items>, std::vector<item>, Items>;
    std::vector<owned_chunk<item, kept>> all;
    std::vector<chunk<I>> parts;
    for (const chunk<I>& part : chunk_range<I, S, F>(first, last, l, std::move(size))) {
        parts.push_back(part);
        all.push_back({{}, part.bytes, part.fits, part.closed});
        if constexpr (requires(kept& k) { k.reserve(std::size_t{}); }) {
            all.back().items.reserve(static_cast<std::size_t>(part.count));
        }
    }
    auto to = all.begin();
    for (const chunk<I>& part : parts) {
        kept& items = (to++)->items;
        items.insert(items.end(), Walk{part.first}, Walk{part.last});
    }
    return all;
}

}  // namespace detail

/// Copies of all items of [first, last). Name the container of a batch if it is to be another than
/// a vector: any that can insert at its end.
template <class Items = void, std::forward_iterator I, std::sentinel_for<I> S,
          size_model<std::iter_reference_t<I>> F = std::identity>
[[nodiscard]] auto owned_chunks(I first, S last, const limits& l, F size = {})
{
    return detail::owned<Items, I>(std::move(first), std::move(last), l, std::move(size));
}

/// The items themselves.
template <class Items = void, std::forward_iterator I,
          size_model<std::iter_reference_t<I>> F = std::identity>
[[nodiscard]] auto owned_chunks(std::move_iterator<I> first, std::move_iterator<I> last,
                                const limits& l, F size = {})
{
    return detail::owned<Items, std::move_iterator<I>>(first.base(), last.base(), l,
                                                       std::move(size));
}

/// The items of a container that is given away, or copies of those of one that is kept.
template <class Items = void, class From, size_model<detail::element<From>> F = std::identity>
[[nodiscard]] auto owned_chunks(From&& from, const limits& l, F size = {})
{
    using I = decltype(std::begin(from));
    using walk = std::conditional_t<detail::owns_its_items<From>, std::move_iterator<I>, I>;
    return detail::owned<Items, walk>(std::begin(from), std::end(from), l, std::move(size));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_OWNED_CHUNKS_HPP

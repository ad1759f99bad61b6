// SPDX-License-Identifier: MIT
//
// owned_chunks: cuts a sequence into batches that own their items.
//
// The chunks of chunk_by refer to the caller's container. If batches must outlive that container,
// for example in a queue, another thread or a coroutine, they need to own their items:
//
//     auto batches = waybill::owned_chunks(std::move(inbox), limits, wire_size);
//     auto others = waybill::owned_chunks<std::deque<order>>(first, last, limits, wire_size);
//
//   1. The batches are cut as by chunk_by. The size of an item is measured before the item moves.
//   2. Items are moved from an rvalue container and from `std::move_iterator`s. They are copied
//      from an lvalue container, and from a view such as a span, which does not own its items.
//   3. All batches have their memory before the first item moves. If an allocation throws, the
//      input is unchanged, provided that the container of a batch can `reserve`.

#ifndef WAYBILL_BATCH_OWNED_CHUNKS_HPP
#define WAYBILL_BATCH_OWNED_CHUNKS_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/detail/owned.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>

namespace waybill::inline v0_2 {

/// A batch that owns its items.
template <class Item, class Items = std::vector<Item>>
struct owned_chunk {
    Items items{};
    std::uint64_t bytes = 0;  ///< Size of the batch, envelope included, even if it does not fit.
    bool fits = true;         ///< False only for a single item that exceeds a limit by itself.
    batch_close_reason closed = batch_close_reason::end;  ///< The reason why the batch was closed.

    [[nodiscard]] auto begin() noexcept { return items.begin(); }
    [[nodiscard]] auto end() noexcept { return items.end(); }
    [[nodiscard]] auto begin() const noexcept { return items.begin(); }
    [[nodiscard]] auto end() const noexcept { return items.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return items.size(); }
    [[nodiscard]] bool empty() const noexcept { return items.empty(); }

    friend bool operator==(const owned_chunk&, const owned_chunk&) = default;
};

/// Cuts [first, last) into batches and copies the items. `Items` is the container of a batch: a
/// vector by default, or any container that can insert at its end.
template <class Items = void, std::forward_iterator I, std::sentinel_for<I> S,
          class F = std::identity>
[[nodiscard]] auto owned_chunks(I first, S last, const batch_limits& l, F size = {})
{
    return detail::owned<owned_chunk, Items, I>(std::move(first), std::move(last), l,
                                                std::move(size));
}

/// The same, but moves the items.
template <class Items = void, std::forward_iterator I, class F = std::identity>
[[nodiscard]] auto owned_chunks(std::move_iterator<I> first, std::move_iterator<I> last,
                                const batch_limits& l, F size = {})
{
    return detail::owned<owned_chunk, Items, std::move_iterator<I>>(first.base(), last.base(), l,
                                                                    std::move(size));
}

/// The same for a container. Moves the items of an rvalue that owns them; otherwise copies them.
template <class Items = void, class From, class F = std::identity>
    requires requires(From& from) { std::begin(from); }
[[nodiscard]] auto owned_chunks(From&& from, const batch_limits& l, F size = {})
{
    using I = decltype(std::begin(from));
    using item_iterator =
        std::conditional_t<detail::owns_its_items<From>, std::move_iterator<I>, I>;
    return detail::owned<owned_chunk, Items, item_iterator>(std::begin(from), std::end(from), l,
                                                            std::move(size));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_OWNED_CHUNKS_HPP

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
// bytes(batch) = envelope + sum of size(item). The size function counts an item with its framing. A
// framing replaces it if the bytes of an item depend on its place. Integers are their own sizes.
//
//   1. Every item is in exactly one chunk, in the order of the input.
//   2. No chunk is empty, so a loop over the chunks ends.
//   3. A chunk that does not fit is a single item that fits into no batch.
//   4. No other way to cut the sequence in order needs fewer chunks.
//   5. No copies, no allocation. One pass measures each item once.
// With a framing, 3 to 5 hold with restrictions: see the guide. Cost: linear, chunk by chunk.

#ifndef WAYBILL_BATCH_CHUNK_BY_HPP
#define WAYBILL_BATCH_CHUNK_BY_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/detail/block_sums.hpp>
#include <waybill/batch/detail/sizer.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/tally.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

/// Consecutive items for one batch, and the size of that batch. Itself a range of the items.
template <std::forward_iterator I>
struct chunk {
    I first{};
    I last{};
    std::uint64_t bytes = 0;  ///< Size of the batch, envelope included, even if it does not fit.
    std::uint64_t count = 0;  ///< Number of items.
    bool fits = true;  ///< False only for a single item that exceeds a limit by itself.
    batch_close_reason closed = batch_close_reason::end;  ///< The reason why the chunk ends.

    [[nodiscard]] constexpr I begin() const { return first; }
    [[nodiscard]] constexpr I end() const { return last; }
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return count; }

    /// Never true for the chunks of a range. True for `front_chunk` of an empty input.
    [[nodiscard]] constexpr bool empty() const noexcept { return count == 0; }

    friend bool operator==(const chunk&, const chunk&) = default;
};

namespace detail {

// The limits in the form that the loops compare with, computed once.
struct room {
    constexpr explicit room(const batch_limits& l) noexcept
        : items(l.items == 0 ? 1 : l.items), envelope(l.envelope)
    {
        constexpr std::uint64_t known = highest_size - 1;  // the largest sum that is not saturated
        const std::uint64_t bytes = lesser(l.bytes, known);
        space = saturating_sub(bytes, l.envelope);
        if (l.envelope <= bytes) too_large = lesser(l.single, space) + 1;
    }

    std::uint64_t items;
    std::uint64_t envelope;
    std::uint64_t space = 0;      // bytes for items
    std::uint64_t too_large = 0;  // the smallest size that fits into no batch
};

/// A framing for the items of the iterator `I`. Used through a tally.
template <class F, class I>
concept framing_at = framing<F, std::remove_cvref_t<std::iter_reference_t<I>>>;

template <class F, class I>
using room_for = std::conditional_t<framing_at<F, I>, batch_limits, room>;

template <class I, class F>
constexpr std::uint64_t size_at(const I& at, const F& size)
{
    return as_size(detail::measured(size, *at));
}

// The size of the first item, to be passed to cut(). 0 for a framing or an empty input.
template <class I, class S, class F>
[[gnu::always_inline]] constexpr std::uint64_t size_ahead(const I& at, const S& last, const F& size)
{
    if constexpr (!framing_at<F, I>) {
        if (at != last) return detail::size_at(at, size);
    }
    return 0;
}

// Cuts a chunk off [first, last), which must not be empty. Before the call, `own` is the size of
// the first item; after it, the size of the item after the chunk, if there is one. So each item is
// measured once, and no branch has to test whether the next size is already known. `before` is the
// number of items of the previous chunk. always_inline: without it, compilers inline too little,
// and small chunks cost more than in a hand-written loop.
template <class I, class S, class F>
[[gnu::always_inline]] constexpr chunk<I> cut(I first, const S& last, const room& r, const F& size,
                                              std::uint64_t& own, std::uint64_t before)
{
    I at = first;
    ++at;
    if (own >= r.too_large) {
        const std::uint64_t whole = saturating_add(r.envelope, own);
        if (at != last) own = detail::size_at(at, size);
        return {first, at, whole, 1, false, batch_close_reason::bytes};
    }
    // Subtracting from the rest cannot wrap; adding to a sum could.
    std::uint64_t left = r.space - own;
    std::uint64_t taken = 1;
    batch_close_reason reason = batch_close_reason::items;
    if constexpr (std::random_access_iterator<I> && std::sized_sentinel_for<S, I>) {
        constexpr bool bare = std::same_as<F, std::identity> && plain_integers<I, S>;
        const auto ahead = static_cast<std::uint64_t>(last - first);
        const std::uint64_t most = lesser(ahead, r.items);
        // Up to about 100 items, item by item is faster than blocks. The previous chunk predicts
        // the length of this one.
        const std::uint64_t first_look = bare ? lesser(most, before < 96 ? 128 : 1) : most;
        const I bound = first + static_cast<std::iter_difference_t<I>>(first_look);
        if (r.too_large > r.space) {  // an item is limited only by the rest of the space
            for (; at != bound; ++at) {
                own = detail::size_at(at, size);
                if (own > left) {
                    reason = batch_close_reason::bytes;
                    break;
                }
                left -= own;
            }
        } else {
            for (; at != bound; ++at) {
                own = detail::size_at(at, size);
                if (own > left || own >= r.too_large) {
                    reason = batch_close_reason::bytes;
                    break;
                }
                left -= own;
            }
        }
        if constexpr (bare) {
            if (reason == batch_close_reason::items && most > first_look) {
                const auto* const here = &*at;
                const auto* const end = here + (most - first_look);
                const auto to = detail::within(here, end, r.too_large - 1, left);
                left = to.left;
                at += to.at - here;
                if (to.at != end) {
                    own = detail::size_at(at, size);
                    reason = batch_close_reason::bytes;
                }
            }
        }
        taken = static_cast<std::uint64_t>(at - first);
        if (reason == batch_close_reason::items) {
            if (at == last)
                reason = batch_close_reason::end;
            else own = detail::size_at(at, size);
        }
    } else {
        for (;; ++at, ++taken) {
            if (at == last) {
                reason = batch_close_reason::end;
                break;
            }
            own = detail::size_at(at, size);
            if (taken == r.items) break;
            if (own > left || own >= r.too_large) {
                reason = batch_close_reason::bytes;
                break;
            }
            left -= own;
        }
    }
    return {first, at, r.envelope + (r.space - left), taken, true, reason};
}

// The same for a framing. Sizes depend on the place, so no size is passed on to the next chunk.
template <class I, class S, class F>
constexpr chunk<I> cut(I first, const S& last, const batch_limits& l, const F& f, std::uint64_t&,
                       std::uint64_t)
{
    tally<F> t;
    I at = first;
    for (; at != last && !t.full; ++at) {
        const auto& item = *at;
        if (t.add(l, f, item) == add_result::added) continue;
        if (t.items != 0) {
            t.close(batch_close_reason::bytes);
            break;
        }
        const std::uint64_t whole = size_alone(l, f, item);
        return {first, ++at, whole, 1, false, batch_close_reason::bytes};
    }
    return {first, at, t.bytes, t.items, true, at == last ? batch_close_reason::end : t.closed};
}

}  // namespace detail

/// Cuts the longest chunk that fits off the beginning of [first, last). Empty only if the input is.
/// A loop that calls it directly can change the limits after each chunk, as refusals require.
/// Linear in the chunk; measures its items and the next item.
template <std::forward_iterator I, std::sentinel_for<I> S,
          size_model<std::iter_reference_t<I>> F = std::identity>
[[nodiscard]] constexpr chunk<I> front_chunk(I first, S last, const batch_limits& l,
                                             const F& size = {})
{
    if (first == last) return {first, first};
    const detail::room_for<F, I> r(l);
    std::uint64_t own = detail::size_ahead(first, last, size);
    return detail::cut(first, last, r, size, own, 0);
}

namespace detail {

/// All chunks of a sequence. Each chunk is cut when the loop reaches it. Iterators point to the
/// chunk_range and to the items: both must outlive them.
template <std::forward_iterator I, std::sentinel_for<I> S, size_model<std::iter_reference_t<I>> F>
class chunk_range {
public:
    class iterator {
    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;  // operator* returns a value
        using value_type = chunk<I>;
        using difference_type = std::iter_difference_t<I>;
        using pointer = const value_type*;
        using reference = value_type;

        iterator() = default;
        [[gnu::always_inline]] constexpr explicit iterator(const chunk_range& r)
            : range_(&r), cut_{r.first_, r.first_},
              next_(detail::size_ahead(r.first_, r.last_, r.size_))
        {
            advance();
        }

        [[nodiscard]] constexpr value_type operator*() const { return cut_; }
        [[nodiscard]] constexpr pointer operator->() const noexcept { return &cut_; }
        [[gnu::always_inline]] constexpr iterator& operator++()
        {
            advance();
            return *this;
        }
        constexpr iterator operator++(int)
        {
            auto old = *this;
            advance();
            return old;
        }

        friend bool operator==(const iterator&, const iterator&) = default;
        friend constexpr bool operator==(const iterator& i, std::default_sentinel_t)
        {
            return i.cut_.empty();
        }

    private:
        [[gnu::always_inline]] constexpr void advance()
        {
            const chunk_range& r = *range_;
            if (cut_.last == r.last_) {
                cut_ = {cut_.last, cut_.last};
                return;
            }
            std::uint64_t own = next_;
            cut_ = detail::cut(cut_.last, r.last_, r.room_, r.size_, own, cut_.count);
            next_ = own;
        }

        const chunk_range* range_ = nullptr;
        chunk<I> cut_;
        std::uint64_t next_ = 0;  // the size of the item after the chunk, measured once
    };

    constexpr chunk_range(I first, S last, const batch_limits& l, F size)
        : first_(std::move(first)), last_(std::move(last)), room_(l), size_(std::move(size))
    {
    }

    [[nodiscard]] constexpr iterator begin() const { return iterator(*this); }
    [[nodiscard]] constexpr std::default_sentinel_t end() const noexcept { return {}; }

private:
    I first_;
    S last_;
    detail::room_for<F, I> room_;
    F size_;
};

}  // namespace detail

/// Cuts [first, last) into chunks within `l`. The chunks point into the input. Constant time; each
/// chunk is cut when the loop reaches it.
template <std::forward_iterator I, std::sentinel_for<I> S,
          size_model<std::iter_reference_t<I>> F = std::identity>
[[nodiscard]] constexpr detail::chunk_range<I, S, F> chunk_by(I first, S last,
                                                              const batch_limits& l, F size = {})
{
    return {std::move(first), std::move(last), l, std::move(size)};
}

/// The same for a container. It must be an lvalue, so that it outlives its chunks.
template <class Items, size_model<decltype(*std::begin(std::declval<Items&>()))> F = std::identity>
[[nodiscard]] constexpr auto chunk_by(Items& items, const batch_limits& l, F size = {})
{
    return chunk_by(std::begin(items), std::end(items), l, std::move(size));
}

namespace detail {

struct name_the_container_first {};

}  // namespace detail

/// Deleted: a temporary container would be destroyed before its chunks are read.
template <class Items, class F = std::identity>
detail::name_the_container_first chunk_by(const Items&& temporary, const batch_limits&,
                                          F = {}) = delete;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_CHUNK_BY_HPP

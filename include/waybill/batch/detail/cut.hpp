// SPDX-License-Identifier: MIT
//
// cut: cuts one chunk off the beginning of a sequence. Part of `chunk_by`.

#ifndef WAYBILL_BATCH_DETAIL_CUT_HPP
#define WAYBILL_BATCH_DETAIL_CUT_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/chunk.hpp>
#include <waybill/batch/detail/block_sums.hpp>
#include <waybill/batch/detail/sizer.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

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
constexpr std::uint64_t size_ahead(const I& at, const S& last, const F& size)
{
    if constexpr (!framing_at<F, I>) {
        if (at != last) return detail::size_at(at, size);
    }
    return 0;
}

// Takes items from `at` to `bound` while they fit. Returns true if an item does not fit; `own` is
// then its size. Without `Single`, an item is limited only by the rest of the space.
template <bool Single, class I, class F>
[[gnu::always_inline]] constexpr bool take_items(I& at, const I& bound, const room& r,
                                                 const F& size, std::uint64_t& own,
                                                 std::uint64_t& left)
{
    for (; at != bound; ++at) {
        own = detail::size_at(at, size);
        if (own > left || (Single && own >= r.too_large)) return true;
        left -= own;
    }
    return false;
}

// Integers that are their own sizes are summed in blocks, if the chunk is long. Below about 100
// items, item by item is faster: `bench/run batch`, rows "blocks". The previous chunk predicts the
// length of this one.
inline constexpr std::uint64_t long_chunk = 96;
inline constexpr std::uint64_t before_blocks = 128;  // items of a short chunk that are taken singly

// Takes up to `count` integers from `at` in blocks. Returns true if an item does not fit.
template <class I>
[[gnu::always_inline]] constexpr bool take_blocks(I& at, std::uint64_t count, const room& r,
                                                  std::uint64_t& left)
{
    const auto* const here = &*at;
    const auto* const end = here + count;
    const auto to = detail::within(here, end, r.too_large - 1, left);
    left = to.left;
    at += to.at - here;
    return to.at != end;
}

// Takes items from `at` until the chunk ends, in a sequence whose length is known.
template <class I, class S, class F>
[[gnu::always_inline]] constexpr batch_close_reason
take_counted(const I& first, I& at, const S& last, const room& r, const F& size, std::uint64_t& own,
             std::uint64_t& left, std::uint64_t before)
{
    constexpr bool bare = std::same_as<F, std::identity> && plain_integers<I, S>;
    const std::uint64_t most = lesser(static_cast<std::uint64_t>(last - first), r.items);
    const std::uint64_t singly =
        bare ? lesser(most, before < long_chunk ? before_blocks : 1) : most;
    const I bound = first + static_cast<std::iter_difference_t<I>>(singly);
    const bool refused = r.too_large > r.space
                             ? detail::take_items<false>(at, bound, r, size, own, left)
                             : detail::take_items<true>(at, bound, r, size, own, left);
    batch_close_reason reason = refused ? batch_close_reason::bytes : batch_close_reason::items;
    if constexpr (bare) {
        if (!refused && most > singly && detail::take_blocks(at, most - singly, r, left)) {
            own = detail::size_at(at, size);
            reason = batch_close_reason::bytes;
        }
    }
    if (reason == batch_close_reason::items) {
        if (at == last) reason = batch_close_reason::end;
        else own = detail::size_at(at, size);
    }
    return reason;
}

// Takes items from `at` until the chunk ends, and counts them. `taken` is 1 before the call.
template <class I, class S, class F>
[[gnu::always_inline]] constexpr batch_close_reason
take_uncounted(I& at, const S& last, const room& r, const F& size, std::uint64_t& own,
               std::uint64_t& left, std::uint64_t& taken)
{
    for (;; ++at, ++taken) {
        if (at == last) return batch_close_reason::end;
        own = detail::size_at(at, size);
        if (taken == r.items) return batch_close_reason::items;
        if (own > left || own >= r.too_large) return batch_close_reason::bytes;
        left -= own;
    }
}

// Cuts a chunk off [first, last), which must not be empty. Before the call, `own` is the size of
// the first item; after it, the size of the item after the chunk, if there is one. So each item is
// measured once, and no branch has to test whether the next size is already known. `before` is the
// number of items of the previous chunk. always_inline: see chunk_range.hpp. In the functions
// above, it saves 4 to 5 % of the instructions with g++ 12 in chunks of 8 (`bench/run batch`,
// strings).
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
    batch_close_reason reason{};
    if constexpr (std::random_access_iterator<I> && std::sized_sentinel_for<S, I>) {
        reason = detail::take_counted(first, at, last, r, size, own, left, before);
        taken = static_cast<std::uint64_t>(at - first);
    } else {
        reason = detail::take_uncounted(at, last, r, size, own, left, taken);
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

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_CUT_HPP

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
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/detail/sizer.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

// The limits in the form that the loops use for comparisons, computed once.
struct chunk_limits {
    constexpr explicit chunk_limits(const batch_limits& l) noexcept
        : items(l.items == 0 ? 1 : l.items), envelope(l.envelope)
    {
        constexpr std::uint64_t max_exact = highest_size - 1;  // a larger sum may be saturated
        const std::uint64_t bytes = lesser(l.bytes, max_exact);
        item_space = saturating_sub(bytes, l.envelope);
        if (l.envelope <= bytes) smallest_refused = lesser(l.single, item_space) + 1;
    }

    std::uint64_t items;
    std::uint64_t envelope;
    std::uint64_t item_space = 0;        // bytes for items
    std::uint64_t smallest_refused = 0;  // the smallest item size that fits into no batch
};

/// A framing for the items of the iterator `I`. Used through a tally.
template <class F, class I>
concept framing_at = framing<F, std::remove_cvref_t<std::iter_reference_t<I>>>;

template <class F, class I>
using limits_for = std::conditional_t<framing_at<F, I>, batch_limits, chunk_limits>;

template <class I, class F>
constexpr std::uint64_t size_at(const I& at, const F& size)
{
    return as_size(detail::measured(size, *at));
}

// The size of the first item, to be passed to cut(). 0 for a framing or an empty input.
template <class I, class S, class F>
constexpr std::uint64_t first_size(const I& at, const S& last, const F& size)
{
    if constexpr (!framing_at<F, I>) {
        if (at != last) return detail::size_at(at, size);
    }
    return 0;
}

// Takes items from `at` to `bound` while they fit. Returns true if an item does not fit;
// `item_bytes` is then its size. `CheckSingle` also compares each item with the limit for single
// items, which is needed if that limit is lower than the space of a batch.
template <bool CheckSingle, class I, class F>
WAYBILL_ALWAYS_INLINE constexpr bool take_items(I& at, const I& bound, const chunk_limits& limits,
                                                const F& size, std::uint64_t& item_bytes,
                                                std::uint64_t& bytes_left)
{
    for (; at != bound; ++at) {
        item_bytes = detail::size_at(at, size);
        if (item_bytes > bytes_left || (CheckSingle && item_bytes >= limits.smallest_refused))
            return true;
        bytes_left -= item_bytes;
    }
    return false;
}

// Integers that are their own sizes are summed in blocks, if the chunk is long. Below about 100
// items, item by item is faster: `bench/run batch`, rows "blocks". The previous chunk predicts the
// length of this one.
inline constexpr std::uint64_t long_chunk = 96;
inline constexpr std::uint64_t one_by_one_first = 128;  // items, if the previous chunk was short

// Takes up to `count` integers from `at` in blocks. Returns true if an item does not fit.
template <class I>
WAYBILL_ALWAYS_INLINE constexpr bool take_blocks(I& at, std::uint64_t count,
                                                 const chunk_limits& limits,
                                                 std::uint64_t& bytes_left)
{
    const auto* const begin = &*at;
    const auto* const end = begin + count;
    const auto taken = detail::take_while_fits(begin, end, limits.smallest_refused - 1, bytes_left);
    bytes_left = taken.bytes_left;
    at += taken.at - begin;
    return taken.at != end;
}

// Takes items from `at` until the chunk ends, in a sequence whose length is known.
template <class I, class S, class F>
WAYBILL_ALWAYS_INLINE constexpr batch_close_reason take_sized(
    const I& first, I& at, const S& last, const chunk_limits& limits, const F& size,
    std::uint64_t& item_bytes, std::uint64_t& bytes_left, std::uint64_t previous_count)
{
    constexpr bool sums_in_blocks = std::same_as<F, std::identity> && plain_integers<I, S>;
    const std::uint64_t max_count = lesser(static_cast<std::uint64_t>(last - first), limits.items);
    const std::uint64_t one_by_one_count =
        sums_in_blocks ? lesser(max_count, previous_count < long_chunk ? one_by_one_first : 1)
                       : max_count;
    const I bound = first + static_cast<std::iter_difference_t<I>>(one_by_one_count);
    constexpr bool check_single = true;
    const bool refused =
        limits.smallest_refused > limits.item_space
            ? detail::take_items<!check_single>(at, bound, limits, size, item_bytes, bytes_left)
            : detail::take_items<check_single>(at, bound, limits, size, item_bytes, bytes_left);
    batch_close_reason reason = refused ? batch_close_reason::bytes : batch_close_reason::items;
    if constexpr (sums_in_blocks) {
        if (!refused && max_count > one_by_one_count &&
            detail::take_blocks(at, max_count - one_by_one_count, limits, bytes_left)) {
            item_bytes = detail::size_at(at, size);
            reason = batch_close_reason::bytes;
        }
    }
    if (reason == batch_close_reason::items) {
        if (at == last) reason = batch_close_reason::end;
        else item_bytes = detail::size_at(at, size);
    }
    return reason;
}

// The same if the length is unknown. Counts the items in `taken`, which is 1 before the call.
template <class I, class S, class F>
WAYBILL_ALWAYS_INLINE constexpr batch_close_reason take_unsized(
    I& at, const S& last, const chunk_limits& limits, const F& size, std::uint64_t& item_bytes,
    std::uint64_t& bytes_left, std::uint64_t& taken)
{
    for (;; ++at, ++taken) {
        if (at == last) return batch_close_reason::end;
        item_bytes = detail::size_at(at, size);
        if (taken == limits.items) return batch_close_reason::items;
        if (item_bytes > bytes_left || item_bytes >= limits.smallest_refused)
            return batch_close_reason::bytes;
        bytes_left -= item_bytes;
    }
}

// The chunk of one item that fits into no batch. `bytes` includes the envelope.
template <class I>
[[nodiscard]] constexpr chunk<I> chunk_of_too_large(I first, I last, std::uint64_t bytes)
{
    return {.first = first,
            .last = last,
            .bytes = bytes,
            .count = 1,
            .fits = false,
            .closed = batch_close_reason::bytes};
}

// Cuts a chunk off [first, last), which must not be empty. Before the call, `item_bytes` is the
// size of the first item; after it, the size of the item after the chunk, if there is one. So each
// item is measured once, and no branch has to test whether the next size is already known.
// `previous_count` is the number of items of the previous chunk. always_inline: see
// chunk_range.hpp. In the functions above, it saves 4 to 5 % of the instructions with g++ 12 in
// chunks of 8 (`bench/run batch`, strings).
template <class I, class S, class F>
WAYBILL_ALWAYS_INLINE constexpr chunk<I> cut(I first, const S& last, const chunk_limits& limits,
                                             const F& size, std::uint64_t& item_bytes,
                                             std::uint64_t previous_count)
{
    I at = first;
    ++at;
    if (item_bytes >= limits.smallest_refused) {
        const std::uint64_t whole = saturating_add(limits.envelope, item_bytes);
        if (at != last) item_bytes = detail::size_at(at, size);
        return chunk_of_too_large(first, at, whole);
    }
    // Subtracting from the rest cannot wrap; adding to a sum could.
    std::uint64_t bytes_left = limits.item_space - item_bytes;
    std::uint64_t taken = 1;
    batch_close_reason reason{};
    if constexpr (std::random_access_iterator<I> && std::sized_sentinel_for<S, I>) {
        reason = detail::take_sized(first, at, last, limits, size, item_bytes, bytes_left,
                                    previous_count);
        taken = static_cast<std::uint64_t>(at - first);
    } else {
        reason = detail::take_unsized(at, last, limits, size, item_bytes, bytes_left, taken);
    }
    return {.first = first,
            .last = at,
            .bytes = limits.envelope + (limits.item_space - bytes_left),
            .count = taken,
            .fits = true,
            .closed = reason};
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
        ++at;
        return chunk_of_too_large(first, at, whole);
    }
    return {.first = first,
            .last = at,
            .bytes = t.bytes,
            .count = t.items,
            .fits = true,
            .closed = at == last ? batch_close_reason::end : t.closed};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_CUT_HPP

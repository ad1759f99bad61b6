// SPDX-License-Identifier: MIT
//
// block_sums: how many numbers in a row stay within a sum, 64 at a time.
//
// A loop that asks after every number whether the next still fits adds one a cycle. Where it is
// known beforehand that 64 numbers fit together, none of them has to be asked, and a compiler adds
// four or eight at once. So a block is added up first, and looked into only if it does not fit: by
// halves, without a branch to guess, until less than eight numbers are left to go through.
//
// A block adds up in narrow numbers, which is where most of the speed comes from, and a sum could
// wrap there. The bits of all its numbers tell whether it can: if any has a bit that a sum of 64
// might carry out, if any might be negative, or over the limit of a single item, then the block is
// gone through one by one. So the answer is the same as that of the plain loop, always.
//
// For chunk_by, where the items themselves are their sizes.

#ifndef WAYBILL_BATCH_BLOCK_SUMS_HPP
#define WAYBILL_BATCH_BLOCK_SUMS_HPP

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_1::detail {

/// Integers of up to 64 bits that lie side by side.
template <class I, class S>
concept plain_integers =
    std::contiguous_iterator<I> && std::sized_sentinel_for<S, I> &&
    countable<std::iter_value_t<I>> && sizeof(std::iter_value_t<I>) <= sizeof(std::uint64_t) &&
    !std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<I>>>;

/// The sum of as many numbers, or the largest value where they are not all known to be small.
/// The two halves go side by side: that is what gcc 12 takes 64-bit numbers together for.
template <int Count, class N>
[[nodiscard, gnu::always_inline]] constexpr std::uint64_t block_sum(const N* at,
                                                                    std::uint64_t small)
{
    using bits = std::make_unsigned_t<N>;
    using wide = std::conditional_t<
        sizeof(N) == 1, std::uint16_t,
        std::conditional_t<sizeof(N) <= 4, std::uint32_t, std::uint64_t>>;
    // The largest of which 64 can be added up, and that is not negative.
    constexpr std::uint64_t known =
        lesser(wide(~wide{}) / 64, std::uint64_t{bits(~bits{})} >> std::is_signed_v<N>);
    wide sum = 0;
    bits any = 0;
    for (int i = 0; i != Count / 2; ++i) {
        const auto a = static_cast<bits>(at[i]);
        const auto b = static_cast<bits>(at[i + Count / 2]);
        sum = static_cast<wide>(sum + static_cast<wide>(wide{a} + wide{b}));
        any = static_cast<bits>(any | static_cast<bits>(a | b));
    }
    return any <= lesser(small, known) ? sum : highest_size;
}

/// How far it goes, and what is left then.
template <class N>
struct reached {
    const N* at;
    std::uint64_t left;
};

/// How far one can go from `at`, to `stop` at most, with numbers of at most `single` each that take
/// no more than `left` in all, which is below the largest value.
template <class N>
[[nodiscard]] constexpr reached<N> within(const N* at, const N* stop, std::uint64_t single,
                                          std::uint64_t left)
{
    while (at != stop) {
        for (; stop - at >= 64; at += 64) {
            const std::uint64_t sum = detail::block_sum<64>(at, single);
            if (sum > left) break;
            left -= sum;
        }
        const auto half = [&]<int Count>(std::integral_constant<int, Count>) {
            if (stop - at < Count) return;
            const std::uint64_t sum = detail::block_sum<Count>(at, single);
            const bool fits = sum <= left;
            left -= fits ? sum : 0;
            at += fits ? Count : 0;
        };
        half(std::integral_constant<int, 32>{});
        half(std::integral_constant<int, 16>{});
        half(std::integral_constant<int, 8>{});
        for (const N* end = stop - at < 64 ? stop : at + 64; at != end; ++at) {
            const std::uint64_t own = as_size(*at);
            if (own > left || own > single) return {at, left};
            left -= own;
        }
    }
    return {at, left};
}

}  // namespace waybill::inline v0_1::detail

#endif  // WAYBILL_BATCH_BLOCK_SUMS_HPP

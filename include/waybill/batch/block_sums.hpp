// SPDX-License-Identifier: MIT
//
// block_sums: how many numbers in a row stay within a sum, 64 at a time.
//
// A loop that asks after every number whether the next still fits adds one a cycle. Where it is
// known beforehand that 64 numbers fit together, none of them has to be asked, and a compiler adds
// four or eight at once. So a block is added up first, and only if it does not fit its rows of eight
// are, and only the numbers of the row that does not fit are gone through.
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
#include <cstring>
#include <iterator>
#include <type_traits>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// Integers of up to 64 bits that lie side by side.
template <class I, class S>
concept plain_integers =
    std::contiguous_iterator<I> && std::sized_sentinel_for<S, I> &&
    countable<std::iter_value_t<I>> && sizeof(std::iter_value_t<I>) <= sizeof(std::uint64_t) &&
    !std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<I>>>;

// The sum of a block, and all bits that are set in any of its numbers.
template <class N>
struct block {
    using bits = std::make_unsigned_t<N>;
    using wide = std::conditional_t<
        sizeof(N) == 1, std::uint16_t,
        std::conditional_t<sizeof(N) <= 4, std::uint32_t, std::uint64_t>>;

    // The largest of which 64 can be added up, and that is not negative.
    static constexpr std::uint64_t known =
        lesser(wide(~wide{}) / 64, std::uint64_t{bits(~bits{})} >> std::is_signed_v<N>);

    wide sum = 0;
    bits any = 0;
};

/// Compilers take numbers together here by themselves, where they are narrow very well. The two
/// halves go side by side: that is what gcc 12 does it for. The loop stays one, as clang 14 would
/// else unroll it before that with -O3, and add one by one.
template <int Count, class N>
[[gnu::always_inline]] constexpr block<N> block_of(const N* at)
{
    using bits = typename block<N>::bits;
    using wide = typename block<N>::wide;
    block<N> b;
#pragma GCC unroll 1
    for (int i = 0; i != Count / 2; ++i) {
        const auto front = static_cast<bits>(at[i]);
        const auto back = static_cast<bits>(at[i + Count / 2]);
        b.sum = static_cast<wide>(b.sum + static_cast<wide>(wide{front} + wide{back}));
        b.any = static_cast<bits>(b.any | static_cast<bits>(front | back));
    }
    return b;
}

#ifdef __GNUC__
using lanes [[gnu::vector_size(16)]] = std::uint64_t;

/// The same for numbers of 64 bits, of which a register holds two wherever there is one. Left to
/// themselves, compilers read numbers twice or wait for the one sum, so here are four. The loop goes
/// two rounds at once, as one is so short that its speed depends on where it lies; all at once are
/// taken apart into sums first and bits then, and registers lack for that.
template <int Count, class N>
[[gnu::always_inline]] inline block<N> block_of_lanes(const N* at)
{
    const auto count = [](lanes& sum, lanes& any, const N* two) {
        lanes n;
        std::memcpy(&n, two, sizeof n);
        sum += n;
        any |= n;
    };
    lanes a{}, b{}, c{}, d{}, any_a{}, any_b{}, any_c{}, any_d{};
#pragma GCC unroll 2
    for (int i = 0; i != Count; i += 8) {
        count(a, any_a, at + i);
        count(b, any_b, at + i + 2);
        count(c, any_c, at + i + 4);
        count(d, any_d, at + i + 6);
    }
    const lanes sum = (a + b) + (c + d);
    const lanes any = (any_a | any_b) | (any_c | any_d);
    using bits = typename block<N>::bits;
    return {static_cast<bits>(sum[0] + sum[1]), static_cast<bits>(any[0] | any[1])};
}
#endif

/// The sum of as many numbers, or the largest value where they are not all known to be small.
template <int Count, class N>
[[nodiscard, gnu::always_inline]] constexpr std::uint64_t block_sum(const N* at,
                                                                    std::uint64_t small)
{
    block<N> b;
#ifdef __GNUC__
    if (sizeof(N) == 8 && !std::is_constant_evaluated()) b = detail::block_of_lanes<Count>(at);
    else
#endif
        b = detail::block_of<Count>(at);
    if (b.any > lesser(small, block<N>::known)) [[unlikely]] return highest_size;
    return b.sum;
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
        const auto take = [&]<int Count>(std::integral_constant<int, Count>) {
            for (; stop - at >= Count; at += Count) {
                const std::uint64_t sum = detail::block_sum<Count>(at, single);
                if (sum > left) return;
                left -= sum;
            }
        };
        take(std::integral_constant<int, 64>{});
        take(std::integral_constant<int, 8>{});
        for (const N* end = stop - at < 64 ? stop : at + 64; at != end; ++at) {
            const std::uint64_t own = as_size(*at);
            if (own > left || own > single) return {at, left};
            left -= own;
        }
    }
    return {at, left};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_BLOCK_SUMS_HPP

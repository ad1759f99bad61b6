// SPDX-License-Identifier: MIT
//
// block_sums: finds how many consecutive integers stay within a sum, up to 64 at a time.
//
// Detail of chunk_by, for contiguous items that are their own sizes. A loop with a comparison after
// each number adds one number per cycle. Without the comparisons, compilers vectorise the loop: it
// adds four or eight numbers per cycle. So the sum of a block of 64 is compared first. If it does
// not fit, the sums of rows of 8 are compared. From the first row on that does not fit, single
// numbers are compared.
//
// Guarantee: the result equals that of the plain loop. The sum of a block has a narrow type, which
// gives most of the speed, and could overflow. So the bitwise OR of all numbers is compared, too. A
// block counts as not fitting if its OR shows that
//   - the sum of 64 numbers could overflow,
//   - a number could be negative, or
//   - a number could exceed the limit of a single item.
//
// Cost: linear in the numbers that fit, no allocation.

#ifndef WAYBILL_BATCH_DETAIL_BLOCK_SUMS_HPP
#define WAYBILL_BATCH_DETAIL_BLOCK_SUMS_HPP

#include <cstdint>
#include <cstring>
#include <iterator>
#include <type_traits>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// Iterators over contiguous integers of at most 64 bits, not volatile.
template <class I, class S>
concept plain_integers =
    std::contiguous_iterator<I> && std::sized_sentinel_for<S, I> &&
    countable<std::iter_value_t<I>> && sizeof(std::iter_value_t<I>) <= sizeof(std::uint64_t) &&
    !std::is_volatile_v<std::remove_reference_t<std::iter_reference_t<I>>>;

inline constexpr int block_size = 64;  // numbers
inline constexpr int row_size = 8;

// The sum of a block and the bitwise OR of its numbers. The OR is at least the largest number.
template <class N>
struct block {
    using bits = std::make_unsigned_t<N>;
    using wide =
        std::conditional_t<sizeof(N) == 1, std::uint16_t,
                           std::conditional_t<sizeof(N) <= 4, std::uint32_t, std::uint64_t>>;

    // The largest safe value: it is not negative, and the sum of a block fits into `wide`.
    static constexpr std::uint64_t max_safe =
        lesser(wide(~wide{}) / block_size, std::uint64_t{bits(~bits{})} >> std::is_signed_v<N>);

    wide sum = 0;
    bits all_bits = 0;
};

/// Sums `Count` numbers. Compilers vectorise this loop; the gain is highest for narrow types. gcc
/// 12 needs the form with two halves for that. `unroll 1` is for clang 14 with -O3: it would unroll
/// the loop before vectorisation, and then add number by number.
template <int Count, class N>
constexpr block<N> block_of(const N* at)
{
    using bits = typename block<N>::bits;
    using wide = typename block<N>::wide;
    block<N> b;
#ifdef __GNUC__
#pragma GCC unroll 1
#endif
    for (int i = 0; i != Count / 2; ++i) {
        const auto front = static_cast<bits>(at[i]);
        const auto back = static_cast<bits>(at[i + Count / 2]);
        b.sum = static_cast<wide>(b.sum + static_cast<wide>(wide{front} + wide{back}));
        b.all_bits = static_cast<bits>(b.all_bits | static_cast<bits>(front | back));
    }
    return b;
}

#ifdef __GNUC__
using lanes [[gnu::vector_size(16)]] = std::uint64_t;

/// The same for 64-bit numbers, two per 16-byte register. Without explicit lanes, compilers read
/// numbers twice or wait for a single sum; so four sums are independent. Without `unroll 2`, the
/// loop is so short that its speed depends on its alignment. It also takes 3 % more instructions
/// with g++ 12, 6 % with clang 14 (`bench/run batch`, blocks of 64 bits). With all iterations
/// unrolled, compilers compute the sums first and the bits afterwards, and run out of registers.
template <int Count, class N>
inline block<N> block_of_lanes(const N* at)
{
    const auto count = [](lanes& sum, lanes& all_bits, const N* pair) {
        lanes n;
        std::memcpy(&n, pair, sizeof n);
        sum += n;
        all_bits |= n;
    };
    lanes a{}, b{}, c{}, d{}, any_a{}, any_b{}, any_c{}, any_d{};
#pragma GCC unroll 2
    for (int i = 0; i != Count; i += 8) {  // four sums of two numbers
        count(a, any_a, at + i);
        count(b, any_b, at + i + 2);
        count(c, any_c, at + i + 4);
        count(d, any_d, at + i + 6);
    }
    const lanes sum = (a + b) + (c + d);
    const lanes all_bits = (any_a | any_b) | (any_c | any_d);
    using bits = typename block<N>::bits;
    return {static_cast<bits>(sum[0] + sum[1]), static_cast<bits>(all_bits[0] | all_bits[1])};
}
#endif

/// The sum of `Count` numbers. `highest_size` if a number may exceed `max_value` or `max_safe`.
template <int Count, class N>
[[nodiscard]] constexpr std::uint64_t block_sum(const N* at, std::uint64_t max_value)
{
    block<N> b;
#ifdef __GNUC__
    if (sizeof(N) == 8 && !std::is_constant_evaluated()) b = detail::block_of_lanes<Count>(at);
    else
#endif
        b = detail::block_of<Count>(at);
    if (b.all_bits > lesser(max_value, block<N>::max_safe)) [[unlikely]]
        return highest_size;
    return b.sum;
}

/// Result of take_while_fits(): the first number that was not taken, and the rest of the sum.
template <class N>
struct block_result {
    const N* at;
    std::uint64_t bytes_left;
};

/// Takes numbers from [at, stop) while each is at most `single` and their sum is at most
/// `bytes_left`, which must be less than `highest_size`.
template <class N>
[[nodiscard]] constexpr block_result<N> take_while_fits(const N* at, const N* stop,
                                                        std::uint64_t single,
                                                        std::uint64_t bytes_left)
{
    while (at != stop) {
        const auto take = [&]<int Count>(std::integral_constant<int, Count>) {
            for (; stop - at >= Count; at += Count) {
                const std::uint64_t sum = detail::block_sum<Count>(at, single);
                if (sum > bytes_left) return;
                bytes_left -= sum;
            }
        };
        take(std::integral_constant<int, block_size>{});
        take(std::integral_constant<int, row_size>{});
        for (const N* end = stop - at < block_size ? stop : at + block_size; at != end; ++at) {
            const std::uint64_t item_bytes = as_size(*at);
            if (item_bytes > bytes_left || item_bytes > single) return {at, bytes_left};
            bytes_left -= item_bytes;
        }
    }
    return {at, bytes_left};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_BLOCK_SUMS_HPP

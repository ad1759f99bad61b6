// SPDX-License-Identifier: MIT

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/batch/detail/block_sums.hpp>

namespace block_sums_test {

using waybill::detail::as_size;
using waybill::detail::highest_size;
using waybill::detail::plain_integers;
using waybill::detail::take_while_fits;

template <class Items>
constexpr bool plain = plain_integers<decltype(std::declval<Items&>().begin()),
                                      decltype(std::declval<Items&>().end())>;

static_assert(plain<std::vector<std::uint32_t>> && plain<const std::vector<std::int8_t>>);
static_assert(plain<std::span<const std::uint64_t>> && plain<std::array<char, 3>>);
static_assert(!plain<std::deque<std::uint32_t>> && !plain<std::list<std::uint32_t>>);
static_assert(!plain<std::vector<bool>> && !plain<std::vector<double>>);
static_assert(!plain<std::span<const bool>> && !plain<std::span<const volatile int>>);

/// The result of a plain loop.
template <class N>
constexpr std::size_t count_one_by_one(const N* at, const N* stop, std::uint64_t single,
                                       std::uint64_t& left)
{
    std::size_t count = 0;
    for (; at != stop; ++at, ++count) {
        const std::uint64_t own = as_size(*at);
        if (own > left || own > single) break;
        left -= own;
    }
    return count;
}

template <class N>
constexpr bool alike(const std::vector<N>& all, std::uint64_t single, std::uint64_t left)
{
    for (std::size_t first = 0; first <= all.size(); first += 13) {
        const N* const at = all.data() + first;
        const N* const stop = all.data() + all.size();
        std::uint64_t expected_left = left;
        const std::size_t expected = count_one_by_one(at, stop, single, expected_left);
        const auto to = take_while_fits(at, stop, single, left);
        if (to.at != at + expected || to.bytes_left != expected_left) return false;
    }
    return true;
}

template <class N>
constexpr N highest =
    static_cast<N>(static_cast<std::make_unsigned_t<N>>(~std::uint64_t{0}) >> std::is_signed_v<N>);

/// All bits except the sign are zero.
template <class N>
constexpr N lowest_of_signed = static_cast<N>(std::uint64_t{1} << (8 * sizeof(N) - 1));

// One number that differs from the others, at each place of a few blocks.
template <class N>
bool one_odd(N usual, N odd, std::uint64_t single, std::uint64_t left)
{
    for (std::size_t place = 0; place < 200; place += tests_support::brief ? 33 : 7) {
        std::vector<N> all(200, usual);
        all[place] = odd;
        if (!alike(all, single, left)) return false;
    }
    return true;
}

template <class N>
bool all_alike()
{
    const std::uint64_t most = highest_size - 1;
    for (const std::uint64_t left :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{64},
          std::uint64_t{99}, std::uint64_t{6'400}, std::uint64_t{12'345}, most / 64, most}) {
        for (const std::uint64_t single : {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{64},
                                           std::uint64_t{100}, std::uint64_t{127}, most}) {
            for (const N usual : {N{0}, N{1}, N{64}, N{100}, static_cast<N>(highest<N> / 64 + 1),
                                  static_cast<N>(highest<N> / 32 + 1), highest<N>}) {
                for (const N odd : {N{0}, N{65}, static_cast<N>(highest<N> / 64 + 1), highest<N>,
                                    static_cast<N>(-1), lowest_of_signed<N>}) {
                    if (!one_odd(usual, odd, single, left)) return false;
                }
            }
        }
    }
    return true;
}

TEST_CASE("block_sums: for every integer type, blocks end where the plain loop ends")
{
    CHECK(all_alike<std::uint8_t>());
    CHECK(all_alike<std::int8_t>());
    CHECK(all_alike<char>());
    CHECK(all_alike<std::uint16_t>());
    CHECK(all_alike<std::int16_t>());
    CHECK(all_alike<std::uint32_t>());
    CHECK(all_alike<std::int32_t>());
    CHECK(all_alike<std::uint64_t>());
    CHECK(all_alike<std::int64_t>());
    CHECK(all_alike<long long>());
    CHECK(all_alike<wchar_t>());
}

// A block is summed up to the last value that fits the narrow sum. Larger values are reported.
template <class N>
constexpr bool sums_up_to(N last)
{
    using waybill::detail::block_sum;
    std::array<N, 64> all{};
    for (N& n : all) n = last;
    if (block_sum<64>(all.data(), highest_size) != std::uint64_t{64} * as_size(last)) return false;
    all[41] = static_cast<N>(last + 1);
    return block_sum<64>(all.data(), highest_size) == highest_size ||
           block_sum<64>(all.data(), highest_size) == std::uint64_t{64} * as_size(last) + 1;
}
static_assert(sums_up_to<std::uint8_t>(254) && sums_up_to<std::int8_t>(126));
static_assert(sums_up_to<std::uint16_t>(65'534) && sums_up_to<std::int16_t>(32'766));
static_assert(sums_up_to<std::uint32_t>((1u << 26) - 1) && sums_up_to<std::int32_t>((1 << 26) - 1));
static_assert(sums_up_to<std::uint64_t>((std::uint64_t{1} << 58) - 1));
static_assert(sums_up_to<std::int64_t>((std::int64_t{1} << 58) - 1));

}  // namespace block_sums_test

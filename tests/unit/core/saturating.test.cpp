// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <waybill/core/detail/saturating.hpp>

namespace saturating_test {

using waybill::detail::as_size;
using waybill::detail::countable;
using waybill::detail::highest_size;
using waybill::detail::lesser;
using waybill::detail::saturating_add;
using waybill::detail::saturating_mul;
using waybill::detail::saturating_sub;

static_assert(saturating_add(2, 3) == 5);
static_assert(saturating_add(highest_size - 1, 1) == highest_size);
static_assert(saturating_add(highest_size, 1) == highest_size);
static_assert(saturating_add(1, highest_size) == highest_size);
static_assert(saturating_add(highest_size, highest_size) == highest_size);
static_assert(saturating_add(highest_size, 0) == highest_size);

static_assert(saturating_sub(5, 3) == 2);
static_assert(saturating_sub(3, 3) == 0);
static_assert(saturating_sub(3, 5) == 0);
static_assert(saturating_sub(0, highest_size) == 0);
static_assert(saturating_sub(highest_size, 1) == highest_size - 1);

static_assert(saturating_mul(6, 7) == 42);
static_assert(saturating_mul(0, highest_size) == 0);
static_assert(saturating_mul(highest_size, 0) == 0);
static_assert(saturating_mul(highest_size, 1) == highest_size);
static_assert(saturating_mul(std::uint64_t{1} << 32, std::uint64_t{1} << 32) == highest_size);
static_assert(saturating_mul((std::uint64_t{1} << 32) - 1, (std::uint64_t{1} << 32) + 1) ==
              highest_size);
static_assert(saturating_mul(highest_size / 2, 2) == highest_size - 1);
static_assert(saturating_mul(highest_size / 2 + 1, 2) == highest_size);

static_assert(lesser(1, 2) == 1 && lesser(2, 1) == 1 && lesser(2, 2) == 2);

// Any integer converts to a size. A negative one becomes a large size.
static_assert(as_size(7) == 7);
static_assert(as_size(std::int8_t{127}) == 127);
static_assert(as_size(std::int8_t{-1}) == highest_size);
static_assert(as_size(std::numeric_limits<std::int64_t>::lowest()) == highest_size);
static_assert(as_size(std::uint8_t{255}) == 255);
static_assert(as_size(highest_size) == highest_size);
static_assert(as_size('A') == 65);

static_assert(countable<int> && countable<unsigned char> && countable<const std::uint64_t>);
static_assert(!countable<bool> && !countable<const bool>);
static_assert(!countable<double> && !countable<void*> && !countable<std::string>);

TEST_CASE("saturating: add, sub and mul equal wide arithmetic at every edge")
{
    const std::uint64_t edges[] = {0,
                                   1,
                                   2,
                                   3,
                                   0x7FFF'FFFF,
                                   0xFFFF'FFFF,
                                   0x1'0000'0000,
                                   0x7FFF'FFFF'FFFF'FFFF,
                                   0x8000'0000'0000'0000,
                                   highest_size - 1,
                                   highest_size};
    for (const auto a : edges) {
        for (const auto b : edges) {
            // Without saturation a sum can be reversed; otherwise it would have wrapped.
            const bool sum_wraps = a + b < a;
            CHECK(saturating_add(a, b) == (sum_wraps ? highest_size : a + b));
            CHECK(saturating_sub(a, b) == (a < b ? 0 : a - b));
            const bool product_wraps = a != 0 && a * b / a != b;
            CHECK(saturating_mul(a, b) == (product_wraps ? highest_size : a * b));
        }
    }
}

}  // namespace saturating_test

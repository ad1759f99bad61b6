// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <waybill/wire/varint.hpp>

namespace varint_test {

using waybill::wire::varint_size;
using waybill::wire::zigzag;
using waybill::wire::zigzag_size;

constexpr std::uint64_t one = 1;
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::lowest();

// Every number of bytes begins and ends where seven more bits do.
static_assert([] {
    for (std::uint64_t bytes = 1; bytes <= 9; ++bytes) {
        if (waybill::detail::varint_size((one << (7 * bytes)) - 1) != bytes) return false;
        if (waybill::detail::varint_size(one << (7 * bytes)) != bytes + 1) return false;
    }
    return waybill::detail::varint_size(0) == 1 &&
           waybill::detail::varint_size(~std::uint64_t{0}) == 10;
}());

// Nor is any width in between wrong.
static_assert([] {
    for (std::uint64_t bits = 0; bits != 64; ++bits) {
        if (waybill::detail::varint_size(one << bits) != bits / 7 + 1) return false;
    }
    return true;
}());

static_assert(waybill::detail::zigzag(0) == 0 && waybill::detail::zigzag(-1) == 1 &&
              waybill::detail::zigzag(1) == 2 && waybill::detail::zigzag(-2) == 3);
static_assert(waybill::detail::zigzag(2'147'483'647) == 4'294'967'294);
static_assert(waybill::detail::zigzag(lowest) == ~std::uint64_t{0});

static_assert(waybill::detail::zigzag_size(63) == 1 && waybill::detail::zigzag_size(64) == 2);
static_assert(waybill::detail::zigzag_size(-64) == 1 && waybill::detail::zigzag_size(-65) == 2);
static_assert(waybill::detail::zigzag_size(8'191) == 2 && waybill::detail::zigzag_size(8'192) == 3);
static_assert(waybill::detail::zigzag_size(-8'192) == 2 &&
              waybill::detail::zigzag_size(-8'193) == 3);
static_assert(waybill::detail::zigzag_size((1 << 20) - 1) == 3 &&
              waybill::detail::zigzag_size(1 << 20) == 4);
static_assert(waybill::detail::zigzag_size(2'147'483'647) == 5 &&
              waybill::detail::zigzag_size(-2'147'483'648) == 5);
static_assert(waybill::detail::zigzag_size(lowest) == 10 &&
              waybill::detail::zigzag_size(-(lowest + 1)) == 10);

TEST_CASE("varint_size and zigzag_size return the same sizes at run time")
{
    std::uint64_t n = 300;
    CHECK(waybill::detail::varint_size(n) == 2);
    CHECK(waybill::detail::zigzag_size(-1) == 1);
}

}  // namespace varint_test

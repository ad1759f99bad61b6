// SPDX-License-Identifier: MIT
//
// Both directions of the common code. The edges of all sizes are in tests/unit/wire.

#include <cstdint>

#include <doctest/doctest.h>

#include <waybill/core/detail/varint.hpp>

namespace core_varint_test {

using waybill::detail::from_zigzag;
using waybill::detail::varint_size;
using waybill::detail::zigzag;
using waybill::detail::zigzag_size;

static_assert(zigzag(0) == 0 && zigzag(-1) == 1 && zigzag(1) == 2 && zigzag(-2) == 3);
static_assert(zigzag(INT64_MAX) == UINT64_MAX - 1 && zigzag(INT64_MIN) == UINT64_MAX);
static_assert(from_zigzag(0) == 0 && from_zigzag(1) == -1 && from_zigzag(2) == 1);
static_assert(from_zigzag(UINT64_MAX) == INT64_MIN && from_zigzag(UINT64_MAX - 1) == INT64_MAX);
static_assert(varint_size(127) == 1 && varint_size(128) == 2 && varint_size(UINT64_MAX) == 10);
static_assert(zigzag_size(-64) == 1 && zigzag_size(64) == 2 && zigzag_size(INT64_MIN) == 10);

TEST_CASE("varint: zigzag is reversible")
{
    for (unsigned shift = 0; shift != 64; ++shift) {
        for (std::uint64_t near = 0; near != 3; ++near) {
            const auto n = static_cast<std::int64_t>((std::uint64_t{1} << shift) - near);
            CHECK(from_zigzag(zigzag(n)) == n);
            CHECK(zigzag(from_zigzag(static_cast<std::uint64_t>(n))) ==
                  static_cast<std::uint64_t>(n));
        }
    }
}

}  // namespace core_varint_test

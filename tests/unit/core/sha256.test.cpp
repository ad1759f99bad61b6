// SPDX-License-Identifier: MIT

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <waybill/core/detail/sha256.hpp>

namespace sha256_test {
namespace {

constexpr bool starts_with(const std::array<std::uint8_t, 32>& digest, std::uint32_t first,
                           std::uint32_t last)
{
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    for (std::size_t i = 0; i != 4; ++i) {
        begin = (begin << 8U) | digest[i];
        end = (end << 8U) | digest[28 + i];
    }
    return begin == first && end == last;
}

// FIPS 180-4's own examples: nothing, three bytes, and one that needs a second block.
static_assert(starts_with(waybill::detail::sha256(""), 0xe3b0c442, 0x7852b855));
static_assert(starts_with(waybill::detail::sha256("abc"), 0xba7816bf, 0xf20015ad));
static_assert(
    starts_with(waybill::detail::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                0x248d6a61, 0x19db06c1));

TEST_CASE("sha256: digests of texts around the block size equal those of sha256sum")
{
    CHECK(starts_with(waybill::detail::sha256(std::string(55, 'a')), 0x9f4390f8, 0x0f734318));
    CHECK(starts_with(waybill::detail::sha256(std::string(56, 'a')), 0xb35439a4, 0x6ec6738a));
    CHECK(starts_with(waybill::detail::sha256(std::string(63, 'a')), 0x7d3e74a0, 0x7ddc2f34));
    CHECK(starts_with(waybill::detail::sha256(std::string(64, 'a')), 0xffe054fe, 0x154668eb));
    CHECK(starts_with(waybill::detail::sha256(std::string(65, 'a')), 0x635361c4, 0x17eb0ae0));
    CHECK(
        starts_with(waybill::detail::sha256(std::string(1'000'000, 'a')), 0xcdc76e5c, 0xc7112cd0));
}

}  // namespace
}  // namespace sha256_test

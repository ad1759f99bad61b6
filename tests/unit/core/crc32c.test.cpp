// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/crc32c.hpp>

namespace crc32c_test {
namespace {

using waybill::crc32c;

// The examples of RFC 3720, appendix B.4, and the one that all catalogues of checksums have.
struct examples {
    char zeros[32] = {};
    char ones[32] = {};
    char rising[32] = {};
    char falling[32] = {};

    constexpr examples()
    {
        for (int n = 0; n != 32; ++n) {
            ones[n] = static_cast<char>(0xFF);
            rising[n] = static_cast<char>(n);
            falling[n] = static_cast<char>(31 - n);
        }
    }
};
constexpr examples given;

constexpr std::string_view all_of(const char (&bytes)[32])
{
    return {bytes, 32};
}

static_assert(crc32c(all_of(given.zeros)) == 0x8A9136AA);
static_assert(crc32c(all_of(given.ones)) == 0x62A8AB43);
static_assert(crc32c(all_of(given.rising)) == 0x46DD794E);
static_assert(crc32c(all_of(given.falling)) == 0x113FDB5C);
static_assert(crc32c("123456789") == 0xE3069283);
static_assert(crc32c("") == 0);

// In parts, at compile time as well.
static_assert(crc32c("456789", crc32c("123")) == 0xE3069283);
static_assert(crc32c("", 0xE3069283) == 0xE3069283);
static_assert(crc32c(all_of(given.rising).substr(17), crc32c(all_of(given.rising).substr(0, 17))) ==
              0x46DD794E);

/// As the definition has it, a bit at a time.
std::uint32_t by_bits(std::string_view bytes)
{
    std::uint32_t rest = 0xFFFFFFFF;
    for (const char c : bytes) {
        rest ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit != 8; ++bit) {
            rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0x82F63B78U : 0U);
        }
    }
    return ~rest;
}

}  // namespace

TEST_CASE("crc32c: correct for every length and alignment, and for any split in two parts")
{
    std::string all;
    for (std::uint32_t n = 0; n != 120; ++n) {
        all += static_cast<char>(n * 2'654'435'761U >> 24U);
    }
    for (std::size_t from = 0; from != 20; ++from) {
        for (std::size_t size = 0; size != 100; ++size) {
            const std::string_view bytes = std::string_view(all).substr(from, size);
            const std::uint32_t sum = by_bits(bytes);
            CHECK(crc32c(bytes) == sum);
            for (std::size_t n = 0; n <= size; ++n) {
                if (crc32c(bytes.substr(n), crc32c(bytes.substr(0, n))) != sum) FAIL("parts");
            }
        }
    }
}

TEST_CASE("crc32c: detects one and two flipped bits, and four zeroed bytes")
{
    const std::string good = "a row of bytes that was stored, and what became of it";
    const std::uint32_t sum = crc32c(good);
    const auto turned = [](std::string s, std::size_t bit) {
        s[bit / 8] = static_cast<char>(static_cast<unsigned char>(s[bit / 8]) ^ (1U << bit % 8));
        return s;
    };
    for (std::size_t a = 0; a != 8 * good.size(); ++a) {
        const std::string one = turned(good, a);
        CHECK(crc32c(one) != sum);
        for (std::size_t b = 0; b != a; ++b) {
            if (crc32c(turned(one, b)) == sum) FAIL("two bits");
        }
    }
    for (std::size_t n = 0; n + 4 <= good.size(); ++n) {
        std::string bad = good;
        for (std::size_t i = n; i != n + 4; ++i) bad[i] = '\0';
        CHECK(crc32c(bad) != sum);
    }
}

}  // namespace crc32c_test

// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/detail/seal.hpp>
#include <waybill/core/detail/varint.hpp>

namespace seal_test {
namespace {

using namespace std::string_view_literals;
using waybill::detail::put_seal;
using waybill::detail::put_varint;
using waybill::detail::seal_bytes;
using waybill::detail::seal_holds;
using waybill::detail::take_varint;

constexpr std::uint64_t highest = ~std::uint64_t{0};

// A number in its only valid form.
constexpr std::optional<std::uint64_t> taken(std::string_view bytes, std::size_t left = 0)
{
    const std::string_view all = bytes;
    const std::optional<std::uint64_t> n = take_varint(bytes);
    const bool as_said = n ? bytes.size() == left : bytes == all;
    return as_said ? n : std::optional<std::uint64_t>(4'711);
}
static_assert(taken("\0"sv) == 0);
static_assert(taken("\x7F"sv) == 127);
static_assert(taken("\xAC\x02"sv) == 300);
static_assert(taken("\xAC\x02\x80"sv, 1) == 300);
static_assert(taken("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv) == highest);
static_assert(!taken(""sv));
static_assert(!taken("\x80"sv));  // no end
static_assert(!taken("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv));
static_assert(!taken("\x80\0"sv));  // longer than need be
static_assert(!taken("\xFF\x80\0"sv));
static_assert(!taken("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"sv));  // more than 64 bits
static_assert(!taken("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x01"sv));

// The sum of nothing is 0.
static_assert(seal_holds("\0\0\0\0"sv));
static_assert(!seal_holds("\0\0\0"sv));
static_assert(!seal_holds("\0\0\0\1"sv));
static_assert(!seal_holds("x\0\0\0\0"sv));
static_assert(seal_holds("123456789\x83\x92\x06\xE3"sv));

}  // namespace

TEST_CASE("seal: varint_size is the length of the encoded number, which is read back")
{
    for (unsigned shift = 0; shift != 64; ++shift) {
        for (const std::uint64_t low : {0U, 1U, 2U}) {
            const std::uint64_t n = (std::uint64_t{1} << shift) - 1 + low;
            std::string bytes;
            put_varint(bytes, n);
            CHECK(bytes.size() == waybill::detail::varint_size(n));
            CHECK(taken(bytes) == n);
            for (std::size_t less = 0; less != bytes.size(); ++less) {
                CHECK_FALSE(taken(std::string_view(bytes).substr(0, less)).has_value());
            }
        }
    }
}

TEST_CASE("seal: any flipped bit and any truncation breaks it")
{
    std::string good = "123456789";
    put_seal(good);
    CHECK(good == "123456789\x83\x92\x06\xE3");  // the catalogue's 0xE3069283, the lowest first
    CHECK(seal_holds(good));
    for (std::size_t n = 0; n != good.size(); ++n) {
        CHECK_FALSE(seal_holds(std::string_view(good).substr(0, n)));
        for (unsigned bit = 0; bit != 8; ++bit) {
            std::string bad = good;
            bad[n] = static_cast<char>(static_cast<unsigned char>(bad[n]) ^ (1U << bit));
            CHECK_FALSE(seal_holds(bad));
        }
    }
    std::string nothing;
    put_seal(nothing);
    CHECK(nothing.size() == seal_bytes);
    CHECK(seal_holds(nothing));
}

}  // namespace seal_test

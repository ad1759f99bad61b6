// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/wire/base64.hpp>
#include <waybill/wire/varint.hpp>

namespace varint_prop {

// The models write the bytes; the functions under test return their size.
std::string varint(std::uint64_t n)
{
    std::string out;
    for (; n >= 128; n >>= 7U) out.push_back(static_cast<char>(n | 128U));
    out.push_back(static_cast<char>(n));
    return out;
}

std::string base64(const std::string& bytes, bool padded)
{
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : bytes) {
        bits = (bits << 8U) | static_cast<unsigned char>(c);
        held += 8;
        for (; held >= 6; held -= 6) out.push_back(letters[(bits >> (held - 6)) & 63U]);
    }
    if (held != 0) out.push_back(letters[(bits << (6 - held)) & 63U]);
    while (padded && out.size() % 4 != 0) out.push_back('=');
    return out;
}

TEST_CASE("varint: varint_size equals the written length, for any width")
{
    CHECK(rc::check([](std::uint64_t n) {
        const std::uint64_t any = n >> *rc::gen::inRange(0, 64);
        RC_ASSERT(waybill::wire::varint_size(any) == varint(any).size());
    }));
}

TEST_CASE("zigzag: decoding returns the number, and zigzag_size equals the written length")
{
    CHECK(rc::check([](std::int64_t n) {
        const std::int64_t any = n >> *rc::gen::inRange(0, 64);
        const std::uint64_t z = waybill::wire::zigzag(any);
        const auto back = static_cast<std::int64_t>((z >> 1U) ^ (0U - (z & 1U)));
        RC_ASSERT(back == any);
        RC_ASSERT(waybill::wire::zigzag_size(any) == varint(z).size());
    }));
}

TEST_CASE("base64: sizes equal the written lengths, with and without padding")
{
    CHECK(rc::check([](const std::string& bytes) {
        RC_ASSERT(waybill::wire::base64_size(bytes.size()) == base64(bytes, true).size());
        RC_ASSERT(waybill::wire::base64_unpadded_size(bytes.size()) == base64(bytes, false).size());
    }));
}

}  // namespace varint_prop

// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/detail/digits.hpp>

namespace digits_test {
namespace {

using waybill::detail::digits_in;
using waybill::detail::put_digits;

std::string put(std::size_t digits, std::uint64_t n, std::uint64_t base = 10)
{
    std::string field = '<' + std::string(digits, '?') + '>';
    put_digits(field.data() + 1, digits, n, base);
    return field;
}

TEST_CASE("digits: a field is filled, and no byte beside it")
{
    CHECK(put(0, 7) == "<>");
    CHECK(put(1, 7) == "<7>");
    CHECK(put(5, 42) == "<00042>");
    CHECK(put(2, 12'345) == "<45>");
    CHECK(put(20, UINT64_MAX) == "<18446744073709551615>");
    CHECK(put(8, 0xA3C5'4A0E, 16) == "<a3c54a0e>");
    CHECK(put(16, UINT64_MAX, 16) == "<ffffffffffffffff>");
}

TEST_CASE("digits: text that is not a 64-bit number is refused")
{
    for (const std::string_view bad :
         {"", " 1", "1 ", "+1", "-1", "1.", "0x1", "a", "1a", "/", ":"}) {
        CAPTURE(bad);
        CHECK_FALSE(digits_in(bad).has_value());
    }
    CHECK_FALSE(digits_in("18446744073709551616").has_value());
    CHECK_FALSE(digits_in("99999999999999999999").has_value());
    CHECK_FALSE(digits_in("00018446744073709551616").has_value());
    CHECK_FALSE(digits_in("10000000000000000", 16).has_value());
    CHECK_FALSE(digits_in("A", 16).has_value());
    CHECK_FALSE(digits_in("g", 16).has_value());
    CHECK(digits_in("18446744073709551615") == UINT64_MAX);
    CHECK(digits_in("00000018446744073709551615") == UINT64_MAX);
    CHECK(digits_in("ffffffffffffffff", 16) == UINT64_MAX);
    CHECK(digits_in("007") == 7);
}

TEST_CASE("digits: written numbers are read back")
{
    for (std::uint64_t n = 1; n != 0; n <<= 1U) {
        for (const std::uint64_t one : {n - 1, n, n + 1, ~n}) {
            for (const std::uint64_t base : {10U, 16U}) {
                const std::string field = put(20, one, base);
                CHECK(digits_in(std::string_view(field).substr(1, 20), base) == one);
            }
        }
    }
}

}  // namespace
}  // namespace digits_test

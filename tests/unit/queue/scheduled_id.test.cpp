// SPDX-License-Identifier: MIT

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/detail/hmac_sha256.hpp>
#include <waybill/queue/scheduled_id.hpp>

namespace scheduled_id_test {
namespace {

using waybill::scheduled_id;

const std::string key = "16 bytes or more";

std::string hex(std::string_view hashed_key, std::string_view text)
{
    std::string s;
    for (const std::uint8_t b : waybill::detail::hmac_sha256(hashed_key, text)) {
        s += "0123456789abcdef"[b / 16];
        s += "0123456789abcdef"[b % 16];
    }
    return s;
}

}  // namespace

TEST_CASE("the keyed hash is that of RFC 4231")
{
    CHECK(hex(std::string(20, '\x0b'), "Hi There") ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(hex("Jefe", "what do ya want for nothing?") ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(hex(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("the id of a copy depends on the key, the number and the id, and has 32 characters")
{
    std::set<std::string> ids;
    std::uint64_t made = 0;
    for (const std::string_view k :
         {std::string_view(key), std::string_view("another key of 24 bytes.")}) {
        for (const std::uint64_t number :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{256}, std::uint64_t{1} << 32U,
              std::uint64_t{1} << 56U, ~std::uint64_t{0}}) {
            for (const std::string& id :
                 {std::string(), std::string("a"), std::string("a:1"), std::string(1, '\0'),
                  std::string(128, 'x'), std::string(70'000, 'x')}) {
                const std::string copy = scheduled_id(k, number, id);
                CHECK(copy.size() == 32);
                CHECK(copy.find_first_not_of("0123456789abcdef") == std::string::npos);
                CHECK(copy == scheduled_id(k, number, id));
                ids.insert(copy);
                ++made;
            }
        }
    }
    CHECK(ids.size() == made);
}

TEST_CASE("an id that looks like a copy, or that is the id of a copy, is not repeated")
{
    const std::string first = scheduled_id(key, 7, "order-7");
    CHECK(scheduled_id(key, 8, first) != first);
    CHECK(scheduled_id(key, 7, first) != first);
    // A sender may use an id again after the end of the duplicate detection.
    CHECK(scheduled_id(key, 9, "order-7") != first);
}

}  // namespace scheduled_id_test

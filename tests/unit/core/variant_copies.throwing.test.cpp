// SPDX-License-Identifier: MIT
//
// A copy that throws does not change the variant.

#include <string>

#include <doctest/doctest.h>

#include <waybill/core/variant.hpp>

namespace variant_copies_test {

struct fragile {
    std::string text{};
    fragile() = default;
    explicit fragile(std::string t) : text(std::move(t)) {}
    fragile(const fragile&) { throw 1; }
    fragile(fragile&&) noexcept = default;
    fragile& operator=(const fragile&) { throw 1; }
    fragile& operator=(fragile&&) noexcept = default;
    friend bool operator==(const fragile&, const fragile&) = default;
};

using held = waybill::variant<std::string, fragile>;

TEST_CASE("variant: an assignment whose copy throws changes nothing")
{
    const held from = fragile(std::string(50, 'b'));
    CHECK_THROWS_AS(held{from}, int);
    held to = std::string(50, 'a');
    CHECK_THROWS_AS(to = from, int);
    CHECK(to == held(std::string(50, 'a')));
    held same = fragile(std::string(50, 'c'));
    CHECK_THROWS_AS(same = from, int);
    CHECK(same == held(fragile(std::string(50, 'c'))));
    const fragile value(std::string(50, 'd'));
    CHECK_THROWS_AS(to = value, int);
    CHECK(to == held(std::string(50, 'a')));
}

}  // namespace variant_copies_test

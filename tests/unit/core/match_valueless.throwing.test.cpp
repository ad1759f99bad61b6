// SPDX-License-Identifier: MIT
//
// A variant that lost what it held in an assignment that threw: match does what std::visit does.

#include <string>
#include <variant>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>

namespace match_valueless_test {

struct throwing {
    throwing() { throw 1; }
    std::string text;  // what is small and trivial is made before the old value goes
};

TEST_CASE("match: what holds nothing is nobody's to handle")
{
    std::variant<int, throwing> v;
    CHECK_THROWS_AS(v.emplace<1>(), int);
    REQUIRE(v.valueless_by_exception());
    const auto handled = [&] { return waybill::match(v, [](auto&) { return true; }); };
    CHECK_THROWS_AS((void)handled(), std::bad_variant_access);
}

}  // namespace match_valueless_test

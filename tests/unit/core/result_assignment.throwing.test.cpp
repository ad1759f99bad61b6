// SPDX-License-Identifier: MIT
//
// A result whose value throws while it is assigned.

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/core/result.hpp>

namespace result_assignment_test {

// Throws in the copy or move after `left` others. `alive` counts the objects.
struct fragile {
    static inline int left = 0;
    static inline int alive = 0;
    static void use()
    {
        if (left-- == 0) throw 1;
    }

    fragile() { ++alive; }
    fragile(const fragile& from) : text(from.text)
    {
        use();
        ++alive;
    }
    fragile(fragile&& from) : text(from.text)
    {
        use();
        ++alive;
    }
    ~fragile() { --alive; }

    std::string text = "longer than the place in the string itself";
};
using held = waybill::result<fragile>;

TEST_CASE("result: a copy that throws leaves the target unchanged")
{
    fragile::left = 100;
    {
        const held from;
        held to = waybill::permanent("before");
        fragile::left = 0;
        CHECK_THROWS_AS(to = from, int);
        REQUIRE(!to);
        CHECK(to.error().text == "before");
        fragile::left = 100;
        to = from;
        CHECK(to.has_value());
    }
    CHECK(fragile::alive == 0);
}

TEST_CASE("result: after a move that throws there is no value, and no object leaks")
{
    fragile::left = 100;
    {
        const held from;
        held to = from;
        fragile::left = 2;  // of three: the second move
        CHECK_THROWS_AS(to = from, int);
        CHECK(!to.has_value());
        fragile::left = 100;
        to = from;
        CHECK(to.has_value());
    }
    CHECK(fragile::alive == 0);
}

}  // namespace result_assignment_test

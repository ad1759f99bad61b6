// SPDX-License-Identifier: MIT

#include <cstdint>
#include <initializer_list>

#include <doctest/doctest.h>

#include <waybill/scaling/truth.hpp>

namespace truth_test {

using namespace waybill::scaling;

// Kleene's tables: what one known part decides is decided.
static_assert(both(truth::yes, truth::yes) == truth::yes);
static_assert(both(truth::yes, truth::unknown) == truth::unknown);
static_assert(both(truth::no, truth::unknown) == truth::no);
static_assert(both(truth::unknown, truth::no) == truth::no);
static_assert(either(truth::no, truth::no) == truth::no);
static_assert(either(truth::no, truth::unknown) == truth::unknown);
static_assert(either(truth::unknown, truth::yes) == truth::yes);
static_assert(opposite(truth::yes) == truth::no && opposite(truth::no) == truth::yes);
static_assert(opposite(truth::unknown) == truth::unknown);
static_assert(truth_of(true) == truth::yes && truth_of(false) == truth::no);

static_assert(at_least(0, 0, 0) == truth::yes);
static_assert(at_least(1, 0, 0) == truth::no);
static_assert(at_least(1, 0, 1) == truth::unknown);
static_assert(at_least(2, 1, 1) == truth::unknown);
static_assert(at_least(2, 2, 0) == truth::yes);
static_assert(at_least(3, 1, 1) == truth::no);
static_assert(at_least(UINT64_MAX, 1, UINT64_MAX) == truth::unknown);

static_assert(name(truth::unknown) == "unknown");

TEST_CASE("truth: what is known stays so, whatever an unknown part turns out to be")
{
    const std::initializer_list<truth> all{truth::no, truth::unknown, truth::yes};
    const std::initializer_list<truth> known{truth::no, truth::yes};
    for (const truth a : all) {
        for (const truth b : all) {
            // It is decided exactly where every way to fill in the unknown gives the same.
            for (const bool conjunction : {false, true}) {
                const auto join = [&](truth x, truth y) {
                    return conjunction ? both(x, y) : either(x, y);
                };
                bool yes = false;
                bool no = false;
                for (const truth x : known) {
                    for (const truth y : known) {
                        if (a != truth::unknown && x != a) continue;
                        if (b != truth::unknown && y != b) continue;
                        (join(x, y) == truth::yes ? yes : no) = true;
                    }
                }
                const truth expected = yes && no ? truth::unknown : truth_of(yes);
                CHECK(join(a, b) == expected);
            }
            CHECK(opposite(both(a, b)) == either(opposite(a), opposite(b)));
        }
    }
}

}  // namespace truth_test

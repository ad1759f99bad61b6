// SPDX-License-Identifier: MIT

#include <cstdint>
#include <initializer_list>

#include <doctest/doctest.h>

#include <waybill/scaling/tribool.hpp>

namespace truth_test {

using namespace waybill::scaling;

// Kleene's tables: a known part that decides the result decides it.
static_assert(both(tribool::yes, tribool::yes) == tribool::yes);
static_assert(both(tribool::yes, tribool::unknown) == tribool::unknown);
static_assert(both(tribool::no, tribool::unknown) == tribool::no);
static_assert(both(tribool::unknown, tribool::no) == tribool::no);
static_assert(either(tribool::no, tribool::no) == tribool::no);
static_assert(either(tribool::no, tribool::unknown) == tribool::unknown);
static_assert(either(tribool::unknown, tribool::yes) == tribool::yes);
static_assert(opposite(tribool::yes) == tribool::no && opposite(tribool::no) == tribool::yes);
static_assert(opposite(tribool::unknown) == tribool::unknown);
static_assert(truth_of(true) == tribool::yes && truth_of(false) == tribool::no);

static_assert(at_least(0, 0, 0) == tribool::yes);
static_assert(at_least(1, 0, 0) == tribool::no);
static_assert(at_least(1, 0, 1) == tribool::unknown);
static_assert(at_least(2, 1, 1) == tribool::unknown);
static_assert(at_least(2, 2, 0) == tribool::yes);
static_assert(at_least(3, 1, 1) == tribool::no);
static_assert(at_least(UINT64_MAX, 1, UINT64_MAX) == tribool::unknown);

static_assert(name(tribool::unknown) == "unknown");

TEST_CASE("tribool: a result is known exactly if every value of the unknown parts gives it")
{
    const std::initializer_list<tribool> all{tribool::no, tribool::unknown, tribool::yes};
    const std::initializer_list<tribool> known{tribool::no, tribool::yes};
    for (const tribool a : all) {
        for (const tribool b : all) {
            // It is known exactly if every value of the unknown parts gives the same result.
            for (const bool conjunction : {false, true}) {
                const auto join = [&](tribool x, tribool y) {
                    return conjunction ? both(x, y) : either(x, y);
                };
                bool yes = false;
                bool no = false;
                for (const tribool x : known) {
                    for (const tribool y : known) {
                        if (a != tribool::unknown && x != a) continue;
                        if (b != tribool::unknown && y != b) continue;
                        (join(x, y) == tribool::yes ? yes : no) = true;
                    }
                }
                const tribool expected = yes && no ? tribool::unknown : truth_of(yes);
                CHECK(join(a, b) == expected);
            }
            CHECK(opposite(both(a, b)) == either(opposite(a), opposite(b)));
        }
    }
}

}  // namespace truth_test

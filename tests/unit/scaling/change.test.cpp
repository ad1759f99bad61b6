// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <waybill/scaling/change.hpp>

namespace change_test {

using namespace waybill::scaling;

// One at least; the greater of a count and a share.
static_assert(step_of({}, 10) == 1);
static_assert(step_of({.count = 3}, 10) == 3);
static_assert(step_of({.percent = 50}, 10) == 5);
static_assert(step_of({.count = 3, .percent = 50}, 10) == 5);
static_assert(step_of({.count = 7, .percent = 50}, 10) == 7);
static_assert(step_of({.percent = 10}, 1) == 1);
static_assert(step_of({.percent = 10}, 0) == 1);
static_assert(step_of({.percent = 100}, 1) == 1);

// A step is rounded towards zero, a limit away from it.
static_assert(step_of({.percent = 10}, 19) == 1);
static_assert(limit_of({.percent = 10}, 19) == 2);
static_assert(limit_of({.percent = 10}, 20) == 2);
static_assert(limit_of({.percent = 10}, 72) == 8);
static_assert(limit_of({.count = 4, .percent = 10}, 20) == 4);
static_assert(limit_of({}, 20) == 1);
static_assert(limit_of({.percent = 100}, 0) == 1);

// A share that is whole is whole, however it is divided.
static_assert(step_of({.percent = 7}, 100) == 7);
static_assert(limit_of({.percent = 7}, 100) == 7);
static_assert(step_of({.percent = 29}, 100) == 29);
static_assert(step_of({.percent = 58}, 100) == 58);

TEST_CASE("change: whole percentages of up to 1000 instances are exact")
{
    int wrong = 0;
    for (std::uint64_t n = 1; n <= 1'000; ++n) {
        for (std::uint64_t percent = 1; percent <= 200; ++percent) {
            const change c{.percent = static_cast<double>(percent)};
            const std::uint64_t floor = n * percent / 100;
            const std::uint64_t ceiling = (n * percent + 99) / 100;
            wrong += step_of(c, n) != (floor == 0 ? 1 : floor) || limit_of(c, n) != ceiling;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("change: huge, negative and non-finite percentages saturate or count as one")
{
    constexpr double endless = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto of : {step_of, limit_of}) {
        CHECK(of({.percent = 1e300}, 10) == UINT64_MAX);
        CHECK(of({.percent = endless}, 10) == UINT64_MAX);
        CHECK(of({.percent = endless}, 0) == 1);
        CHECK(of({.percent = nan}, 10) == 1);
        CHECK(of({.percent = -50}, 10) == 1);
        CHECK(of({.percent = -endless}, 10) == 1);
        CHECK(of({.percent = 100}, UINT64_MAX) == UINT64_MAX);
        CHECK(of({.percent = 5e-324}, UINT64_MAX) == 1);
        CHECK(of({.count = UINT64_MAX}, 10) == UINT64_MAX);
    }
}

}  // namespace change_test

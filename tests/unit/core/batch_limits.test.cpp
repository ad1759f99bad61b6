// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/batch_limits.hpp>

namespace limits_test {

using waybill::batch_limits;
using waybill::config_error;
using waybill::unlimited;
using waybill::validate;

constexpr bool complains(const batch_limits& l, std::string_view field, std::uint64_t value,
                         std::uint64_t bound)
{
    const auto bad = validate(l);
    return bad && bad->field == field && bad->value == value && bad->bound == bound &&
           !bad->rule.empty();
}

static_assert(!validate(batch_limits{}));
static_assert(!validate({.bytes = 262'144, .items = 4'500, .single = 262'144, .envelope = 512}));
static_assert(!validate({.bytes = 1, .items = 1, .single = 1}));
static_assert(complains({.bytes = 0}, "limits.bytes", 0, 1));
static_assert(complains({.items = 0}, "limits.items", 0, 1));
static_assert(complains({.single = 0}, "limits.single", 0, 1));
static_assert(complains({.bytes = 512, .envelope = 512}, "limits.envelope", 512, 512));
static_assert(complains({.bytes = 512, .envelope = 600}, "limits.envelope", 600, 512));
static_assert(complains({.envelope = unlimited}, "limits.envelope", unlimited, unlimited));
static_assert(!validate({.bytes = 512, .envelope = 511}));
static_assert(complains({.bytes = 0, .items = 0}, "limits.bytes", 0, 1), "the first is named");

// A limit is the last value that is taken.
static_assert(batch_limits{.bytes = 100, .envelope = 10}.fits_alone(90));
static_assert(!batch_limits{.bytes = 100, .envelope = 10}.fits_alone(91));
static_assert(batch_limits{.bytes = 100, .single = 50}.fits_alone(50));
static_assert(!batch_limits{.bytes = 100, .single = 50}.fits_alone(51));
static_assert(batch_limits{.bytes = 100, .single = 90, .envelope = 10}.fits_alone(90),
              "not counted in single");
static_assert(batch_limits{.bytes = 10, .envelope = 10}.fits_alone(0));
static_assert(!batch_limits{.bytes = 10, .envelope = 11}.fits_alone(0));
static_assert(batch_limits{}.fits_alone(unlimited - 1));
static_assert(!batch_limits{}.fits_alone(unlimited),
              "`unlimited` is the size of an unknown length");
static_assert(!batch_limits{.envelope = 1}.fits_alone(unlimited - 1), "a sum that has saturated");

static_assert(batch_limits{} == batch_limits{.bytes = unlimited});
static_assert(batch_limits{} != batch_limits{.bytes = 1});

TEST_CASE("batch_limits: validate describes an invalid field in one line")
{
    const auto bad = validate({.bytes = 512, .envelope = 600});
    REQUIRE(bad);
    CHECK(*bad == config_error{"limits.envelope", 600, "must be less than bytes", 512});
    CHECK(describe(*bad) == "limits.envelope is 600: must be less than bytes (512)");
}

}  // namespace limits_test

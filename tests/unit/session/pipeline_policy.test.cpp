// SPDX-License-Identifier: MIT

#include <string>

#include <doctest/doctest.h>

#include <waybill/core/config_error.hpp>
#include <waybill/session/pipeline.hpp>

namespace pipeline_policy_test {
namespace {

using waybill::duration;
using waybill::pipeline_policy;
using waybill::wall_time;

static_assert(!validate(pipeline_policy{}));
static_assert(validate(pipeline_policy{.retry = {.max_attempts = 10}})->field ==
              "retry.max_attempts");
static_assert(!validate(pipeline_policy{.retry = {.max_attempts = 10},
                                        .broker_max_deliveries = 11}));
static_assert(!validate(pipeline_policy{.max_deliveries = 99,
                                        .broker_max_deliveries = waybill::detail::highest_size}));
static_assert(validate(pipeline_policy{.max_deliveries = 10})->field == "max_deliveries");
static_assert(validate(pipeline_policy{.max_deliveries = 0})->field == "max_deliveries");
static_assert(validate(pipeline_policy{.max_wait_in_hand = duration::seconds(-1)})->negative);
static_assert(validate(pipeline_policy{.retry = {.max_attempts = 0}})->field ==
              "retry.max_attempts");
static_assert(validate(pipeline_policy{.broker_max_deliveries = 0})->field == "retry.max_attempts");

TEST_CASE("pipeline_policy: a limit not below the broker's is refused, and the error contains both")
{
    const auto made =
        waybill::make<waybill::pipeline>(pipeline_policy{.retry = {.max_attempts = 10}});
    REQUIRE(!made);
    CHECK(describe(made.error()) ==
          "retry.max_attempts is 10: must be less than broker_max_deliveries, or the broker "
          "dead-letters the step first and delivers the next one (10)");
    CHECK(waybill::make<waybill::pipeline>(pipeline_policy{}).has_value());
}

TEST_CASE("pipeline_policy: names")
{
    CHECK(name(waybill::pipeline_policy::pipeline_mode::stop_on_failure) == "stop_on_failure");
    CHECK(name(waybill::pipeline_policy::pipeline_mode::independent) == "independent");
    CHECK(name(waybill::pipeline_policy::when_unreadable::dead_letter) == "dead_letter");
    CHECK(name(waybill::pipeline_policy::when_unreadable::hold) == "hold");
    CHECK(name(waybill::pipeline_policy::when_refused::hold) == "hold");
    CHECK(name(waybill::pipeline_policy::when_refused::without_body) == "without_body");
    for (const auto e : {waybill::step_outcome::done, waybill::step_outcome::repeated,
                         waybill::step_outcome::dead_lettered, waybill::step_outcome::given_back,
                         waybill::step_outcome::state_unreadable, waybill::step_outcome::lost,
                         waybill::step_outcome::other_in_hand}) {
        CHECK(name(e) != "?");
    }
}

constexpr waybill::retry_policy slow{
    .max_attempts = 9,
    .immediate = 1,
    .pauses = {.base = duration::seconds(8), .spread = waybill::backoff::jitter::none}};
constexpr wall_time saved = wall_time::at(duration::seconds(100));
constexpr duration left(std::uint64_t tries, std::int64_t now)
{
    return waybill::detail::rest_of_pause(slow, tries, saved,
                                          wall_time::at(duration::seconds(now)));
}
static_assert(left(1, 100) == duration{});  // at once
static_assert(left(2, 100) == duration::seconds(8));
static_assert(left(2, 103) == duration::seconds(5));
static_assert(left(2, 108) == duration{} && left(2, 999) == duration{});
static_assert(left(2, -999) == duration::seconds(8));
static_assert(left(9, 100) == duration{} && left(waybill::detail::highest_size, 100) == duration{});

}  // namespace
}  // namespace pipeline_policy_test

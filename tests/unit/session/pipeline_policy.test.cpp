// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <string>

#include <waybill/core/check.hpp>
#include <waybill/session/pipeline.hpp>

namespace pipeline_policy_test {
namespace {

using waybill::duration;
using waybill::pipeline_policy;
using waybill::wall_time;

static_assert(!check(pipeline_policy{}));
static_assert(check(pipeline_policy{.retry = {.most = 10}})->field == "retry.most");
static_assert(!check(pipeline_policy{.retry = {.most = 10}, .broker_deliveries = 11}));
static_assert(!check(pipeline_policy{.deliveries = 99, .broker_deliveries = waybill::highest_size}));
static_assert(check(pipeline_policy{.deliveries = 10})->field == "deliveries");
static_assert(check(pipeline_policy{.deliveries = 0})->field == "deliveries");
static_assert(check(pipeline_policy{.patience = duration::seconds(-1)})->negative);
static_assert(check(pipeline_policy{.retry = {.most = 0}})->field == "retry.most");
static_assert(check(pipeline_policy{.broker_deliveries = 0})->field == "retry.most");

TEST_CASE("pipeline_policy: a limit that is not below the broker's is refused in words")
{
    const auto made = waybill::make<waybill::pipeline>(pipeline_policy{.retry = {.most = 10}});
    REQUIRE(!made);
    CHECK(text(made.error()) == "retry.most is 10: must be less than broker_deliveries: a broker that parks a step "
                                "first delivers the next one (10)");
    CHECK(waybill::make<waybill::pipeline>(pipeline_policy{}).has_value());
}

TEST_CASE("pipeline_policy: names")
{
    CHECK(name(waybill::pipeline_mode::stop_on_failure) == "stop_on_failure");
    CHECK(name(waybill::pipeline_mode::independent) == "independent");
    CHECK(name(waybill::when_unreadable::park) == "park");
    CHECK(name(waybill::when_unreadable::hold) == "hold");
    CHECK(name(waybill::when_refused::hold) == "hold");
    CHECK(name(waybill::when_refused::without_body) == "without_body");
    for (const auto e : {waybill::step_end::done, waybill::step_end::repeated, waybill::step_end::parked,
                         waybill::step_end::given_back, waybill::step_end::held, waybill::step_end::lost,
                         waybill::step_end::not_taken}) {
        CHECK(name(e) != "?");
    }
}

constexpr waybill::retry_policy slow{.most = 9,
                                     .immediate = 1,
                                     .pauses = {.base = duration::seconds(8), .spread = waybill::jitter::none}};
constexpr wall_time saved = wall_time::at(duration::seconds(100));
constexpr duration left(std::uint64_t tries, std::int64_t now)
{
    return waybill::detail::rest_of_pause(slow, tries, saved, wall_time::at(duration::seconds(now)));
}
static_assert(left(1, 100) == duration{});  // at once
static_assert(left(2, 100) == duration::seconds(8));
static_assert(left(2, 103) == duration::seconds(5));
static_assert(left(2, 108) == duration{} && left(2, 999) == duration{});
static_assert(left(2, -999) == duration::seconds(8));
static_assert(left(9, 100) == duration{} && left(waybill::highest_size, 100) == duration{});

}  // namespace
}  // namespace pipeline_policy_test

// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/json/consume.hpp>

namespace json_prune_test {

using namespace waybill;
using nlohmann::json;

TEST_CASE("a prune policy is read back, and missing fields have their defaults")
{
    const prune_policy p{.age = duration::seconds(7 * 86'400),
                         .count = 100'000,
                         .low_water = 0.75,
                         .spike = {.count = 500, .within = duration::seconds(600)},
                         .full = prune_policy::when_full::drop_oldest};
    CHECK(json(p).dump() ==
          R"({"age":"168h","bytes":"unlimited","count":100000,"full":"drop_oldest",)"
          R"("low_water":0.75,"spike":{"count":500,"within":"10min"}})");
    CHECK(*read_json<prune_policy>(json(p)) == p);
    CHECK(*read_json<prune_policy>(json::object()) == prune_policy{});
    CHECK(json(prune_policy{})["age"] == "forever");
}

TEST_CASE("an age without a unit, and unknown fields, are refused")
{
    const auto wrong = [](const json& j) {
        const auto read = read_json<prune_policy>(j);
        return read ? "nothing" : describe(read.error());
    };
    CHECK(wrong({{"age", 168}}).starts_with("/age: expected a duration such as"));
    CHECK(wrong({{"full", "drop"}}).starts_with("/full: expected"));
    CHECK(wrong({{"spike", {{"count", -1}}}}).starts_with("/spike/count: expected"));
    CHECK(wrong({{"days", 7}}) ==
          "/days: expected one of the fields age, count, bytes, low_water, spike, full, found 7");
}

TEST_CASE("a prune plan is written with removals, their reasons and totals")
{
    const std::vector<prune_plan::row> rows{{7, 100, wall_time::at({})},
                                            {8, 50, wall_time::at(duration::seconds(60)), true}};
    const prune_policy policy{.age = duration::seconds(60)};
    const prune_plan plan = plan_prune(rows, policy, wall_time::at(duration::seconds(100)));
    CHECK(json(plan).dump() ==
          R"({"after":{"bytes":50,"rows":1},"before":{"bytes":150,"rows":2},)"
          R"("limit_reached":false,"recent":2,"redriving":{"bytes":50,"rows":1},)"
          R"("removals":[{"bytes":100,"dead_lettered_at":"1970-01-01T00:00:00Z","id":7,)"
          R"("index":0,"reason":"age"}],"rows_in_order":true,"spike":false})");
    CHECK(json(plan_prune(rows, {.count = 0}, {}))["wrong"]["field"] == "prune.count");
}

}  // namespace json_prune_test

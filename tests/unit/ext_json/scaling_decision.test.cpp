// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <golden/scaling/values.hpp>
#include <support/golden.hpp>

#include <waybill/ext/json/scaling.hpp>

namespace json_scaling_decision_test {
namespace {

using namespace waybill;
namespace sc = waybill::scaling;
using nlohmann::json;

constexpr wall_time noon = golden_scaling::noon;

TEST_CASE("a decision is written as in its golden file")
{
    const sc::policy p = golden_scaling::deciding_policy();
    const sc::decision d = golden_scaling::decision(p);
    CHECK(json(d).dump(2) + "\n" == tests_support::golden("scaling/decision.json"));
}

TEST_CASE("a decision is written as in the guide")
{
    const auto at = [](int minutes) { return noon + duration::seconds(60 * minutes); };
    sc::decision d;
    d.verdict = sc::verdict::up;
    d.why = sc::reason::rate;
    d.from = 2;
    d.desired = 7;
    d.to = 4;
    d.now = at(40);
    d.until = at(41);
    d.command = sc::command{3, 2, 4};
    d.up = sc::tribool::yes;
    d.down = sc::tribool::no;
    d.reasons = {{.part = sc::role::up,
                  .metric = "orders",
                  .what = sc::statistic::mean,
                  .how = sc::relation::above,
                  .value = 412.5,
                  .limit = 200,
                  .points = 10,
                  .timed = true,
                  .first = at(31),
                  .last = at(40),
                  .holds = sc::tribool::yes}};
    CHECK(json(d) == json::parse(R"text(
{"verdict": "up", "why": "rate", "from": 2, "desired": 7, "to": 4,
 "now": "2024-02-29T12:40:00Z", "until": "2024-02-29T12:41:00Z",
 "command": {"id": 3, "from": 2, "to": 4}, "up": "yes", "down": "no", "activation": "yes",
 "reasons": [{"part": "up", "metric": "orders", "what": "mean", "value": 412.5,
              "how": ">", "limit": 200, "points": 10, "first": "2024-02-29T12:31:00Z",
              "last": "2024-02-29T12:40:00Z", "holds": "yes"}]}
)text"));
}

TEST_CASE("unset fields of a decision are omitted")
{
    sc::decision d;
    CHECK(json(d).dump() ==
          R"({"activation":"yes","desired":0,"down":"no","from":0,"now":"1970-01-01T00:00:00Z",)"
          R"("reasons":[],"to":0,"up":"no","verdict":"steady"})");
    d.verdict = sc::verdict::down;
    d.why = sc::reason::cooldown;
    d.until = noon;
    d.command = sc::command{3, 5, 4};
    d.arrived = true;
    d.needed = true;
    const json j = d;
    CHECK(j["verdict"] == "down");
    CHECK(j["why"] == "cooldown");
    CHECK(j["until"] == "2024-02-29T12:00:00Z");
    CHECK(j["command"].dump() == R"({"from":5,"id":3,"to":4})");
    CHECK(j["arrived"] == true);
    CHECK(j["needed"] == true);
}

TEST_CASE("evidence is written with all of its numbers")
{
    sc::evidence e{.part = sc::role::target,
                   .metric = "backlog",
                   .what = sc::statistic::last,
                   .how = sc::relation::at_most,
                   .value = 0.5,
                   .limit = 100,
                   .points = 7,
                   .timed = true,
                   .first = noon,
                   .last = noon,
                   .holds = sc::tribool::no,
                   .wants = 3,
                   .note = "as of the last run"};
    CHECK(json(e).dump() ==
          R"({"first":"2024-02-29T12:00:00Z","holds":"no","last":"2024-02-29T12:00:00Z",)"
          R"("limit":100.0,"metric":"backlog","note":"as of the last run","part":"target",)"
          R"("points":7,"value":0.5,"wants":3,"what":"last"})");
    e = {.metric = "a\xff", .missing = sc::missing_part::fresh_points, .note = "\xfe"};
    CHECK(json(e).dump() ==
          R"({"holds":"unknown","how":">","metric_base64":"Yf8=","missing":"fresh_points",)"
          R"("note_base64":"/g==","part":"up","points":0,"what":"mean"})");
    // The numbers of a user's condition may be NaN or infinite.
    e = {.metric = "a",
         .value = std::numeric_limits<double>::quiet_NaN(),
         .limit = std::numeric_limits<double>::infinity()};
    CHECK(!json(e).contains("value"));
    CHECK(!json(e).contains("limit"));
}

TEST_CASE("enums are written by name, and errors with their path")
{
    CHECK(json(sc::admission::moved) == "moved");
    CHECK(json(sc::command_result::stale) == "stale");
    CHECK(json(sc::missing_part::points) == "points");
    CHECK(json(sc::reason::stabilising) == "stabilising");
    CHECK(json(sc::relation::at_least) == ">=");
    CHECK(json(sc::role::projected) == "projected");
    CHECK(json(sc::statistic::sampling_rate) == "sampling_rate");
    CHECK(json(sc::tribool::unknown) == "unknown");
    CHECK(json(sc::verdict::held) == "held");
    CHECK(json(sc::when_missing::fails) == "fails");
    CHECK(json(sc::policy_error{"/up", "a rule", "none"}).dump() ==
          R"({"expected":"a rule","found":"none","path":"/up"})");
}

}  // namespace
}  // namespace json_scaling_decision_test

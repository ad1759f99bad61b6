// SPDX-License-Identifier: MIT
//
// Decisions of scaling as lines.

#include <chrono>
#include <clocale>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <fmt/std.h>
#include <golden/scaling/values.hpp>
#include <support/golden.hpp>
#include <support/scaling_replay.hpp>

#include <waybill/ext/fmt/scaling.hpp>

namespace fmt_scaling_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;
namespace sc = waybill::scaling;

constexpr wall_time noon = golden_scaling::noon;

template <class T>
std::string line(const T& value)
{
    return fmt::format("{}", value);
}

TEST_CASE("a decision is one line")
{
    const sc::policy p = golden_scaling::deciding_policy();
    CHECK(line(golden_scaling::decision(p)) ==
          "2024-02-29T12:00:00Z up 2 -> 3 (wanted 7, held by rate until 12:00:40): "
          "up yes: mean(orders) 412.5 > 200 yes [10 points 11:51-12:00], "
          "highest(age) 12 > 300 unknown for lack of points [3 points 11:58-11:59:59.5]; "
          "down no: highest(orders) 500 < 10 no [10 points 11:51-12:00], "
          "highest(mails) ? < 10 unknown for lack of metric; "
          "target: last(backlog) 640 of 200 wants 7 [6 points]");
}

TEST_CASE("a value that may be higher or lower is marked as such")
{
    sc::evidence e{.metric = "age",
                   .what = sc::statistic::highest,
                   .value = 12,
                   .limit = 300,
                   .sampled = true};
    CHECK(line(e) == "up: highest(age) 12 or more > 300 unknown");
    e.sampled = false;
    CHECK(line(e) == "up: highest(age) 12 > 300 unknown");
    e.what = sc::statistic::lowest;
    e.cut = true;
    e.missing = sc::missing_part::samples;
    CHECK(line(e) == "up: lowest(age) 12 or less > 300 unknown for lack of samples");
}

TEST_CASE("values are rounded, unless they then look equal to the limit")
{
    sc::evidence e{.metric = "age", .value = 0.0003178597036850306, .limit = 2.0 / 3};
    CHECK(line(e) == "up: mean(age) 0.00031786 > 0.666667 unknown");
    e.value = 100.0000001;
    e.limit = 100;
    CHECK(line(e) == "up: mean(age) 100.0000001 > 100 unknown");
}

TEST_CASE("outcomes of a decision")
{
    sc::decision d{.from = 4, .desired = 4, .to = 4, .now = noon};
    const auto outcome = [&] { return line(d).substr(sizeof("2024-02-29T12:00:00Z")); };
    CHECK(line(d) == "2024-02-29T12:00:00Z steady at 4");
    d.verdict = sc::verdict::held;
    d.why = sc::reason::unknown;
    CHECK(outcome() == "held at 4 (unknown)");
    d.why = sc::reason::cooldown;
    d.desired = 6;
    d.until = noon + 10min;
    CHECK(outcome() == "held at 4 (wanted 6, cooldown until 12:10)");
    d.why = sc::reason::pending;
    CHECK(outcome() == "held at 4 (wanted 6, waits for a result until 12:10)");
    d.why = sc::reason::cooldown;
    d.until = noon + 12h + 1ns;
    CHECK(outcome() == "held at 4 (wanted 6, cooldown until 2024-03-01T00:00:00.000000001Z)");
    d.verdict = sc::verdict::up;
    d.to = 5;
    d.why = sc::reason::bounds;
    d.until.reset();
    CHECK(outcome() == "up 4 -> 5 (wanted 6, held by bounds)");
    d.to = 6;
    d.why = sc::reason::nothing;
    CHECK(outcome() == "up 4 -> 6");
    d.verdict = sc::verdict::down;
    d.desired = 4;
    d.to = 3;
    d.why = sc::reason::bounds;
    CHECK(outcome() == "down 4 -> 3 (wanted 4, bounds)");
    d.desired = 1;
    d.to = 2;
    d.why = sc::reason::stabilising;
    d.until = noon + 90s;
    CHECK(outcome() == "down 4 -> 2 (wanted 1, held by stabilising until 12:01:30)");
    CHECK(fmt::format("{:>22}|{:.4}", sc::decision{}, sc::decision{}) ==
          "1970-01-01T00:00:00Z steady at 0|1970");
}

TEST_CASE("evidence of a rule")
{
    sc::evidence e{.metric = "a",
                   .what = sc::statistic::highest,
                   .value = 0.1,
                   .limit = 1e20,
                   .points = 1,
                   .timed = true,
                   .first = noon,
                   .last = noon,
                   .holds = sc::tribool::no};
    CHECK(line(e) == "up: highest(a) 0.1 > 1e+20 no [1 point 2024-02-29T12:00:00Z]");
    e.part = sc::role::projected;
    e.metric = "two\nlines";
    e.first = noon - 24h;
    e.note = "tab\there";
    CHECK(line(sc::decision{.now = noon, .reasons = {e}}) ==
          "2024-02-29T12:00:00Z steady at 0: projected: highest(two\\nlines) 0.1 > 1e+20 no "
          "[1 point 2024-02-28T12:00:00Z to 12:00] (tab\\there)");
    e = {.part = sc::role::activation, .metric = "a", .missing = sc::missing_part::fresh_points};
    CHECK(line(e) == "activation: mean(a) ? > ? unknown for lack of fresh points");
}

TEST_CASE("rules and their parts")
{
    CHECK(line(sc::threshold(2.5)) == "2.5");
    CHECK(line(sc::per_instance(100)) == "100 per instance");
    CHECK(line(sc::by_instances({{1, 100}, {4, 350}})) == "(100 from 1 on, 350 from 4 on)");
    CHECK(line(sc::of_instances([](std::uint64_t) { return 1.0; })) ==
          "a function of the instances");
    CHECK(line(golden_scaling::policy_small().up) ==
          "any of (mean(orders) > 100 per instance; highest(age) > 300)");
    CHECK(line(!sc::at_least_of(1, sc::sum("a") <= 3, sc::rule())) ==
          "not (at least 1 of (sum(a) <= 3; any of ()))");
    CHECK(line((sc::averaged(sc::mean("cpu")) > 80)
                   .with_points(1)
                   .not_older_than(duration::seconds(90))
                   .if_missing(sc::when_missing::fails)
                   .compared()) ==
          "mean(cpu) > 80, averaged, at least 1 point, not older than 90s, if missing fails");
}

TEST_CASE("commands, errors and enums")
{
    CHECK(line(sc::command{3, 2, 4}) == "command 3: 2 -> 4");
    CHECK(line(sc::policy_error{"/up", "a rule", "\"\n\""}) ==
          "/up: expected a rule, found \"\\n\"");
    CHECK(line(sc::admission::duplicate) == "duplicate");
    CHECK(line(sc::command_result::applied) == "applied");
    CHECK(line(sc::missing_part::limit) == "limit");
    CHECK(line(sc::reason::active) == "active");
    CHECK(line(sc::relation::below) == "<");
    CHECK(line(sc::role::activation) == "activation");
    CHECK(line(sc::statistic::coverage) == "coverage");
    CHECK(line(sc::tribool::yes) == "yes");
    CHECK(line(sc::verdict::down) == "down");
    CHECK(line(sc::when_missing::holds) == "holds");
}

TEST_CASE("the replay of two hours equals its golden lines")
{
    const sc::policy p = tests_support::replay_policy();
    REQUIRE(!sc::validate(p));
    std::string lines;
    for (const sc::decision& d : tests_support::replay(p, [](sc::state&) {})) {
        lines += line(d) + '\n';
    }
    CHECK(lines == tests_support::golden("scaling/replay.txt"));
}

TEST_CASE("lines are the same in any locale")
{
    const sc::policy p = golden_scaling::deciding_policy();
    const std::string before = line(golden_scaling::decision(p));
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
        if (std::setlocale(LC_ALL, name) == nullptr) continue;  // not every machine has all
        CHECK(line(golden_scaling::decision(p)) == before);
        sc::policy bad = p;
        bad.targets[0].each = -0.5;
        CHECK(sc::validate(bad)->found == "-0.5");
    }
    std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace fmt_scaling_test

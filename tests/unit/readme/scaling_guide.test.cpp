// SPDX-License-Identifier: MIT
//
// The snippets of the guide include/waybill/scaling/README.md.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/chrono.hpp>
#include <waybill/scaling.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace scaling_guide_test {
namespace {

using namespace std::chrono_literals;
namespace sc = waybill::scaling;

constexpr waybill::wall_time at(std::int64_t seconds)
{
    return waybill::wall_time::at(waybill::duration::seconds(seconds));
}

/// A metric whose statistics all have the same value.
sc::reading level(std::string_view metric, double value, std::int64_t last = 0)
{
    sc::reading r{.metric = metric, .points = 10, .last = at(last), .timed = true};
    r.set(sc::statistic::mean, value);
    r.set(sc::statistic::highest, value);
    r.set(sc::statistic::last, value);
    return r;
}

sc::policy simple_policy()
{
    return {.up = sc::mean("orders") > sc::per_instance(100),
            .down = sc::mean("orders") < 10,
            .instances = {1, 20}};
}

sc::policy shown_policy()
{
    //! [scaling_policy]
    const sc::policy p{
        .up = sc::any_of(sc::mean("orders") > sc::per_instance(100), sc::highest("age") > 300),
        .down = sc::all_of(sc::highest("orders") < 10, sc::highest("mails") < 10),
        .min_points = 5,
        .cooldown = {.up = 1min, .down = 10min},
        .instances = {1, 20}};
    //! [scaling_policy]
    return p;
}

TEST_CASE("scaling guide: one call")
{
    struct {
        waybill::result<double> depth(const std::string&) { return 500.0; }
        double oldest(const std::string&) { return 3; }
    } broker;
    struct {
        std::uint64_t size = 2;
        std::uint64_t instances(const std::string&) const { return size; }
        waybill::fault resize(const std::string&, std::uint64_t n)
        {
            size = n;
            return {};
        }
    } platform;
    waybill::testing::manual_environment env;
    env.stop_at(env.now() + 2min);
    int printed = 0;
    const auto print = [&](const sc::decision&) { ++printed; };
    //! [scaling_autoscale]
    const sc::policy p{.up = sc::mean("orders") > sc::per_instance(100),
                       .down = sc::highest("orders") < 10,
                       .cooldown = {.up = 1min, .down = 5min},
                       .instances = {1, 20}};
    sc::autoscale_state state;
    const auto count = [&] { return platform.instances("orders"); };
    const auto resize = [&](const sc::command& c) { return platform.resize("orders", c.to); };
    auto log = [&, last = sc::decision()](const sc::decision& d) mutable {
        if (!d.repeats(last)) print(d);  // each change, and each hold once
        last = d;
    };
    auto report = sc::autoscale({{"orders", [&] { return broker.depth("orders"); }},
                                 {"age", [&] { return broker.oldest("orders"); }}},
                                p, state, count, resize, env, log);
    //! [scaling_autoscale]
    CHECK(platform.size == 4);  // after 0 and 60 seconds
    CHECK(printed == 4);
    CHECK(report.up == 2);
    CHECK(sc::describe(report) == "autoscale: 8 rounds, 2 up, 0 down, 6 held");
}

TEST_CASE("scaling guide: a source that is a window of the caller")
{
    waybill::testing::manual_environment env;
    std::vector<sc::command> sent;
    sc::autoscale_state state;
    const auto count = [] { return 1; };
    const auto resize = [&](const sc::command& c) { sent.push_back(c); };
    //! [scaling_weighted]
    waybill::sliding_window<waybill::weighted_stats<double>> cpu{{.span = 5min}};
    cpu.insert(env.wall_now(), 90, 5);  // one sample of five events
    const auto load = [&] { return cpu.query(env.wall_now()).mean(); };
    const sc::policy p{.targets = {{.of = sc::averaged(sc::last("cpu")), .each = 60}},
                       .instances = {1, 20}};
    auto report = sc::autoscale_once({{"cpu", load}}, p, state, count, resize, env);
    //! [scaling_weighted]
    CHECK(report.up == 1);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].to == 2);
}

TEST_CASE("scaling guide: the loop")
{
    sc::state state;
    waybill::sliding_window<waybill::stats<double>> orders{{.span = 10min}};
    waybill::sliding_window<waybill::stats<double>> mails{{.span = 10min}};
    waybill::sliding_window<waybill::stats<double>> age{{.span = 10min}};
    std::uint64_t instances = 2;
    std::vector<std::string> logged;
    const auto log = [&](const sc::decision& d) {
        logged.push_back(std::string(name(d.verdict)) + " " + std::string(name(d.why)));
    };
    int stored = 0;
    const auto store = [&](const sc::state&) { ++stored; };
    const auto resize = [&](std::uint64_t n) {
        instances = n;
        return true;
    };
    const sc::policy p = shown_policy();
    CHECK_FALSE(sc::validate(p));

    for (std::int64_t minute = 0; minute != 30; ++minute) {
        const waybill::wall_time now = at(60 * minute);
        orders.insert(now, minute < 12 ? 250.0 : 0.0);
        mails.insert(now, 3);
        age.insert(now, 20);

        //! [scaling_decide]
        const sc::reading known[]{sc::read("orders", orders.query(now)),
                                  sc::read("mails", mails.query(now)),
                                  sc::read("age", age.query(now))};
        sc::decision d = sc::decide(p, known, state, instances, now);  // a dry run ends here
        log(d);
        state.on(d);
        store(state);  // before the command
        if (d.command) {
            if (resize(d.command->to)) state.on(sc::applied{d.command->id}, now);
            else state.on(sc::failed{d.command->id}, now);
            store(state);
        }
        //! [scaling_decide]
    }
    CHECK(logged[3] == "held unknown");     // 4 points, 5 are required
    CHECK(logged[4] == "up nothing");       // 250 orders, the limit is 200
    CHECK(logged[5] == "steady nothing");   // 250 orders, the limit is 300
    CHECK(logged[20] == "steady nothing");  // one of the 10 points is above 10
    CHECK(logged[21] == "held stabilising");
    CHECK(logged[25] == "held stabilising");
    CHECK(logged[26] == "down nothing");  // wanted for 5 minutes
    CHECK(logged[27] == "held stabilising");
    CHECK(instances == 2);
    CHECK(stored == 30 + 2);  // once per decision, and once per command
}

TEST_CASE("scaling guide: errors in a policy")
{
    std::vector<std::string> errors;
    const auto refuse = [&](const std::string& line) { errors.push_back(line); };
    sc::policy p = simple_policy();
    p.down = sc::mean("order") < 150;
    p.up = sc::mean("order") > 100;

    //! [scaling_validate]
    const std::vector<std::string> names{"orders", "mails"};
    if (auto bad = sc::validate(p)) refuse(sc::describe(*bad));
    if (auto bad = sc::unknown_metric(p, names)) refuse(sc::describe(*bad));
    //! [scaling_validate]
    REQUIRE(errors.size() == 2);
    CHECK(errors[0].starts_with("/down/below: expected a threshold below 100"));
    CHECK(errors[1] == "/up/mean: expected an existing metric (orders, mails), found \"order\"");
    CHECK(sc::metrics_of(p) == std::vector<std::string_view>{"order"});
}

TEST_CASE("scaling guide: conditions")
{
    //! [scaling_conditions]
    sc::rule busy = sc::mean("orders") > sc::by_instances({{1, 100}, {4, 350}, {8, 600}});
    sc::rule hot = sc::averaged(sc::mean("cpu")) > 80;  // an average over the instances
    sc::rule slow = sc::at_least_of(2, sc::highest("latency") > 0.5, sc::last("age") > 60,
                                    sc::rate("errors") > 1);
    sc::rule calm = sc::all_of(!hot, !slow);
    sc::rule strict = busy.with_points(5).not_older_than(3min);  // else unknown
    sc::rule lenient = (sc::last("mails") > 0).if_missing(sc::when_missing::fails);
    sc::rule up = sc::any_of(strict, hot, slow);
    //! [scaling_conditions]
    std::vector<sc::evidence> rows;
    const sc::reading known[]{level("orders", 500), level("cpu", 20)};
    const sc::situation now{.metrics = known, .instances = 8, .now = at(0)};
    CHECK(busy(now, rows) == sc::tribool::no);
    CHECK(slow(now, rows) == sc::tribool::unknown);
    CHECK(calm(now, rows) == sc::tribool::unknown);
    CHECK(lenient(now, rows) == sc::tribool::no);
    CHECK(up(now, rows) == sc::tribool::unknown);
}

TEST_CASE("scaling guide: targets and limits")
{
    //! [scaling_targets]
    sc::policy p{.targets = {{.of = sc::last("backlog"), .each = 100},
                             {.of = sc::averaged(sc::mean("cpu")), .each = 60}},
                 .cooldown = {.up = 1min, .down = 5min},
                 .instances = {1, 20},
                 .stabilise = {.up = {}, .down = 5min},
                 .rate = {.up = {{.max_change = {.count = 4, .percent = 100}, .per = 1min}},
                          .down = {{.max_change = {.percent = 10}, .per = 1min}}},
                 .warm_up = 2min};
    //! [scaling_targets]
    CHECK_FALSE(sc::validate(p));
    const sc::reading known[]{level("backlog", 640), level("cpu", 90)};
    const sc::decision d = sc::decide(p, known, {}, 2, at(0));
    CHECK(d.desired == 7);
    CHECK(d.to == 6);
    CHECK(d.why == sc::reason::rate);
}

TEST_CASE("scaling guide: steps and bands")
{
    //! [scaling_bands]
    sc::policy p{.up = sc::mean("orders") > 100,
                 .down = sc::mean("orders") < 10,
                 .instances = {1, 20},
                 .step = {.up = {.count = 2}, .down = {.percent = 10}}};
    p.bands.up = {{.when = sc::mean("orders") > 1'000, .by = {.count = 5, .percent = 50}}};
    //! [scaling_bands]
    CHECK_FALSE(sc::validate(p));
    const auto to = [&](double orders) {
        const sc::reading known[]{level("orders", orders)};
        return sc::decide(p, known, {}, 4, at(0)).to;
    };
    CHECK(to(200) == 6);
    CHECK(to(2'000) == 9);
    CHECK(to(5) == 4);  // not before it was wanted for 5 minutes
    p.stabilise = {};
    CHECK(to(5) == 3);
}

TEST_CASE("scaling guide: scaling to zero")
{
    //! [scaling_zero]
    sc::policy p{.up = sc::mean("orders") > sc::per_instance(100),
                 .down = sc::mean("orders") < 10,
                 .instances = {0, 20},
                 .activation = sc::last("orders") > 0,
                 .zero_after = 10min};
    //! [scaling_zero]
    CHECK_FALSE(sc::validate(p));
    sc::state state;
    const auto decide = [&](double orders, std::uint64_t instances, std::int64_t second) {
        const sc::reading known[]{level("orders", orders, second)};
        sc::decision d = sc::decide(p, known, state, instances, at(second));
        state.on(d);
        return d;
    };
    CHECK(decide(3, 0, 0).to == 1);
    CHECK(decide(0, 1, 60).why == sc::reason::active);
    CHECK(decide(0, 1, 660).to == 0);
}

TEST_CASE("scaling guide: a ladder")
{
    const std::uint64_t tier = 1;
    const waybill::wall_time now = at(0);
    const sc::state state;
    const sc::reading known[]{level("dtu", 90)};
    //! [scaling_ladder]
    sc::policy p{.up = sc::averaged(sc::mean("dtu")) > 80,
                 .down = sc::averaged(sc::mean("dtu")) < 30,
                 .instances = {0, 3},  // tiers
                 .ladder = {{"S0", 10}, {"S1", 20}, {"S2", 50}, {"S3", 100}}};
    sc::decision d = sc::decide(p, known, state, tier, now);
    std::string size = p.ladder[d.to].name;  // "S2"
    //! [scaling_ladder]
    CHECK_FALSE(sc::validate(p));
    CHECK(size == "S2");
}

//! [scaling_custom]
struct is_business_hour {
    sc::tribool operator()(const sc::situation& s, std::vector<sc::evidence>& rows) const
    {
        const auto hour = s.now.since_epoch().count() / 3'600'000'000'000 % 24;  // UTC
        rows.push_back({.value = static_cast<double>(hour),
                        .holds = sc::truth_of(hour >= 8 && hour < 18),
                        .note = "hour of the day"});
        return rows.back().holds;
    }
};
const auto by_day = sc::policy_of(sc::all_of(is_business_hour{}, sc::mean("orders") > 100),
                                  sc::mean("orders") < 10);
//! [scaling_custom]

TEST_CASE("scaling guide: a custom condition")
{
    auto q = by_day;
    q.instances = {1, 4};
    const sc::reading known[]{level("orders", 200)};
    CHECK(sc::decide(q, known, {}, 1, at(9 * 3'600)).to == 2);
    CHECK(sc::decide(q, known, {}, 1, at(20 * 3'600)).to == 1);
}

TEST_CASE("scaling guide: the executor of commands")
{
    std::uint64_t instances = 2;
    const auto current = [&] { return instances; };
    std::vector<std::uint64_t> reported;
    const auto report = [&](sc::applied a) { reported.push_back(a.id); };
    const auto resize = [&](std::uint64_t n) { instances = n; };
    std::uint64_t last = 0;
    const auto receive = [&](const sc::command& c) {
        //! [scaling_admit]
        const sc::admission verdict = sc::admit(c, last, current());
        if (verdict == sc::admission::fresh) {
            resize(c.to);
            last = c.id;  // stored with the number of instances
            report(sc::applied{c.id});
        }
        //! [scaling_admit]
        return verdict;
    };
    CHECK(receive({.id = 1, .from = 2, .to = 3}) == sc::admission::fresh);
    CHECK(receive({.id = 1, .from = 2, .to = 3}) == sc::admission::duplicate);
    CHECK(receive({.id = 2, .from = 2, .to = 4}) == sc::admission::moved);
    CHECK(reported.size() == 1);
    CHECK(instances == 3);
}

}  // namespace
}  // namespace scaling_guide_test

// SPDX-License-Identifier: MIT
//
// Known bugs of other autoscalers, each by its name, from windows to decisions.

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>

namespace pitfalls_test {

namespace sc = waybill::scaling;
using namespace std::chrono_literals;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reading;
using sc::reason;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::loop;
using tests_support::readings;
using tests_support::seconds;
using window = waybill::sliding_window<waybill::stats<double>>;
using weighted = waybill::sliding_window<waybill::weighted_stats<double>>;

namespace {

policy article()
{
    return {.up = sc::mean("orders") > 100,
            .down = sc::highest("orders") < 10,
            .min_points = 5,
            .max_age = seconds(120),
            .cooldown = {seconds(60), seconds(600)},
            .instances = {1, 20},
            .stabilise = {}};
}

decision of(window& w, const policy& p, std::int64_t t, std::uint64_t n = 5)
{
    return decide(p, readings{sc::read("orders", w.query(at(t)))}, {}, n, at(t));
}

}  // namespace

TEST_CASE("pitfall: an empty window is unknown, not zero")
{
    window w{{.span = 10min}};
    CHECK(of(w, article(), 0).why == reason::unknown);
    CHECK_FALSE(sc::read("orders", w.query(at(0))).value(sc::statistic::mean));
}

TEST_CASE("pitfall: the last value does not stay valid after an idle time")
{
    window w{{.span = 10min}};
    for (std::int64_t m = 0; m != 10; ++m) w.insert(at(60 * m), 500.0);
    CHECK(of(w, article(), 540).verdict == verdict::up);
    CHECK(of(w, article(), 3'600).why == reason::unknown);
}

TEST_CASE("pitfall: five old points are stale")
{
    window w{{.span = 10min}};
    for (std::int64_t m = 0; m != 5; ++m) w.insert(at(10 * m), 0.0);
    CHECK(of(w, article(), 160).verdict == verdict::down);
    const decision d = of(w, article(), 161);
    CHECK(d.why == reason::unknown);
    CHECK(d.reasons.back().missing == sc::missing_part::fresh_points);
}

TEST_CASE("pitfall: five deliveries of the same minute are one point")
{
    window w{{.span = 10min, .on_equal_time = waybill::window_options::equal_time::replace}};
    for (int n = 0; n != 5; ++n) w.insert(at(0), 0.0);
    CHECK(of(w, article(), 0).reasons[0].points == 1);
    CHECK(of(w, article(), 0).why == reason::unknown);
}

TEST_CASE("pitfall: a sum of a window cut by max_points is unknown, not too small")
{
    window w{{.span = 10min, .max_points = 5}};
    for (std::int64_t n = 0; n != 100; ++n) w.insert(at(n), 10.0);
    policy p = article();
    p.down = sc::sum("orders") < 100;  // the sum of 5 of the 100 samples is 50, of all 1,000
    const decision d = of(w, p, 100);
    CHECK(d.why == reason::unknown);
    CHECK(d.reasons.back().missing == sc::missing_part::value);
    window last_five{{.max_points = 5}};  // if only these are wanted, it does
    for (std::int64_t n = 0; n != 100; ++n) last_five.insert(at(n), 10.0);
    CHECK(of(last_five, p, 100).verdict == verdict::down);
}

TEST_CASE("pitfall: one sample with a weight of a million is one point")
{
    weighted w{{.span = 10min}};
    w.insert(at(0), 0.0, 1'000'000U);
    const readings now{sc::read("orders", w.query(at(0)))};
    CHECK(now[0].points == 1);
    CHECK(decide(tests_support::kept(article()), now, {}, 5, at(0)).why == reason::unknown);
}

TEST_CASE("pitfall: non-finite samples are no points")
{
    window w{{.span = 10min}};
    for (std::int64_t m = 0; m != 10; ++m) {
        w.insert(at(60 * m), std::numeric_limits<double>::quiet_NaN());
        w.insert(at(60 * m), -std::numeric_limits<double>::infinity());
    }
    CHECK(of(w, article(), 540).why == reason::unknown);
}

TEST_CASE("pitfall: a sample of a clock far ahead does not empty the window")
{
    window w{{.span = 10min, .ahead = 2min}};
    for (std::int64_t m = 0; m != 10; ++m) w.insert(at(60 * m), 500.0);
    w.insert(at(1'000'000'000), 0.0, at(540));
    CHECK(of(w, article(), 540).verdict == verdict::up);
}

TEST_CASE("pitfall: zeros of either sign and the smallest numbers compare exactly")
{
    const auto stands = [](double v) {
        return decide(tests_support::kept(article()), readings{level("orders", v, at(0))}, {}, 5,
                      at(0))
            .verdict;
    };
    CHECK(stands(-0.0) == verdict::down);
    CHECK(stands(5e-324) == verdict::down);
    CHECK(stands(-5e-324) == verdict::down);
    CHECK(stands(1e300) == verdict::up);
    CHECK(stands(-1e300) == verdict::down);
    policy p = article();
    p.up = sc::mean("orders") > 0;
    p.down = sc::mean("orders") < 0;
    const auto zero = [&](double v) {
        return decide(p, readings{level("orders", v, at(0))}, {}, 5, at(0)).verdict;
    };
    CHECK(zero(0.0) == verdict::steady);
    CHECK(zero(-0.0) == verdict::steady);
    CHECK(zero(5e-324) == verdict::up);
    CHECK(zero(-5e-324) == verdict::down);
}

TEST_CASE("pitfall: zero instances cause no division by zero")
{
    policy p = article();
    p.instances = {0, 20};
    p.max_age = waybill::duration::highest();
    p.up = sc::any_of(sc::mean("orders") > sc::per_instance(100),
                      sc::averaged(sc::mean("orders")) > 100);
    p.targets = {{.of = sc::averaged(sc::mean("orders")), .each = 50}};
    p.step = {.up = {.percent = 50}, .down = {.percent = 50}};
    p.rate.up = {{{.percent = 50}, seconds(60)}};
    p.activation = sc::mean("orders") > 0;
    const decision d = decide(p, readings{level("orders", 500)}, {}, 0, at(0));
    CHECK(d.to == 1);
    CHECK(decide(p, readings{level("orders", 0)}, {}, 0, at(0)).to == 0);
    for (const sc::evidence& e : d.reasons) {
        if (e.value) CHECK(waybill::detail::is_finite(*e.value));
    }
}

TEST_CASE("pitfall: a fraction of an instance is one, and the lowest number limits a step down")
{
    policy p = article();
    p.step = {.up = {.percent = 10}, .down = {.percent = 300}};
    p.instances = {2, 20};
    CHECK(decide(p, readings{level("orders", 500, at(0))}, {}, 2, at(0)).to == 3);
    CHECK(decide(p, readings{level("orders", 0, at(0))}, {}, 3, at(0)).to == 2);
    CHECK(decide(p, readings{level("orders", 0, at(0))}, {}, 2, at(0)).to == 2);
}

TEST_CASE("pitfall: instances times a threshold do not overflow into a small number")
{
    policy p = article();
    p.up = sc::mean("orders") > sc::per_instance(1e300);
    p.instances = {1, UINT64_MAX};
    const readings now{level("orders", 1e306, at(0))};
    CHECK(decide(p, now, {}, 10, at(0)).verdict == verdict::up);
    CHECK(decide(p, now, {}, UINT64_MAX, at(0)).up == sc::tribool::unknown);
}

TEST_CASE("pitfall: stabilisation and rate limits do not reverse a change")
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    p.stabilise = {seconds(300), seconds(300)};
    p.rate = {{{{.count = 1}, seconds(300)}}, {{{.count = 1}, seconds(300)}}};
    sc::state s;
    std::uint64_t n = 50;
    for (std::int64_t t = 0; t != 2'000; t += 10) {
        const double work = static_cast<double>((t * 7'919) % 100 + 1);
        const decision d = decide(p, readings{level("work", work)}, s, n, at(t));
        CHECK((d.desired >= n ? d.to >= n : d.to <= n));
        s.on(d);
        if (d.command) s.on(sc::applied{d.command->id}, at(t));
        n = d.to;
        if (t % 130 == 0) n = static_cast<std::uint64_t>(work);  // another process
    }
}

TEST_CASE("pitfall: recommendations are stored when decided, changes when applied")
{
    // Recommendations are stored although none was executed. A cooldown needs a change.
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    p.stabilise.down = seconds(60);
    p.cooldown.down = seconds(600);
    sc::state s;
    s.on(decide(p, readings{level("work", 20)}, s, 10, at(0)));  // commanded, and lost
    s.on(sc::failed{1}, at(1));
    CHECK(s.highest.back().instances == 20);
    p.after_failure = {};
    CHECK(decide(p, readings{level("work", 5)}, s, 10, at(30)).why == reason::stabilising);
    CHECK_FALSE(s.last_up);
    s.on(decide(p, readings{level("work", 5)}, s, 10, at(30)));
    CHECK(decide(p, readings{level("work", 5)}, s, 10, at(90)).to == 5);
}

TEST_CASE(
    "pitfall: after a long gap a change up is immediate, and a change down is stabilised first")
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    p.stabilise.down = seconds(300);
    loop l{p, 10};
    l.step({level("work", 5)}, at(0));
    l.step({level("work", 5)}, at(200));
    // A day later.
    CHECK(l.step({level("work", 50)}, at(86'400)).to == 50);
    l.instances = 10;
    CHECK(l.ask({level("work", 5)}, at(86'410)).to == 10);
}

TEST_CASE("pitfall: the tolerance does not let the instances creep up")
{
    // 4 a piece, 41 of them: within a tenth at ten, and it does not creep.
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("tasks"), .each = 4, .tolerance = {0.1, 0.1}}};
    loop l{p, 10};
    for (std::int64_t t = 0; t != 100; ++t) l.step({level("tasks", 43)}, at(t));
    CHECK(l.instances == 10);
    CHECK(l.step({level("tasks", 45)}, at(100)).to == 12);
}

TEST_CASE("pitfall: validate refuses thresholds in the wrong order")
{
    policy p = article();
    p.down = sc::mean("orders") < 100;
    CHECK(sc::validate(p));
    p.down = sc::mean("orders") < 101;
    CHECK(sc::validate(p));
    p.down = sc::mean("orders") < 99;
    CHECK_FALSE(sc::validate(p));
}

TEST_CASE("pitfall: weights of zero give no rate, and no change down")
{
    weighted w{{.span = 10min}};
    for (std::int64_t m = 0; m != 10; ++m) w.insert(at(60 * m), 0.0, 0U);
    policy p = article();
    p.down = sc::of(sc::statistic::sampling_rate, "orders") < 1;
    const readings now{sc::read("orders", w.query(at(540)))};
    CHECK(decide(p, now, {}, 5, at(540)).verdict != verdict::down);
}

}  // namespace pitfalls_test

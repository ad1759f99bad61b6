// SPDX-License-Identifier: MIT
//
// The documented behaviour of KEDA, Knative and Google's instance groups, as policies.

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>

namespace as_others_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::state;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::loop;
using tests_support::readings;
using tests_support::seconds;

namespace {

// https://keda.sh/docs/2.15/scalers/azure-service-bus/: five messages for each by default, and
// active with more than none. https://keda.sh/docs/2.15/reference/scaledobject-spec/: five minutes
// until the last ones go.
policy service_bus()
{
    policy p{.instances = {0, 100}, .stabilise = {}};
    p.targets = {{.of = sc::last("messages"), .each = 5, .tolerance = {0.1, 0.1}}};
    p.activation = sc::last("messages") > 0;
    p.zero_after = seconds(300);
    return p;
}

// The same with KEDA's defaults for the autoscaler that it creates (horizontalPodAutoscalerConfig
// in the same document): a change down is stabilised for five minutes, and all may go in 15 s.
policy keda_defaults()
{
    policy p = service_bus();
    p.stabilise.down = seconds(300);
    p.rate.down = {{{.percent = 100}, seconds(15)}};
    return p;
}

// When there is no instance left, if one message is there until 0 s and none after it.
std::int64_t seconds_to_zero(const policy& p, std::uint64_t instances, std::int64_t interval)
{
    loop l{p, instances};
    for (std::int64_t t = -600; t <= 1'200; t += interval) {
        const double messages = t > 0 ? 0 : 5 * static_cast<double>(instances);
        l.step({level("messages", messages)}, at(t));
        if (l.instances == 0) return t;
    }
    return -1;
}

// Knative: https://knative.dev/docs/serving/autoscaling/kpa-specific/. A stable window of 60 s and
// a panic window of 6 s. It panics if twice the instances would be needed. During a stable window
// after that, none is removed.
policy two_windows()
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("stable"), .each = 10, .tolerance = {0, 0}},
                 {.of = sc::mean("panic"), .each = 10, .tolerance = {0.999'999, 0}}};
    p.stabilise.down = seconds(60);
    return p;
}

}  // namespace

TEST_CASE("as KEDA: active above the activation threshold, not at it")
{
    CHECK_FALSE(sc::validate(service_bus()));
    policy p = service_bus();
    CHECK(decide(p, readings{level("messages", 0)}, {}, 0, at(0)).to == 0);
    CHECK(decide(p, readings{level("messages", 1)}, {}, 0, at(0)).to == 1);
    CHECK(decide(p, readings{level("messages", 6)}, {}, 0, at(0)).to == 2);
    p.activation = sc::last("messages") > 5;
    CHECK(decide(p, readings{level("messages", 5)}, {}, 0, at(0)).to == 0);
    CHECK(decide(p, readings{level("messages", 6)}, {}, 0, at(0)).verdict == verdict::up);
}

// https://keda.sh/docs/2.15/concepts/scaling-deployments/
TEST_CASE("as KEDA: activation comes first: 40 messages with activation above 50 need no instance")
{
    policy p = service_bus();
    p.targets[0].each = 10;
    p.activation = sc::last("messages") > 50;
    CHECK(decide(p, readings{level("messages", 40)}, {}, 0, at(0)).to == 0);
    loop l{p, 4};
    CHECK(l.step({level("messages", 40)}, at(0)).to == 4);
    CHECK(l.step({level("messages", 40)}, at(299)).to == 4);
    CHECK(l.step({level("messages", 40)}, at(300)).to == 0);
}

TEST_CASE("as KEDA: only the change to zero waits for the cooldown")
{
    loop l{service_bus(), 10};
    CHECK(l.step({level("messages", 50)}, at(0)).to == 10);
    CHECK(l.step({level("messages", 20)}, at(1)).to == 4);  // at once
    CHECK(l.step({level("messages", 5)}, at(2)).to == 1);
    CHECK(l.step({level("messages", 0)}, at(3)).to == 1);
    CHECK(l.step({level("messages", 0)}, at(301)).to == 1);
    CHECK(l.step({level("messages", 0)}, at(303)).to == 0);
}

// "The period to wait after the last trigger reported active before scaling the resource back to
// 0": KEDA writes the 0 itself, and the autoscaler's behaviour is for 1 to n.
TEST_CASE("as KEDA: its defaults reach zero 300 s after the last active poll, plus one interval")
{
    CHECK_FALSE(sc::validate(keda_defaults()));
    for (const std::uint64_t instances : {1U, 2U, 10U, 100U}) {
        CAPTURE(instances);
        CHECK(seconds_to_zero(keda_defaults(), instances, 15) == 315);
        CHECK(seconds_to_zero(keda_defaults(), instances, 30) == 330);
    }
    policy slow = keda_defaults();  // the autoscaler's other settings are for 1 to n
    slow.stabilise.down = seconds(3'600);
    slow.rate.down = {{{.count = 1}, seconds(1'800)}};
    CHECK(seconds_to_zero(slow, 10, 15) == 315);
    policy at_once = keda_defaults();
    at_once.zero_after = {};
    CHECK(seconds_to_zero(at_once, 10, 15) == 15);
}

TEST_CASE(
    "as KEDA: a change from ten to one is stabilised, and inactivity restarts after each message")
{
    loop l{keda_defaults(), 10};
    for (std::int64_t t = 0; t <= 60; t += 15) l.step({level("messages", 50)}, at(t));
    // Active with one message: the autoscaler waits five minutes, and zero is far.
    for (std::int64_t t = 75; t < 360; t += 15) {
        const decision d = l.step({level("messages", 1)}, at(t));
        CHECK(d.why == reason::stabilising);
        CHECK(d.to == 10);
    }
    decision d = l.step({level("messages", 1)}, at(375));
    CHECK(d.to == 1);
    // One message in between begins the time again.
    l.step({level("messages", 0)}, at(390));
    l.step({level("messages", 1)}, at(660));
    l.step({level("messages", 0)}, at(675));
    d = l.step({level("messages", 0)}, at(974));
    CHECK(d.why == reason::active);
    CHECK(d.until == at(975));
    CHECK(l.step({level("messages", 0)}, at(975)).to == 0);
}

TEST_CASE("as KEDA: five messages per instance, and the greatest of several queues")
{
    policy p = service_bus();
    CHECK(decide(p, readings{level("messages", 100)}, {}, 1, at(0)).to == 20);
    p.targets.push_back({.of = sc::last("others"), .each = 5, .tolerance = {0.1, 0.1}});
    p.activation = sc::any_of(sc::last("messages") > 0, sc::last("others") > 0);
    const readings now{level("messages", 10), level("others", 45)};
    CHECK(decide(p, now, {}, 1, at(0)).to == 9);
    CHECK(decide(p, readings{level("messages", 0), level("others", 1)}, {}, 0, at(0)).to == 1);
}

TEST_CASE("as KEDA: if a metric fails, the fallback is a lower limit")
{
    policy p = service_bus();
    p.if_unknown = 6;
    CHECK(decide(p, {}, {}, 2, at(0)).to == 6);
    CHECK(decide(p, {}, {}, 8, at(0)).to == 8);
    // A bug there: NaN became a huge negative number (kedacore/keda #7475).
    sc::reading broken = level("messages", 0);
    broken.set(sc::statistic::last, std::numeric_limits<double>::quiet_NaN());
    CHECK(decide(p, readings{broken}, {}, 8, at(0)).to == 8);
}

TEST_CASE("as Knative: panic adds instances at once, and none is removed for a stable window")
{
    CHECK_FALSE(sc::validate(two_windows()));
    loop l{two_windows(), 5};
    const auto now = [](double stable, double panic) {
        return readings{level("stable", stable), level("panic", panic)};
    };
    CHECK(l.step(now(50, 50), at(0)).to == 5);
    CHECK(l.step(now(50, 90), at(2)).to == 5);    // not twice as much
    CHECK(l.step(now(60, 150), at(4)).to == 15);  // three times
    CHECK(l.step(now(70, 20), at(6)).to == 15);
    CHECK(l.step(now(100, 20), at(30)).to == 15);
    CHECK(l.step(now(50, 20), at(65)).to == 15);  // 15 stood until 6
    CHECK(l.step(now(50, 20), at(66)).to == 10);  // and ten until 65
    CHECK(l.step(now(50, 20), at(125)).to == 5);
}

// https://knative.dev/docs/serving/autoscaling/scale-bounds/#scale-down-delay
TEST_CASE("as Knative: the greatest number within the scale-down delay is kept")
{
    policy p = two_windows();
    p.targets.pop_back();
    p.stabilise.down = seconds(900);
    loop l{p, 5};
    l.step({level("stable", 50)}, at(0));
    l.step({level("stable", 10)}, at(60));
    CHECK(l.step({level("stable", 10)}, at(959)).to == 5);
    CHECK(l.step({level("stable", 10)}, at(960)).to == 1);
}

// https://github.com/knative/serving/issues/2705
TEST_CASE("as Knative: a restart removes no instance at first, with the saved state or without")
{
    loop l{two_windows(), 5};
    l.step({level("stable", 50), level("panic", 50)}, at(0));
    l.step({level("stable", 150), level("panic", 150)}, at(10));
    CHECK(l.instances == 15);
    const state saved = l.state;
    const readings little{level("stable", 10), level("panic", 10)};
    loop restarted{two_windows(), 15, saved};
    CHECK(restarted.step(little, at(20)).to == 15);
    CHECK(restarted.step(little, at(79)).to == 15);
    CHECK(restarted.step(little, at(80)).to == 1);
    loop lost{two_windows(), 15};
    CHECK(lost.step(little, at(20)).to == 15);
    CHECK(lost.step(little, at(79)).to == 15);
    CHECK(lost.step(little, at(80)).to == 1);
    // And with no metrics at all either way.
    loop blind{two_windows(), 15};
    CHECK(blind.step({}, at(2'000)).why == reason::unknown);
}

// https://cloud.google.com/compute/docs/autoscaler/understanding-autoscaler-decisions
TEST_CASE("as Google: the number is that of the peak within ten minutes")
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::averaged(sc::mean("cpu")), .each = 60, .tolerance = {0, 0}}};
    p.stabilise.down = seconds(600);
    loop l{p, 10};
    CHECK(l.step({level("cpu", 60)}, at(0)).to == 10);
    CHECK(l.step({level("cpu", 90)}, at(60)).to == 15);
    CHECK(l.step({level("cpu", 20)}, at(120)).to == 15);
    CHECK(l.step({level("cpu", 20)}, at(719)).to == 15);
    CHECK(l.step({level("cpu", 20)}, at(720)).to == 5);
}

// https://cloud.google.com/compute/docs/autoscaler#scale-in_controls
TEST_CASE("as Google: scale-in controls limit the removed instances per window")
{
    policy p{.instances = {1, 200}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    p.rate.down = {{{.count = 20}, seconds(600)}};
    loop l{p, 100};
    CHECK(l.step({level("work", 1)}, at(0)).to == 80);
    CHECK(l.step({level("work", 1)}, at(599)).to == 80);
    CHECK(l.step({level("work", 1)}, at(600)).to == 60);
    p.rate.down = {{{.percent = 10}, seconds(600)}};
    loop m{p, 100};
    CHECK(m.step({level("work", 1)}, at(0)).to == 90);
    CHECK(m.step({level("work", 1)}, at(600)).to == 81);
}

// https://cloud.google.com/compute/docs/autoscaler/managing-autoscalers
TEST_CASE("as Google: scale-out only mode, off mode, and an initialisation period")
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    p.allow.down = false;
    CHECK(decide(p, readings{level("work", 20)}, {}, 10, at(0)).to == 20);
    CHECK(decide(p, readings{level("work", 1)}, {}, 10, at(0)).why == reason::disabled);
    p.allow = {false, false};  // the decision still has the wanted number
    CHECK(decide(p, readings{level("work", 20)}, {}, 10, at(0)).to == 10);
    CHECK(decide(p, readings{level("work", 20)}, {}, 10, at(0)).desired == 20);
    p.allow = {true, true};
    p.warm_up = seconds(60);
    loop l{p, 10};
    l.step({level("work", 12)}, at(0));
    CHECK(l.step({level("work", 1)}, at(59)).why == reason::warming);
    CHECK(l.step({level("work", 1)}, at(60)).to == 1);
}

}  // namespace as_others_test

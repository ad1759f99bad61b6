// SPDX-License-Identifier: MIT
//
// The documented behaviour of EC2 Auto Scaling of AWS, as policies.

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>

namespace as_aws_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::loop;
using tests_support::readings;
using tests_support::seconds;

namespace {

// Unchanged between 40 and 60; 10 % beyond, 30 % beyond 30 and 70.
policy steps()
{
    policy p{.up = sc::mean("cpu") >= 60,
             .down = sc::mean("cpu") <= 40,
             .instances = {1, 100},
             .stabilise = {}};
    p.step = {.up = {.percent = 10}, .down = {.percent = 10}};
    p.bands.up = {{sc::mean("cpu") >= 70, {.percent = 30}}};
    p.bands.down = {{sc::mean("cpu") <= 30, {.percent = 30}}};
    return p;
}

}  // namespace

// https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-using-sqs-queue.html
TEST_CASE(
    "as AWS: 1500 messages of 0.1 s each, with an acceptable latency of 10 s, need 15 instances")
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    const double acceptable = 10 / 0.1;
    p.targets = {{.of = sc::last("messages"), .each = acceptable}};
    const decision d = decide(p, readings{level("messages", 1'500)}, {}, 10, at(0));
    CHECK(d.to == 15);
    CHECK(d.reasons[0].limit == 1'000.0);
}

// https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-scaling-simple-step.html
TEST_CASE("as AWS: steps of ten and thirty percent")
{
    CHECK_FALSE(sc::validate(steps()));
    loop l{steps(), 10};
    CHECK(l.step({level("cpu", 59)}, at(0)).to == 10);
    CHECK(l.step({level("cpu", 41)}, at(0)).to == 10);
    CHECK(l.step({level("cpu", 60)}, at(0)).to == 11);
    CHECK(l.step({level("cpu", 70)}, at(600)).to == 14);    // 3.3 of 11 are 3
    CHECK(l.step({level("cpu", 40)}, at(1'200)).to == 13);  // 1.4 of 14 is 1
    CHECK(l.step({level("cpu", 30)}, at(1'800)).to == 10);  // 3.9 of 13 are 3
}

// The same page, on warm-up.
TEST_CASE("as AWS: instances that warm up are not counted twice")
{
    policy p = steps();
    p.warm_up = seconds(300);
    loop l{p, 10};
    CHECK(l.step({level("cpu", 60)}, at(0)).to == 11);
    CHECK(l.step({level("cpu", 62)}, at(60)).to == 11);   // one of ten: its command is pending
    CHECK(l.step({level("cpu", 70)}, at(120)).to == 13);  // three of ten: two more
    CHECK(l.step({level("cpu", 30)}, at(419)).why == reason::warming);
    CHECK(l.step({level("cpu", 30)}, at(420)).to == 10);
}

// The same page, on adjustment types.
TEST_CASE("as AWS: a step of 12.7 is 12, of 0.67 is 1, of -0.58 is -1, of -6.67 is -6")
{
    policy p{.up = sc::mean("cpu") > 60,
             .down = sc::mean("cpu") < 40,
             .instances = {1, 100},
             .stabilise = {}};
    const auto changed = [&](double percent, double cpu) {
        p.step = {.up = {.percent = percent}, .down = {.percent = percent}};
        return decide(p, readings{level("cpu", cpu)}, {}, 10, at(0)).to;
    };
    CHECK(changed(127, 90) == 22);
    CHECK(changed(6.7, 90) == 11);
    CHECK(changed(5.8, 10) == 9);
    CHECK(changed(66.7, 10) == 4);
    // 25 % of four, and two at least.
    p.step.up = {.count = 2, .percent = 25};
    CHECK(decide(p, readings{level("cpu", 90)}, {}, 4, at(0)).to == 6);
}

// https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-scaling-target-tracking.html
TEST_CASE("as AWS: any target scales out; all known targets must allow scaling in")
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::averaged(sc::mean("cpu")), .each = 50},
                 {.of = sc::mean("requests"), .each = 1'000}};
    const auto of = [&](readings now) { return decide(p, now, {}, 10, at(0)); };
    CHECK(of({level("cpu", 100), level("requests", 1'000)}).to == 20);
    CHECK(of({level("cpu", 25), level("requests", 4'000)}).to == 5);
    CHECK(of({level("cpu", 10), level("requests", 10'000)}).to == 10);
    CHECK(of({level("cpu", 10)}).to == 10);
    CHECK(of({level("cpu", 10)}).why == reason::unknown);
    CHECK(of({level("cpu", 100)}).to == 20);
    p.allow.down = false;
    CHECK(of({level("cpu", 25), level("requests", 4'000)}).why == reason::disabled);
}

// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
TEST_CASE("as AWS: missing data is unknown, breaching or not breaching")
{
    const policy p = steps();
    CHECK(decide(p, {}, {}, 10, at(0)).why == reason::unknown);
    policy q = p;
    q.up = (sc::mean("cpu") >= 60).if_missing(sc::when_missing::holds);
    CHECK(decide(q, {}, {}, 10, at(0)).to == 11);
    q.up = (sc::mean("cpu") >= 60).if_missing(sc::when_missing::fails);
    q.bands = {};
    q.down = (sc::mean("cpu") <= 40).if_missing(sc::when_missing::fails);
    CHECK(decide(q, {}, {}, 10, at(0)).verdict == verdict::steady);
}

}  // namespace as_aws_test

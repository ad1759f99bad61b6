// SPDX-License-Identifier: MIT
//
// The values of the JSON files in this folder. Their names are those of the files.

#ifndef WAYBILL_TESTS_GOLDEN_SCALING_VALUES_HPP
#define WAYBILL_TESTS_GOLDEN_SCALING_VALUES_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <waybill/scaling.hpp>

namespace golden_scaling {

namespace sc = waybill::scaling;
using waybill::duration;
using waybill::wall_time;

inline constexpr wall_time noon = wall_time::at(duration::seconds(1'709'208'000));

/// A first policy of a user.
inline sc::policy policy_small()
{
    return {.up = sc::any_of(sc::mean("orders") > sc::per_instance(100), sc::highest("age") > 300),
            .down = sc::all_of(sc::highest("orders") < 10, sc::highest("mails") < 10),
            .min_points = 5,
            .cooldown = {.up = duration::seconds(60), .down = duration::seconds(600)},
            .instances = {1, 20},
            .stabilise = {},
            .zero_after = {},
            .after_failure = {}};
}

/// All fields of a policy, except a ladder.
inline sc::policy policy_full()
{
    const auto s = [](std::int64_t n) { return duration::seconds(n); };
    sc::policy p;
    p.up = sc::any_of(
        (sc::mean("orders") > sc::by_instances({{1, 100}, {4, 350}, {8, 600.5}})).with_points(7),
        (sc::highest("age") >= 300).not_older_than(s(90)).if_missing(sc::when_missing::holds),
        sc::at_least_of(2, sc::sum("a") > 1e6, sc::rate("a") > 0.25, sc::lowest("a") > -3),
        sc::all_of(sc::averaged(sc::mean("cpu")) > 80, !(sc::of(sc::statistic::age, "cpu") > 60)));
    p.down = sc::all_of(
        sc::last("orders") <= sc::per_instance(12.5),
        (sc::of(sc::statistic::variance, "b") < 2).if_missing(sc::when_missing::fails),
        sc::of(sc::statistic::first, "b") < 2, sc::of(sc::statistic::points, "b") >= 4,
        sc::of(sc::statistic::weight, "b") >= 4, sc::of(sc::statistic::coverage, "b") > 0.5,
        sc::of(sc::statistic::sampling_rate, "b") > 1);
    p.targets = {{sc::last("backlog"), 100, {0.1, 0.2}},
                 {sc::averaged(sc::mean("memory of \"each\", /in %/ \u00e4")), 60, {0, 0}}};
    p.min_points = 3;
    p.max_age = s(300);
    p.cooldown = {.up = s(60), .down = duration::milliseconds(600'500), .shared = true};
    p.instances = {0, 20};
    p.step = {.up = {.count = 2}, .down = {.percent = 12.5}};
    p.bands.up = {{sc::mean("orders") > 1'000, {.count = 5, .percent = 50}},
                  {sc::mean("orders") > 5'000, {.percent = 200}}};
    p.bands.down = {{sc::mean("orders") < 1, {.count = 3}}};
    p.stabilise = {.up = s(30), .down = s(300)};
    p.rate.up = {{{.count = 4}, s(60)}, {{.percent = 100}, s(900)}};
    p.rate.down = {{{.count = 1, .percent = 10}, s(60)}};
    p.warm_up = s(120);
    p.activation = sc::any_of(sc::last("orders") > 0, sc::last("mails") > 0);
    p.zero_after = s(3'600);
    p.allow = {true, false};
    p.if_unknown = 3;
    p.patience = s(240);
    p.after_failure = s(45);
    return p;
}

inline sc::policy policy_ladder()
{
    sc::policy p{.up = sc::averaged(sc::mean("dtu")) > 80,
                 .down = sc::mean("dtu") < 30,
                 .stabilise = {},
                 .zero_after = {},
                 .after_failure = {}};
    p.instances = {0, 3};
    p.ladder = {{"S0", 10}, {"S1", 20}, {"S2", 50}, {"S3", 100}};
    return p;
}

inline sc::state state_empty()
{
    return {};
}

/// A typical state during a day.
inline sc::state state_typical()
{
    sc::state s;
    s.last_id = 17;
    s.pending = sc::pending_command{{17, 4, 6}, noon, duration::seconds(60)};
    s.last_up = noon - duration::seconds(600);
    s.last_down = noon - duration::seconds(7'200);
    s.inactive_since = noon;
    for (const std::int64_t n : {0, 1, 2}) {
        const wall_time at = noon - duration::seconds(120 - 60 * n);
        s.highest.push({at, 9 - static_cast<std::uint64_t>(n)});
    }
    s.applied_changes.push({noon - duration::seconds(7'200), 3, 2});
    s.applied_changes.push({noon - duration::seconds(600), 2, 4});
    return s;
}

/// A state at its maximum, with the longest texts.
inline sc::state state_full()
{
    constexpr std::uint64_t most = UINT64_MAX;
    const wall_time long_ago = wall_time::lowest();  // its text has the maximum length
    sc::state s;
    s.last_id = most;
    s.pending =
        sc::pending_command{{most, most, most - 1}, long_ago, duration::nanoseconds(INT64_MIN + 1)};
    s.last_up = s.last_down = s.last_failure = s.warm_at = s.inactive_since = long_ago;
    s.warm_instances = most;
    for (std::uint64_t n = 0; n != sc::state::recommendations; ++n) {
        s.highest.push({long_ago, most - n});
        s.lowest.push({long_ago, most - sc::state::recommendations + n});
    }
    for (std::uint64_t n = 0; n != sc::state::changes; ++n)
        s.applied_changes.push({long_ago, most, most - n});
    return s;
}

/// The metrics of the decision. All views in it stay valid.
inline std::vector<sc::reading> known()
{
    sc::reading orders{.metric = "orders",
                       .points = 10,
                       .first = noon - duration::seconds(540),
                       .last = noon,
                       .timed = true};
    orders.set(sc::statistic::mean, 412.5);
    orders.set(sc::statistic::highest, 500);
    sc::reading age{.metric = "age",
                    .points = 3,
                    .first = noon - duration::seconds(120),
                    .last = noon - duration::milliseconds(500),
                    .timed = true};
    age.set(sc::statistic::highest, 12);
    sc::reading backlog{.metric = "backlog", .points = 6};
    backlog.set(sc::statistic::last, 640);
    return {orders, age, backlog};
}

/// The policy of the decision. It must outlive the decision.
inline sc::policy deciding_policy()
{
    sc::policy p = policy_small();
    p.targets = {{sc::last("backlog"), 100}};
    p.rate.up = {{{.count = 2}, duration::seconds(60)}};
    return p;
}

inline sc::decision decision(const sc::policy& p)
{
    const std::vector<sc::reading> metrics = known();
    sc::state s;
    s.applied_changes.push({noon - duration::seconds(20), 1, 2});
    return sc::decide(p, metrics, s, 2, noon);
}

inline sc::metric_message message_metric()
{
    return {"orders", "backlog", noon, 412.5};
}

inline sc::command_message message_command()
{
    return {"orders", {17, 4, 6}};
}

inline sc::result_message message_applied()
{
    return {"orders", 17, true, ""};
}

inline sc::result_message message_failed()
{
    return {"orders", 17, false, "quota exceeded"};
}

inline sc::autoscale_state autoscale_state()
{
    sc::autoscale_state s{.state = state_typical()};
    s.metrics = {{"orders", {{noon - duration::seconds(15), 412}, {noon, 0.25}}}, {"age", {}}};
    return s;
}

}  // namespace golden_scaling

#endif  // WAYBILL_TESTS_GOLDEN_SCALING_VALUES_HPP

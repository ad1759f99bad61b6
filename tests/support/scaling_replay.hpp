// SPDX-License-Identifier: MIT
//
// scaling_replay: two hours of a queue, minute by minute, and the decisions about it. A burst comes
// and goes. The age of the oldest message lags. One metric has no samples for a while, and one
// command fails.

#ifndef WAYBILL_TESTS_SUPPORT_SCALING_REPLAY_HPP
#define WAYBILL_TESTS_SUPPORT_SCALING_REPLAY_HPP

#include <cstdint>
#include <vector>

#include <waybill/scaling.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>

namespace tests_support {

namespace sc = waybill::scaling;

inline constexpr waybill::wall_time replay_start =
    waybill::wall_time::at(waybill::duration::seconds(1'709'208'000));

inline sc::policy replay_policy()
{
    using waybill::duration;
    sc::policy p{
        .up = sc::any_of(sc::mean("orders") > sc::per_instance(100), sc::highest("age") > 300),
        .down = sc::all_of(sc::mean("orders") < sc::per_instance(40), sc::highest("age") < 60),
        .min_points = 3,
        .max_age = duration::seconds(180),
        .cooldown = {.up = duration::seconds(120), .down = duration::seconds(600)},
        .instances = {1, 10},
        .stabilise = {}};
    p.step.up = {.percent = 50};
    p.bands.up = {{sc::mean("orders") > sc::per_instance(300), {.count = 4}}};
    p.stabilise.down = duration::seconds(300);
    p.rate.up = {{{.count = 3}, duration::seconds(300)}};
    p.after_failure = duration::seconds(120);
    return p;
}

/// The decisions of all minutes. After each minute, `restart` may replace the state. The policy
/// must outlive the decisions.
template <class F>
std::vector<sc::decision> replay(const sc::policy& p, F restart)
{
    using window = waybill::sliding_window<waybill::stats<std::int64_t>>;
    using waybill::duration;
    window orders({.span = duration::seconds(600)});
    window age({.span = duration::seconds(600)});
    sc::state state;
    std::uint64_t instances = 1;
    std::vector<sc::decision> decisions;
    for (std::int64_t minute = 0; minute != 120; ++minute) {
        const waybill::wall_time now = replay_start + duration::seconds(60 * minute);
        const bool burst = minute >= 15 && minute < 45;
        orders.insert(now, burst ? 1'500 - 7 * minute : 30 + minute % 7);
        if (minute < 70 || minute >= 80) age.insert(now, minute >= 20 && minute < 50 ? 400 : 12);
        const sc::reading known[]{sc::read("orders", orders.query(now)),
                                  sc::read("age", age.query(now))};
        sc::decision d = sc::decide(p, known, state, instances, now);
        state.on(d);
        if (d.command && d.command->id == 3) {
            state.on(sc::failed{d.command->id}, now + duration::seconds(20));
        } else if (d.command) {
            instances = d.command->to;
            state.on(sc::applied{d.command->id}, now + duration::seconds(20));
        }
        restart(state);
        decisions.push_back(std::move(d));
    }
    return decisions;
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_SCALING_REPLAY_HPP

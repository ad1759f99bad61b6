// SPDX-License-Identifier: MIT
//
// Helpers for tests of scaling: times in seconds, metrics with one constant value, and a loop that
// applies decisions to a state.

#ifndef WAYBILL_TESTS_SUPPORT_SCALING_HPP
#define WAYBILL_TESTS_SUPPORT_SCALING_HPP

#include <cstdint>
#include <list>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/scaling/decide.hpp>

namespace tests_support {

[[nodiscard]] constexpr waybill::duration seconds(std::int64_t n)
{
    return waybill::duration::seconds(n);
}

/// The time `n` seconds after a fixed time of this century.
[[nodiscard]] constexpr waybill::wall_time at(std::int64_t n)
{
    return waybill::wall_time::at(seconds(1'700'000'000) + seconds(n));
}

/// A reading of ten points with this value. With `last`, the time of its last point.
[[nodiscard]] inline waybill::scaling::reading level(std::string_view metric, double value)
{
    using enum waybill::scaling::statistic;
    waybill::scaling::reading r{.metric = metric, .points = 10};
    for (const auto s : {mean, highest, lowest, first, last}) r.set(s, value);
    r.set(points, 10.0);
    return r;
}
[[nodiscard]] inline waybill::scaling::reading level(std::string_view metric, double value,
                                                     waybill::wall_time last)
{
    waybill::scaling::reading r = level(metric, value);
    r.timed = true;
    r.first = last - seconds(540);
    r.last = last;
    return r;
}

using readings = std::vector<waybill::scaling::reading>;

/// A policy with static lifetime, since the rows of a decision are views of it.
[[nodiscard]] inline const waybill::scaling::policy& kept(waybill::scaling::policy p)
{
    static std::list<waybill::scaling::policy> all;
    return all.emplace_back(std::move(p));
}

/// A scaler whose commands are applied at once: the complete loop of a program.
template <class Policy>
struct loop {
    Policy policy;
    std::uint64_t instances = 1;
    waybill::scaling::state state{};

    waybill::scaling::decision ask(const readings& now_known, waybill::wall_time now) const
    {
        return waybill::scaling::decide(policy, now_known, state, instances, now);
    }
    waybill::scaling::decision step(const readings& now_known, waybill::wall_time now)
    {
        waybill::scaling::decision d = ask(now_known, now);
        state.on(d);
        if (d.command) {
            instances = d.to;
            state.on(waybill::scaling::applied{d.command->id}, now);
        }
        return d;
    }
};
template <class Policy, class... More>
loop(Policy, More...) -> loop<Policy>;

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_SCALING_HPP

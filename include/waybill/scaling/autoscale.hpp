// SPDX-License-Identifier: MIT
//
// autoscale: measures, decides, resizes and confirms at the interval of a policy.
//
//     const auto count = [&] { return platform.instances("orders"); };
//     const auto resize = [&](const scaling::command& c) {
//         return platform.resize("orders", c.to);
//     };
//     scaling::autoscale({{"orders", [&] { return broker.depth("orders"); }},
//                         {"age", [&] { return broker.oldest("orders"); }}},
//                        policy, state, count, resize, env);
//
//   1. A source that fails adds no sample. If its metric becomes unknown, no instance is removed.
//      If the number of instances is unknown, no decision is made in that round.
//   2. Each decision is stored before its command is executed. If it cannot be stored, the command
//      is not executed. A killed autoscaler continues with the stored state.
//   3. A command without a result blocks further ones until `count` equals its number, or until
//      `patience` has passed.
//   4. At most window / every + 1 samples of each source are stored, whatever the clock does.
//
// Not possible: to remove samples that a source measured wrongly, or to prevent that two
// autoscalers scale the same resource (use a lease).

#ifndef WAYBILL_SCALING_AUTOSCALE_HPP
#define WAYBILL_SCALING_AUTOSCALE_HPP

#include <initializer_list>

#include <waybill/scaling/autoscale_report.hpp>
#include <waybill/scaling/autoscale_state.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/autoscale_calls.hpp>
#include <waybill/scaling/detail/autoscale_loop.hpp>
#include <waybill/scaling/detail/state_place.hpp>
#include <waybill/scaling/metric_source.hpp>
#include <waybill/scaling/policy.hpp>

namespace waybill::inline v0_2::scaling {

namespace detail {

template <class Sources, class Policy, class State, class Count, class Resize, class Environment,
          class Observe, class Report>
void run_autoscale(Sources& sources, const Policy& p, State& s, Count& count, Resize& resize,
                   Environment& env, Observe& observe, Report& report, bool once)
{
    autoscale_loop<Sources, Policy, state_place<State>, Environment, Count, Resize, Observe,
                   Report>(sources, p, state_place<State>(s), env, count, resize, observe, report)
        .run(once);
}

}  // namespace detail

/// Makes one round at once and one after each interval `policy.every`, until the environment
/// requests a stop. A round that takes longer delays the next one. Adds to `report`, which is
/// complete also if a callable throws; a further call then continues.
///
/// `sources`: pairs of a name and a callable that returns a number, a std::optional or a result of
/// a number. `s`: an `autoscale_state`, or a `state_store`, loaded at each round. `count()` returns
/// the current number of instances in the same forms. `resize(command)` returns a fault, void or a
/// `resize_outcome`: a fault is a failure, `cancelled` and `pending` leave the command without a
/// result. `observe(decision)` is called after the decision was stored and
/// its command was executed, so an observer that throws or is slow delays no command.
///
/// Refused (see `refused`): a policy that `validate` refuses, two sources with one name, a metric
/// without a source, and more `min_points` than the window has samples.
template <class Sources, condition Up, condition Down, class State, class Count, class Resize,
          class Environment, class Observe>
void autoscale(Sources&& sources, const basic_policy<Up, Down>& p, State& s, Count&& count,
               Resize&& resize, Environment&& env, Observe&& observe, autoscale_report& report)
{
    detail::run_autoscale(sources, p, s, count, resize, env, observe, report, false);
}
template <condition Up, condition Down, class State, class Count, class Resize, class Environment,
          class Observe>
void autoscale(std::initializer_list<metric_source> sources, const basic_policy<Up, Down>& p,
               State& s, Count&& count, Resize&& resize, Environment&& env, Observe&& observe,
               autoscale_report& report)
{
    detail::run_autoscale(sources, p, s, count, resize, env, observe, report, false);
}

/// The same with a new report.
template <class Sources, condition Up, condition Down, class State, class Count, class Resize,
          class Environment, class Observe = detail::ignore_decision,
          class Report = autoscale_report>
Report autoscale(Sources&& sources, const basic_policy<Up, Down>& p, State& s, Count&& count,
                 Resize&& resize, Environment&& env, Observe&& observe = {})
{
    Report report;
    detail::run_autoscale(sources, p, s, count, resize, env, observe, report, false);
    return report;
}
template <condition Up, condition Down, class State, class Count, class Resize, class Environment,
          class Observe = detail::ignore_decision, class Report = autoscale_report>
Report autoscale(std::initializer_list<metric_source> sources, const basic_policy<Up, Down>& p,
                 State& s, Count&& count, Resize&& resize, Environment&& env,
                 Observe&& observe = {})
{
    Report report;
    detail::run_autoscale(sources, p, s, count, resize, env, observe, report, false);
    return report;
}

/// Makes one round: for an event loop, or for several resources in turn. Call it at the interval
/// `policy.every`.
template <class Sources, condition Up, condition Down, class State, class Count, class Resize,
          class Environment, class Observe = detail::ignore_decision,
          class Report = autoscale_report>
Report autoscale_once(Sources&& sources, const basic_policy<Up, Down>& p, State& s, Count&& count,
                      Resize&& resize, Environment&& env, Observe&& observe = {})
{
    Report report;
    detail::run_autoscale(sources, p, s, count, resize, env, observe, report, true);
    return report;
}
template <condition Up, condition Down, class State, class Count, class Resize, class Environment,
          class Observe = detail::ignore_decision, class Report = autoscale_report>
Report autoscale_once(std::initializer_list<metric_source> sources, const basic_policy<Up, Down>& p,
                      State& s, Count&& count, Resize&& resize, Environment&& env,
                      Observe&& observe = {})
{
    Report report;
    detail::run_autoscale(sources, p, s, count, resize, env, observe, report, true);
    return report;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_AUTOSCALE_HPP

// SPDX-License-Identifier: MIT
//
// scaling: decides how many instances of a service are needed, from recent metrics.
//
// Conditions compare statistics of metrics with thresholds, in three-valued logic, and record each
// comparison. A policy combines conditions with bounds, steps, rate limits and cooldowns. `decide`
// computes a decision and its reasons from a policy, the metrics and the stored state.

// Index, written by tests/api --write:
//
//   scaling/autoscale.hpp
//     void autoscale(sources, p, s, count, resize, env, observe, report)
//     Report autoscale(sources, p, s, count, resize, env, observe)
//     Report autoscale_once(sources, p, s, count, resize, env, observe)
//
//   scaling/autoscale_report.hpp
//     struct autoscale_report
//
//   scaling/autoscale_state.hpp
//     struct metric_samples
//     struct autoscale_state
//     concept state_store
//
//   scaling/bounded_list.hpp
//     class bounded_list
//
//   scaling/change.hpp
//     struct per_direction
//     struct change
//     struct rate_limit
//     std::uint64_t step_of(const change& c, std::uint64_t instances)
//     std::uint64_t limit_of(const change& c, std::uint64_t instances)
//
//   scaling/clash.hpp
//     struct clash
//
//   scaling/command.hpp
//     struct command
//     struct applied
//     struct failed
//     enum resize_outcome { applied, failed, pending }
//     enum command_result { applied, stale, unknown }
//     enum admission { fresh, duplicate, late, moved, idle }
//     admission admit(const command& c, std::uint64_t last, std::uint64_t instances)
//
//   scaling/condition.hpp
//     concept condition
//     enum when_missing { unknown, holds, fails }
//     struct comparison
//     class rule
//     bool is_set(const C& c)
//     struct measured
//     measured of(statistic s, std::string metric)
//     measured mean(std::string m)
//     measured highest(std::string m)
//     measured lowest(std::string m)
//     measured sum(std::string m)
//     measured last(std::string m)
//     measured rate(std::string m)
//     measured averaged(measured m)
//     struct one_of_both
//     struct all_of_both
//     auto any_of(C c, More... more)
//     auto all_of(C c, More... more)
//     rule at_least_of(std::uint64_t wanted, Rules... rules)
//
//   scaling/decide.hpp
//     decision decide(p, metrics, s, instances, now)
//
//   scaling/decision.hpp
//     enum verdict { steady, up, down, held }
//     enum reason { nothing, unknown, pending, failed, disabled, warming, stabilising, flapping,...
//     struct decision
//
//   scaling/evidence.hpp
//     enum relation { above, at_least, below, at_most }
//     bool holds(double value, relation r, double limit)
//     enum missing_part { nothing, metric, points, fresh_points, value, limit, samples }
//     enum role { up, down, activation, target, projected }
//     struct evidence
//     bool is_only_a_bound(const evidence& e)
//
//   scaling/flapping.hpp
//     std::optional<clash> flapping(up, down, instances, ladder)
//
//   scaling/known_metrics.hpp
//     std::vector<string_view> metrics_of(const basic_policy<Up, Down>& p)
//     std::optional<policy_error> unknown_metric(p, names)
//
//   scaling/messages.hpp
//     struct metric_message
//     struct command_message
//     struct result_message
//     command_result record(state& s, const result_message& m, wall_time now)
//
//   scaling/metric_source.hpp
//     class metric_source
//
//   scaling/policy.hpp
//     struct target
//     struct band
//     struct bounds
//     struct cooldowns
//     struct capacity_tier
//     struct basic_policy
//     using policy
//     basic_policy<Up, Down> policy_of(Up up, Down down)
//     std::uint64_t capacity_at(const std::vector<capacity_tier>& ladder, std::uint64_t at)
//     std::uint64_t tier_for(const std::vector<capacity_tier>& ladder, std::uint64_t capacity)
//     std::optional<std::uint64_t> tier_named(ladder, name)
//
//   scaling/policy_error.hpp
//     struct policy_error
//
//   scaling/reading.hpp
//     enum statistic { mean, highest, lowest, sum, first, last, variance, points, weight, rate,...
//     constant statistics
//     struct reading
//     reading read(string_view metric, const window_summary<Measure, wall_time>& s)
//
//   scaling/situation.hpp
//     struct situation
//
//   scaling/state.hpp
//     struct recommendation
//     struct applied_change
//     struct pending_command
//     struct state
//
//   scaling/threshold.hpp
//     struct threshold_step
//     class threshold
//     threshold per_instance(double value)
//     threshold by_instances(std::initializer_list<threshold_step> steps)
//     threshold of_instances(threshold::function f)
//
//   scaling/tribool.hpp
//     enum tribool { no, unknown, yes }
//     tribool truth_of(bool holds)
//     tribool both(tribool a, tribool b)
//     tribool either(tribool a, tribool b)
//     tribool opposite(tribool t)
//     tribool at_least(std::uint64_t wanted, std::uint64_t yes, std::uint64_t unknown)

#ifndef WAYBILL_SCALING_HPP
#define WAYBILL_SCALING_HPP

#include <waybill/scaling/autoscale.hpp>
#include <waybill/scaling/autoscale_report.hpp>
#include <waybill/scaling/autoscale_state.hpp>
#include <waybill/scaling/bounded_list.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/clash.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/decide.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/desired.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/flapping.hpp>
#include <waybill/scaling/known_metrics.hpp>
#include <waybill/scaling/messages.hpp>
#include <waybill/scaling/metric_source.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/policy_error.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/situation.hpp>
#include <waybill/scaling/state.hpp>
#include <waybill/scaling/threshold.hpp>
#include <waybill/scaling/tribool.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_SCALING_HPP

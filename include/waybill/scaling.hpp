// SPDX-License-Identifier: MIT
//
// scaling: decides how many instances of a service are needed, from recent metrics.
//
// Conditions compare statistics of metrics with thresholds, in three-valued logic, and record each
// comparison. A policy combines conditions with bounds, steps, rate limits and cooldowns. `decide`
// computes a decision and its reasons from a policy, the metrics and the stored state.

#ifndef WAYBILL_SCALING_HPP
#define WAYBILL_SCALING_HPP

#include <waybill/scaling/change.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/decide.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/desired.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/few.hpp>
#include <waybill/scaling/flapping.hpp>
#include <waybill/scaling/known_metrics.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/state.hpp>
#include <waybill/scaling/threshold.hpp>
#include <waybill/scaling/tribool.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_SCALING_HPP

// SPDX-License-Identifier: MIT
//
// The door to scaling/: what a metric did lately, and so what.
//
// Conditions over metrics, with three answers and a row of numbers for each comparison; policies,
// and the decisions that follow from them.

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
#include <waybill/scaling/truth.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_SCALING_HPP

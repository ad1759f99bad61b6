// SPDX-License-Identifier: MIT
//
// The door to scaling/: what a metric did lately, and so what.
//
// Conditions over metrics, with three answers and a row of numbers for each comparison.

#ifndef WAYBILL_SCALING_HPP
#define WAYBILL_SCALING_HPP

#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/threshold.hpp>
#include <waybill/scaling/truth.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_SCALING_HPP

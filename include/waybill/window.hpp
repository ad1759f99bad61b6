// SPDX-License-Identifier: MIT
//
// window: exact and approximate statistics of recent samples.
//
// `sliding_window` contains samples and returns a measure of those in its span; `measures` composes
// the statistics. Other headers: exact quantiles and quantile sketches, windows by key
// (`window_set`), merged windows, bins of constant width, and windows stored as bytes.

#ifndef WAYBILL_WINDOW_HPP
#define WAYBILL_WINDOW_HPP

#include <waybill/version.hpp>
#include <waybill/window/amortised.hpp>
#include <waybill/window/bins.hpp>
#include <waybill/window/log_histogram.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/merged_windows.hpp>
#include <waybill/window/quantile.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/slotted_window.hpp>
#include <waybill/window/snapshot_bytes.hpp>
#include <waybill/window/wide_sum.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_set.hpp>
#include <waybill/window/window_snapshot.hpp>
#include <waybill/window/window_summary.hpp>
#include <waybill/window/worst_case.hpp>

#endif  // WAYBILL_WINDOW_HPP

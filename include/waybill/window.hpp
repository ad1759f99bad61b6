// SPDX-License-Identifier: MIT
//
// window: exact and approximate statistics of recent samples.
//
// `sliding_window` contains samples and returns a measure of those in its span; `measures` composes
// the statistics. Other headers: exact quantiles and quantile sketches, windows by key
// (`window_set`), merged windows, bins of constant width, and windows stored as bytes.

// Index, written by tests/api --write:
//
//   window/amortised.hpp
//     class amortised
//
//   window/bins.hpp
//     struct bin_options
//     struct bin
//     enum binned { added, no_room, not_finite, no_weight }
//     struct bin_losses
//     class bins
//
//   window/log_histogram.hpp
//     class log_histogram
//
//   window/measures.hpp
//     concept measure
//     struct counted
//     struct weighted_count
//     struct summed
//     struct compensated
//     struct extremes
//     struct moments
//     struct ends
//     struct measures
//     using stats
//     using weighted_stats
//
//   window/merged_windows.hpp
//     sliding_window<M, Time, How> merged(a, b)
//     merged(a, b)
//
//   window/quantile.hpp
//     auto quantile(const S& samples, double q)
//     auto quantile(const W& window, double q, typename W::time_type now)
//
//   window/sample.hpp
//     struct sample
//     struct weighted_sample
//
//   window/sliding_window.hpp
//     class sliding_window
//
//   window/slotted_window.hpp
//     struct slot_options
//     class slotted_window
//
//   window/snapshot_error.hpp
//     struct snapshot_error
//
//   window/window_options.hpp
//     struct window_options
//     enum insert_result { newest, late, replaced, too_old, future, not_finite, no_weight }
//     struct window_losses
//
//   window/window_set.hpp
//     struct window_set_options
//     class window_set
//
//   window/window_snapshot.hpp
//     std::string save(const W& w)
//     result<W, snapshot_error> load(string_view bytes, const window_options& options)
//
//   window/window_summary.hpp
//     struct window_summary
//
//   window/worst_case.hpp
//     class worst_case

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
#include <waybill/window/snapshot_error.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_set.hpp>
#include <waybill/window/window_snapshot.hpp>
#include <waybill/window/window_summary.hpp>
#include <waybill/window/worst_case.hpp>

#endif  // WAYBILL_WINDOW_HPP

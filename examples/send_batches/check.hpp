// SPDX-License-Identifier: MIT
//
// check: verifies the results of a run, with the content of the queue if it can be read.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_CHECK_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_CHECK_HPP

#include <cstdint>
#include <vector>

#include "destination.hpp"
#include "input.hpp"
#include "work.hpp"
#include <waybill/batch.hpp>

namespace send_batches {

/// The number of batches with known sizes: each batch is filled before the next one begins. Lines
/// that are too large are left out.
[[nodiscard]] std::uint64_t fewest(const std::vector<trace>& lines, const destination& to,
                                   const waybill::batch_limits& l);

/// Checks that each line has exactly one outcome. Lines after a stop need none.
void check_report(std::uint64_t lines, results& r);

/// Reads the queue back, and compares it with the lines of the input.
void check_queue(const destination& to, const std::vector<trace>& lines, results& r);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_CHECK_HPP

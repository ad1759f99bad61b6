// SPDX-License-Identifier: MIT
//
// check: whether it went as it should. It takes nobody's word where it can look for itself.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_CHECK_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_CHECK_HPP

#include <cstdint>
#include <vector>

#include "destination.hpp"
#include "input.hpp"
#include "work.hpp"
#include <waybill/batch.hpp>

namespace send_batches {

/// Batches, by one who knows every size: fill, and begin anew when full. What fits nowhere is left
/// out.
[[nodiscard]] std::uint64_t fewest(const std::vector<trace>& lines, const destination& to,
                                   const waybill::batch_limits& l);

/// Each line has come to exactly one end; of those behind a stop that is not asked.
void check_report(std::uint64_t lines, results& r);

/// Reads the queue back and holds it against what was read from the input.
void check_queue(const destination& to, const std::vector<trace>& lines, results& r);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_CHECK_HPP

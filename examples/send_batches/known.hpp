// SPDX-License-Identifier: MIT
//
// known: the calibration of a broker before the first batch, and its file for the next run.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_KNOWN_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_KNOWN_HPP

#include <string>

#include "options.hpp"
#include <waybill/batch.hpp>

namespace send_batches {

/// Throws a complaint if --calibration cannot be written at the end, or is a file that must not be
/// changed.
void expect_known(const options& o, const std::string& input);

/// The calibration of an earlier run, or an empty one. Throws a complaint if it cannot be read.
[[nodiscard]] waybill::calibration known_from(const std::string& file);

/// The same for a destination with these limits. Without a reported and a learnt limit, the limit
/// is a guess. It is marked as undocumented, so that it is never used as a real limit.
[[nodiscard]] waybill::calibration or_guess(const waybill::calibration& known,
                                            const waybill::batch_limits& limits);

/// Whether its limit equals that guess. A broker may have reported the same number.
[[nodiscard]] bool is_guess(const waybill::calibration& c);

/// Writes the file, if its name is not empty. Throws a complaint if that fails; the old file then
/// stays unchanged.
void keep(const std::string& file, const waybill::calibration& learnt);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_KNOWN_HPP

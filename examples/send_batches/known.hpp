// SPDX-License-Identifier: MIT
//
// known: what is known of a broker before anything is sent, and the file that keeps it for the next
// run.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_KNOWN_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_KNOWN_HPP

#include <string>

#include <waybill/batch.hpp>

#include "options.hpp"

namespace send_batches {

/// Throws a complaint if --calibration cannot be written at the end, or is a file that must stay as
/// it is.
void expect_known(const options& o, const std::string& input);

/// What an earlier run has learnt, or nothing. Throws a complaint if that cannot be read.
[[nodiscard]] waybill::calibration known_from(const std::string& file);

/// The same for a destination with these limits. Where nobody has told one, and none was learnt, it
/// is a guess; that is noted as no documented limit, so that it is never taken for one.
[[nodiscard]] waybill::calibration or_guess(const waybill::calibration& known,
                                            const waybill::batch_limits& limits);

/// Whether its limit is that guess still, or what a broker has told and happens to be the same.
[[nodiscard]] bool is_guess(const waybill::calibration& c);

/// Writes the file, if there is one to be written. Throws a complaint if that fails; what was there
/// is there then.
void keep(const std::string& file, const waybill::calibration& learnt);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_KNOWN_HPP

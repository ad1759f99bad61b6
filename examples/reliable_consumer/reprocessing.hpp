// SPDX-License-Identifier: MIT
//
// reprocessing: repairs the rule of the ledger, and handles the dead letters again.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_REPROCESSING_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_REPROCESSING_HPP

#include "options.hpp"
#include <waybill/consume/dead_letter_run.hpp>

namespace reliable_consumer {

/// Handles each dead letter of the folder `o.db` again, in one transaction with its removal. Killed
/// at any point, it continues when it is called again.
[[nodiscard]] waybill::dead_letter::run_report reprocess(const options& o);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_REPROCESSING_HPP

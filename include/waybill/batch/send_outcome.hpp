// SPDX-License-Identifier: MIT
//
// send_outcome: the result of the function that sends one batch, for `send_all`.

#ifndef WAYBILL_BATCH_SEND_OUTCOME_HPP
#define WAYBILL_BATCH_SEND_OUTCOME_HPP

#include <variant>

#include <waybill/batch/batch_sender.hpp>

namespace waybill::inline v0_2 {

/// The outcome of one batch. `send_all` sets the attempt number. The array of a span
/// (`too_large::item_sizes`, `partial::failed`) must stay valid until the function is called again.
using send_outcome =
    std::variant<batch_sender::accepted, batch_sender::too_large, batch_sender::partial,
                 batch_sender::throttled, batch_sender::failed, batch_sender::outcome_unknown>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_OUTCOME_HPP

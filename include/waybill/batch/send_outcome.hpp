// SPDX-License-Identifier: MIT
//
// send_outcome: the result of the function that sends one batch, for `send_all`.

#ifndef WAYBILL_BATCH_SEND_OUTCOME_HPP
#define WAYBILL_BATCH_SEND_OUTCOME_HPP

#include <waybill/batch/sending.hpp>
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2 {

/// The outcome of one batch. `send_all` sets the attempt number. The array of a span
/// (`too_large::item_sizes`, `partial::failed`) must stay valid until the function is called again.
using send_outcome = variant<batch_sender_types::accepted, batch_sender_types::too_large,
                             batch_sender_types::partial, batch_sender_types::throttled,
                             batch_sender_types::failed, batch_sender_types::outcome_unknown>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_OUTCOME_HPP

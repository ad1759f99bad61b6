// SPDX-License-Identifier: MIT
//
// sweeping: removes the states that killed workers have left in finished sessions.
//
// Every system with a pipeline needs it. If a worker ends after it has completed the last message
// of a session and before it clears the state, the state stays: no further message arrives.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_SWEEPING_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_SWEEPING_HPP

#include <cstdint>

#include "shop_services.hpp"

namespace order_pipeline {

/// Returns the number of removed states. Requires: the queue is empty, and no process sends.
[[nodiscard]] std::uint64_t sweep(shop_services& w);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_SWEEPING_HPP

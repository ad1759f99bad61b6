// SPDX-License-Identifier: MIT
//
// sweeping: removes the states of sessions that are over, where nobody was left to do it.
//
// Every system with a pipeline needs it. A worker that ends after it has completed the last message
// of a session, and before it clears the state, leaves that state: no message comes any more.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_SWEEPING_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_SWEEPING_HPP

#include <cstdint>

#include "shop_services.hpp"

namespace order_pipeline {

/// How many there were. Requires: nothing is in the queue, and nobody sends.
[[nodiscard]] std::uint64_t sweep(shop_services& w);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_SWEEPING_HPP

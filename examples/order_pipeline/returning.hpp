// SPDX-License-Identifier: MIT
//
// returning: brings parked steps back, whole sessions at a time.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_RETURNING_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_RETURNING_HPP

#include <cstdint>

#include "options.hpp"
#include "shop_services.hpp"

namespace order_pipeline {

struct returned {
    std::uint64_t sessions = 0;
    std::uint64_t letters = 0;
    std::uint64_t batches = 0;
};

/// Drains the broker's own dead letters, makes a plan of all letters, says what it is, and sends
/// them, unless that was all that was asked for. Killed anywhere, it goes on when it is called
/// again.
[[nodiscard]] returned bring_back(shop_services& w, const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_RETURNING_HPP

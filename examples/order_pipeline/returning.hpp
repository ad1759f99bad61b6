// SPDX-License-Identifier: MIT
//
// returning: redrives dead-lettered steps, whole sessions at a time.

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

/// Drains the broker's own dead letters, plans the redrive of all letters, prints the plan, and
/// sends them unless this is a dry run. After a kill at any point, the next call continues.
[[nodiscard]] returned bring_back(shop_services& w, const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_RETURNING_HPP

// SPDX-License-Identifier: MIT
//
// phases: the current phase of each worker, for the process that kills it.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP

#include <cstdint>
#include <string>

#include "../support/worker_page.hpp"
#include "options.hpp"

namespace order_pipeline {

enum class phase : std::uint8_t {
    asleep,   ///< It has no session.
    between,  ///< It has a session and no message.
    at_work,  ///< It has a message that is not settled.
};

using worker_place = support::worker_place<phase>;

/// One place for each worker.
struct phases : support::worker_page<phase> {
    explicit phases(const std::string& path) : worker_page(path, most_workers) {}
};

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP

// SPDX-License-Identifier: MIT
//
// worker_pool: starts the processes that work on the queue, and kills them at chosen points.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_POOL_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_POOL_HPP

#include <cstdint>
#include <functional>
#include <string>

#include "options.hpp"
#include "sessions_server.hpp"
#include "shop_services.hpp"

namespace order_pipeline {

struct casualties {
    std::uint64_t kills = 0;    ///< Kills with -9.
    std::uint64_t at_work = 0;  ///< Kills of workers with a message.
    std::uint64_t swept = 0;    ///< States of killed workers that were removed.
    double seconds = 0;
};

/// Called regularly. After a standstill of some seconds, with its reason.
using look_at = std::function<void(const std::string& why)>;

/// Returns when the queue is empty and all workers have ended. A worker that was ended from outside
/// is replaced. Throws the last fault of the workers if there is no progress.
[[nodiscard]] casualties work_off(shop_services& w, const options& o, sessions_server& server,
                                  const look_at& look);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_POOL_HPP

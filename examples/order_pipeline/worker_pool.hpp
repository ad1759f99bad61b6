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
    std::uint64_t kills = 0;    ///< With -9,
    std::uint64_t at_work = 0;  ///< so many of them with a message in hand.
    std::uint64_t swept = 0;    ///< States that nobody was left to clear.
    double seconds = 0;
};

/// Is called now and then, and where nothing has moved for some seconds with the reason.
using look_at = std::function<void(const std::string& why)>;

/// Returns when the queue is empty and all workers have ended. One that somebody else has ended is
/// replaced. Throws what the workers have run into where nothing moves any more.
[[nodiscard]] casualties work_off(shop_services& w, const options& o, sessions_server& server,
                                  const look_at& look);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_POOL_HPP

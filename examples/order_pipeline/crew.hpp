// SPDX-License-Identifier: MIT
//
// crew: the processes that work off the queue, and who kills them.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_CREW_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_CREW_HPP

#include <cstdint>
#include <functional>

#include "options.hpp"
#include "world.hpp"

namespace order_pipeline {

struct casualties {
    std::uint64_t kills = 0;    ///< With -9,
    std::uint64_t at_work = 0;  ///< so many of them with a message in hand.
    std::uint64_t swept = 0;    ///< States that nobody was left to clear.
    double seconds = 0;
};

/// Returns when the queue is empty and all workers have ended. `look` is called now and then.
[[nodiscard]] casualties work_off(world& w, const options& o, const std::function<void()>& look);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_CREW_HPP

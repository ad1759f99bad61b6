// SPDX-License-Identifier: MIT
//
// worker: takes sessions from the queue, and brings each as far as it comes.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_HPP

#include "options.hpp"

namespace order_pipeline {

/// Until it is told to end by SIGTERM.
void work(const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_HPP

// SPDX-License-Identifier: MIT
//
// worker: accepts sessions from the queue, and processes each until its end or failure.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_HPP

#include "options.hpp"

namespace order_pipeline {

/// Works until SIGTERM.
void work(const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_WORKER_HPP

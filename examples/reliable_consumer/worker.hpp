// SPDX-License-Identifier: MIT
//
// worker: one of the processes that share the partitions.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_WORKER_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_WORKER_HPP

#include "options.hpp"

namespace reliable_consumer {

/// Works until SIGTERM, and then releases its leases. Returns the exit code.
[[nodiscard]] int work(const options& o);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_WORKER_HPP

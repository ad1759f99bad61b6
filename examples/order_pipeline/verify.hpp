// SPDX-License-Identifier: MIT
//
// verify: checks the tables, independent of the workers.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_VERIFY_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_VERIFY_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "options.hpp"

namespace order_pipeline {

struct findings {
    std::uint64_t repeated = 0;        ///< Runs of steps after the first one.
    std::vector<std::string> wrong{};  ///< All violations, one text each.
};

/// Reads the tables again, with its own SQL. Each order is complete in the order of its steps; or
/// all steps from the failed one on are dead-lettered, each with its reason. Each step of an import
/// is done or dead-lettered. The queue and the states are empty. In PostgreSQL each step has run to
/// its end at most once.
[[nodiscard]] findings verify(const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_VERIFY_HPP

// SPDX-License-Identifier: MIT
//
// verify: what is in the tables, by somebody who believes nobody.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_VERIFY_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_VERIFY_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "options.hpp"

namespace order_pipeline {

struct findings {
    std::uint64_t repeated = 0;         ///< So many runs of steps were not the first one.
    std::vector<std::string> wrong{};   ///< All that must not be, in words.
};

/// Reads the tables anew, with SQL of its own. Each order is complete in the order of its steps, or
/// stopped with all steps from there on parked, each with its reason. Of an import each step is
/// done or parked. Nothing is left elsewhere. In PostgreSQL no step has run twice to its end.
[[nodiscard]] findings verify(const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_VERIFY_HPP

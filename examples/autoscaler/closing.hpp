// SPDX-License-Identifier: MIT
//
// closing: the summary of a run, and the check of its decisions.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_CLOSING_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_CLOSING_HPP

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "brain.hpp"
#include "options.hpp"
#include "record_file.hpp"
#include "ticks.hpp"

namespace autoscaler {

/// The decisions of a run from tick `first` on. Earlier ones belong to a previous run.
struct run_so_far {
    std::vector<std::vector<decided>> made{};
    std::size_t first = 0;
    memory start{};              ///< The state before the first tick of all.
    memory known{};              ///< The state after the last tick.
    rejections rejected_rows{};  ///< Rows that belong to no tick.
    std::vector<std::string> flaws{};
    std::string remarks{};  ///< Lines of the summary.
};

/// Prints new decisions, and adds them to the records.
void report_decisions(const options& o, record_file& records, const std::vector<decided>& made);

/// Prints the summary, checks all decisions, draws the chart. Returns the exit code.
[[nodiscard]] int conclude(const options& o, const rules& r, std::span<const tick> ticks,
                           const run_so_far& run);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_CLOSING_HPP

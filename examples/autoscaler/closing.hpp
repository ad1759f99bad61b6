// SPDX-License-Identifier: MIT
//
// closing: what is said of a run when it is over, and whether it was right.

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

/// What a run has done with the ticks from `first` on; before that another one has.
struct run_so_far {
    std::vector<std::vector<decided>> made{};
    std::size_t first = 0;
    memory start{};  ///< What was known before the first tick of all.
    memory known{};  ///< And after the last one.
    rejections rejected_rows{};  ///< Those that did not even come to a tick.
    std::vector<std::string> flaws{};
    std::string remarks{};  ///< Lines of the summary.
};

/// Tells decisions as they are made: to people, and into the records.
void report_decisions(const options& o, record_file& records, const std::vector<decided>& made);

/// Prints the summary, checks all decisions, draws the chart. What to exit with.
[[nodiscard]] int conclude(const options& o, const rules& r, std::span<const tick> ticks,
                        const run_so_far& run);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_CLOSING_HPP

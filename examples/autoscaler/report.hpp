// SPDX-License-Identifier: MIT
//
// report: decisions and their summary, as text lines and as JSON.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_REPORT_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_REPORT_HPP

#include <span>
#include <string>

#include "brain.hpp"
#include "history.hpp"
#include "trace.hpp"

namespace autoscaler {

/// One line without the newline, with the deciding comparisons or, `in_full`, with all of them.
[[nodiscard]] std::string line_of(const decided& d, bool in_full, bool coloured);
[[nodiscard]] std::string json_of(const decided& d);

/// A table with a line for each resource, and a line for each reason of a remark on rows.
[[nodiscard]] std::string summary_of(const history& h, std::span<const tick> ticks, const rules& r);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_REPORT_HPP

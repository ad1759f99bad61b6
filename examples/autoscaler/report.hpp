// SPDX-License-Identifier: MIT
//
// report: decisions and what they came to, as lines for people and as JSON.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_REPORT_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_REPORT_HPP

#include <span>
#include <string>

#include "brain.hpp"
#include "history.hpp"
#include "trace.hpp"

namespace autoscaler {

/// One line without its end, with the comparisons that have decided, or with all of them.
[[nodiscard]] std::string line_of(const decided& d, bool in_full, bool coloured);
[[nodiscard]] std::string json_of(const decided& d);

/// A table, one line a resource, and one for each reason why a row was not taken as it was.
[[nodiscard]] std::string summary_of(const history& h, std::span<const tick> ticks, const rules& r);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_REPORT_HPP

// SPDX-License-Identifier: MIT
//
// picture: a run as a chart: measurements, limits, decisions, and the reasons of held ones.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_PICTURE_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_PICTURE_HPP

#include <string>

#include "brain.hpp"
#include "history.hpp"

namespace autoscaler {

[[nodiscard]] std::string chart_of(const history& h, const rules& r);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_PICTURE_HPP

// SPDX-License-Identifier: MIT
//
// run: the three sources of samples. Each function returns the exit code. Each throws a complaint
// about an error that the user can correct.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_RUN_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_RUN_HPP

#include "brain.hpp"
#include "options.hpp"

namespace autoscaler {

[[nodiscard]] int run_trace(const options& o, rules r);
[[nodiscard]] int run_watch(const options& o, rules r);
[[nodiscard]] int run_live(const options& o, rules r);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_RUN_HPP

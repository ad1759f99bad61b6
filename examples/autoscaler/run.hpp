// SPDX-License-Identifier: MIT
//
// run: the three ways in which autoscaler comes to its samples. Each says what to exit with, and
// throws a complaint about what the user can do something about.

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

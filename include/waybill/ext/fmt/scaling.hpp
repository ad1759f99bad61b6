// SPDX-License-Identifier: MIT
//
// ext/fmt/scaling: scaling decisions with their evidence, commands, rules and thresholds as lines.
//
//     2024-02-29T12:40:00Z up 2 -> 4 (wanted 7, held by rate until 12:41): up yes: mean(orders)
//     412.5 > 200 yes [10 points 12:31-12:40], highest(age) 12 > 300 no [10 points 12:31-12:40]
//
// This is one line, broken here. A time on the UTC day of the decision is shown without its date,
// and without seconds if they are zero. Numbers are exact.

#ifndef WAYBILL_EXT_FMT_SCALING_HPP
#define WAYBILL_EXT_FMT_SCALING_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/scaling/describe.hpp>

#endif  // WAYBILL_EXT_FMT_SCALING_HPP

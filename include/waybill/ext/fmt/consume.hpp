// SPDX-License-Identifier: MIT
//
// ext/fmt/consume: checkpoints, dead letters, policies, reports and actions of consumers as lines.

#ifndef WAYBILL_EXT_FMT_CONSUME_HPP
#define WAYBILL_EXT_FMT_CONSUME_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/consume/describe.hpp>
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::batch_machine::action>
    : waybill::detail::line_formatter<waybill::batch_machine::action> {};
template <>
struct fmt::formatter<waybill::at_least_once_machine::action>
    : waybill::detail::line_formatter<waybill::at_least_once_machine::action> {};

#endif  // WAYBILL_EXT_FMT_CONSUME_HPP

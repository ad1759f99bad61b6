// SPDX-License-Identifier: MIT
//
// ext/fmt/tracking: values of the completion tracker and actions of the commit schedule as lines.

#ifndef WAYBILL_EXT_FMT_TRACKING_HPP
#define WAYBILL_EXT_FMT_TRACKING_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/tracking/describe.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::commit_schedule::action>
    : waybill::detail::line_formatter<waybill::commit_schedule::action> {};

#endif  // WAYBILL_EXT_FMT_TRACKING_HPP

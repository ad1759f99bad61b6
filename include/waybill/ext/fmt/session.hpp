// SPDX-License-Identifier: MIT
//
// ext/fmt/session: progress and failures of sessions, pipelines, redrives and sweeps as lines.

#ifndef WAYBILL_EXT_FMT_SESSION_HPP
#define WAYBILL_EXT_FMT_SESSION_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/session/describe.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::pipeline::action>
    : waybill::detail::line_formatter<waybill::pipeline::action> {};
template <>
struct fmt::formatter<waybill::redrive::action>
    : waybill::detail::line_formatter<waybill::redrive::action> {};
template <>
struct fmt::formatter<waybill::dead_letter_import::action>
    : waybill::detail::line_formatter<waybill::dead_letter_import::action> {};

#endif  // WAYBILL_EXT_FMT_SESSION_HPP

// SPDX-License-Identifier: MIT
//
// ext/fmt/queue: settlement, deferred messages, the receive planner and lock renewal as lines.

#ifndef WAYBILL_EXT_FMT_QUEUE_HPP
#define WAYBILL_EXT_FMT_QUEUE_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/queue/describe.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::settlement> : waybill::detail::line_formatter<waybill::settlement> {
};
template <>
struct fmt::formatter<waybill::settle_batches::action>
    : waybill::detail::line_formatter<waybill::settle_batches::action> {};
template <>
struct fmt::formatter<waybill::receive_planner::action>
    : waybill::detail::line_formatter<waybill::receive_planner::action> {};
template <>
struct fmt::formatter<waybill::lock_renewal::action>
    : waybill::detail::line_formatter<waybill::lock_renewal::action> {};

#endif  // WAYBILL_EXT_FMT_QUEUE_HPP

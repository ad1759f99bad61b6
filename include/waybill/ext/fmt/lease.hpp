// SPDX-License-Identifier: MIT
//
// ext/fmt/lease: leases and owners, calls to a lease store and the steps of a partition as lines.

#ifndef WAYBILL_EXT_FMT_LEASE_HPP
#define WAYBILL_EXT_FMT_LEASE_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/consume.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/lease/describe.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::lease_manager::lease_call>
    : waybill::detail::line_formatter<waybill::lease_manager::lease_call> {};
template <>
struct fmt::formatter<waybill::lease_manager::lease_answer>
    : waybill::detail::line_formatter<waybill::lease_manager::lease_answer> {};
template <>
struct fmt::formatter<waybill::lease_manager::action>
    : waybill::detail::line_formatter<waybill::lease_manager::action> {};
template <>
struct fmt::formatter<waybill::partition_lifecycle::action>
    : waybill::detail::line_formatter<waybill::partition_lifecycle::action> {};
template <>
struct fmt::formatter<waybill::processor::action>
    : waybill::detail::line_formatter<waybill::processor::action> {};

#endif  // WAYBILL_EXT_FMT_LEASE_HPP

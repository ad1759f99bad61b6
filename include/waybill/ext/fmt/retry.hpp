// SPDX-License-Identifier: MIT
//
// ext/fmt/retry: retries, retry budgets, circuit breakers and deliveries as lines.

#ifndef WAYBILL_EXT_FMT_RETRY_HPP
#define WAYBILL_EXT_FMT_RETRY_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/retry/describe.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::retry_action>
    : waybill::detail::line_formatter<waybill::retry_action> {};
template <>
struct fmt::formatter<waybill::retry_loop::action>
    : waybill::detail::line_formatter<waybill::retry_loop::action> {};

#endif  // WAYBILL_EXT_FMT_RETRY_HPP

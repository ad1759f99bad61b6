// SPDX-License-Identifier: MIT
//
// ext/fmt/wire: limits, error codes and refusals of services as lines.

#ifndef WAYBILL_EXT_FMT_WIRE_HPP
#define WAYBILL_EXT_FMT_WIRE_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/wire/describe.hpp>

#endif  // WAYBILL_EXT_FMT_WIRE_HPP

// SPDX-License-Identifier: MIT
//
// ext/fmt/core: times, faults, config errors, limits of batches and shared actions as lines.

#ifndef WAYBILL_EXT_FMT_CORE_HPP
#define WAYBILL_EXT_FMT_CORE_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/core/describe.hpp>
#include <waybill/ext/fmt/detail/line.hpp>

#endif  // WAYBILL_EXT_FMT_CORE_HPP

// SPDX-License-Identifier: MIT
//
// ext/fmt/window: samples, summaries, options and losses of windows as lines.

#ifndef WAYBILL_EXT_FMT_WINDOW_HPP
#define WAYBILL_EXT_FMT_WINDOW_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/window/describe.hpp>

#endif  // WAYBILL_EXT_FMT_WINDOW_HPP

// SPDX-License-Identifier: MIT
//
// package: includes fmt, or names the package if it is missing.

#ifndef WAYBILL_EXT_FMT_DETAIL_PACKAGE_HPP
#define WAYBILL_EXT_FMT_DETAIL_PACKAGE_HPP

#if !__has_include(<fmt/format.h>)
#error "waybill/ext/fmt needs the package fmt (Debian: libfmt-dev)"
#endif

#include <fmt/format.h>

#endif  // WAYBILL_EXT_FMT_DETAIL_PACKAGE_HPP

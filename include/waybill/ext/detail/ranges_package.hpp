// SPDX-License-Identifier: MIT
//
// ranges_package: names the package range-v3 if it is missing. Include it before range-v3.

#ifndef WAYBILL_EXT_DETAIL_RANGES_PACKAGE_HPP
#define WAYBILL_EXT_DETAIL_RANGES_PACKAGE_HPP

#if !__has_include(<range/v3/view/view.hpp>)
#error "waybill/ext/ranges needs the package range-v3 (Debian: librange-v3-dev)"
#endif

#endif  // WAYBILL_EXT_DETAIL_RANGES_PACKAGE_HPP

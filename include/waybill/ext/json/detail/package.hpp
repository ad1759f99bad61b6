// SPDX-License-Identifier: MIT
//
// package: includes nlohmann-json, or names the package if it is missing.

#ifndef WAYBILL_EXT_JSON_DETAIL_PACKAGE_HPP
#define WAYBILL_EXT_JSON_DETAIL_PACKAGE_HPP

#if !__has_include(<nlohmann/json.hpp>)
#error "waybill/ext/json needs the package nlohmann-json (Debian: nlohmann-json3-dev)"
#endif

#include <nlohmann/json.hpp>

#endif  // WAYBILL_EXT_JSON_DETAIL_PACKAGE_HPP

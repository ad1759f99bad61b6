// SPDX-License-Identifier: MIT

// expect: waybill/ext/json needs the package nlohmann-json (Debian: nlohmann-json3-dev)
// options: -nostdinc
//
// Without the folders of the system, no package is found.

#include <waybill/ext/json.hpp>

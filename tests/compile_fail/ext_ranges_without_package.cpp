// SPDX-License-Identifier: MIT

// expect: waybill/ext/ranges needs the package range-v3 (Debian: librange-v3-dev)
// options: -nostdinc
//
// Without the folders of the system, no package is found.

#include <waybill/ext/detail/ranges_package.hpp>

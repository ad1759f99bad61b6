// expect: waybill/ext/fmt needs the package fmt (Debian: libfmt-dev)
// options: -nostdinc
// SPDX-License-Identifier: MIT
//
// Without the folders of the system, no package is found.

#include <waybill/ext/fmt.hpp>

// SPDX-License-Identifier: MIT

// expect: waybill/ext/fmt needs the package fmt (Debian: libfmt-dev)
// options: -nostdinc
//
// Without the folders of the system, no package is found.

#include <waybill/ext/fmt.hpp>

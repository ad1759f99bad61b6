// expect: nodiscard
// SPDX-License-Identifier: MIT

#pragma GCC diagnostic error "-Wunused-result"

#include <waybill/core/result.hpp>

waybill::result<void> store();

void forget()
{
    store();
}

// expect: no viable conversion | could not convert
// SPDX-License-Identifier: MIT

#include <waybill/core/time.hpp>

waybill::duration timeout()
{
    return 30;
}

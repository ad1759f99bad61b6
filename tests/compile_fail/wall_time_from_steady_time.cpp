// expect: no viable conversion | could not convert
// SPDX-License-Identifier: MIT

#include <waybill/core/time.hpp>

waybill::wall_time stored(waybill::steady_time lease)
{
    return lease;
}

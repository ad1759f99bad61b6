// expect: no matching
// SPDX-License-Identifier: MIT

#include <waybill/batch/sending.hpp>

waybill::queued fits(bool yes)
{
    return waybill::queued(yes);
}

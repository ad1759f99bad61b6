// expect: no matching
// SPDX-License-Identifier: MIT

#include <waybill/batch/batch_sender.hpp>

waybill::batch_sender::queued fits(bool yes)
{
    return waybill::batch_sender::queued(yes);
}

// expect: relay: a clock was passed in place of an environment
// SPDX-License-Identifier: MIT

#include "complete_outbox.hpp"

waybill::steady_time now();

waybill::relay_report sends(outbox& s, waybill::batch_sender& sender)
{
    return waybill::relay(s, sender, accept, now);
}

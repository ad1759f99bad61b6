// expect: relay: transmit must accept a batch
// SPDX-License-Identifier: MIT

#include "complete_outbox.hpp"

waybill::relay_report sends(outbox& s, waybill::batch_sender& sender,
                            waybill::testing::manual_environment& env)
{
    return waybill::relay(
        s, sender, [](const auto&) { return true; }, env);
}

// expect: outbox store: the types message, claimed_rows and transaction
// SPDX-License-Identifier: MIT

#include "complete_outbox.hpp"

struct store {};

waybill::relay_report sends(store& s, waybill::batch_sender& sender,
                            waybill::testing::manual_environment& env)
{
    return waybill::relay(s, sender, accept, env);
}

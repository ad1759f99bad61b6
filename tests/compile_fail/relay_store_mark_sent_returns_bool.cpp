// expect: outbox store: mark_sent(claim, rows) and mark_dead
// SPDX-License-Identifier: MIT

#include "complete_outbox.hpp"

struct store : outbox {
    bool mark_sent(const claimed_rows&, const positions&);
};

waybill::relay_report sends(store& s, waybill::batch_sender& sender,
                            waybill::testing::manual_environment& env)
{
    return waybill::relay(s, sender, accept, env);
}

// expect: outbox store: hold(claim, rows, until) must exist
// SPDX-License-Identifier: MIT

#include "complete_outbox.hpp"

struct store : outbox {
    void hold(const claimed_rows&, const positions&, waybill::wall_time);
};

waybill::relay_report sends(store& s, waybill::batch_sender& sender,
                            waybill::testing::manual_environment& env)
{
    return waybill::relay(s, sender, accept, env);
}

// expect: outbox store: claim(max_rows, now, until) must exist
// SPDX-License-Identifier: MIT

#include "complete_outbox.hpp"

struct store : outbox {
    claimed_rows claim(std::uint64_t, waybill::wall_time, waybill::wall_time);
};

waybill::relay_report sends(store& s, waybill::batch_sender& sender,
                            waybill::testing::manual_environment& env)
{
    return waybill::relay(s, sender, accept, env);
}

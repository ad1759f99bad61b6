// expect: process_batch: `ask` must accept a number and return batch_policy::if_all_failed
// SPDX-License-Identifier: MIT

#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_batch.hpp>

waybill::batch_report processes(complete_store& s, const waybill::assignment& mine,
                                const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_batch(
        s, mine, events, [](auto&, const event&) { return waybill::fault{}; }, now, {},
        [](std::uint64_t failed) { return failed > 10; });
}

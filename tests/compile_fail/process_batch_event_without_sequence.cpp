// expect: process_batch: an event must have a `sequence` that is an integer
// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_batch.hpp>

waybill::batch_report processes(complete_store& s, const waybill::assignment& mine,
                                waybill::wall_time now)
{
    return waybill::process_batch(
        s, mine, std::vector<std::string>(), [](auto&, auto&) { return waybill::fault{}; }, now);
}

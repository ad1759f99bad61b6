// expect: store with crash records: store_crash_record(tx, key, row) must exist and return
// SPDX-License-Identifier: MIT

#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_batch.hpp>

struct store : complete_store {
    void store_crash_record(transaction&, const key&, const waybill::crash_record&);
};

waybill::batch_report processes(store& s, const waybill::assignment& mine,
                                const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_batch(
        s, mine, events, [](auto&, const event&) { return waybill::fault{}; }, now);
}

// expect: store: put(tx, letter) must exist and return result<void>
// SPDX-License-Identifier: MIT

#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_batch.hpp>

struct store : complete_store {
    bool put(transaction&, const waybill::dead_letter&);
};

waybill::batch_report processes(store& s, const waybill::assignment& mine,
                                const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_batch(
        s, mine, events, [](auto&, const event&) { return waybill::fault{}; }, now);
}

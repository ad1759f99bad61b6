// expect: store: advance(tx, key, from, to, epoch) must exist and return result<advance_outcome>
// SPDX-License-Identifier: MIT

#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_batch.hpp>

struct store : complete_store {
    // Without `from` it is no compare-and-set.
    outcome advance(transaction&, const key&, const waybill::position& to, std::uint64_t epoch);
};

waybill::batch_report processes(store& s, const waybill::assignment& mine,
                                const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_batch(
        s, mine, events, [](auto&, const event&) { return waybill::fault{}; }, now);
}

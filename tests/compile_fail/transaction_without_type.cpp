// expect: store: the type `transaction` must exist
// SPDX-License-Identifier: MIT

#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_batch.hpp>

struct store {
    waybill::result<int> begin();
    waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key&);
};

waybill::batch_report processes(store& s, const waybill::assignment& mine,
                                const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_batch(
        s, mine, events, [](int&, const event&) { return waybill::fault{}; }, now);
}

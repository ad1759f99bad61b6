// expect: checkpoints: commit(key, from, to, epoch) must exist and return result<advance_outcome>
// SPDX-License-Identifier: MIT

#include <string_view>
#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_at_least_once.hpp>

struct offsets : complete_offsets {
    waybill::result<void> commit(const waybill::partition_key&, const waybill::position& to);
};

waybill::at_least_once_report processes(offsets& checkpoints, complete_letters& letters,
                                        const waybill::assignment& mine,
                                        const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_at_least_once(
        checkpoints, letters, mine, events,
        [](const event&, std::string_view) { return waybill::fault{}; }, now);
}

// expect: and return a fault or an event_outcome
// SPDX-License-Identifier: MIT

#include <string_view>
#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_at_least_once.hpp>

waybill::at_least_once_report processes(complete_offsets& checkpoints, complete_letters& letters,
                                        const waybill::assignment& mine,
                                        const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_at_least_once(
        checkpoints, letters, mine, events, [](const event&, std::string_view) {}, now);
}

// expect: letters: put(letter) must exist and return result<void>
// SPDX-License-Identifier: MIT

#include <string_view>
#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_at_least_once.hpp>

struct topic {
    void put(const waybill::dead_letter&);
};

waybill::at_least_once_report processes(complete_offsets& checkpoints, topic& letters,
                                        const waybill::assignment& mine,
                                        const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_at_least_once(
        checkpoints, letters, mine, events,
        [](const event&, std::string_view) { return waybill::fault{}; }, now);
}

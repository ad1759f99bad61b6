// expect: and return a fault or an event_outcome
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/consume/reprocess.hpp>

waybill::reprocess_report again(complete_store& s, const waybill::partition_key& key,
                                waybill::wall_time now)
{
    return waybill::reprocess(
        s, key, 7,
        [](const waybill::dead_letter& d) -> waybill::result<std::optional<event>> {
            return event{d.at.sequence, d.body};
        },
        [](auto&, const event&) {}, now);
}

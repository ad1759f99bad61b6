// expect: reprocess: fetch must accept a const dead_letter& and return result<std::optional<event>>
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/consume/reprocess.hpp>

waybill::reprocess_report again(complete_store& s, const waybill::partition_key& key,
                                waybill::wall_time now)
{
    return waybill::reprocess(
        s, key, 7,
        [](const waybill::dead_letter& d) {
            return event{d.at.sequence, d.body};
        },
        [](auto&, const event&) { return waybill::fault{}; }, now);
}

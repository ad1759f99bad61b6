// expect: store: list(key, after, max_count) must exist and return result<std::vector<dead_letter>>
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/consume/reprocess.hpp>

struct store : complete_store {
    void list() = delete;
};

waybill::reprocess_report again(store& s, const waybill::partition_key& key, waybill::wall_time now)
{
    return waybill::reprocess(
        s, key, 7,
        [](const waybill::dead_letter& d) -> waybill::result<std::optional<event>> {
            return event{d.at.sequence, d.body};
        },
        [](auto&, const event&) { return waybill::fault{}; }, now);
}

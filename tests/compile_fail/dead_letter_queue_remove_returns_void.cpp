// expect: store: remove(tx, key, sequence) must exist and return result<bool>
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/consume/reprocess.hpp>

struct store : complete_store {
    waybill::result<void> remove(transaction&, const key&, std::uint64_t);
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

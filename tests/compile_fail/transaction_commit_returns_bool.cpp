// expect: transaction: commit() must exist and return result<commit_outcome>
// SPDX-License-Identifier: MIT

#include <vector>

#include "complete_store.hpp"
#include <waybill/consume/process_batch.hpp>

struct store : complete_store {
    struct transaction {
        bool commit();
        void rollback() noexcept;
    };

    waybill::result<transaction> begin();
    outcome advance(transaction&, const key&, const std::optional<waybill::position>&,
                    const waybill::position&, std::uint64_t epoch);
};

waybill::batch_report processes(store& s, const waybill::assignment& mine,
                                const std::vector<event>& events, waybill::wall_time now)
{
    return waybill::process_batch(
        s, mine, events, [](auto&, const event&) { return waybill::fault{}; }, now);
}

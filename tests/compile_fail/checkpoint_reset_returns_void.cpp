// expect: store: reset(tx, key, from, epoch) must return result<advance_outcome>
// SPDX-License-Identifier: MIT
//
// rewind would otherwise report that the store cannot reset.

#include "complete_store.hpp"
#include <waybill/consume/rewind.hpp>

struct store : complete_store {
    waybill::result<void> reset(transaction&, const key&, const waybill::position&, std::uint64_t);
};

waybill::rewind_report to_beginning(store& s, const waybill::assignment& mine)
{
    return waybill::rewind(s, mine, {});
}

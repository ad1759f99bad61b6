// SPDX-License-Identifier: MIT
//
// failed: the answer to a call to a store of leases that is down.

#ifndef WAYBILL_TESTS_SUPPORT_FAILED_CALL_HPP
#define WAYBILL_TESTS_SUPPORT_FAILED_CALL_HPP

#include <vector>

#include <waybill/core/match.hpp>
#include <waybill/lease/lease_calls.hpp>

namespace tests_support {

inline waybill::lease_manager_types::lease_answer failed(
    const waybill::lease_manager_types::lease_call& call)
{
    using types = waybill::lease_manager_types;
    const auto down = waybill::unexpected(waybill::infrastructure("down"));
    return waybill::match(
        call,
        [&](const types::renew& a) -> types::lease_answer {
            return types::renewed{a, down, down, true, 0.5};
        },
        [&](const types::claim& a) -> types::lease_answer {
            return types::claimed{a, {a.rows.size(), down}};
        },
        [&](const types::leave& a) -> types::lease_answer { return types::group_left{a, down}; },
        [&](const types::list_leases&) -> types::lease_answer { return types::listed{down}; });
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_FAILED_CALL_HPP

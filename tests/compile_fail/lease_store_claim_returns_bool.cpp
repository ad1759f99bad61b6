// expect: lease store: claim(lease_claim) must exist and return result<lease_claim::result>
// SPDX-License-Identifier: MIT

#include <string>

#include <waybill/lease/lease_calls.hpp>

struct leases {
    waybill::result<waybill::lease_table> list(const std::string&, const std::string&);
    waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim&);
    waybill::result<void> heartbeat(const waybill::owner_heartbeat&);
    waybill::result<void> leave(const waybill::owner_heartbeat&);
};

struct store : leases {
    waybill::result<bool> claim(const waybill::lease_claim&);
};

auto called(store& s, const waybill::lease_manager_types::lease_call& call)
{
    return waybill::perform(s, call, 0.5);
}

// SPDX-License-Identifier: MIT
//
// row_leases: a store of leases without the calls `renew` and `claim_all`.

#ifndef WAYBILL_TESTS_SUPPORT_ROW_LEASES_HPP
#define WAYBILL_TESTS_SUPPORT_ROW_LEASES_HPP

#include <string>

#include <waybill/testing/memory_leases.hpp>

namespace tests_support {

class row_leases : waybill::testing::memory_leases {
public:
    using memory_leases::claim;
    using memory_leases::erase;
    using memory_leases::heartbeat;
    using memory_leases::leave;
    using memory_leases::list;
};
static_assert(!waybill::detail::bulk_lease_store<row_leases>);

/// A view of another store without these calls.
struct row_view {
    waybill::testing::memory_leases& rows;

    [[nodiscard]] auto list(const std::string& source, const std::string& group) const
    {
        return rows.list(source, group);
    }
    [[nodiscard]] auto claim(const waybill::lease_claim& c) const { return rows.claim(c); }
    [[nodiscard]] auto heartbeat(const waybill::owner_heartbeat& p) const
    {
        return rows.heartbeat(p);
    }
    [[nodiscard]] auto leave(const waybill::owner_heartbeat& p) const { return rows.leave(p); }
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_ROW_LEASES_HPP

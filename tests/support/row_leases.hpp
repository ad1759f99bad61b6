// SPDX-License-Identifier: MIT
//
// row_leases: a store of leases without the calls `renew` and `claim_all`, as in version 0.1.

#ifndef WAYBILL_TESTS_SUPPORT_ROW_LEASES_HPP
#define WAYBILL_TESTS_SUPPORT_ROW_LEASES_HPP

#include <string>

#include <waybill/testing/memory_leases.hpp>

namespace tests_support {

/// Another store, seen without these calls.
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

class row_leases {
public:
    [[nodiscard]] auto list(const std::string& source, const std::string& group) const
    {
        return rows_.list(source, group);
    }
    [[nodiscard]] auto claim(const waybill::lease_claim& c) { return rows_.claim(c); }
    [[nodiscard]] auto heartbeat(const waybill::owner_heartbeat& p) { return rows_.heartbeat(p); }
    [[nodiscard]] auto leave(const waybill::owner_heartbeat& p) { return rows_.leave(p); }
    void erase(const waybill::partition_key& key) { rows_.erase(key); }

private:
    waybill::testing::memory_leases rows_;
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_ROW_LEASES_HPP

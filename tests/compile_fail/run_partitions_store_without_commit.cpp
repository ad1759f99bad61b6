// expect: transaction: commit() must exist and return result<commit_outcome>
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/lease/run_partitions.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_log.hpp>

struct store : complete_store {
    struct transaction {
        void rollback() noexcept;
    };
    waybill::result<transaction> begin();
};

auto called(waybill::testing::memory_log<>& log, store& s, waybill::testing::memory_leases& leases,
            waybill::testing::manual_environment& env)
{
    const auto handle = [](auto&, const auto&) {};
    return waybill::run_partitions(log, s, leases, handle, {.owner = "host-7"}, env);
}

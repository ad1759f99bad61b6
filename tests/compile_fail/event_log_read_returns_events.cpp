// expect: event log: read(partition, after, max_count) must exist and return a result
// SPDX-License-Identifier: MIT

#include <optional>
#include <string>
#include <vector>

#include "complete_store.hpp"
#include <waybill/lease/run_partitions.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_leases.hpp>

struct log {
    waybill::result<std::vector<std::string>> partitions();
    std::vector<event> read(const std::string&,
                                             const std::optional<waybill::position>&,
                                             std::uint64_t);
};

auto called(log& l, complete_store& s, waybill::testing::memory_leases& leases,
            waybill::testing::manual_environment& env)
{
    return waybill::run_partitions(l, s, leases, [](auto&, const event&) {}, {.owner = "host-7"}, env);
}

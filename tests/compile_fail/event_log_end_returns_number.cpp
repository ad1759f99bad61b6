// expect: event log: end(partition) must return
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
    waybill::result<std::vector<event>> read(const std::string&,
                                             const std::optional<waybill::position>&,
                                             std::uint64_t);
    waybill::result<std::uint64_t> end(const std::string&);
};

auto called(log& l, complete_store& s, waybill::testing::memory_leases& leases,
            waybill::testing::manual_environment& env)
{
    return waybill::run_partitions(l, s, leases, [](auto&, const event&) {}, {.owner = "host-7"}, env);
}

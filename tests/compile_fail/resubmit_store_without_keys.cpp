// expect: store: without dead_letter_keys(), which returns result<std::vector<partition_key>>, the policy must contain the keys
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/consume/resubmit.hpp>
#include <waybill/testing/manual_environment.hpp>

waybill::dead_letter::run_report back(complete_store& s)
{
    waybill::testing::manual_environment env;
    return waybill::resubmit(s, [](const auto&) { return waybill::fault{}; }, env);
}

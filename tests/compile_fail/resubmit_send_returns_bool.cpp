// expect: resubmit: the send function must return a fault, a fault_kind, a result<void>, a call_answer or nothing, and not bool
// SPDX-License-Identifier: MIT

#include <string>

#include <waybill/consume/resubmit.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

waybill::dead_letter::run_report back(waybill::testing::memory_store<std::string>& s)
{
    waybill::testing::manual_environment env;
    return waybill::resubmit(s, [](const auto&) { return true; }, env);
}

// expect: redrive_all: the send function must return a fault, a fault_kind, a result<void>, a call_answer or nothing, and not bool
// SPDX-License-Identifier: MIT

#include <waybill/session/redrive_all.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>

waybill::redrive::redrive_report back(waybill::testing::memory_pipeline_dead_letters& t)
{
    waybill::testing::manual_environment env;
    return waybill::redrive_all(t, {}, [](const auto&) { return true; }, env);
}

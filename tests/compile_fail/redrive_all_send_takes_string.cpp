// expect: redrive_all: the send function must accept a const redrive_plan::planned_message& (if it does, its body does not compile: see the errors above)
// SPDX-License-Identifier: MIT

#include <string>

#include <waybill/session/redrive_all.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>

waybill::redrive::redrive_report back(waybill::testing::memory_pipeline_dead_letters& t)
{
    waybill::testing::manual_environment env;
    return waybill::redrive_all(t, {}, [](const std::string&) { return waybill::fault{}; }, env);
}

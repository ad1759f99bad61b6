// expect: process_step: no call for write_dead_letter, or more than one
// SPDX-License-Identifier: MIT
//
// The driver of a session must handle failed steps.

#include <waybill/session/process_step.hpp>
#include <waybill/testing/manual_environment.hpp>

waybill::step_outcome without_park(waybill::pipeline& pipe, const waybill::step_facts& m,
                                   waybill::testing::manual_environment env)
{
    return waybill::process_step(
        pipe, m, env,
        [](waybill::pipeline::load_state) { return waybill::pipeline::state_loaded{}; },
        [](waybill::pipeline::execute) { return waybill::fault{}; },
        [](waybill::pipeline::save_state) { return waybill::fault{}; },
        [](waybill::complete) { return waybill::fault{}; },
        [](waybill::pipeline::clear_state) { return waybill::fault{}; },
        [](waybill::pipeline::give_back) {});
}

// expect: process_step: a call accepts none of the pipeline's actions
// SPDX-License-Identifier: MIT
//
// A call for `wait_until` is optional, so one with a wrong argument would be ignored.

#include <waybill/session/process_step.hpp>
#include <waybill/testing/manual_environment.hpp>

waybill::step_outcome waits_for_a_time(waybill::pipeline& pipe, const waybill::step_facts& m,
                                       waybill::testing::manual_environment env)
{
    return waybill::process_step(
        pipe, m, env,
        [](waybill::pipeline::load_state) { return waybill::pipeline::state_loaded{}; },
        [](waybill::pipeline::execute) { return waybill::fault{}; },
        [](waybill::pipeline::save_state) { return waybill::fault{}; },
        [](waybill::pipeline::write_dead_letter) { return waybill::fault{}; },
        [](waybill::complete) { return waybill::fault{}; },
        [](waybill::pipeline::clear_state) { return waybill::fault{}; },
        [](waybill::pipeline::give_back) {},
        [](waybill::steady_time) { return waybill::fault{}; });
}

// expect: must return a fault
// SPDX-License-Identifier: MIT
//
// The function that writes the state must return whether it was written.

#include <waybill/session/process_step.hpp>
#include <waybill/testing/manual_environment.hpp>

waybill::step_outcome silent_save(waybill::pipeline& pipe, const waybill::step_facts& m,
                                  waybill::testing::manual_environment env)
{
    return waybill::process_step(
        pipe, m, env,
        [](waybill::pipeline::load_state) { return waybill::pipeline::state_loaded{}; },
        [](waybill::pipeline::execute) { return waybill::fault{}; },
        [](waybill::pipeline::save_state) {},
        [](waybill::pipeline::write_dead_letter) { return waybill::fault{}; },
        [](waybill::complete) { return waybill::fault{}; },
        [](waybill::pipeline::clear_state) { return waybill::fault{}; },
        [](waybill::pipeline::give_back) {});
}

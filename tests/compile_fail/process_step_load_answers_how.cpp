// expect: load_state must return state_loaded
// SPDX-License-Identifier: MIT
//
// The outcome of the read is not enough: without its progress a failed session would start from the
// beginning.

#include <waybill/session/process_step.hpp>
#include <waybill/testing/manual_environment.hpp>

waybill::step_outcome found_alone(waybill::pipeline& pipe, const waybill::step_facts& m,
                                  waybill::testing::manual_environment env)
{
    return waybill::process_step(
        pipe, m, env, [](waybill::pipeline::load_state) { return waybill::state_read::ok; },
        [](waybill::pipeline::execute) { return waybill::fault{}; },
        [](waybill::pipeline::save_state) { return waybill::fault{}; },
        [](waybill::pipeline::write_dead_letter) { return waybill::fault{}; },
        [](waybill::complete) { return waybill::fault{}; },
        [](waybill::pipeline::clear_state) { return waybill::fault{}; },
        [](waybill::pipeline::give_back) {});
}

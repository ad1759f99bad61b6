// expect: environment: now() must return a steady time, and not a wall time
// SPDX-License-Identifier: MIT
//
// The system clock may jump, and a pause with it.

#include <chrono>

#include <waybill/session/process_step.hpp>
#include <waybill/testing/manual_environment.hpp>

struct wall_environment : waybill::testing::manual_environment {
    std::chrono::system_clock::time_point now() { return {}; }
};

waybill::step_outcome by_wall_clock(waybill::pipeline& pipe, const waybill::step_facts& m,
                                    wall_environment env)
{
    return waybill::process_step(
        pipe, m, env,
        [](waybill::pipeline::load_state) { return waybill::pipeline::state_loaded{}; },
        [](waybill::pipeline::execute) { return waybill::fault{}; },
        [](waybill::pipeline::save_state) { return waybill::fault{}; },
        [](waybill::pipeline::write_dead_letter) { return waybill::fault{}; },
        [](waybill::complete) { return waybill::fault{}; },
        [](waybill::pipeline::clear_state) { return waybill::fault{}; },
        [](waybill::pipeline::give_back) {});
}

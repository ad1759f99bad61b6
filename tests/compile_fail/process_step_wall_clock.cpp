// expect: clock: it must return a steady time, as std::chrono::steady_clock::now does
// SPDX-License-Identifier: MIT
//
// The system clock may jump, and a pause with it.

#include <chrono>

#include <waybill/session/process_step.hpp>

waybill::step_outcome by_wall_clock(waybill::pipeline& pipe,
                                    const waybill::pipeline::step_received& m)
{
    return waybill::process_step(
        pipe, m, std::chrono::system_clock::now,
        [](waybill::pipeline::load_state) { return waybill::pipeline::state_loaded{}; },
        [](waybill::pipeline::execute) { return waybill::fault{}; },
        [](waybill::pipeline::save_state) { return waybill::fault{}; },
        [](waybill::pipeline::write_dead_letter) { return waybill::fault{}; },
        [](waybill::complete) { return waybill::fault{}; },
        [](waybill::pipeline::clear_state) { return waybill::fault{}; },
        [](waybill::pipeline::give_back) {}, [](waybill::wait_until) {});
}

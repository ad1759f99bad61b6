// expect: the clock is a constant time, so no pause would end
// SPDX-License-Identifier: MIT
//
// A point in time is no clock: a step that is to be tried again would wait for ever.

#include <waybill/session/process_step.hpp>

waybill::step_outcome at(waybill::pipeline& pipe, const waybill::pipeline::step_received& m,
                         waybill::steady_time now)
{
    return waybill::process_step(
        pipe, m, now,
        [](waybill::pipeline::load_state) { return waybill::pipeline::state_loaded{}; },
        [](waybill::pipeline::execute) { return waybill::fault{}; },
        [](waybill::pipeline::save_state) { return waybill::fault{}; },
        [](waybill::pipeline::write_dead_letter) { return waybill::fault{}; },
        [](waybill::complete) { return waybill::fault{}; },
        [](waybill::pipeline::clear_state) { return waybill::fault{}; },
        [](waybill::pipeline::give_back) {}, [](waybill::wait_until) {});
}

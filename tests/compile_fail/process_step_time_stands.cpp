// expect: process_step: it sleeps, so it needs an environment and not a clock
// SPDX-License-Identifier: MIT
//
// A point in time is no environment: a pause before the next attempt would never end.

#include <waybill/session/process_step.hpp>

waybill::step_outcome at(waybill::pipeline& pipe, const waybill::step_facts& m,
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
        [](waybill::pipeline::give_back) {});
}

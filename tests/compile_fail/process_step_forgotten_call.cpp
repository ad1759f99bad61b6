// expect: process_step: no call for park, or two
// SPDX-License-Identifier: MIT
//
// Whoever drives a session has to say what becomes of a step that failed.

#include <waybill/session/process_step.hpp>

namespace act = waybill::act;

waybill::steady_time now();

waybill::step_outcome without_park(waybill::pipeline& pipe, const waybill::step_received& m)
{
    return waybill::process_step(
        pipe, m, now, [](act::load_state) { return waybill::state_loaded{}; },
        [](act::execute) { return waybill::fault{}; },
        [](act::save_state) { return waybill::fault{}; },
        [](act::complete) { return waybill::fault{}; },
        [](act::clear_state) { return waybill::fault{}; }, [](act::give_back) {},
        [](act::wait_until) {});
}

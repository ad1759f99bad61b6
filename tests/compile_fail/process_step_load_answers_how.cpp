// expect: load_state has to answer with state_loaded
// SPDX-License-Identifier: MIT
//
// What was found is not what the state says: without its progress a failed session would begin
// anew.

#include <waybill/session/process_step.hpp>

namespace act = waybill::act;

waybill::steady_time now();

waybill::step_outcome found_alone(waybill::pipeline& pipe, const waybill::step_received& m)
{
    return waybill::process_step(
        pipe, m, now, [](act::load_state) { return waybill::state_read::ok; },
        [](act::execute) { return waybill::fault{}; },
        [](act::save_state) { return waybill::fault{}; },
        [](act::park) { return waybill::fault{}; }, [](act::complete) { return waybill::fault{}; },
        [](act::clear_state) { return waybill::fault{}; }, [](act::give_back) {},
        [](act::wait_until) {});
}

// expect: execute has to answer with a fault
// SPDX-License-Identifier: MIT
//
// Whether a step may be tried again is more than yes or no.

#include <waybill/session/process_step.hpp>

namespace act = waybill::act;

waybill::steady_time now();

waybill::step_outcome yes_or_no(waybill::pipeline& pipe, const waybill::step_received& m)
{
    return waybill::process_step(
        pipe, m, now, [](act::load_state) { return waybill::state_loaded{}; },
        [](act::execute) { return true; }, [](act::save_state) { return waybill::fault{}; },
        [](act::park) { return waybill::fault{}; }, [](act::complete) { return waybill::fault{}; },
        [](act::clear_state) { return waybill::fault{}; }, [](act::give_back) {},
        [](act::wait_until) {});
}

// expect: have to answer with a
// SPDX-License-Identifier: MIT
//
// Whoever writes the state has to say whether it was written.

#include <waybill/session/process_step.hpp>

namespace act = waybill::act;

waybill::steady_time now();

waybill::step_outcome silent_save(waybill::pipeline& pipe, const waybill::step_received& m)
{
    return waybill::process_step(
        pipe, m, now, [](act::load_state) { return waybill::state_loaded{}; },
        [](act::execute) { return waybill::fault{}; }, [](act::save_state) {},
        [](act::park) { return waybill::fault{}; }, [](act::complete) { return waybill::fault{}; },
        [](act::clear_state) { return waybill::fault{}; }, [](act::give_back) {},
        [](act::wait_until) {});
}

// expect: by a clock that stands still no pause would ever end
// SPDX-License-Identifier: MIT
//
// A point in time is no clock: a step that is to be tried again would wait for ever.

#include <waybill/session/process_step.hpp>

namespace act = waybill::act;

waybill::step_outcome at(waybill::pipeline& pipe, const waybill::step_received& m,
                         waybill::steady_time now)
{
    return waybill::process_step(
        pipe, m, now, [](act::load_state) { return waybill::state_loaded{}; },
        [](act::execute) { return waybill::fault{}; },
        [](act::save_state) { return waybill::fault{}; },
        [](act::park) { return waybill::fault{}; }, [](act::complete) { return waybill::fault{}; },
        [](act::clear_state) { return waybill::fault{}; }, [](act::give_back) {},
        [](act::wait_until) {});
}

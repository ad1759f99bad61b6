// expect: match: an action has no handler; add one for each type of action
// SPDX-License-Identifier: MIT

#include <waybill/batch/batch_sender.hpp>
#include <waybill/core/match.hpp>

void drive(waybill::batch_sender& s, waybill::steady_time now)
{
    waybill::match(
        s.next(now), [](const waybill::batch_sender::send&) {},
        [](const waybill::batch_sender::report&) {}, [](waybill::idle) {});
}

// expect: attempt: the step must return a fault, a result<void> or executed
// SPDX-License-Identifier: MIT
//
// A bool does not show whether true is success.

#include <waybill/session/session_state.hpp>

struct place {
    waybill::result<std::optional<std::string>> load();
    waybill::fault save(const std::string&);
    waybill::fault clear();
};

auto answers_bool(waybill::session_state<waybill::text_state_codec, place>& state)
{
    return state.attempt([](std::string&) { return true; });
}

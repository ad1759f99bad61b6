// expect: session_state: the place must have load() -> result<std::optional<std::string>>
// SPDX-License-Identifier: MIT
//
// A place that answers with an empty text where there is no state makes a damaged one of a new one.

#include <waybill/session/session_state.hpp>

struct place {
    waybill::result<std::string> load();
    waybill::fault save(const std::string&);
    waybill::fault clear();
};

waybill::fault clears(waybill::session_state<waybill::text_state_codec, place>& state)
{
    return state.clear();
}

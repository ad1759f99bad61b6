// expect: session_state: the place must have load() -> result<std::optional<std::string>>
// SPDX-License-Identifier: MIT
//
// If a missing state is returned as an empty text, a new session looks damaged.

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

// expect: deleted
// SPDX-License-Identifier: MIT
//
// The session_state keeps a reference to the codec, so a temporary one would dangle at the first
// call.

#include <waybill/session/session_state.hpp>

struct place {
    waybill::result<std::optional<std::string>> load();
    waybill::fault save(const std::string&);
    waybill::fault clear();
};

waybill::fault begins(place& p)
{
    waybill::session_state state(waybill::text_state_codec(), p);
    return state.clear();
}

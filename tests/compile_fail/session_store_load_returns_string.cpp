// expect: session store: load(session) must exist
// SPDX-License-Identifier: MIT

#include "complete_sessions.hpp"

struct store : sessions {
    waybill::result<std::optional<std::string>> load(const std::string& session);
};

waybill::fault clears(store& s)
{
    waybill::versioned_session_state held(s, "order-17");
    return held.clear();
}

// expect: session store: clear(session, expected) must exist and return result<state_write>
// SPDX-License-Identifier: MIT

#include "complete_sessions.hpp"

struct store : sessions {
    void clear(const std::string& session, version expected);
};

waybill::fault clears(store& s)
{
    waybill::versioned_session_state held(s, "order-17");
    return held.clear();
}

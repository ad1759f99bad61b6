// expect: session store: save(session, bytes, expected) must exist and return
// SPDX-License-Identifier: MIT

#include "complete_sessions.hpp"

struct store : sessions {
    waybill::result<void> save(const std::string& session, const std::string& bytes);
};

waybill::fault clears(store& s)
{
    waybill::versioned_session_state held(s, "order-17");
    return held.clear();
}

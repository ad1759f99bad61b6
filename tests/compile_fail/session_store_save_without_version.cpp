// expect: session store: save(session, bytes, expected) must exist and return
// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>

#include <waybill/session/session_store.hpp>

struct sessions {
    using version = std::uint64_t;
    using state = waybill::stored_state<version>;
    waybill::result<std::optional<state>> load(const std::string& session);
    waybill::result<waybill::state_saving<version>> save(const std::string& session,
                                                         const std::string& bytes,
                                                         const std::optional<version>& expected);
    waybill::result<waybill::state_write> clear(const std::string& session, version expected);
};

struct store : sessions {
    waybill::result<void> save(const std::string& session, const std::string& bytes);
};

waybill::fault clears(store& s)
{
    waybill::locked_session_state held(s, "order-17");
    return held.clear();
}

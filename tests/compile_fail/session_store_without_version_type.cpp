// expect: session store: the type `version` must exist and be regular
// SPDX-License-Identifier: MIT

#include <optional>
#include <string>

#include <waybill/session/session_store.hpp>

struct store {
    waybill::result<std::optional<std::string>> load(const std::string& session);
};

auto held(store& s)
{
    return waybill::versioned_session_state<store>(s, "order-17");
}

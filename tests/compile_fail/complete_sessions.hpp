// SPDX-License-Identifier: MIT
//
// A complete session store. A test hides one call or type of it.

#ifndef WAYBILL_TESTS_COMPILE_FAIL_COMPLETE_SESSIONS_HPP
#define WAYBILL_TESTS_COMPILE_FAIL_COMPLETE_SESSIONS_HPP

#include <cstdint>
#include <optional>
#include <string>

#include <waybill/session/session_store.hpp>

struct sessions {
    using version = std::uint64_t;
    using state = waybill::stored_state<version>;
    waybill::result<std::optional<state>> load(const std::string& session);
    waybill::result<waybill::save_result<version>> save(const std::string& session,
                                                         const std::string& bytes,
                                                         const std::optional<version>& expected);
    waybill::result<waybill::state_write> clear(const std::string& session, version expected);
};

#endif  // WAYBILL_TESTS_COMPILE_FAIL_COMPLETE_SESSIONS_HPP

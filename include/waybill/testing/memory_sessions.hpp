// SPDX-License-Identifier: MIT
//
// memory_sessions: states of sessions in memory, for users' own tests.
//
// It does what session_conformance.hpp asks of a session store.

#ifndef WAYBILL_TESTING_MEMORY_SESSIONS_HPP
#define WAYBILL_TESTING_MEMORY_SESSIONS_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <waybill/session/session_store.hpp>

namespace waybill::inline v0_2::testing {

class memory_sessions {
public:
    using version = std::uint64_t;

    [[nodiscard]] result<std::optional<stored_state<version>>> load(
        const std::string& session) const
    {
        const auto found = states_.find(session);
        if (found == states_.end()) return std::optional<stored_state<version>>();
        return std::optional(found->second);
    }

    /// Versions count the writes to all states, so that none comes twice.
    [[nodiscard]] result<state_saving<version>> save(const std::string& session,
                                                     const std::string& bytes,
                                                     const std::optional<version>& expected)
    {
        if (version_of(session) != expected) return state_saving<version>{};
        states_.insert_or_assign(session, stored_state<version>{bytes, ++writes_});
        return state_saving<version>{state_write::applied, writes_};
    }

    [[nodiscard]] result<state_write> clear(const std::string& session, const version& expected)
    {
        if (version_of(session) != expected) return state_write::conflict;
        states_.erase(session);
        return state_write::applied;
    }

    /// All that is stored, by session: what a sweep looks through.
    [[nodiscard]] const std::map<std::string, stored_state<version>>& states() const noexcept
    {
        return states_;
    }

private:
    [[nodiscard]] std::optional<version> version_of(const std::string& session) const
    {
        const auto found = states_.find(session);
        if (found == states_.end()) return {};
        return found->second.version;
    }

    std::map<std::string, stored_state<version>> states_;
    std::uint64_t writes_ = 0;
};

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_SESSIONS_HPP

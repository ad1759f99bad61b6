// SPDX-License-Identifier: MIT
//
// memory_sessions: session states in memory, for tests of applications.
//
// It conforms to session_conformance.hpp. `load`, `save` and `clear` take time logarithmic in the
// number of states.

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

    /// The state and its version; empty if the session has no state.
    [[nodiscard]] result<std::optional<stored_state<version>>> load(
        const std::string& session) const
    {
        const auto found = states_.find(session);
        if (found == states_.end()) return std::optional<stored_state<version>>();
        return std::optional(found->second);
    }

    /// Writes the state if its version is `expected`, or if both are absent; otherwise `conflict`.
    /// A version is the number of writes to the whole store, so no version repeats.
    [[nodiscard]] result<save_result<version>> save(const std::string& session,
                                                    const std::string& bytes,
                                                    const std::optional<version>& expected)
    {
        if (version_of(session) != expected) return save_result<version>{};
        states_.insert_or_assign(session, stored_state<version>{bytes, ++writes_});
        return save_result<version>{state_write::applied, writes_};
    }

    /// Removes the state if its version is `expected`; otherwise `conflict`.
    [[nodiscard]] result<state_write> clear(const std::string& session, const version& expected)
    {
        if (version_of(session) != expected) return state_write::conflict;
        states_.erase(session);
        return state_write::applied;
    }

    /// All states by session id, for a sweep.
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

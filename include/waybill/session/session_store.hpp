// SPDX-License-Identifier: MIT
//
// session_store: stores the states of sessions, with versions, for brokers that store none.
//
//     waybill::versioned_session_state held(store, "order-17");
//     [&](pipeline::load_state)  { auto bytes = held.load(); ... },     // result<optional<string>>
//     [&](pipeline::save_state)  { return held.save(bytes_of(pipe.progress())); },       // fault
//     [&](pipeline::clear_state) { return held.clear(); },
//
// Guarantees
//   1. A `versioned_session_state` replaces or removes only the version that it has loaded or
//      saved.
//   2. A version conflict is reported as `ownership_lost`, and an error without a kind as
//      `infrastructure`.
//   3. Versions do not stop a holder whose lock has expired. Before each `save_state` and
//      `write_dead_letter`, renew the lock, and return `ownership_lost` if it is lost. The guide
//      explains the effects if the holder stops between the two calls for a whole lock duration.

#ifndef WAYBILL_SESSION_SESSION_STORE_HPP
#define WAYBILL_SESSION_SESSION_STORE_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

/// A stored state. A version is a number or an opaque value such as an ETag.
template <class Version>
struct stored_state {
    std::string bytes{};
    Version version{};

    friend bool operator==(const stored_state&, const stored_state&) = default;
};

/// The outcome of a write that expected a version.
enum class state_write : std::uint8_t {
    applied,   ///< The write was applied.
    conflict,  ///< The stored version is another one, or there is none; nothing was changed.
};

[[nodiscard]] constexpr std::string_view texts_of(state_write) noexcept
{
    return "applied, conflict";
}

/// The result of `save`.
template <class Version>
struct save_result {
    state_write outcome = state_write::conflict;
    Version version{};  ///< The new version; valid if `outcome` is `applied`.

    friend bool operator==(const save_result&, const save_result&) = default;
};

/// A store of session states. `waybill/testing/session_conformance.hpp` tests an implementation.
///
///     load(session)                    the state and its version; nullopt if there is no state
///     save(session, bytes, expected)   writes if the version equals `expected`, and returns
///                                      `applied` with the new version, or `conflict`
///     clear(session, expected)         removes if the version equals `expected`, and returns
///                                      `applied` or `conflict`
///
/// For `save`, an empty `expected` requires that there is no state. A session never has the same
/// version twice, even after its state was removed and created again. Errors: `infrastructure` or
/// `transient` if the store cannot be reached, `permanent` if it never accepts these bytes.
template <class S>
concept session_store =
    std::regular<typename S::version> &&
    requires(S& s, const std::string& session, const std::string& bytes,
             const std::optional<typename S::version>& expected, const typename S::version& v) {
        {
            s.load(session)
        } -> std::same_as<result<std::optional<stored_state<typename S::version>>>>;
        {
            s.save(session, bytes, expected)
        } -> std::same_as<result<save_result<typename S::version>>>;
        { s.clear(session, v) } -> std::same_as<result<state_write>>;
    };

namespace detail {

/// Refuses a type that is no `session_store`. The error text names the first missing member.
template <class S>
struct checked_session_store {
    static constexpr bool ok = session_store<S>;
    static constexpr bool has_version = requires { requires std::regular<typename S::version>; };
    static constexpr bool loads = requires(S& s, const std::string& session) {
        {
            s.load(session)
        } -> std::same_as<result<std::optional<stored_state<typename S::version>>>>;
    };
    static constexpr bool saves =
        requires(S& s, const std::string& session, const std::string& bytes,
                 const std::optional<typename S::version>& expected) {
            {
                s.save(session, bytes, expected)
            } -> std::same_as<result<save_result<typename S::version>>>;
        };
    static constexpr bool clears =
        requires(S& s, const std::string& session, const typename S::version& expected) {
            { s.clear(session, expected) } -> std::same_as<result<state_write>>;
        };

    static_assert(has_version, "session store: the type `version` must exist and be regular");
    static_assert(loads,
                  "session store: load(session) must exist and return "
                  "result<std::optional<stored_state<version>>>");
    static_assert(saves,
                  "session store: save(session, bytes, expected) must exist and return "
                  "result<save_result<version>>");
    static_assert(clears,
                  "session store: clear(session, expected) must exist and return "
                  "result<state_write>");
};

}  // namespace detail

/// The state of one session in a store, for one holder of the session. The caller keeps the store
/// alive.
template <class S>
class versioned_session_state {
    static_assert(detail::checked_session_store<S>::ok);

public:
    versioned_session_state(S& store, std::string session)
        : store_(&store), session_(std::move(session))
    {
    }

    /// Loads the bytes and remembers their version. Returns nullopt if there is no state.
    [[nodiscard]] result<std::optional<std::string>> load()
    {
        auto found = store_->load(session_);
        if (!found) return unexpected(std::move(found).error());
        version_.reset();
        if (!*found) return std::optional<std::string>();
        version_ = std::move((*found)->version);
        return std::optional<std::string>(std::move((*found)->bytes));
    }

    /// Writes the state if its version has not changed, else returns `ownership_lost`.
    [[nodiscard]] fault save(const std::string& bytes)
    {
        auto written = store_->save(session_, bytes, version_);
        if (!written) return std::move(written).error();
        if (written->outcome == state_write::conflict) return version_conflict();
        version_ = std::move(written->version);
        return {};
    }

    /// Removes the state if its version has not changed, else returns `ownership_lost`. If no state
    /// was loaded or saved, it succeeds without a call.
    [[nodiscard]] fault clear()
    {
        if (!version_) return {};
        auto cleared = store_->clear(session_, *version_);
        if (!cleared) return std::move(cleared).error();
        if (*cleared == state_write::conflict) return version_conflict();
        version_.reset();
        return {};
    }

private:
    static fault version_conflict()
    {
        return ownership_lost("another writer has changed the state since it was loaded");
    }

    S* store_;
    std::string session_;
    std::optional<typename S::version> version_;  // nullopt if no state is stored
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_SESSION_STORE_HPP

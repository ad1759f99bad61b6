// SPDX-License-Identifier: MIT
//
// session_store: where the states of sessions are kept if the broker keeps none.
//
// A store is any type that has these calls; `waybill/testing/session_conformance.hpp` finds out
// whether they do what is said here.
//
//   load(session)                    the state and its version; or absent, or an error
//   save(session, bytes, expected)   writes where the version is still this; answers the new one
//   clear(session, expected)         removes where the version is still this
//
// `expected` is empty where no state is to be there. No version comes twice for one session, not
// even after the state was removed and made anew. An error is `infrastructure` or `transient` where
// the store cannot be reached, and `permanent` where it will never take these bytes.
//
// A `held_state` remembers the version between a pipeline's actions. It says of a conflict that the
// session is lost, and of an error without a class that it is `infrastructure`:
//
//     waybill::held_state held(store, "order-17");
//     [&](act::load_state)  { auto bytes = held.load(); ... },     // result<optional<string>>
//     [&](act::save_state)  { return held.save(bytes_of(pipe.progress())); },       // fault
//     [&](act::clear_state) { return held.clear(); },
//
// So nobody writes over, or removes, what he has not seen. That is all that versions can do. They
// do not stop a holder whose lock has run out, and who goes on until he notices:
//   1. he runs the step in hand, beside the next holder or after him;
//   2. what he parks without saving first becomes a letter: an independent step, or one behind a
//      step that has failed;
//   3. where he writes first, it is the next holder who loses the session;
//   4. where he has seen no state, and there is none any more since all of the session is done, his
//      is taken as the first of a new one. It stays until a sweep finds it; a session that comes
//      under this id goes on from it. If his step failed, there is a letter for a step that is
//      done, and a redrive runs it again.
//
// So renew the lock before you save, and before you park, and answer `ownership_lost` where it is
// gone:
//
//     [&](act::park a) {
//         if (!session.renew().ok()) return waybill::ownership_lost("the lock has run out");
//         return letters.upsert(letter_of(*m, a, pipe.why()));
//     },
//
// Then 2 to 4 take a holder who stands still between the two calls for as long as a whole lock.

#ifndef WAYBILL_SESSION_SESSION_STORE_HPP
#define WAYBILL_SESSION_SESSION_STORE_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

/// A state as it is stored. A version is a number, or what a service calls an ETag.
template <class Version>
struct stored_state {
    std::string bytes{};
    Version version{};

    friend bool operator==(const stored_state&, const stored_state&) = default;
};

/// What became of a write that expected a version.
enum class state_write : std::uint8_t {
    applied,   ///< It is there.
    conflict,  ///< Another version is there, or none, and still is.
};

[[nodiscard]] constexpr std::string_view name(state_write w) noexcept
{
    switch (w) {
        case state_write::applied: return "applied";
        case state_write::conflict: return "conflict";
    }
    return "?";
}

/// The answer to `save`. The version counts where it was applied.
template <class Version>
struct state_saving {
    state_write outcome = state_write::conflict;
    Version version{};

    friend bool operator==(const state_saving&, const state_saving&) = default;
};

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
            } -> std::same_as<result<state_saving<typename S::version>>>;
        { s.clear(session, v) } -> std::same_as<result<state_write>>;
    };

namespace detail {

/// What a store answered that did not do it. An error that claims to be none is one.
[[nodiscard]] inline fault error_of(fault f)
{
    if (f.ok()) f.how = fault_class::infrastructure;
    return f;
}

}  // namespace detail

/// The state of one session in a store, for one holding. Refers to the store.
template <session_store S>
class held_state {
public:
    held_state(S& store, std::string session) : store_(&store), session_(std::move(session)) {}

    /// The bytes; empty where there are none.
    [[nodiscard]] result<std::optional<std::string>> load()
    {
        auto found = store_->load(session_);
        if (!found) return unexpected(detail::error_of(std::move(found).error()));
        version_.reset();
        if (!*found) return std::optional<std::string>();
        version_ = std::move((*found)->version);
        return std::optional<std::string>(std::move((*found)->bytes));
    }

    [[nodiscard]] fault save(const std::string& bytes)
    {
        auto written = store_->save(session_, bytes, version_);
        if (!written) return detail::error_of(std::move(written).error());
        if (written->outcome == state_write::conflict) return lost();
        version_ = std::move(written->version);
        return {};
    }

    /// Where there is none that is done already.
    [[nodiscard]] fault clear()
    {
        if (!version_) return {};
        auto cleared = store_->clear(session_, *version_);
        if (!cleared) return detail::error_of(std::move(cleared).error());
        if (*cleared == state_write::conflict) return lost();
        version_.reset();
        return {};
    }

private:
    static fault lost() { return ownership_lost("the state has another version by now"); }

    S* store_;
    std::string session_;
    std::optional<typename S::version> version_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_SESSION_STORE_HPP

// SPDX-License-Identifier: MIT
//
// session_rules: the rules of a session store, for session_conformance.

#ifndef WAYBILL_TESTING_DETAIL_SESSION_RULES_HPP
#define WAYBILL_TESTING_DETAIL_SESSION_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/session/session_store.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// True if the call succeeded, or if its error is `transient` or `infrastructure`, as in an outage.
template <class R>
[[nodiscard]] bool is_temporary(const R& r)
{
    if (r) return true;
    return r.error().kind == fault_kind::transient || r.error().kind == fault_kind::infrastructure;
}

inline constexpr std::string_view session_one_saves =
    "save: of two concurrent saves at most one is applied";

/// A session store whose calls use the connections of a way.
template <class Make, class Again, class Race>
struct session_calls : connections<Make, Again> {
    using version = typename connections<Make, Again>::store::version;

    session_calls(Make& make, Again& again, way how, Race& race_of, std::uint64_t most, trial& to)
        : connections<Make, Again>(make, again, how), race(race_of), max_bytes(most), t(to)
    {
    }

    auto load(const std::string& id)
    {
        return this->through([&](auto& s) { return s.load(id); });
    }
    auto save(const std::string& id, const std::string& bytes,
              const std::optional<version>& expected)
    {
        return this->through([&](auto& s) { return s.save(id, bytes, expected); });
    }
    auto clear(const std::string& id, const version& expected)
    {
        return this->through([&](auto& s) { return s.clear(id, expected); });
    }

    Race& race;
    std::uint64_t max_bytes;
    trial& t;
};

/// The calls of the suite to a session store.
template <session_store S>
class session_trial {
public:
    using version = typename S::version;
    session_trial(S& s, trial& t) : store_(s), trial_(t) {}

    /// The new version of the state; empty if the save was not applied.
    std::optional<version> saved_version(const std::string& session, const std::string& bytes,
                                         const std::optional<version>& expected)
    {
        const auto r = store_.save(session, bytes, expected);
        trial_.holds(r.has_value(),
                     "save: returns applied or conflict if the store can be reached");
        if (!r || r->outcome != state_write::applied) return {};
        return r->version;
    }
    bool save_conflicts(const std::string& session, const std::optional<version>& expected)
    {
        const auto r = store_.save(session, "of another", expected);
        return r && r->outcome == state_write::conflict;
    }
    bool clears(const std::string& session, const version& expected)
    {
        const auto r = store_.clear(session, expected);
        return r && *r == state_write::applied;
    }
    bool refuses_to_clear(const std::string& session, const version& expected)
    {
        const auto r = store_.clear(session, expected);
        return r && *r == state_write::conflict;
    }
    bool absent(const std::string& session)
    {
        const auto r = store_.load(session);
        return r && !*r;
    }
    bool is_stored(const std::string& session, const std::string& bytes, const version& v)
    {
        const auto r = store_.load(session);
        return r && *r && (*r)->bytes == bytes && (*r)->version == v;
    }

private:
    S& store_;
    trial& trial_;
};

template <class X>
void session_rules(X& s)
{
    trial& t = s.t;
    session_trial<X> sessions(s, t);
    const std::string id = "order-17";
    t.holds(sessions.absent(id), "load: a session that was never written is absent, not an error");
    const auto first = sessions.saved_version(id, "one", {});
    t.holds(first && sessions.is_stored(id, "one", *first),
            "save: without an expected version, an absent state is written and loaded unchanged");
    if (!first) return;
    t.holds(
        sessions.save_conflicts(id, {}) && sessions.is_stored(id, "one", *first),
        "save: without an expected version, an existing state is a conflict and does not change");
    const auto second = sessions.saved_version(id, "two", first);
    t.holds(second && sessions.is_stored(id, "two", *second),
            "save: with the stored version it is applied");
    if (!second) return;
    const auto same = sessions.saved_version(id, "two", second);
    t.holds(same && *same != *second && *second != *first,
            "save: each applied save has a new version, also with the same bytes");
    if (!same) return;
    t.holds(sessions.save_conflicts(id, first) && sessions.save_conflicts(id, second) &&
                sessions.is_stored(id, "two", *same),
            "save: with an older version it is a conflict, and changes nothing");
    t.holds(sessions.refuses_to_clear(id, *first) && sessions.refuses_to_clear(id, *second) &&
                sessions.is_stored(id, "two", *same),
            "clear: with an older version it is a conflict, and removes nothing");
    t.holds(sessions.clears(id, *same) && sessions.absent(id),
            "clear: with the stored version it removes the state");
    t.holds(sessions.refuses_to_clear(id, *same), "clear: an absent state is a conflict");
    t.holds(sessions.save_conflicts(id, same) && sessions.absent(id),
            "save: with an expected version, an absent state is a conflict and stays absent");

    const auto recreated = sessions.saved_version(id, "one", {});
    t.holds(recreated && *recreated != *first && *recreated != *second && *recreated != *same,
            "save: a state that is created again has a new version");
    t.holds(sessions.save_conflicts(id, first) && sessions.refuses_to_clear(id, *first),
            "save, clear: a version from before the removal of a state is a conflict");
}

template <class X>
void session_bytes_rules(X& s)
{
    session_trial<X> sessions(s, s.t);
    std::vector<std::string> contents = odd_texts();
    for (std::string& bytes : sized_values(0, s.max_bytes, true))
        contents.push_back(std::move(bytes));
    bool kept = true;
    for (std::size_t n = 0; n != contents.size(); ++n) {
        const std::string session = "bytes " + std::to_string(n);
        auto v = sessions.saved_version(session, contents[n], {});
        kept = v && sessions.is_stored(session, contents[n], *v) && kept;
        if (v) v = sessions.saved_version(session, "another", v);
        if (v) v = sessions.saved_version(session, contents[n], v);
        kept = v && sessions.is_stored(session, contents[n], *v) && kept;
    }
    s.t.holds(kept, "save: keeps any bytes as they are; an empty state is not an absent one");
}

template <class X>
void session_size_rules(X& s)
{
    session_trial<X> sessions(s, s.t);
    const std::string size = std::to_string(s.max_bytes) + " bytes";
    const std::string full = varied_bytes(s.max_bytes, 1);
    const std::string other = varied_bytes(s.max_bytes, 2);
    auto v = sessions.saved_version("large", full, {});
    s.t.holds(v && sessions.is_stored("large", full, *v),
              "save: keeps a state of " + size + " as it is");
    bool kept = true;
    for (const std::string* bytes : {&other, &size, &full}) {
        if (v) v = sessions.saved_version("large", *bytes, v);
        kept = v && sessions.is_stored("large", *bytes, *v) && kept;
    }
    s.t.holds(kept, "save: over a state of another size keeps " + size + " as they are");
}

/// States of sessions with similar and odd ids.
template <class S>
class session_ids {
public:
    session_ids(S& s, trial& t)
        : store_(s), trial_(t), sessions_(s, t), ids_(similar_names()), similar_(ids_.size())
    {
        for (std::string& id : odd_names()) ids_.push_back(std::move(id));
        versions_.resize(ids_.size());
    }

    void rules()
    {
        if (!similar_rules()) return;
        const bool odd = odd_rules();
        bool others_kept = true;
        for (std::size_t i = 0; i != similar_; ++i) {
            trial_.holds(sessions_.clears(ids_[i], *versions_[i]) && sessions_.absent(ids_[i]),
                         "clear: removes a state");
            others_kept = are_stored(i + 1, odd ? ids_.size() : similar_) && others_kept;
        }
        trial_.holds(others_kept, "clear: removes only the state of this session");
    }

private:
    bool similar_rules()
    {
        bool apart = true;
        for (std::size_t i = 0; i != similar_; ++i) {
            apart = sessions_.absent(ids_[i]) && apart;
            versions_[i] = sessions_.saved_version(ids_[i], state(i), {});
        }
        apart = are_stored(0, similar_) && apart;
        trial_.holds(apart, "states of different sessions are independent, whatever their ids are");
        return apart;
    }

    bool odd_rules()
    {
        bool apart = true;
        for (std::size_t i = similar_; i != ids_.size(); ++i) {
            const auto found = store_.load(ids_[i]);
            const auto saved = store_.save(ids_[i], state(i), {});
            const bool taken = saved && saved->outcome == state_write::applied;
            apart = !(found && *found) && (taken || !saved) && apart;
            if (taken) versions_[i] = saved->version;
        }
        apart = are_stored(0, ids_.size()) && apart;
        trial_.holds(
            apart,
            "an id that `job` refuses has its own state, or is refused with an error: "
            "it is not cut at a NUL or after 128 bytes, and not confused with another one");
        return apart;
    }

    [[nodiscard]] static std::string state(std::size_t i) { return "state " + std::to_string(i); }

    /// True if the states of the ids in [from, to) are stored. States of odd ids that were refused
    /// are not checked.
    bool are_stored(std::size_t from, std::size_t to)
    {
        bool all = true;
        for (std::size_t i = from; i != to; ++i) {
            const bool refused = i >= similar_ && !versions_[i];
            const bool stored =
                versions_[i] && sessions_.is_stored(ids_[i], state(i), *versions_[i]);
            all = (refused || stored) && all;
        }
        return all;
    }

    S& store_;
    trial& trial_;
    session_trial<S> sessions_;
    std::vector<std::string> ids_;
    std::size_t similar_;
    std::vector<std::optional<typename S::version>> versions_;
};

template <class X>
void session_id_rules(X& s)
{
    session_ids<X>(s, s.t).rules();
}

/// Two concurrent saves, first without a stored state and then over one; then a concurrent save and
/// clear.
template <class X>
void session_race(X& x)
{
    const std::string id = "order-17";
    using version = typename X::version;
    session_trial<X> sessions(x, x.t);
    std::optional<version> expected;
    const auto race = [&](auto f, auto g) {
        x.with_two([&](auto& s, auto& other) { x.race([&] { f(s); }, [&] { g(other); }); });
    };
    for (int round = 0; round != 2; ++round) {
        result<save_result<version>> a;
        result<save_result<version>> b;
        race([&](auto& s) { a = s.save(id, "mine", expected); },
             [&](auto& s) { b = s.save(id, "theirs", expected); });
        const bool mine = a && a->outcome == state_write::applied;
        const bool theirs = b && b->outcome == state_write::applied;
        x.t.holds(!(mine && theirs), session_one_saves);
        x.t.holds(mine || theirs || !a || !b,
                  "save: of two concurrent saves one is applied, or cannot reach the store");
        x.t.holds(is_temporary(a) && is_temporary(b),
                  "save: the error of a concurrent save is infrastructure or transient");
        if (mine == theirs) break;
        expected = mine ? a->version : b->version;
        x.t.holds(sessions.is_stored(id, mine ? "mine" : "theirs", *expected),
                  "save: of two concurrent saves, the one that returned applied is stored");
    }
    if (!expected) return;
    result<state_write> gone = state_write::conflict;
    result<save_result<version>> late;
    race([&](auto& s) { gone = s.clear(id, *expected); },
         [&](auto& s) { late = s.save(id, "late", expected); });
    const bool cleared = gone && *gone == state_write::applied;
    const bool saved = late && late->outcome == state_write::applied;
    x.t.holds(!(cleared && saved), "clear: of a concurrent clear and save at most one is applied");
    if (cleared) {
        x.t.holds(sessions.absent(id),
                  "clear: a concurrent save that was not applied stores no state");
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_SESSION_RULES_HPP

// SPDX-License-Identifier: MIT
//
// session_conformance: does a store do what a pipeline relies on?
//
// The answer is the list of rules that do not hold, in plain words:
//
//     auto broken = waybill::testing::session_conformance(
//         [&] { return my_sessions(new_empty_database()); },       // a store in which nothing is
//         [&](my_sessions& s) { return my_sessions(s.path()); },   // a second connection to it
//         [](auto f, auto g) { std::jthread t(f); g(); });         // runs both at the same time
//     for (const auto& rule : broken) log(rule);                   // nothing: it conforms
//
// Whoever has but one connection leaves out the second argument, whoever has no threads the third:
// then two who race write one after the other, which many a wrong store survives. What a store does
// that cannot be reached is tried by `session_outage_conformance`.

#ifndef WAYBILL_TESTING_SESSION_CONFORMANCE_HPP
#define WAYBILL_TESTING_SESSION_CONFORMANCE_HPP

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/session/session_store.hpp>
#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

namespace detail {

/// What the suite does with a store.
template <session_store S>
class session_trial {
public:
    using version = typename S::version;
    session_trial(S& s, trial& t) : store_(s), trial_(t) {}

    /// The version of what was written.
    std::optional<version> writes(const std::string& session, const std::string& bytes,
                                  const std::optional<version>& expected)
    {
        const auto r = store_.save(session, bytes, expected);
        trial_.holds(r.has_value(),
                     "save: answers applied or conflict where the store can be reached");
        if (!r || r->outcome != state_write::applied) return {};
        return r->version;
    }
    bool conflicts(const std::string& session, const std::optional<version>& expected)
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
    bool stands(const std::string& session, const std::string& bytes, const version& v)
    {
        const auto r = store_.load(session);
        return r && *r && (*r)->bytes == bytes && (*r)->version == v;
    }

private:
    S& store_;
    trial& trial_;
};

template <class S>
void session_rules(S& s, trial& t)
{
    session_trial<S> on(s, t);
    const std::string id = "order-17";
    t.holds(on.absent(id), "load: a session that nobody has written is absent, and no error");
    const auto first = on.writes(id, "one", {});
    t.holds(first && on.stands(id, "one", *first),
            "save: where none is expected and none is there it is applied, and loaded as written");
    if (!first) return;
    t.holds(on.conflicts(id, {}) && on.stands(id, "one", *first),
            "save: where none is expected and one is there it is a conflict, and changes nothing");
    const auto second = on.writes(id, "two", first);
    t.holds(second && on.stands(id, "two", *second),
            "save: where the version is the expected one it is applied");
    if (!second) return;
    const auto same = on.writes(id, "two", second);
    t.holds(same && *same != *second && *second != *first,
            "save: each that is applied makes a new version, also of the same bytes");
    if (!same) return;
    t.holds(on.conflicts(id, first) && on.conflicts(id, second) && on.stands(id, "two", *same),
            "save: where the version is an older one it is a conflict, and changes nothing");
    t.holds(on.refuses_to_clear(id, *first) && on.refuses_to_clear(id, *second) &&
                on.stands(id, "two", *same),
            "clear: where the version is an older one it is a conflict, and removes nothing");
    t.holds(on.clears(id, *same) && on.absent(id),
            "clear: where the version is the expected one the state is absent afterwards");
    t.holds(on.refuses_to_clear(id, *same), "clear: where there is none it is a conflict");
    t.holds(on.conflicts(id, same) && on.absent(id),
            "save: where one is expected and none is there it is a conflict, and makes none");

    const auto anew = on.writes(id, "one", {});
    t.holds(anew && *anew != *first && *anew != *second && *anew != *same,
            "save: a state that is made anew has no version that it had before");
    t.holds(on.conflicts(id, first) && on.refuses_to_clear(id, *first),
            "save, clear: what was known of a state before it was removed is a conflict");

    std::string all_bytes;
    for (int n = 0; n != 256; ++n) all_bytes += static_cast<char>(n);
    const std::string contents[] = {std::string(), all_bytes, "\xFF\xFE'\";--\xC3(", "null"};
    std::size_t n = 0;
    bool kept = true;
    for (const std::string& bytes : contents) {
        const std::string session = "bytes " + std::to_string(n++);
        const auto v = on.writes(session, bytes, {});
        kept = v && on.stands(session, bytes, *v) && kept;
    }
    t.holds(kept, "save: keeps any bytes as they are; an empty state is not an absent one");
    const std::string large(65'536, '\xE2');
    const auto v = on.writes("large", large, {});
    t.holds(v && on.stands("large", large, *v), "save: keeps 65,536 bytes as they are");
}

template <class S>
void session_id_rules(S& s, trial& t)
{
    session_trial<S> on(s, t);
    const std::vector<std::string> ids = {
        "a", "A", "a ", " a", "b", "ab", "a/b", "a\\b", "a#b", "a?b", "a%2Fb", "it's \"me\"; --%_",
        "\xC3\xA9", "e\xCC\x81", "1", "01", "order-17~1", "order-17~2", std::string(128, 'x'),
        std::string(127, 'x') + "y"};
    std::vector<std::optional<typename S::version>> versions;
    for (const std::string& id : ids) versions.push_back(on.writes(id, "state of " + id, {}));
    bool apart = true;
    for (std::size_t i = 0; i != ids.size(); ++i) {
        apart = versions[i] && on.stands(ids[i], "state of " + ids[i], *versions[i]) && apart;
    }
    t.holds(apart, "states of different sessions are independent, whatever their ids are");
    if (!apart) return;
    t.holds(on.clears(ids[0], *versions[0]), "clear: removes a state");
    for (std::size_t i = 1; i != ids.size(); ++i) {
        apart = on.stands(ids[i], "state of " + ids[i], *versions[i]) && apart;
    }
    t.holds(apart, "clear: removes the state of this session, and of no other");
}

}  // namespace detail

/// The rules of `load`, `save` and `clear`. `again(store)` answers with a second connection, and
/// `race(f, g)` calls both, at the same time if it can.
template <class Make, class Again = no_second, class Race = in_turn>
[[nodiscard]] std::vector<std::string> session_conformance(Make make, Again again = {},
                                                           Race race = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(session_store<store>,
                  "session_conformance: not a session store, see session/session_store.hpp");
    detail::trial t;
    {
        auto s = make();
        detail::session_rules(s, t);
    }
    {
        auto s = make();
        detail::session_id_rules(s, t);
    }
    const std::string id = "order-17";
    {
        auto s = make();
        decltype(auto) other = again(s);
        detail::session_trial<store> here(s, t);
        detail::session_trial<store> there(other, t);
        const auto v = here.writes(id, "one", {});
        t.holds(v && there.stands(id, "one", *v),
                "load: a second connection sees what was written");
        const auto w = v ? there.writes(id, "two", v) : v;
        t.holds(w && here.conflicts(id, v) && here.stands(id, "two", *w),
                "save: what a second connection has written in between is a conflict");
    }
    // Often, since a race is a matter of luck: over nothing, over a state, and against its end.
    for (int n = 0; n != 50; ++n) {
        auto s = make();
        decltype(auto) other = again(s);
        detail::session_trial<store> on(s, t);
        std::optional<typename store::version> expected;
        for (int round = 0; round != 2; ++round) {
            result<state_saving<typename store::version>> a;
            result<state_saving<typename store::version>> b;
            race([&] { a = s.save(id, "mine", expected); },
                 [&] { b = other.save(id, "theirs", expected); });
            const bool mine = a && a->outcome == state_write::applied;
            const bool theirs = b && b->outcome == state_write::applied;
            t.holds(!(mine && theirs), "save: of two who race at most one is applied");
            t.holds(mine || theirs || !a || !b,
                    "save: of two who race one is applied, or cannot reach the store");
            if (mine == theirs) break;
            expected = mine ? a->version : b->version;
            t.holds(on.stands(id, mine ? "mine" : "theirs", *expected),
                    "save: of two who race the one who was told so has written");
        }
        if (!expected) continue;
        result<state_write> gone = state_write::conflict;
        result<state_saving<typename store::version>> late;
        race([&] { gone = s.clear(id, *expected); },
             [&] { late = other.save(id, "late", expected); });
        const bool cleared = gone && *gone == state_write::applied;
        const bool saved = late && late->outcome == state_write::applied;
        t.holds(!(cleared && saved), "clear: of it and a save that race at most one is applied");
        if (cleared) t.holds(on.absent(id), "clear: a save that raced and lost has made no state");
    }
    return std::move(t.broken);
}

/// The rules for a store that cannot be reached just now: what is down is not absent.
template <session_store S>
[[nodiscard]] std::vector<std::string> session_outage_conformance(
    S& unreachable, const typename S::version& version = {})
{
    detail::trial t;
    const std::string id = "order-17";
    t.holds(!unreachable.load(id), "load: a store that cannot be reached is an error, not absence");
    t.holds(!unreachable.save(id, "bytes", {}) && !unreachable.save(id, "bytes", version),
            "save: a store that cannot be reached is an error, not a conflict");
    t.holds(!unreachable.clear(id, version),
            "clear: a store that cannot be reached is an error, not a conflict");
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_SESSION_CONFORMANCE_HPP

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
// then two who race write one after the other, which many a wrong store survives. A fourth is the
// `state_budget` of the pipelines, where it is not the usual one: a state may be as large as that.
// What a store does that cannot be reached is tried by `session_outage_conformance`.

#ifndef WAYBILL_TESTING_SESSION_CONFORMANCE_HPP
#define WAYBILL_TESTING_SESSION_CONFORMANCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/session/session_store.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

namespace detail {

/// An error that says no more than that the store cannot be reached.
template <class R>
[[nodiscard]] bool blames_nobody(const R& r)
{
    if (r) return true;
    return r.error().how == fault_class::transient || r.error().how == fault_class::infrastructure;
}

/// So many bytes, of which no part is like another.
[[nodiscard]] inline std::string varied_bytes(std::uint64_t count, std::uint64_t seed)
{
    std::string all;
    while (all.size() < count) {
        seed = seed * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        all += static_cast<char>(seed >> 56U);
    }
    return all;
}

/// Ids that a store could take for one another: by case, by blanks, by what a database's collation
/// finds equal, by what an address or a pattern makes of them, by their ends.
[[nodiscard]] inline std::vector<std::string> similar_sessions()
{
    return {"a", "A", "a ", " a", "a  ", "b", "ab", "aB", "a b", "a_b", "a/b", "a\\b", "a#b", "a?b",
            "a%2Fb", "a+b", "a.b", "a/", "it's \"me\"; --%_", "\xC3\xA9", "\xC3\x89", "e",
            "e\xCC\x81", "ss", "\xC3\x9F", "a\xC2\xA0", "a\xC2\xAD", "\xEF\xBD\x81",
            "\xF0\x9F\x8D\x80", "\xF0\x9F\x8D\x81", "1", "01", "1.0", "null",
            "order-17~1", "order-17~2", std::string(128, 'x'), std::string(127, 'x'),
            std::string(127, 'x') + "y"};
}

/// Ids that no job makes, but that others may send.
[[nodiscard]] inline std::vector<std::string> odd_sessions()
{
    const std::string zero(1, '\0');
    return {"a" + zero, "a" + zero + "b", "a" + zero + "c", "a\n", "a\r\n", "a\t", "a\tb",
            "a\x7F", "a\xC2\x85", "\xFF", "\xFE", "a\xC3", std::string(129, 'x'),
            std::string(128, 'x') + "y"};
}

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
    const std::string contents[] = {std::string(), all_bytes, "\xFF\xFE'\";--\xC3(", "null",
                                    std::string("x\0", 2), " x \r\n"};
    std::size_t n = 0;
    bool kept = true;
    for (const std::string& bytes : contents) {
        const std::string session = "bytes " + std::to_string(n++);
        auto v = on.writes(session, bytes, {});
        kept = v && on.stands(session, bytes, *v) && kept;
        if (v) v = on.writes(session, "another", v);
        if (v) v = on.writes(session, bytes, v);
        kept = v && on.stands(session, bytes, *v) && kept;
    }
    t.holds(kept, "save: keeps any bytes as they are; an empty state is not an absent one");
}

template <class S>
void session_size_rules(S& s, trial& t, std::uint64_t most)
{
    session_trial<S> on(s, t);
    const std::string size = std::to_string(most) + " bytes";
    const std::string full = varied_bytes(most, 1);
    const std::string other = varied_bytes(most, 2);
    auto v = on.writes("large", full, {});
    t.holds(v && on.stands("large", full, *v), "save: keeps a state of " + size + " as it is");
    bool kept = true;
    for (const std::string* bytes : {&other, &size, &full}) {
        if (v) v = on.writes("large", *bytes, v);
        kept = v && on.stands("large", *bytes, *v) && kept;
    }
    t.holds(kept, "save: over a state of another size keeps " + size + " as they are");
}

template <class S>
void session_id_rules(S& s, trial& t)
{
    session_trial<S> on(s, t);
    std::vector<std::string> ids = similar_sessions();
    const std::size_t similar = ids.size();
    for (std::string& id : odd_sessions()) ids.push_back(std::move(id));
    std::vector<std::optional<typename S::version>> versions(ids.size());
    const auto stand = [&](std::size_t from, std::size_t to) {
        bool all = true;
        for (std::size_t i = from; i != to; ++i) {
            const bool refused = i >= similar && !versions[i];
            const bool there = versions[i] && on.stands(ids[i], "state of " + ids[i], *versions[i]);
            all = (refused || there) && all;
        }
        return all;
    };
    bool apart = true;
    for (std::size_t i = 0; i != similar; ++i) {
        apart = on.absent(ids[i]) && apart;
        versions[i] = on.writes(ids[i], "state of " + ids[i], {});
    }
    apart = stand(0, similar) && apart;
    t.holds(apart, "states of different sessions are independent, whatever their ids are");
    if (!apart) return;

    for (std::size_t i = similar; i != ids.size(); ++i) {
        const auto found = s.load(ids[i]);
        const auto saved = s.save(ids[i], "state of " + ids[i], {});
        const bool taken = saved && saved->outcome == state_write::applied;
        apart = !(found && *found) && (taken || !saved) && apart;
        if (taken) versions[i] = saved->version;
    }
    apart = stand(0, ids.size()) && apart;
    t.holds(apart, "an id that no job makes has a state of its own, or is refused with an error: "
                   "it is not cut at a NUL or after 128 bytes, and not taken for another one");

    bool alone = true;
    for (std::size_t i = 0; i != similar; ++i) {
        t.holds(on.clears(ids[i], *versions[i]) && on.absent(ids[i]), "clear: removes a state");
        alone = stand(i + 1, apart ? ids.size() : similar) && alone;
    }
    t.holds(alone, "clear: removes the state of this session, and of no other");
}

}  // namespace detail

/// The rules of `load`, `save` and `clear`. `again(store)` answers with a second connection, and
/// `race(f, g)` calls both, at the same time if it can. States have up to `budget.bytes`.
template <class Make, class Again = no_second, class Race = in_turn>
[[nodiscard]] std::vector<std::string> session_conformance(Make make, Again again = {},
                                                           Race race = {},
                                                           const state_budget& budget = {})
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
        detail::session_size_rules(s, t, budget.bytes);
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
        const bool none = here.absent(id) && there.absent(id);
        const auto v = here.writes(id, "one", {});
        t.holds(none && v && there.stands(id, "one", *v),
                "load: a second connection sees what was written");
        const auto w = v && here.stands(id, "one", *v) ? there.writes(id, "two", v) : v;
        t.holds(w && here.stands(id, "two", *w),
                "load: what a connection has seen before is not what it sees now");
        t.holds(w && here.conflicts(id, v) && here.stands(id, "two", *w),
                "save: what a second connection has written in between is a conflict");
        t.holds(w && there.clears(id, *w) && here.absent(id),
                "clear: what a second connection has removed is absent");
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
            t.holds(detail::blames_nobody(a) && detail::blames_nobody(b),
                    "save: an error of one who races is infrastructure or transient");
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
    const auto loaded = unreachable.load(id);
    const auto made = unreachable.save(id, "bytes", {});
    const auto saved = unreachable.save(id, "bytes", version);
    const auto cleared = unreachable.clear(id, version);
    t.holds(!loaded, "load: a store that cannot be reached is an error, not absence");
    t.holds(!made && !saved, "save: a store that cannot be reached is an error, not a conflict");
    t.holds(!cleared, "clear: a store that cannot be reached is an error, not a conflict");
    t.holds(detail::blames_nobody(loaded) && detail::blames_nobody(made) &&
                detail::blames_nobody(saved) && detail::blames_nobody(cleared),
            "load, save, clear: a store that cannot be reached is infrastructure or transient: "
            "none says that it is done, permanent that the step is to blame, and ownership_lost "
            "that somebody else has the session");
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_SESSION_CONFORMANCE_HPP

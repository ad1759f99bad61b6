// SPDX-License-Identifier: MIT
//
// lease_rules: the rules of a lease store, for lease_conformance.

#ifndef WAYBILL_TESTING_DETAIL_LEASE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_LEASE_RULES_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/lease/lease.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// The calls of the suite to a lease store.
template <class S>
class lease_trial {
public:
    lease_trial(S& s, trial& t) : store_(s), trial_(t) {}

    [[nodiscard]] std::optional<claim_result> claim(const lease_claim& c)
    {
        const auto r = store_.claim(c);
        trial_.holds(r.has_value(),
                     "claim: returns won or contended if the store can be reached");
        if (!r) return {};
        return *r;
    }
    /// The version of the row if the claim was won with its epoch, otherwise empty.
    [[nodiscard]] std::optional<std::uint64_t> wins(const lease_claim& c)
    {
        const auto o = claim(c);
        if (!o || o->outcome != claim_result::claim_outcome::won || o->epoch != c.epoch) return {};
        return o->version;
    }
    [[nodiscard]] bool contended(const lease_claim& c)
    {
        const auto o = claim(c);
        return o && o->outcome == claim_result::claim_outcome::contended;
    }
    [[nodiscard]] lease_table table(const partition_key& of)
    {
        auto r = store_.list(of.source, of.group);
        trial_.holds(r.has_value(), "list: returns no error if the store can be reached");
        return r ? *std::move(r) : lease_table();
    }
    /// Whether the store lists exactly one row of this key, and it has this version.
    [[nodiscard]] bool stands(const lease_claim& c, std::uint64_t version)
    {
        const auto rows = table(c.key).leases;
        const lease expected{c.key, c.owner, c.epoch, version};
        const auto same_key = [&](const lease& l) { return l.key == c.key; };
        return std::count_if(rows.begin(), rows.end(), same_key) == 1 &&
               std::find(rows.begin(), rows.end(), expected) != rows.end();
    }
    [[nodiscard]] bool there(const owner_heartbeat& p)
    {
        const auto owners = table({p.source, p.group, {}}).owners;
        const auto same = [&](const owner_heartbeat& q) { return q.owner == p.owner; };
        return std::count_if(owners.begin(), owners.end(), same) == 1 &&
               std::find(owners.begin(), owners.end(), p) != owners.end();
    }
    [[nodiscard]] bool heartbeat(const owner_heartbeat& p)
    {
        return store_.heartbeat(p).has_value();
    }
    [[nodiscard]] bool leave(const owner_heartbeat& p) { return store_.leave(p).has_value(); }

private:
    S& store_;
    trial& trial_;
};

template <class S>
void presence_rules(S& s, trial& t)
{
    lease_trial<S> on(s, t);
    const owner_heartbeat p{"orders", "billing", {"a", 1}, 1};
    owner_heartbeat renewed = p;
    renewed.version = largest;
    const owner_heartbeat twin{"orders", "billing", {"a", largest}, 1};
    const owner_heartbeat elsewhere{"orders", "audit", {"a", 1}, 1};
    const owner_heartbeat odd{"orders", "billing", {"it's \"me\"; --%\xC3\xA9", 7}, 1};

    t.holds(on.heartbeat(p) && on.there(p), "heartbeat: an owner without leases is listed");
    t.holds(on.heartbeat(renewed) && on.there(renewed),
            "heartbeat: a second call replaces the row");
    t.holds(on.heartbeat(twin) && on.there(twin) && on.there(renewed),
            "heartbeat: two incarnations of one name are two owners");
    t.holds(on.heartbeat(elsewhere) && on.there(elsewhere) && !on.there(p) && on.there(renewed),
            "heartbeat: groups are independent");
    t.holds(on.heartbeat(odd) && on.there(odd), "heartbeat: accepts any name");
    t.holds(on.leave(p) && on.there(renewed),
            "leave: does not remove an owner with a later heartbeat");
    t.holds(on.leave(renewed) && !on.there(renewed) && on.there(twin) && on.there(elsewhere),
            "leave: removes only this owner");
    t.holds(on.leave(renewed), "leave: an absent owner is no error");
    t.holds(on.table({"orders", "billing", {}}).leases.empty(), "heartbeat: makes no lease");
}

/// The rules of a first claim. Returns its version.
template <class S>
[[nodiscard]] std::optional<std::uint64_t> first_claim_rules(lease_trial<S>& on, trial& t,
                                                             lease_claim c)
{
    t.holds(on.table(c.key) == lease_table{},
            "list: an empty store returns an empty table, not an error");
    t.holds(on.contended(c) && on.table(c.key).leases.empty(),
            "claim: an expected version without a row is contended, and stores no row");
    c.expected.reset();
    const auto first = on.wins(c);
    t.holds(first && on.stands(c, *first),
            "claim: the first one wins, and is listed with its version");
    if (!first) return {};
    const lease_claim late{c.key, {"b", 2}, 2, {}};
    t.holds(on.contended(late) && on.stands(c, *first),
            "claim: a second claim without an expected version is contended, and changes nothing");
    return first;
}

/// The rules of renewals of `c`, whose first version is `first`. Returns all versions.
template <class S>
[[nodiscard]] std::vector<std::uint64_t> renewal_rules(lease_trial<S>& on, trial& t,
                                                       const lease_claim& c, std::uint64_t first)
{
    std::vector<std::uint64_t> versions{first};
    lease_claim renewal = c;
    bool changes = true;
    for (int n = 0; n != 40; ++n) {
        renewal.expected = versions.back();
        const auto v = on.wins(renewal);
        t.holds(v && on.stands(renewal, *v), "claim: one that expects the stored version wins");
        if (!v) return {};
        changes = changes && std::find(versions.begin(), versions.end(), *v) == versions.end();
        versions.push_back(*v);
    }
    t.holds(changes,
            "claim: each claim that wins has a new version, also if it changes nothing else");
    return versions;
}

/// The rules of claims by another owner. Requires: the last claim of `renewal` has the last
/// version.
template <class S>
void steal_rules(lease_trial<S>& on, trial& t, lease_claim renewal,
                 const std::vector<std::uint64_t>& versions)
{
    bool refused = true;
    lease_claim thief{renewal.key, {"b", 2}, 2, {}};
    for (std::size_t n = 0; n + 1 < versions.size(); ++n) {
        thief.expected = renewal.expected = versions[n];
        refused = on.contended(thief) && on.contended(renewal) && refused;
    }
    thief.expected = versions.back() + 1;
    refused = on.contended(thief) && refused;
    t.holds(refused && on.stands(renewal, versions.back()),
            "claim: one that expects another version is contended and changes nothing");

    thief.expected = versions.back();
    const auto stolen = on.wins(thief);
    t.holds(stolen && on.stands(thief, *stolen), "claim: owner and epoch are stored as claimed");
    if (!stolen) return;
    renewal.expected = versions.back();
    t.holds(on.contended(renewal), "claim: the renewal of a stolen lease is contended");
    lease_claim back{renewal.key, {}, 2, *stolen};
    const auto given = on.wins(back);
    t.holds(given && on.stands(back, *given),
            "claim: a claim without an owner releases the lease");
    if (!given) return;
    const lease_claim widest{
        renewal.key, {"it's \"me\"; --%\xC3\xA9", largest}, largest, *given};
    const auto last = on.wins(widest);
    t.holds(last && on.stands(widest, *last),
            "claim: stores any name, and all 64 bits of incarnation and epoch");
}

template <class S>
void claim_rules(S& s, trial& t)
{
    lease_trial<S> on(s, t);
    lease_claim c{key_of("orders", "billing", "0"), {"a", 1}, 1, 5};
    const auto first = first_claim_rules(on, t, c);
    if (!first) return;
    const std::vector<std::uint64_t> versions = renewal_rules(on, t, c, *first);
    if (!versions.empty()) steal_rules(on, t, c, versions);
}

/// Names of owners that a store could confuse.
template <class S>
void owner_rules(S& s, trial& t)
{
    lease_trial<S> on(s, t);
    const auto of = [](const std::string& name) {
        return owner_heartbeat{"orders", "billing", {name, 1}, 1};
    };
    bool apart = true;
    for (const std::string& name : similar_names()) apart = on.heartbeat(of(name)) && apart;
    for (const std::string& name : similar_names()) apart = on.there(of(name)) && apart;
    t.holds(apart, "heartbeat: owners are distinguished by all bytes of their names");
    std::size_t n = 0;
    for (const std::string& name : similar_names()) {
        if (n++ % 2 == 0) apart = on.leave(of(name)) && apart;
    }
    n = 0;
    for (const std::string& name : similar_names())
        apart = on.there(of(name)) == (n++ % 2 != 0) && apart;
    t.holds(apart, "leave: an owner with a similar name stays");
}

template <class S>
void lease_key_rules(S& s, trial& t)
{
    lease_trial<S> on(s, t);
    const std::vector<partition_key> keys = many_similar_keys();
    std::vector<lease_claim> claims;
    std::vector<std::optional<std::uint64_t>> versions;
    for (std::uint64_t i = 0; i != keys.size(); ++i) {
        claims.push_back({keys[i], {"owner", i}, i + 1, {}});
        versions.push_back(on.wins(claims.back()));
    }
    bool apart = true;
    for (std::size_t i = 0; i != keys.size(); ++i) {
        const lease expected{keys[i], claims[i].owner, claims[i].epoch, versions[i].value_or(0)};
        bool listed = false;
        for (const lease& l : on.table(keys[i]).leases) {
            apart = l.key.source == keys[i].source && l.key.group == keys[i].group && apart;
            if (l.key == keys[i]) apart = !std::exchange(listed, true) && l == expected && apart;
        }
        apart = listed && versions[i] && apart;
    }
    t.holds(apart, "leases of different keys are independent, and listed for their group only");
}

/// The version of one lease is not accepted for another one.
template <class S>
void lease_version_rules(S& s, trial& t)
{
    lease_trial<S> on(s, t);
    const std::vector<partition_key> keys = similar_keys();
    std::vector<lease_claim> claims;
    std::vector<std::uint64_t> versions;
    for (std::uint64_t i = 0; i != keys.size(); ++i) {
        claims.push_back({keys[i], {"owner", i}, i + 1, {}});
        versions.push_back(on.wins(claims.back()).value_or(0));
    }
    const partition_key absent = key_of("a", "b", "never claimed");
    bool refused = true;
    for (std::size_t i = 0; i != keys.size(); ++i) {
        refused = on.contended({absent, {"thief", 1}, 100, versions[i]}) && refused;
        for (std::size_t other = 0; other != keys.size(); ++other) {
            lease_claim c{keys[i], {"thief", 1}, 100, versions[other]};
            if (versions[other] != versions[i]) {
                refused = on.contended(c) && refused;
            } else {
                versions[i] = on.wins(c).value_or(0);
                claims[i] = c;
            }
        }
        for (std::size_t n = 0; n != keys.size(); ++n)
            refused = on.stands(claims[n], versions[n]) && refused;
    }
    t.holds(refused, "claim: the version of another lease is contended, and changes neither");
}

struct lease_rule {
    static constexpr std::string_view deleted =
        "claim: a lease whose row was deleted has no version that it had before";
    static constexpr std::string_view listed =
        "list: a second connection sees what was claimed and announced";
    static constexpr std::string_view other =
        "claim: a lease that a second connection has claimed since is contended";
    static constexpr std::string_view one_new =
        "claim: of two concurrent claims of a new lease at most one wins";
    static constexpr std::string_view one =
        "claim: of two concurrent claims of a lease at most one wins";
    static constexpr std::string_view some =
        "claim: of two concurrent claims one wins, or cannot reach the store";
    static constexpr std::string_view winner =
        "claim: of two concurrent claims, the one that returned won is stored";
};

template <class S, class Erase>
void lease_erase_rules(S& s, trial& t, Erase& erase)
{
    lease_trial<S> on(s, t);
    const partition_key key = key_of("orders", "billing", "0");
    std::vector<std::uint64_t> had;
    bool fresh = true;
    for (int n = 0; n != 3; ++n) {
        lease_claim c{key, {"a", 1}, 1, {}};
        for (int renewal = 0; renewal != 3; ++renewal) {
            c.expected = on.wins(c);
            const std::uint64_t version = c.expected.value_or(0);
            const bool before = std::find(had.begin(), had.end(), version) != had.end();
            fresh = fresh && c.expected && !before;
            had.push_back(version);
        }
        erase(s, key);
        t.holds(on.table(key).leases.empty(),
                "the row of a lease is deleted by hand, and listed no more");
    }
    t.holds(fresh, lease_rule::deleted);
}

template <class S, class Other>
void second_lease_rules(S& s, Other& second, trial& t)
{
    lease_trial<S> here(s, t);
    lease_trial<S> there(second, t);
    const partition_key key = key_of("orders", "billing", "0");
    const owner_heartbeat p{"orders", "billing", {"a", 1}, 1};
    const lease_claim mine{key, {"a", 1}, 1, {}};
    const bool none = there.table(key) == lease_table{};
    const auto first = here.wins(mine);
    const bool announced = here.heartbeat(p);
    t.holds(none && first && announced && there.stands(mine, *first) && there.there(p),
            lease_rule::listed);
    const lease_claim theirs{key, {"b", 2}, 2, first};
    const auto stolen = there.wins(theirs);
    const lease_claim renewal{key, {"a", 1}, 1, first};
    t.holds(stolen && here.contended(renewal) && here.stands(theirs, *stolen), lease_rule::other);
}

/// Two connections claim the same lease: first a new one, then one with an owner. There are many
/// rounds, because the result of a race depends on chance.
template <class Make, class Again, class Race>
void lease_race_rules(trial& t, Make& make, Again& again, Race& race)
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    for (int n = 0; n != 50; ++n) {
        auto s = make();
        decltype(auto) other = again(s);
        lease_trial<store> on(s, t);
        const partition_key key = key_of("orders", "billing", "0");
        std::optional<std::uint64_t> expected;
        for (const bool first : {true, false}) {
            const lease_claim mine{key, {"a", 1}, first ? 1U : 2U, expected};
            const lease_claim theirs{key, {"b", 2}, first ? 1U : 2U, expected};
            result<claim_result> a = claim_result{};
            result<claim_result> b = claim_result{};
            race([&] { a = s.claim(mine); }, [&] { b = other.claim(theirs); });
            const bool a_won = a && a->outcome == claim_result::claim_outcome::won;
            const bool b_won = b && b->outcome == claim_result::claim_outcome::won;
            t.holds(!(a_won && b_won), first ? lease_rule::one_new : lease_rule::one);
            t.holds(a_won || b_won || !a || !b, lease_rule::some);
            if (a_won == b_won) break;
            t.holds(a_won ? on.stands(mine, a->version) : on.stands(theirs, b->version),
                    lease_rule::winner);
            expected = a_won ? a->version : b->version;
        }
    }
}

template <class Again, class Race, class Erase>
void untested_lease_rules(trial& t)
{
    using rule = lease_rule;
    if constexpr (std::is_same_v<Erase, no_erase>)
        t.untested(rule::deleted, "rows that are deleted by hand");
    if constexpr (!has_second<Again>) {
        for (const auto r : {rule::listed, rule::other}) t.untested(r, second_connection);
    }
    if constexpr (!has_race<Race>) {
        for (const auto r : {rule::one_new, rule::one, rule::some, rule::winner})
            t.untested(r, two_threads);
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_LEASE_RULES_HPP

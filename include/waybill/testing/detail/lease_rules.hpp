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

    [[nodiscard]] std::optional<lease_claim::result> claim(const lease_claim& c)
    {
        const auto r = store_.claim(c);
        trial_.holds(r.has_value(), "claim: returns won or contended if the store can be reached");
        if (!r) return {};
        return *r;
    }
    /// The version of the row if the claim was won with its epoch, otherwise empty.
    [[nodiscard]] std::optional<std::uint64_t> claim_version(const lease_claim& c)
    {
        const auto o = claim(c);
        if (!o || o->outcome != lease_claim::result::claim_outcome::won || o->epoch != c.epoch)
            return {};
        return o->version;
    }
    [[nodiscard]] bool is_contended(const lease_claim& c)
    {
        const auto o = claim(c);
        return o && o->outcome == lease_claim::result::claim_outcome::contended;
    }
    [[nodiscard]] lease_table table(const partition_key& of)
    {
        auto r = store_.list(of.source, of.group);
        trial_.holds(r.has_value(), "list: returns no error if the store can be reached");
        return r ? *std::move(r) : lease_table();
    }
    /// True if the store lists exactly one row of this key: that of the claim, with this version.
    [[nodiscard]] bool is_stored(const lease_claim& c, std::uint64_t version)
    {
        const auto rows = table(c.key).leases;
        const lease expected{c.key, c.owner, c.epoch, version};
        const auto same_key = [&](const lease& l) { return l.key == c.key; };
        return std::count_if(rows.begin(), rows.end(), same_key) == 1 &&
               std::find(rows.begin(), rows.end(), expected) != rows.end();
    }
    /// True if the store lists exactly one row of this owner, and the row equals `p`.
    [[nodiscard]] bool lists(const owner_heartbeat& p)
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
void heartbeat_rules(S& s, trial& t)
{
    lease_trial<S> leases(s, t);
    const owner_heartbeat p{"orders", "billing", {"a", 1}, 1};
    owner_heartbeat renewed = p;
    renewed.version = largest;
    const owner_heartbeat twin{"orders", "billing", {"a", largest}, 1};
    const owner_heartbeat other_group{"orders", "audit", {"a", 1}, 1};
    const owner_heartbeat odd_name{"orders", "billing", {"it's \"me\"; --%\xC3\xA9", 7}, 1};

    t.holds(leases.heartbeat(p) && leases.lists(p), "heartbeat: an owner without leases is listed");
    t.holds(leases.heartbeat(renewed) && leases.lists(renewed),
            "heartbeat: a second call replaces the row");
    t.holds(leases.heartbeat(twin) && leases.lists(twin) && leases.lists(renewed),
            "heartbeat: two incarnations of one name are two owners");
    t.holds(leases.heartbeat(other_group) && leases.lists(other_group) && !leases.lists(p) &&
                leases.lists(renewed),
            "heartbeat: groups are independent");
    t.holds(leases.heartbeat(odd_name) && leases.lists(odd_name), "heartbeat: accepts any name");
    t.holds(leases.leave(p) && leases.lists(renewed),
            "leave: does not remove an owner with a later heartbeat");
    t.holds(leases.leave(renewed) && !leases.lists(renewed) && leases.lists(twin) &&
                leases.lists(other_group),
            "leave: removes only this owner");
    t.holds(leases.leave(renewed), "leave: an absent owner is no error");
    t.holds(leases.table({"orders", "billing", {}}).leases.empty(), "heartbeat: makes no lease");
}

/// The rules of a first claim. Returns its version.
template <class S>
[[nodiscard]] std::optional<std::uint64_t> first_claim_rules(lease_trial<S>& leases, trial& t,
                                                             lease_claim c)
{
    t.holds(leases.table(c.key) == lease_table{},
            "list: an empty store returns an empty table, not an error");
    t.holds(leases.is_contended(c) && leases.table(c.key).leases.empty(),
            "claim: an expected version without a row is contended, and stores no row");
    c.expected.reset();
    const auto first = leases.claim_version(c);
    t.holds(first && leases.is_stored(c, *first),
            "claim: the first one wins, and is listed with its version");
    if (!first) return {};
    const lease_claim late{.key = c.key, .owner = {"b", 2}, .epoch = 2};
    t.holds(leases.is_contended(late) && leases.is_stored(c, *first),
            "claim: a second claim without an expected version is contended, and changes nothing");
    return first;
}

/// The rules of renewals of `c`, whose first version is `first`. Returns all versions that the row
/// had, the stored one last; empty if a renewal was not won.
template <class S>
[[nodiscard]] std::vector<std::uint64_t> renewal_rules(lease_trial<S>& leases, trial& t,
                                                       const lease_claim& c, std::uint64_t first)
{
    std::vector<std::uint64_t> versions{first};
    lease_claim renewal = c;
    bool changes = true;
    for (int n = 0; n != 40; ++n) {
        renewal.expected = versions.back();
        const auto v = leases.claim_version(renewal);
        t.holds(v && leases.is_stored(renewal, *v),
                "claim: one that expects the stored version wins");
        if (!v) return {};
        changes = changes && std::find(versions.begin(), versions.end(), *v) == versions.end();
        versions.push_back(*v);
    }
    t.holds(changes,
            "claim: each claim that wins has a new version, also if it changes nothing else");
    return versions;
}

/// The rules of claims by another owner. Requires: `versions` are all versions that the row had,
/// the stored one last. `renewal` is the claim that wrote them.
template <class S>
void steal_rules(lease_trial<S>& leases, trial& t, lease_claim renewal,
                 const std::vector<std::uint64_t>& versions)
{
    bool refused = true;
    lease_claim other_claim{.key = renewal.key, .owner = {"b", 2}, .epoch = 2};
    for (std::size_t n = 0; n + 1 < versions.size(); ++n) {
        other_claim.expected = renewal.expected = versions[n];
        refused = leases.is_contended(other_claim) && leases.is_contended(renewal) && refused;
    }
    other_claim.expected = versions.back() + 1;
    refused = leases.is_contended(other_claim) && refused;
    t.holds(refused && leases.is_stored(renewal, versions.back()),
            "claim: one that expects another version is contended and changes nothing");

    other_claim.expected = versions.back();
    const auto stolen = leases.claim_version(other_claim);
    t.holds(stolen && leases.is_stored(other_claim, *stolen),
            "claim: owner and epoch are stored as claimed");
    if (!stolen) return;
    renewal.expected = versions.back();
    t.holds(leases.is_contended(renewal), "claim: the renewal of a stolen lease is contended");
    const lease_claim release{.key = renewal.key, .owner = {}, .epoch = 2, .expected = *stolen};
    const auto released = leases.claim_version(release);
    t.holds(released && leases.is_stored(release, *released),
            "claim: a claim without an owner releases the lease");
    if (!released) return;
    const lease_claim widest{.key = renewal.key,
                             .owner = {"it's \"me\"; --%\xC3\xA9", largest},
                             .epoch = largest,
                             .expected = *released};
    const auto last = leases.claim_version(widest);
    t.holds(last && leases.is_stored(widest, *last),
            "claim: stores any name, and all 64 bits of incarnation and epoch");
}

template <class S>
void claim_rules(S& s, trial& t)
{
    lease_trial<S> leases(s, t);
    const lease_claim c{
        .key = key_of("orders", "billing", "0"), .owner = {"a", 1}, .epoch = 1, .expected = 5};
    const auto first = first_claim_rules(leases, t, c);
    if (!first) return;
    const std::vector<std::uint64_t> versions = renewal_rules(leases, t, c, *first);
    if (!versions.empty()) steal_rules(leases, t, c, versions);
}

/// Names of owners that a store could confuse.
template <class S>
void owner_rules(S& s, trial& t)
{
    lease_trial<S> leases(s, t);
    const auto of = [](const std::string& name) {
        return owner_heartbeat{"orders", "billing", {name, 1}, 1};
    };
    bool apart = true;
    for (const std::string& name : similar_names()) apart = leases.heartbeat(of(name)) && apart;
    for (const std::string& name : similar_names()) apart = leases.lists(of(name)) && apart;
    t.holds(apart, "heartbeat: owners are distinguished by all bytes of their names");
    std::size_t n = 0;
    for (const std::string& name : similar_names()) {
        if (n++ % 2 == 0) apart = leases.leave(of(name)) && apart;
    }
    n = 0;
    for (const std::string& name : similar_names())
        apart = leases.lists(of(name)) == (n++ % 2 != 0) && apart;
    t.holds(apart, "leave: an owner with a similar name stays");
}

template <class S>
void lease_key_rules(S& s, trial& t)
{
    lease_trial<S> leases(s, t);
    const std::vector<partition_key> keys = many_similar_keys();
    std::vector<lease_claim> claims;
    std::vector<std::optional<std::uint64_t>> versions;
    for (std::uint64_t i = 0; i != keys.size(); ++i) {
        claims.push_back({keys[i], {"owner", i}, i + 1, {}});
        versions.push_back(leases.claim_version(claims.back()));
    }
    bool apart = true;
    for (std::size_t i = 0; i != keys.size(); ++i) {
        const lease expected{keys[i], claims[i].owner, claims[i].epoch, versions[i].value_or(0)};
        bool listed = false;
        for (const lease& l : leases.table(keys[i]).leases) {
            apart = l.key.source == keys[i].source && l.key.group == keys[i].group && apart;
            if (l.key == keys[i]) apart = !std::exchange(listed, true) && l == expected && apart;
        }
        apart = listed && versions[i] && apart;
    }
    t.holds(apart, "leases of different keys are independent, and listed for their group only");
}

/// More rows than a database returns at once.
template <class S>
void lease_page_rules(S& s, trial& t)
{
    lease_trial<S> leases(s, t);
    constexpr std::uint64_t rows = 1'100;
    bool written = true;
    for (std::uint64_t n = 0; n != rows; ++n) {
        const owner_heartbeat p{"orders", "billing", {"owner " + std::to_string(n), n}, n + 1};
        const lease_claim c{
            .key = key_of(p.source, p.group, std::to_string(n)), .owner = p.owner, .epoch = n + 1};
        written = leases.claim_version(c) && leases.heartbeat(p) && written;
    }
    const lease_table all = leases.table(key_of("orders", "billing", ""));
    const auto is_complete = [](std::vector<std::uint64_t> incarnations) {
        std::sort(incarnations.begin(), incarnations.end());
        bool complete = incarnations.size() == rows;
        for (std::uint64_t n = 0; complete && n != rows; ++n) complete = incarnations[n] == n;
        return complete;
    };
    std::vector<std::uint64_t> owners;
    std::vector<std::uint64_t> holders;
    owners.reserve(all.owners.size());
    holders.reserve(all.leases.size());
    for (const owner_heartbeat& p : all.owners) owners.push_back(p.owner.incarnation);
    for (const lease& l : all.leases) holders.push_back(l.owner.incarnation);
    t.holds(written && is_complete(std::move(owners)) && is_complete(std::move(holders)),
            "list: returns each of 1,100 leases and of 1,100 owners once");
}

/// The version of one lease is not accepted for another one.
template <class S>
void lease_version_rules(S& s, trial& t)
{
    lease_trial<S> leases(s, t);
    const std::vector<partition_key> keys = similar_keys();
    std::vector<lease_claim> claims;
    std::vector<std::uint64_t> versions;
    for (std::uint64_t i = 0; i != keys.size(); ++i) {
        claims.push_back({keys[i], {"owner", i}, i + 1, {}});
        versions.push_back(leases.claim_version(claims.back()).value_or(0));
    }
    const partition_key absent = key_of("a", "b", "never claimed");
    bool refused = true;
    for (std::size_t i = 0; i != keys.size(); ++i) {
        refused = leases.is_contended({absent, {"other", 1}, 100, versions[i]}) && refused;
        for (std::size_t other = 0; other != keys.size(); ++other) {
            lease_claim c{keys[i], {"other", 1}, 100, versions[other]};
            if (versions[other] != versions[i]) {
                refused = leases.is_contended(c) && refused;
            } else {
                versions[i] = leases.claim_version(c).value_or(0);
                claims[i] = c;
            }
        }
        for (std::size_t n = 0; n != keys.size(); ++n)
            refused = leases.is_stored(claims[n], versions[n]) && refused;
    }
    t.holds(refused, "claim: the version of another lease is contended, and changes neither");
}

struct lease_rule {
    static constexpr std::string_view deleted =
        "claim: a lease whose row was deleted has no version that it had before";
    static constexpr std::string_view complete =
        "renew: returns all leases after a row was deleted by hand";
    static constexpr std::string_view listed =
        "list: a second connection sees the claims and heartbeats";
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
    lease_trial<S> leases(s, t);
    const partition_key key = key_of("orders", "billing", "0");
    std::vector<std::uint64_t> used_versions;
    bool fresh = true;
    for (int n = 0; n != 3; ++n) {
        lease_claim c{.key = key, .owner = {"a", 1}, .epoch = 1};
        for (int renewal = 0; renewal != 3; ++renewal) {
            c.expected = leases.claim_version(c);
            const std::uint64_t version = c.expected.value_or(0);
            const bool before = std::find(used_versions.begin(), used_versions.end(), version) !=
                                used_versions.end();
            fresh = fresh && c.expected && !before;
            used_versions.push_back(version);
        }
        erase(s, key);
        t.holds(leases.table(key).leases.empty(),
                "the row of a lease is deleted by hand, and listed no more");
    }
    t.holds(fresh, lease_rule::deleted);
}

template <class S, class Other>
void second_lease_rules(S& s, Other& second, trial& t)
{
    lease_trial<S> first_store(s, t);
    lease_trial<S> second_store(second, t);
    const partition_key key = key_of("orders", "billing", "0");
    const owner_heartbeat p{"orders", "billing", {"a", 1}, 1};
    const lease_claim mine{.key = key, .owner = {"a", 1}, .epoch = 1};
    const bool none = second_store.table(key) == lease_table{};
    const auto first = first_store.claim_version(mine);
    const bool announced = first_store.heartbeat(p);
    t.holds(
        none && first && announced && second_store.is_stored(mine, *first) && second_store.lists(p),
        lease_rule::listed);
    const lease_claim theirs{.key = key, .owner = {"b", 2}, .epoch = 2, .expected = first};
    const auto stolen = second_store.claim_version(theirs);
    const lease_claim renewal{.key = key, .owner = {"a", 1}, .epoch = 1, .expected = first};
    t.holds(stolen && first_store.is_contended(renewal) && first_store.is_stored(theirs, *stolen),
            lease_rule::other);
}

/// Two connections claim the same lease: first a new one, then one with an owner.
template <class Make, class Connect, class Race>
void lease_race_rules(trial& t, Make& make, Connect& connect, Race& race)
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    constexpr int rounds = 50;  // many, because the result of a race depends on chance
    for (int n = 0; n != rounds; ++n) {
        auto s = make();
        decltype(auto) other = connect(s);
        lease_trial<store> leases(s, t);
        const partition_key key = key_of("orders", "billing", "0");
        std::optional<std::uint64_t> expected;
        for (const bool first : {true, false}) {
            const std::uint64_t epoch = first ? 1 : 2;
            const lease_claim mine{key, {"a", 1}, epoch, expected};
            const lease_claim theirs{key, {"b", 2}, epoch, expected};
            result<lease_claim::result> a = lease_claim::result{};
            result<lease_claim::result> b = lease_claim::result{};
            race([&] { a = s.claim(mine); }, [&] { b = other.claim(theirs); });
            const bool a_won = a && a->outcome == lease_claim::result::claim_outcome::won;
            const bool b_won = b && b->outcome == lease_claim::result::claim_outcome::won;
            t.holds(!(a_won && b_won), first ? lease_rule::one_new : lease_rule::one);
            t.holds(a_won || b_won || !a || !b, lease_rule::some);
            if (a_won == b_won) break;
            t.holds(
                a_won ? leases.is_stored(mine, a->version) : leases.is_stored(theirs, b->version),
                lease_rule::winner);
            expected = a_won ? a->version : b->version;
        }
    }
}

template <class S, class Connect, class Race, class Erase>
void untested_lease_rules(trial& t)
{
    using rule = lease_rule;
    if constexpr (std::is_same_v<Erase, no_erase>) {
        t.untested(rule::deleted, "rows that are deleted by hand");
        if constexpr (waybill::detail::bulk_lease_store<S>)
            t.untested(rule::complete, "rows that are deleted by hand");
    }
    if constexpr (!has_second<Connect>) {
        for (const auto r : {rule::listed, rule::other}) t.untested(r, second_connection);
    }
    if constexpr (!has_race<Race>) {
        for (const auto r : {rule::one_new, rule::one, rule::some, rule::winner})
            t.untested(r, two_threads);
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_LEASE_RULES_HPP

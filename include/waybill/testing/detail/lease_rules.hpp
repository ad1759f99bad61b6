// SPDX-License-Identifier: MIT
//
// lease_rules: the rules of a lease store, for lease_conformance.

#ifndef WAYBILL_TESTING_DETAIL_LEASE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_LEASE_RULES_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/lease/lease.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

struct lease_rule {
    static constexpr std::string_view deleted =
        "claim: a lease whose row was deleted has no version that it had before";
    static constexpr std::string_view one =
        "claim: of two concurrent claims of a lease at most one wins";
    static constexpr std::string_view odd_names =
        "claim, heartbeat: keys and names that a store may refuse are refused, or stored whole";
};

/// A lease store whose calls use the connections of a way, and the calls of the suite to it.
template <class Make, class Again, class Race, class Erase>
class lease_trial : public connections<Make, Again> {
public:
    using typename connections<Make, Again>::store;
    static constexpr bool is_bulk = waybill::detail::bulk_lease_store<store>;

    lease_trial(Make& make, Again& again, Race& race, Erase& erase, way how, trial& to)
        : connections<Make, Again>(make, again, how), t(to), race_(race), erase_(erase)
    {
    }

    [[nodiscard]] auto try_claim(const lease_claim& c)
    {
        return this->through([&](auto& s) { return s.claim(c); });
    }
    [[nodiscard]] std::optional<lease_claim::result> claim(const lease_claim& c)
    {
        const auto r = try_claim(c);
        t.holds(r.has_value(), "claim: returns won or contended if the store can be reached");
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
        auto r = this->through([&](auto& s) { return s.list(of.source, of.group); });
        t.holds(r.has_value(), "list: returns no error if the store can be reached");
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
        return written([&](auto& s) { return s.heartbeat(p); }).has_value();
    }
    [[nodiscard]] bool leave(const owner_heartbeat& p)
    {
        return written([&](auto& s) { return s.leave(p); }).has_value();
    }
    [[nodiscard]] lease_table renew(const owner_heartbeat& own, std::uint64_t since)
    {
        auto r = written([&](auto& s) { return s.renew(own, since); });
        t.holds(r.has_value(), "renew: returns no error if the store can be reached");
        return r ? *std::move(r) : lease_table();
    }
    [[nodiscard]] std::vector<lease_claim::result> claim_all(const std::vector<lease_claim>& claims)
    {
        auto r = this->through([&](auto& s) { return s.claim_all(claims); });
        t.holds(r.has_value() && r->size() == claims.size(),
                "claim_all: returns one result for each claim if the store can be reached");
        std::vector<lease_claim::result> results =
            r ? *std::move(r) : std::vector<lease_claim::result>();
        results.resize(claims.size());
        return results;
    }
    [[nodiscard]] bool wins(const lease_claim& c)
    {
        return claim_all({c}).front().outcome == lease_claim::result::claim_outcome::won;
    }
    void erase(const partition_key& key)
    {
        this->through([&](auto& s) {
            erase_(s, key);
            return true;
        });
    }
    template <class F, class G>
    void race(F f, G g)
    {
        race_(f, g);
    }

    trial& t;

private:
    template <class F>
    auto written(F f)
    {
        auto done = this->through(f);
        return done && this->repeats() ? this->through(f) : done;
    }

    Race& race_;
    Erase& erase_;
};

template <class X>
void heartbeat_rules(X& leases)
{
    trial& t = leases.t;
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
template <class X>
[[nodiscard]] std::optional<std::uint64_t> first_claim_rules(X& leases, lease_claim c)
{
    trial& t = leases.t;
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
template <class X>
[[nodiscard]] std::vector<std::uint64_t> renewal_rules(X& leases, const lease_claim& c,
                                                       std::uint64_t first)
{
    trial& t = leases.t;
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
template <class X>
void steal_rules(X& leases, lease_claim renewal, const std::vector<std::uint64_t>& versions)
{
    trial& t = leases.t;
    bool refused = true;
    lease_claim other_claim{.key = renewal.key, .owner = {"b", 2}, .epoch = 2};
    for (std::size_t n = 0; n + 1 < versions.size(); ++n) {
        other_claim.expected = renewal.expected = versions[n];
        refused = leases.is_contended(other_claim) && leases.is_contended(renewal) && refused;
    }
    for (const unsigned bit : {0U, 32U, 53U, 63U}) {
        other_claim.expected = versions.back() ^ (std::uint64_t{1} << bit);
        refused = leases.is_contended(other_claim) && refused;
    }
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
    std::optional<std::uint64_t> last = released;
    bool kept = true;
    for (const std::uint64_t n : numbers_of_64_bits) {
        const lease_claim c{renewal.key, {"it's \"me\"; --%\xC3\xA9", n}, n, last};
        last = leases.claim_version(c);
        kept = last && leases.is_stored(c, *last) && kept;
    }
    t.holds(kept, "claim: stores any name, and all 64 bits of incarnation and epoch");
}

template <class X>
void claim_rules(X& leases)
{
    const lease_claim c{
        .key = key_of("orders", "billing", "0"), .owner = {"a", 1}, .epoch = 1, .expected = 5};
    const auto first = first_claim_rules(leases, c);
    if (!first) return;
    const std::vector<std::uint64_t> versions = renewal_rules(leases, c, *first);
    if (!versions.empty()) steal_rules(leases, c, versions);
}

/// Incarnations and versions that become equal if a store truncates them.
template <class X>
void heartbeat_number_rules(X& leases)
{
    const auto of = [](std::uint64_t incarnation, std::uint64_t version) {
        return owner_heartbeat{"orders", "billing", {"a", incarnation}, version};
    };
    bool whole = true;
    for (const std::uint64_t n : numbers_of_64_bits) whole = leases.heartbeat(of(n, n)) && whole;
    for (const std::uint64_t n : numbers_of_64_bits) {
        for (const std::uint64_t other : numbers_of_64_bits) {
            if (other != n) whole = leases.leave(of(n, other)) && whole;
        }
    }
    for (const std::uint64_t n : numbers_of_64_bits)
        whole = leases.lists(of(n, n)) && leases.leave(of(n, n)) && whole;
    leases.t.holds(whole && leases.table({"orders", "billing", {}}).owners.empty(),
                   "heartbeat, leave: incarnations and versions have 64 bits");
}

/// Owners and keys that a store may refuse, but must not change or confuse.
template <class X>
void lease_odd_name_rules(X& leases)
{
    std::vector<owner_heartbeat> owners;
    for (const std::string& name : odd_names()) {
        owners.push_back({"orders", "billing", {name, 1}, 1});
        if (!leases.heartbeat(owners.back())) owners.pop_back();
    }
    std::vector<std::pair<lease_claim, std::uint64_t>> claims;
    bool whole = true;
    for (const partition_key& key : odd_keys()) {
        const lease_claim c{key, {"a", 1}, 1, {}};
        const auto r = leases.try_claim(c);
        if (!r) continue;
        whole = r->outcome == lease_claim::result::claim_outcome::won && whole;
        claims.emplace_back(c, r->version);
    }
    for (const owner_heartbeat& p : owners) whole = leases.lists(p) && whole;
    for (const auto& [c, version] : claims) whole = leases.is_stored(c, version) && whole;
    leases.t.holds(whole, lease_rule::odd_names);
}

/// Names of owners that a store could confuse.
template <class X>
void owner_rules(X& leases)
{
    trial& t = leases.t;
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

template <class X>
void lease_key_rules(X& leases)
{
    trial& t = leases.t;
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
template <class X>
void lease_page_rules(X& leases)
{
    trial& t = leases.t;
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
template <class X>
void lease_version_rules(X& leases)
{
    trial& t = leases.t;
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

template <class X>
void lease_erase_rules(X& leases)
{
    trial& t = leases.t;
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
        leases.erase(key);
        t.holds(leases.table(key).leases.empty(),
                "the row of a lease is deleted by hand, and listed no more");
    }
    t.holds(fresh, lease_rule::deleted);
}

/// Two connections claim the same lease: first a new one, then one with an owner.
template <class X>
void lease_race_rules(X& leases)
{
    trial& t = leases.t;
    const partition_key key = key_of("orders", "billing", "0");
    std::optional<std::uint64_t> expected;
    for (const std::uint64_t epoch : {1U, 2U}) {
        const lease_claim mine{key, {"a", 1}, epoch, expected};
        const lease_claim theirs{key, {"b", 2}, epoch, expected};
        result<lease_claim::result> a = lease_claim::result{};
        result<lease_claim::result> b = lease_claim::result{};
        leases.with_two([&](auto& first, auto& second) {
            leases.race([&] { a = first.claim(mine); }, [&] { b = second.claim(theirs); });
        });
        const bool a_won = a && a->outcome == lease_claim::result::claim_outcome::won;
        const bool b_won = b && b->outcome == lease_claim::result::claim_outcome::won;
        t.holds(!(a_won && b_won), expected ? lease_rule::one
                                            : "claim: of two concurrent claims of a new lease at "
                                              "most one wins");
        t.holds(a_won || b_won || !a || !b,
                "claim: of two concurrent claims one wins, or cannot reach the store");
        if (a_won == b_won) return;
        t.holds(a_won ? leases.is_stored(mine, a->version) : leases.is_stored(theirs, b->version),
                "claim: of two concurrent claims, the one that returned won is stored");
        expected = a_won ? a->version : b->version;
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_LEASE_RULES_HPP

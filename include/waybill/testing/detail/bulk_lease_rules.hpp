// SPDX-License-Identifier: MIT
//
// bulk_lease_rules: the rules of `renew` and `claim_all` of a lease store, for lease_conformance.

#ifndef WAYBILL_TESTING_DETAIL_BULK_LEASE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_BULK_LEASE_RULES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <waybill/lease/lease.hpp>
#include <waybill/testing/detail/lease_rules.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// True if both tables have the same leases and the same owners, in any order.
[[nodiscard]] inline bool same_rows(lease_table a, lease_table b)
{
    const auto by_key = [](const lease& x, const lease& y) { return x.key < y.key; };
    const auto by_owner = [](const owner_heartbeat& x, const owner_heartbeat& y) {
        return x.owner < y.owner;
    };
    for (lease_table* t : {&a, &b}) {
        std::sort(t->leases.begin(), t->leases.end(), by_key);
        std::sort(t->owners.begin(), t->owners.end(), by_owner);
    }
    return a.leases == b.leases && a.owners == b.owners;
}

/// A heartbeat of this owner, as `renew` writes it.
[[nodiscard]] inline owner_heartbeat renewing(const std::string& name, std::uint64_t version)
{
    return {"orders", "billing", {name, 1}, version, true};
}

template <class X>
void renew_rules(X& leases)
{
    trial& t = leases.t;
    const auto key = [](int n) { return key_of("orders", "billing", std::to_string(n)); };
    const owner_heartbeat a = renewing("a", 1);
    const lease_table first = leases.renew(a, 0);
    t.holds(
        !first.partial && first.leases.empty() && first.owners == std::vector{a} && leases.lists(a),
        "renew: writes the heartbeat, marked as one that renews all leases, and lists it");
    owner_heartbeat by_rows = renewing("b", 1);
    by_rows.renews_leases = false;
    t.holds(leases.heartbeat(by_rows) && leases.lists(by_rows) && leases.lists(a),
            "heartbeat: writes a row that is not marked");
    (void)leases.renew(renewing("b", 2), 0);
    by_rows.version = 3;
    t.holds(leases.lists(renewing("b", 2)) && leases.heartbeat(by_rows) && leases.lists(by_rows),
            "heartbeat: takes the mark away from a row that `renew` has written");

    std::vector<lease_claim> claims;
    for (int n = 0; n != 4; ++n) claims.push_back({key(n), {"a", 1}, 1, {}});
    const auto won = leases.claim_all(claims);
    bool stored = true;
    for (std::size_t n = 0; n != claims.size(); ++n)
        stored = leases.is_stored(claims[n], won[n].version) && stored;
    t.holds(stored, "claim_all: claims that win are stored with their versions");
    const lease_table all = leases.renew(renewing("a", 2), first.version);
    t.holds(same_rows(all, leases.table(key(0))) && all.leases.size() == 4,
            "renew: returns all leases that changed after the version, and all owners");
    if (all.version == 0) return;  // the store counts no changes: each read is complete

    const lease_table none = leases.renew(renewing("a", 3), all.version);
    t.holds(!none.partial || (none.leases.empty() && none.owners.size() == 2),
            "renew: returns no lease if none has changed");
    lease_claim one{key(2), {"b", 1}, 2, won[2].version};
    one.expected = leases.claim_version(one);
    const lease_table taken = leases.renew(renewing("a", 4), none.version);
    const auto version = leases.claim_version(one);  // a renewal
    const lease_table changed = leases.renew(renewing("a", 4), taken.version);
    const std::vector<lease> expected{{one.key, one.owner, one.epoch, version.value_or(0)}};
    t.holds(version && taken.version > none.version && changed.version > taken.version &&
                (changed.partial ? changed.leases == expected : changed.leases.size() == 4),
            "renew: returns a lease that `claim` has changed since");
    const lease_table unknown = leases.renew(renewing("a", 5), largest - 1);
    t.holds(!unknown.partial && unknown.leases.size() == 4,
            "renew: returns all leases if the version is not one of this store");
}

template <class X>
void claim_all_rules(X& leases)
{
    trial& t = leases.t;
    const partition_key key = key_of("orders", "billing", "0");
    const partition_key other = key_of("orders", "billing", "1");
    t.holds(leases.claim_all({}).empty(), "claim_all: no claims are no error");
    const lease_claim first{key, {"a", 1}, 1, {}};
    const auto twice = leases.claim_all({first, {key, {"b", 1}, 2, {}}, {other, {"b", 1}, 1, {}}});
    using outcome = lease_claim::result::claim_outcome;
    t.holds(twice[0].outcome == outcome::won && twice[1].outcome == outcome::contended &&
                twice[2].outcome == outcome::won && leases.is_stored(first, twice[0].version),
            "claim_all: each claim wins or is contended by itself, in their order");

    const owner_heartbeat a = renewing("a", 7);
    (void)leases.renew(a, 0);
    lease_claim take{key, {"b", 1}, 2, twice[0].version};
    take.expired_owner = a.owner;
    take.expired_heartbeat = 8;
    t.holds(!leases.wins(take) && leases.is_stored(first, twice[0].version),
            "claim_all: contended if the heartbeat has another version, lower or higher");
    take.expired_heartbeat = 6;
    t.holds(!leases.wins(take) && leases.is_stored(first, twice[0].version),
            "claim_all: contended if the expired owner has written its heartbeat since");
    take.expired_owner = {"gone", 1};
    t.holds(!leases.wins(take) && leases.is_stored(first, twice[0].version),
            "claim_all: contended if the expired owner has removed its heartbeat since");
    take.expired_owner = a.owner;
    take.expired_heartbeat = a.version;
    t.holds(leases.wins(take), "claim_all: wins if the expired owner has not written since");
}

/// A row that is deleted by hand is not among the changes, so the next read is complete.
template <class X>
void renew_erase_rules(X& leases)
{
    const partition_key key = key_of("orders", "billing", "0");
    (void)leases.claim_version({key, {"a", 1}, 1, {}});
    const lease_table before = leases.renew(renewing("a", 1), 0);
    leases.erase(key);
    const lease_table after = leases.renew(renewing("a", 2), before.version);
    leases.t.holds(!after.partial && after.leases.empty(),
                   "renew: returns all leases after a row was deleted by hand");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_BULK_LEASE_RULES_HPP

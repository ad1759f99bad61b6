// SPDX-License-Identifier: MIT
//
// fence_rules: the rules of the epochs in a transaction, for fence_conformance.

#ifndef WAYBILL_TESTING_DETAIL_FENCE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_FENCE_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

inline constexpr std::string_view fence_locks =
    "epoch: no owner claims a lease between its reading and the commit";

/// Stands for a missing second connection to the leases. Its rules are reported as untested.
struct no_other_leases {};

/// The calls of the suite to a store and its leases.
template <class Store, class Leases, class Other>
struct fence_trial {
    Store& store;
    Leases& leases;
    Other& other;
    trial& t;

    /// True if two reads in one transaction both return `expected`.
    [[nodiscard]] bool reads(const partition_key& of, const std::optional<std::uint64_t>& expected)
    {
        auto tx = t.open(store);
        if (!tx) return false;
        const auto first = leases.epoch(*tx, of);
        const auto second = leases.epoch(*tx, of);
        return first && second && *first == expected && *second == expected;
    }
};

/// Claims a lease. Returns the new version of its row, or empty if the claim was not won.
template <class Leases>
[[nodiscard]] std::optional<std::uint64_t> claim_version(Leases& leases, const lease_claim& c)
{
    const auto r = leases.claim(c);
    if (!r || r->outcome != lease_claim::result::claim_outcome::won) return {};
    return r->version;
}

template <class X>
void epoch_read_rules(X& x)
{
    trial& t = x.t;
    auto& leases = x.leases;
    const partition_key key = key_of("orders", "billing", "0");
    t.holds(x.reads(key, {}), "epoch: without a lease it is absent");
    std::optional<std::uint64_t> version;
    bool follows = true;
    for (const std::uint64_t n : numbers_of_64_bits) {
        version = claim_version(leases, {key, {"a", n}, n, version});
        follows = version && x.reads(key, n) && follows;
    }
    t.holds(follows, "epoch: returns that of the last claim, in all 64 bits");
    version = claim_version(leases, {key, {}, largest, version});
    t.holds(version && x.reads(key, largest), "epoch: returns that of a released lease, too");

    const std::vector<partition_key> others = neighbours(key);
    bool apart = true;
    for (const partition_key& k : others) apart = x.reads(k, {}) && apart;
    for (std::size_t i = 0; i != others.size(); ++i) {
        apart = claim_version(leases, {others[i], {"b", 1}, i + 5, {}}) && apart;
    }
    for (std::size_t i = 0; i != others.size(); ++i) apart = x.reads(others[i], i + 5) && apart;
    t.holds(apart && x.reads(key, largest), "epoch: leases of other keys do not change it");
    const auto held = claim_version(leases, {others.front(), {"c", 1}, 50, {}});
    t.holds(!held, "claim: the first one of a lease that is there is contended");
}

/// Keys that a store may refuse, but must not confuse.
template <class X>
void epoch_key_rules(X& x)
{
    std::vector<partition_key> keys = many_similar_keys();
    for (partition_key& key : odd_keys()) keys.push_back(std::move(key));
    std::vector<std::uint64_t> epochs;
    for (const partition_key& key : keys) {
        const std::uint64_t epoch = epochs.size() + 100;
        epochs.push_back(claim_version(x.leases, {key, {"a", 1}, epoch, {}}) ? epoch : 0);
    }
    bool apart = true;
    for (std::size_t i = 0; i != keys.size(); ++i)
        apart = (epochs[i] == 0 || x.reads(keys[i], epochs[i])) && apart;
    x.t.holds(apart, "epoch: keys are compared byte for byte");
}

/// A lease without a checkpoint. Another connection claims it between the epoch read of a
/// transaction and the commit.
template <class X>
void epoch_lock_rules(X& x)
{
    trial& t = x.t;
    auto& other = x.other;
    const partition_key mine = key_of("orders", "billing", "locked");
    const std::optional<std::uint64_t> known = claim_version(x.leases, {mine, {"a", 1}, 5, {}});
    bool stolen = false;
    bool committed = false;
    if (auto tx = t.open(x.store)) {
        const auto e = x.leases.epoch(*tx, mine);
        const auto moved = x.store.advance(*tx, mine, {}, position{5, ""}, 5);
        stolen = claim_version(other, {mine, {"other", 1}, 60, known}).has_value();
        const bool advanced = moved && *moved == advance_outcome::applied;
        committed = e && *e == std::uint64_t{5} && advanced && t.committed(*tx);
    }
    t.holds(known && (stolen || committed),
            "epoch: a transaction that read it commits, or another owner has claimed the lease");
    t.holds(!(stolen && committed), fence_locks);
    const bool later = stolen || claim_version(other, {mine, {"other", 1}, 60, known}).has_value();
    t.holds(later && x.reads(mine, 60), "epoch: returns a later claim of another connection");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_FENCE_RULES_HPP

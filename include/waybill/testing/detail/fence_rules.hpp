// SPDX-License-Identifier: MIT
//
// fence_rules: the rules of the epochs in a transaction, for fence_conformance.

#ifndef WAYBILL_TESTING_DETAIL_FENCE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_FENCE_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

struct fence_rule {
    static constexpr std::string_view ends =
        "epoch: a transaction that read it commits, or another owner has claimed the lease";
    static constexpr std::string_view locks =
        "epoch: no owner claims a lease between its reading and the commit";
    static constexpr std::string_view follows =
        "epoch: returns a later claim of another connection";
};

/// Claims a lease. Returns the new version of its row, or empty if the claim was not won.
template <class Leases>
[[nodiscard]] std::optional<std::uint64_t> claim_version(Leases& leases, const lease_claim& c)
{
    const auto r = leases.claim(c);
    if (!r || r->outcome != lease_claim::result::claim_outcome::won) return {};
    return r->version;
}

/// True if two reads in one transaction both return `expected`.
template <class Store, class Leases>
[[nodiscard]] bool reads_epoch(trial& t, Store& store, Leases& leases, const partition_key& of,
                               const std::optional<std::uint64_t>& expected)
{
    auto tx = t.open(store);
    if (!tx) return false;
    const auto first = leases.epoch(*tx, of);
    const auto second = leases.epoch(*tx, of);
    return first && second && *first == expected && *second == expected;
}

template <class Store, class Leases>
void epoch_read_rules(trial& t, Store& store, Leases& leases, const partition_key& key)
{
    const auto reads = [&](const partition_key& of, const std::optional<std::uint64_t>& expected) {
        return reads_epoch(t, store, leases, of, expected);
    };
    t.holds(reads(key, {}), "epoch: without a lease it is absent");
    std::optional<std::uint64_t> version;
    bool follows = true;
    for (const std::uint64_t n : numbers_of_64_bits) {
        version = claim_version(leases, {key, {"a", n}, n, version});
        follows = version && reads(key, n) && follows;
    }
    t.holds(follows, "epoch: returns that of the last claim, in all 64 bits");
    version = claim_version(leases, {key, {}, largest, version});
    t.holds(version && reads(key, largest), "epoch: returns that of a released lease, too");

    const std::vector<partition_key> others = neighbours(key);
    bool apart = true;
    for (const partition_key& k : others) apart = reads(k, {}) && apart;
    for (std::size_t i = 0; i != others.size(); ++i) {
        apart = claim_version(leases, {others[i], {"b", 1}, i + 5, {}}) && apart;
    }
    for (std::size_t i = 0; i != others.size(); ++i) apart = reads(others[i], i + 5) && apart;
    t.holds(apart && reads(key, largest), "epoch: leases of other keys do not change it");
    const auto held = claim_version(leases, {others.front(), {"c", 1}, 50, {}});
    t.holds(!held, "claim: the first one of a lease that is there is contended");
}

/// `mine` is a lease with epoch 5 and without a checkpoint. Another connection claims it between
/// the epoch read of a transaction and the commit.
template <class Store, class Leases, class Other>
void epoch_lock_rules(trial& t, Store& store, Leases& leases, Other& other,
                      const partition_key& mine)
{
    std::optional<std::uint64_t> known;
    if (const auto table = other.list(mine.source, mine.group)) {
        for (const lease& l : table->leases) {
            if (l.key == mine) known = l.version;
        }
    }
    bool stolen = false;
    bool committed = false;
    if (auto tx = t.open(store)) {
        const auto e = leases.epoch(*tx, mine);
        const auto moved = store.advance(*tx, mine, {}, position{5, ""}, 5);
        stolen = claim_version(other, {mine, {"other", 1}, 60, known}).has_value();
        const bool advanced = moved && *moved == advance_outcome::applied;
        committed = e && *e == std::uint64_t{5} && advanced && t.committed(*tx);
    }
    t.holds(known && (stolen || committed), fence_rule::ends);
    t.holds(!(stolen && committed), fence_rule::locks);
    const bool later = stolen || claim_version(other, {mine, {"other", 1}, 60, known}).has_value();
    t.holds(later && reads_epoch(t, store, leases, mine, 60), fence_rule::follows);
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_FENCE_RULES_HPP

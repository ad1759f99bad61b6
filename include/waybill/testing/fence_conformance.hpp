// SPDX-License-Identifier: MIT
//
// fence_conformance: do leases answer what a `fenced_store` relies on?
//
// The store and the leases are of one database in which nothing is. With a second connection to the
// leases it also finds out whether a lease can be taken while a transaction has read its epoch:
//
//     auto broken = waybill::testing::fence_conformance(checkpoints, leases, other_leases);
//     for (const auto& rule : broken) log(rule);
//
// All is done in one thread, so the second connection must not wait for ever for a lock.

#ifndef WAYBILL_TESTING_FENCE_CONFORMANCE_HPP
#define WAYBILL_TESTING_FENCE_CONFORMANCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/consume/fenced_store.hpp>
#include <waybill/consume/lease.hpp>
#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

/// There is no second connection to the leases: what needs one is left out.
struct no_other_leases {};

/// The rules of `epoch`.
template <checkpoint_store Store, class Leases, class Other = no_other_leases>
    requires lease_store<Leases> && lease_fence<Leases, typename Store::transaction>
[[nodiscard]] std::vector<std::string> fence_conformance(Store& store, Leases& leases,
                                                         Other&& other = {})
{
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const auto reads = [&](const partition_key& of, const std::optional<std::uint64_t>& expected) {
        auto tx = t.open(store);
        if (!tx) return false;
        const auto first = leases.epoch(*tx, of);
        const auto second = leases.epoch(*tx, of);
        return first && second && *first == expected && *second == expected;
    };
    const auto wins = [](auto& on, const lease_claim& c) -> std::optional<std::uint64_t> {
        const auto r = on.claim(c);
        if (!r || r->end != claim_end::won) return {};
        return r->version;
    };

    t.holds(reads(key, {}), "epoch: where there is no lease there is none");
    std::optional<std::uint64_t> version;
    bool follows = true;
    constexpr std::uint64_t epochs[] = {
        0, 1, 2, (std::uint64_t{1} << 53U) + 1, std::uint64_t{1} << 63U, detail::largest};
    for (const std::uint64_t n : epochs) {
        version = wins(leases, {key, {"a", n}, n, version});
        follows = version && reads(key, n) && follows;
    }
    t.holds(follows, "epoch: answers the one of the last claim, in all 64 bits");
    version = wins(leases, {key, {}, detail::largest, version});
    t.holds(version && reads(key, detail::largest),
            "epoch: answers that of a lease that was given back, too");

    const std::vector<partition_key> others = detail::neighbours(key);
    bool apart = true;
    for (const partition_key& k : others) apart = reads(k, {}) && apart;
    for (std::size_t i = 0; i != others.size(); ++i) {
        apart = wins(leases, {others[i], {"b", 1}, i + 5, {}}) && apart;
    }
    for (std::size_t i = 0; i != others.size(); ++i) apart = reads(others[i], i + 5) && apart;
    t.holds(apart && reads(key, detail::largest),
            "epoch: leases of other keys have nothing to do with it");

    if constexpr (!std::is_same_v<std::remove_cvref_t<Other>, no_other_leases>) {
        const partition_key& mine = others.front();
        const auto held = wins(leases, {mine, {"c", 1}, 50, {}});
        t.holds(!held, "claim: the first one of a lease that is there is contended");
        std::optional<std::uint64_t> known;
        if (const auto table = other.list(mine.source, mine.group)) {
            for (const lease& l : table->leases) {
                if (l.key == mine) known = l.version;
            }
        }
        bool robbed = false;
        bool committed = false;
        if (auto tx = t.open(store)) {
            const auto e = leases.epoch(*tx, mine);
            const auto moved = store.advance(*tx, mine, {}, position{5, ""}, 5);
            robbed = wins(other, {mine, {"thief", 1}, 60, known}).has_value();
            const bool advanced = moved && *moved == advance_outcome::applied;
            committed = e && *e == std::uint64_t{5} && advanced && t.committed(*tx);
        }
        t.holds(known && (robbed || committed),
                "epoch: whoever read it commits, or somebody has taken the lease");
        t.holds(!(robbed && committed),
                "epoch: nobody takes a lease between its reading and the commit");
        const bool later = robbed || wins(other, {mine, {"thief", 1}, 60, known}).has_value();
        t.holds(later && reads(mine, 60),
                "epoch: answers what another connection has claimed since");
    }
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_FENCE_CONFORMANCE_HPP

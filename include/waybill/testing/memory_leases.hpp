// SPDX-License-Identifier: MIT
//
// memory_leases: leases and heartbeats in memory, for tests of applications.
//
// It conforms to lease_conformance.hpp. Several lease managers share one store:
//
//     waybill::testing::memory_leases store;
//     if (auto call = a.call(now)) a.on(waybill::perform(store, *call, random), now);
//     if (auto call = b.call(now)) b.on(waybill::perform(store, *call, random), now);
//
// Cost: `list` and `renew` are linear in the rows of all groups, a claim is logarithmic.

#ifndef WAYBILL_TESTING_MEMORY_LEASES_HPP
#define WAYBILL_TESTING_MEMORY_LEASES_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <waybill/lease/lease.hpp>

namespace waybill::inline v0_2::testing {

class memory_leases {
public:
    /// All leases and owners of the group.
    [[nodiscard]] result<lease_table> list(const std::string& source,
                                           const std::string& group) const
    {
        lease_table t;
        for (const auto& [key, row] : leases_) {
            if (key.source == source && key.group == group) t.leases.push_back(row);
        }
        for (const auto& [id, p] : owners_) {
            if (p.source == source && p.group == group) t.owners.push_back(p);
        }
        return t;
    }

    /// Writes the row if its version is `c.expected`, or if both are absent; otherwise `contended`.
    /// A version is the number of claims won in the whole store, so no version repeats.
    [[nodiscard]] result<lease_claim::result> claim(const lease_claim& c)
    {
        const auto found = leases_.find(c.key);
        const bool exists = found != leases_.end();
        if (exists != c.expected.has_value() || (exists && found->second.version != *c.expected)) {
            return lease_claim::result{lease_claim::result::claim_outcome::contended};
        }
        leases_.insert_or_assign(c.key, lease{c.key, c.owner, c.epoch, ++claims_won_});
        return lease_claim::result{lease_claim::result::claim_outcome::won, c.epoch, claims_won_};
    }

    /// Writes the row of an owner. Returns all owners, and the leases that changed after the
    /// version `since`. Returns all leases if `since` is 0, or if a row was erased since then.
    [[nodiscard]] result<lease_table> renew(const owner_heartbeat& own, std::uint64_t since)
    {
        owners_.insert_or_assign(key_of(own), own);
        lease_table t;
        t.version = claims_won_;
        t.partial = since != 0 && since >= last_erased_ && since <= claims_won_;
        for (const auto& [key, row] : leases_) {
            const bool changed = !t.partial || row.version > since;
            if (changed && key.source == own.source && key.group == own.group)
                t.leases.push_back(row);
        }
        for (const auto& [id, p] : owners_) {
            if (p.source == own.source && p.group == own.group) t.owners.push_back(p);
        }
        return t;
    }

    /// Makes the claims in order. A claim of the lease of an expired owner is `contended` if the
    /// heartbeat of that owner has changed.
    [[nodiscard]] result<std::vector<lease_claim::result>> claim_all(
        const std::vector<lease_claim>& claims)
    {
        std::vector<lease_claim::result> results;
        results.reserve(claims.size());
        for (const lease_claim& c : claims) {
            results.push_back(
                owner_has_changed(c)
                    ? lease_claim::result{lease_claim::result::claim_outcome::contended}
                    : *claim(c));
        }
        return results;
    }

    /// Inserts or replaces the row of an owner.
    [[nodiscard]] result<void> heartbeat(const owner_heartbeat& p)
    {
        owners_.insert_or_assign(key_of(p), p);
        return {};
    }

    /// Removes the row of an owner if its version is unchanged. An absent row is no error.
    [[nodiscard]] result<void> leave(const owner_heartbeat& p)
    {
        const auto found = owners_.find(key_of(p));
        if (found != owners_.end() && found->second.version == p.version) owners_.erase(found);
        return {};
    }

    /// The stored epoch of a lease; empty if the lease has no row. A `fenced_store` compares the
    /// epoch of a commit with it. The transaction is not used.
    template <class Transaction>
    [[nodiscard]] result<std::optional<std::uint64_t>> epoch(Transaction&,
                                                             const partition_key& key) const
    {
        const auto found = leases_.find(key);
        if (found == leases_.end()) return std::optional<std::uint64_t>();
        return std::optional<std::uint64_t>(found->second.epoch);
    }

    /// Deletes the row of a lease, as an administrator may.
    void erase(const partition_key& key)
    {
        leases_.erase(key);
        last_erased_ = ++claims_won_;
    }

private:
    using owner_key = std::tuple<std::string, std::string, owner_id>;
    static owner_key key_of(const owner_heartbeat& p) { return {p.source, p.group, p.owner}; }

    /// True if the previous owner has written or removed its heartbeat since it was read.
    [[nodiscard]] bool owner_has_changed(const lease_claim& c) const
    {
        if (c.expired_owner.none()) return false;
        const auto found = owners_.find({c.key.source, c.key.group, c.expired_owner});
        return found == owners_.end() || found->second.version != c.expired_heartbeat;
    }

    std::map<partition_key, lease> leases_;
    std::map<owner_key, owner_heartbeat> owners_;
    std::uint64_t claims_won_ = 0;   // the version of the last change
    std::uint64_t last_erased_ = 0;  // the version of the last deletion
};

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_LEASES_HPP

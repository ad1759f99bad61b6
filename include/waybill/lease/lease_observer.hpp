// SPDX-License-Identifier: MIT
//
// lease_observer: detects leases that are no longer renewed, with the clock of the reader alone.
//
// Times that other machines have written are not used. A lease has expired if neither its row nor a
// heartbeat that renews it has changed for `expiry` on the clock of the reader. Once per round:
//
//     waybill::lease_observer seen("orders", "billing", partitions, options);
//     if (auto table = store.list("orders", "billing")) seen.update(*table, clock::now());
//     auto plan = waybill::balance(seen.view(me), random);
//
// Guarantees
//   1. For a new observer, no lease has expired before `expiry` has passed.
//   2. From one update to the next at most two intervals count. So all owners have time to renew
//      after an outage of the store.
//   3. Deleted rows are forgotten, and rows of other groups or partitions are ignored. Of two rows
//      for one partition the higher epoch counts, then the higher version.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_LEASE_LEASE_OBSERVER_HPP
#define WAYBILL_LEASE_LEASE_OBSERVER_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/lease/balance.hpp>
#include <waybill/lease/lease.hpp>

namespace waybill::inline v0_2 {

/// Finds expired leases and departed owners by comparing successive reads of the table.
class lease_observer {
public:
    /// The stored row of a partition.
    struct row {
        owner_id owner{};
        std::uint64_t epoch = 0;
        std::uint64_t version = 0;

        friend bool operator==(const row&, const row&) = default;
    };

    /// Requires: the names of the partitions differ. Partitions are numbered in this order, from 0.
    lease_observer(std::string source, std::string group,
                   const std::vector<std::string>& partitions, const lease_options& o = {})
        : source_(std::move(source)),
          group_(std::move(group)),
          options_(o),
          leases_(partitions.size())
    {
        std::uint32_t n = 0;
        for (const std::string& name : partitions) partition_numbers_.emplace(name, n++);
    }

    /// Updates the state with the rows that were read from the store at `now`. If `now` is earlier
    /// than at the previous update, no time has passed.
    void update(const lease_table& table, steady_time now)
    {
        const duration max_step = options_.interval + options_.interval;
        if (last_read_)
            observed_for_ =
                observed_for_ +
                detail::lesser(detail::greater(now - *last_read_, duration{}), max_step);
        last_read_ = last_read_ ? detail::later(*last_read_, now) : now;
        update_leases(table);
        update_owners(table);
    }

    /// The row of a partition; null if it has none or is unknown. Valid until the next `update`.
    [[nodiscard]] const row* row_of(std::uint32_t partition) const
    {
        if (partition >= leases_.size() || !leases_[partition].stored) return nullptr;
        return &*leases_[partition].stored;
    }

    /// True if the partition has an owner that has not renewed its lease for `expiry`.
    [[nodiscard]] bool expired(std::uint32_t partition) const
    {
        if (partition >= leases_.size()) return false;
        const seen_lease& l = leases_[partition];
        if (!l.stored || l.stored->owner.none()) return false;
        return unchanged_for(last_renewal(l), options_.expiry);
    }
    /// The version of the heartbeat with which the lease has expired; 0 if it has not, or if its
    /// owner renews it by its row.
    [[nodiscard]] std::uint64_t expired_heartbeat(std::uint32_t partition) const
    {
        if (!expired(partition)) return 0;
        const seen_owner* const owner = renewing_owner(leases_[partition].stored->owner);
        return owner ? owner->version : 0;
    }
    /// True if a live owner other than `self` renews its leases one by one, and expects that of
    /// others. Its store has no `renew`, or it is leaving. Linear in partitions and owners.
    [[nodiscard]] bool any_renews_rows(const owner_id& self) const
    {
        for (const auto& [owner, seen] : owners_) {
            if (owner == self || seen.renews_leases) continue;
            if (!unchanged_for(seen.last_change, options_.expiry)) return true;
        }
        for (std::uint32_t i = 0; i != leases_.size(); ++i) {
            const std::optional<row>& r = leases_[i].stored;
            if (!r || r->owner.none() || r->owner == self || renewing_owner(r->owner)) continue;
            if (!expired(i)) return true;
        }
        return false;
    }

    /// The time that has passed for this observer: from one update to the next at most two
    /// intervals.
    [[nodiscard]] duration observed_for() const noexcept { return observed_for_; }

    /// True if all owners with a heartbeat row have written it within `expiry`.
    [[nodiscard]] bool all_alive() const
    {
        for (const auto& [owner, seen] : owners_) {
            if (unchanged_for(seen.last_change, options_.expiry)) return false;
        }
        return true;
    }

    /// Increases with each change of a lease, of the live owners, or of how they renew. If all live
    /// owners renew with their heartbeats, and this is unchanged, so is the result of `view`.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

    /// The input of `balance` for `self`. `self` counts as alive, and its own leases as held at any
    /// age.
    [[nodiscard]] balance_plan::lease_view view(const owner_id& self) const
    {
        std::map<owner_id, seen_owner> owners;
        owners.try_emplace(self);
        for (const auto& [owner, seen] : owners_) {
            if (!unchanged_for(seen.last_change, options_.expiry)) owners.try_emplace(owner);
        }
        for (std::uint32_t i = 0; i != leases_.size(); ++i) {
            if (is_held(i)) owners.try_emplace(leases_[i].stored->owner);
        }
        balance_plan::lease_view v;
        v.owners = 0;
        // Each observer sorts the owners in the same way, so the numbers agree.
        for (auto& [owner, seen] : owners) seen.number = v.owners++;
        v.self = owners.find(self)->second.number;
        v.holders.reserve(leases_.size());
        for (std::uint32_t i = 0; i != leases_.size(); ++i) {
            const std::optional<row>& r = leases_[i].stored;
            if (is_held(i) || (r && r->owner == self)) {
                v.holders.push_back(owners.find(r->owner)->second.number);
            } else {
                const bool free_for_long =
                    unchanged_for(last_renewal(leases_[i]), options_.expiry + options_.expiry);
                v.holders.push_back(free_for_long ? balance_plan::lease_view::free_for_long
                                                  : balance_plan::lease_view::free);
            }
        }
        return v;
    }

    /// The heartbeat rows that have not changed for two expiries. They are to be removed from the
    /// store.
    [[nodiscard]] std::vector<owner_heartbeat> departed() const
    {
        std::vector<owner_heartbeat> departed_owners;
        for (const auto& [owner, seen] : owners_) {
            if (!unchanged_for(seen.last_change, options_.expiry + options_.expiry)) continue;
            departed_owners.push_back({source_, group_, owner, seen.version});
        }
        return departed_owners;
    }

    friend bool operator==(const lease_observer&, const lease_observer&) = default;

private:
    struct seen_lease {
        std::optional<row> stored{};
        duration last_change{};  // the value of `observed_for_` at its last change

        friend bool operator==(const seen_lease&, const seen_lease&) = default;
    };
    struct seen_owner {
        std::uint64_t version = 0;
        duration last_change{};  // the value of `observed_for_` at its last change
        bool renews_leases = false;
        std::uint32_t number = 0;  // in a view
        bool alive = true;
        bool listed = false;

        friend bool operator==(const seen_owner&, const seen_owner&) = default;
    };

    /// True if the partition has an owner whose lease has not expired.
    [[nodiscard]] bool is_held(std::uint32_t partition) const
    {
        const std::optional<row>& r = leases_[partition].stored;
        return r && !r->owner.none() && !expired(partition);
    }

    void update_leases(const lease_table& table)
    {
        std::vector<const lease*> rows(leases_.size());
        for (const lease& l : table.leases) {
            if (l.key.source != source_ || l.key.group != group_) continue;
            const auto found = partition_numbers_.find(l.key.partition);
            if (found == partition_numbers_.end()) continue;
            const lease*& chosen = rows[found->second];
            if (!chosen || is_newer(l, *chosen)) chosen = &l;
        }
        for (std::uint32_t i = 0; i != rows.size(); ++i) {
            if (rows[i] || !table.partial) update_lease(leases_[i], rows[i]);
        }
    }

    void update_owners(const lease_table& table)
    {
        for (auto& [id, seen] : owners_) seen.listed = false;
        for (const owner_heartbeat& p : table.owners) {
            if (p.source != source_ || p.group != group_ || p.owner.none()) continue;
            const auto [at, is_new] = owners_.try_emplace(p.owner);
            seen_owner& seen = at->second;
            // Of two rows of one owner the higher version counts.
            if (seen.listed && p.version <= seen.version) continue;
            if (is_new || p.version != seen.version) seen.last_change = observed_for_;
            if (seen.renews_leases && !p.renews_leases) set_last_change(p.owner, observed_for_);
            if (is_new || seen.renews_leases != p.renews_leases) ++changes_;
            seen.version = p.version;
            seen.renews_leases = p.renews_leases;
            seen.listed = true;
        }
        for (auto at = owners_.begin(); at != owners_.end();) {
            if (at->second.listed) {
                const bool alive = !unchanged_for(at->second.last_change, options_.expiry);
                if (at->second.alive != alive) ++changes_;
                at->second.alive = alive;
                ++at;
                continue;
            }
            ++changes_;
            // The leases of an owner that was dead before stay as old as its last heartbeat.
            const bool was_alive = !unchanged_for(at->second.last_change, options_.expiry);
            if (at->second.renews_leases)
                set_last_change(at->first, was_alive ? observed_for_ : at->second.last_change);
            at = owners_.erase(at);
        }
    }

    /// The heartbeat of this owner no longer renews its leases. If it is alive, it may renew their
    /// rows from now on, so their time starts again.
    void set_last_change(const owner_id& owner, duration at)
    {
        for (seen_lease& l : leases_) {
            if (l.stored && l.stored->owner == owner)
                l.last_change = detail::greater(l.last_change, at);
        }
    }

    /// When the lease was renewed last, by its row or by the heartbeat of its owner.
    [[nodiscard]] duration last_renewal(const seen_lease& l) const
    {
        const seen_owner* const owner = l.stored ? renewing_owner(l.stored->owner) : nullptr;
        return owner ? detail::greater(l.last_change, owner->last_change) : l.last_change;
    }

    /// The owner, if its heartbeat renews its leases; null otherwise.
    [[nodiscard]] const seen_owner* renewing_owner(const owner_id& owner) const
    {
        const auto found = owners_.find(owner);
        return found != owners_.end() && found->second.renews_leases ? &found->second : nullptr;
    }

    static bool is_newer(const lease& a, const lease& b)
    {
        return a.epoch != b.epoch ? a.epoch > b.epoch : a.version > b.version;
    }

    void update_lease(seen_lease& seen, const lease* l)
    {
        const bool same = l ? seen.stored && seen.stored->version == l->version &&
                                  seen.stored->epoch == l->epoch && seen.stored->owner == l->owner
                            : !seen.stored;
        if (same) return;
        ++changes_;
        seen.last_change = observed_for_;
        if (l) seen.stored = row{l->owner, l->epoch, l->version};
        else seen.stored.reset();
    }

    [[nodiscard]] bool unchanged_for(duration last_change, duration period) const
    {
        return observed_for_ - last_change >= period;
    }

    std::string source_;
    std::string group_;
    lease_options options_;
    std::map<std::string, std::uint32_t> partition_numbers_;
    std::vector<seen_lease> leases_;
    std::map<owner_id, seen_owner> owners_;
    std::optional<steady_time> last_read_;
    std::uint64_t changes_ = 0;
    duration observed_for_;  // since the first update, with at most two intervals for each
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_LEASE_OBSERVER_HPP

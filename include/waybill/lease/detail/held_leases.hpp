// SPDX-License-Identifier: MIT
//
// held_leases: the partitions that this owner holds, their epochs, and how long they are trusted.
//
// This is the state of a `lease_manager`.
//   1. A partition is held until the store shows another owner or no row, or until it is given
//      back.
//   2. A lease is trusted for less than `expiry`, counted from before its last renewal was
//      requested. It is not trusted while it is suspected or to be given back.
//   3. The previous owner counts as dead if its lease had expired. If it gave the lease back, or
//      the partition was stolen for balance, it counts as alive.
//   4. A lease is given back under a higher epoch. The fence then refuses writes under the old one.
//   5. For an unknown partition, queries return the state of an unheld one, and changes have no
//      effect.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_LEASE_DETAIL_HELD_LEASES_HPP
#define WAYBILL_LEASE_DETAIL_HELD_LEASES_HPP

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/lease/lease.hpp>

namespace waybill::inline v0_2::detail {

/// The purpose of a claim.
enum class claim_purpose : std::uint8_t { renew, take, raise_epoch, give_back };

struct planned_claim {
    std::uint32_t partition = 0;
    claim_purpose purpose = claim_purpose::renew;
    std::uint32_t tries = 0;
    std::uint64_t above_epoch = 0;  ///< A new epoch exceeds this value and all epochs seen.

    friend bool operator==(const planned_claim&, const planned_claim&) = default;
};

class held_leases {
public:
    struct entry {
        bool held = false;
        bool released = false;    ///< The lease is to be given back and is no longer trusted.
        bool to_release = false;  ///< The lease is held, and is to be released for balance.
        /// The lease is suspected: a renewal was contended, or a read of the store contradicts it.
        /// The next read decides.
        bool suspected = false;
        /// The last claim returned an error. The store may have written the row or not.
        bool outcome_unknown = false;
        std::uint64_t epoch = 0;
        std::uint64_t version = 0;
        std::uint64_t acquired = 0;       ///< The value of `changes()` after it was acquired.
        std::uint64_t highest_epoch = 0;  ///< The highest epoch that was seen for this partition.
        /// The value for `assignment::expired_incarnation`.
        std::optional<std::uint64_t> expired_incarnation{};
        steady_time trusted_until = steady_time::lowest();

        friend bool operator==(const entry&, const entry&) = default;
    };

    explicit held_leases(std::uint64_t partitions) : entries_(partitions) {}

    /// Records that a claim has won. The lease is trusted until `requested_at + trusted`, unless it
    /// is released. `requested_at` is not later than the request of the claim.
    void set_won(std::uint32_t partition, const lease_claim::result& o, steady_time requested_at,
                 duration trusted)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (!e.held || e.epoch != o.epoch) ++changes_;
        if (!e.held) {
            ++count_;
            e.acquired = changes_;
        }
        e.held = true;
        e.suspected = e.outcome_unknown = false;
        e.epoch = o.epoch;
        e.version = o.version;
        if (!e.released) e.trusted_until = requested_at + trusted;
        record_epoch(partition, o.epoch);
    }

    /// Marks the lease as suspected. It is not trusted until the next read of the store decides.
    void suspect(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].suspected = true;
        distrust(partition);
    }
    /// Records that a claim returned an error, so that its outcome is unknown.
    void set_outcome_unknown(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].outcome_unknown = true;
    }
    void distrust(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].trusted_until = steady_time::lowest();
    }

    /// Marks the lease as released: it is to be given back and is no longer trusted.
    void release(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].released = true;
        distrust(partition);
    }

    /// Selects partitions to release, so that `surplus` of them are to be released or are released
    /// already; at most `max_moves` more. The partitions that were acquired last come first: they
    /// go back to an owner that returns after a restart.
    void select_releases(std::uint32_t surplus, std::uint32_t max_moves)
    {
        if (surplus == 0) return;
        std::uint32_t selected = 0;
        for (const entry& e : entries_) {
            if (e.held && (e.to_release || e.released)) ++selected;
        }
        if (selected >= surplus) return;
        const std::uint64_t more = lesser(surplus - selected, max_moves);
        // The highest bound from which on at least `more` were acquired, by bisection.
        std::uint64_t from = 0;
        for (std::uint64_t end = changes_ + 1; end - from > 1;) {
            const std::uint64_t middle = from + (end - from) / 2;
            if (count_releasable(middle) >= more) from = middle;
            else end = middle;
        }
        for (entry& e : entries_) {
            if (releasable(e, from)) e.to_release = true;
        }
        ++changes_;
    }

    /// Records that the partition is no longer held.
    void set_lost(std::uint32_t partition)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (e.held) {
            ++changes_;
            --count_;
        }
        e.held = e.released = e.to_release = e.suspected = e.outcome_unknown = false;
        distrust(partition);
    }

    /// True if the owner or the version of the row is uncertain until the next read of the store.
    [[nodiscard]] bool uncertain(std::uint32_t partition) const
    {
        const entry& e = (*this)[partition];
        return e.suspected || e.outcome_unknown;
    }

    /// Resolves an uncertain partition that is to be given back, with the row that was read last.
    /// Returns true if `self` owns the row; otherwise the partition is lost.
    template <class Observer>
    bool resolve(std::uint32_t partition, const Observer& seen, const owner_id& self)
    {
        const auto* const stored = seen.row_of(partition);
        if (stored) record_epoch(partition, stored->epoch);
        if (!stored || stored->owner != self) {
            set_lost(partition);
            return false;
        }
        // The lease is given back next, so it is not trusted.
        set_won(partition,
                {lease_claim::result::claim_outcome::won, stored->epoch, stored->version},
                steady_time::lowest(), duration{});
        return true;
    }

    /// Assumes the last known state of the row, because the store cannot be read.
    void assume_unchanged(std::uint32_t partition)
    {
        if (partition < partitions()) {
            entries_[partition].suspected = entries_[partition].outcome_unknown = false;
        }
    }

    /// Compares all partitions, from `first` on, with the rows that were read last. Appends the
    /// claims that follow: renewals of suspected leases, and claims of rows that `self` owns but
    /// does not hold yet. If a heartbeat has renewed the others, they are trusted until
    /// `trusted_until`; otherwise each of them is renewed by a claim. Linear in the partitions.
    template <class Observer>
    void compare(const Observer& seen, const owner_id& self, std::uint32_t first,
                 std::optional<steady_time> trusted_until, std::vector<planned_claim>& claims)
    {
        for (std::uint32_t n = 0; n != partitions(); ++n) {
            const std::uint32_t p = (first + n) % partitions();
            const auto purpose = claim_after_read(p, seen.row_of(p), self, trusted_until);
            if (purpose) claims.push_back({p, *purpose});
            entries_[p].outcome_unknown = false;
        }
    }

    /// Sets `expired_incarnation` after a claim, from the row that was read before it. Without a
    /// row, `expired_incarnation` is empty. If another owner had the row, `expired_incarnation` is
    /// its incarnation if its lease had expired, else 0. If `self` had the row, an earlier claim
    /// with a lost result has set `expired_incarnation` already.
    template <class Observer>
    void set_expired_incarnation(std::uint32_t partition, const Observer& seen,
                                 const owner_id& self)
    {
        if (partition >= partitions()) return;
        std::optional<std::uint64_t>& expired_incarnation = entries_[partition].expired_incarnation;
        const auto* const stored = seen.row_of(partition);
        if (!stored) {
            expired_incarnation.reset();
        } else if (stored->owner != self) {
            expired_incarnation = seen.expired(partition) ? stored->owner.incarnation : 0;
        }
    }

    /// Records an epoch that was seen for the partition.
    void record_epoch(std::uint32_t partition, std::uint64_t epoch)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (e.highest_epoch < epoch) e.highest_epoch = epoch;
    }

    /// The row to write for `c`. A `take` depends on the row that was read last.
    template <class Observer>
    [[nodiscard]] lease_claim claim(const planned_claim& c, partition_key key, const owner_id& self,
                                    const Observer& seen) const
    {
        const entry& e = (*this)[c.partition];
        const std::uint64_t highest =
            e.highest_epoch < c.above_epoch ? c.above_epoch : e.highest_epoch;
        const std::uint64_t next = highest == lease::max_epoch ? highest : highest + 1;
        lease_claim row{.key = std::move(key),
                        .owner = c.purpose == claim_purpose::give_back ? owner_id{} : self,
                        .epoch = c.purpose == claim_purpose::renew ? e.epoch : next,
                        .expected = e.version};
        if (c.purpose == claim_purpose::take) {
            const auto* const stored = seen.row_of(c.partition);
            row.expected = stored ? std::optional(stored->version) : std::nullopt;
            row.expired_heartbeat = seen.expired_heartbeat(c.partition);
            if (row.expired_heartbeat != 0) row.expired_owner = stored->owner;
        }
        return row;
    }

    [[nodiscard]] const entry& operator[](std::uint32_t partition) const
    {
        return partition < partitions() ? entries_[partition] : unheld_entry_;
    }
    [[nodiscard]] bool holds(std::uint32_t partition) const { return (*this)[partition].held; }
    [[nodiscard]] std::optional<std::uint64_t> epoch(std::uint32_t partition) const
    {
        const entry& e = (*this)[partition];
        return e.held ? std::optional(e.epoch) : std::nullopt;
    }
    /// True if the highest epoch seen is `lease::max_epoch`: no higher one exists.
    [[nodiscard]] bool exhausted(std::uint32_t partition) const
    {
        return (*this)[partition].highest_epoch == lease::max_epoch;
    }
    /// True if the partition is held and its lease has not expired for any owner at `now`.
    [[nodiscard]] bool trusted(std::uint32_t partition, steady_time now) const
    {
        const entry& e = (*this)[partition];
        return e.held && now < e.trusted_until;
    }
    [[nodiscard]] std::uint32_t partitions() const
    {
        return static_cast<std::uint32_t>(entries_.size());
    }
    /// The number of held partitions.
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    /// Increases with each change of a result of `epoch()`, or of the leases to release.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

    friend bool operator==(const held_leases&, const held_leases&) = default;

private:
    /// True if the lease can be released for balance, and was acquired at or after this change.
    [[nodiscard]] static bool releasable(const entry& e, std::uint64_t acquired_from)
    {
        return e.held && !e.to_release && !e.released && !e.suspected &&
               e.acquired >= acquired_from;
    }
    [[nodiscard]] std::uint64_t count_releasable(std::uint64_t acquired_from) const
    {
        std::uint64_t n = 0;
        for (const entry& e : entries_) {
            if (releasable(e, acquired_from)) ++n;
        }
        return n;
    }

    template <class Row>
    std::optional<claim_purpose> claim_after_read(std::uint32_t partition, const Row* stored,
                                                  const owner_id& self,
                                                  std::optional<steady_time> trusted_until)
    {
        entry& e = entries_[partition];
        const bool ours = stored && stored->owner == self;
        if (stored) record_epoch(partition, stored->epoch);
        if (e.held && ours && stored->epoch == e.epoch) {
            // The version may be from a renewal whose result was lost.
            if (uncertain(partition)) e.version = stored->version;
            if (e.released) return {};
            if (e.suspected || !trusted_until) return claim_purpose::renew;
            e.trusted_until = *trusted_until;
            return {};
        }
        const bool taken = stored && !ours && stored->epoch > e.epoch;
        if (e.held && !e.suspected && !taken) {
            // The rows may be older than the last renewal. The next read decides.
            suspect(partition);
            return claim_purpose::renew;
        }
        set_lost(partition);
        return ours && !exhausted(partition) ? std::optional(claim_purpose::take) : std::nullopt;
    }

    std::vector<entry> entries_;
    entry unheld_entry_;  // the state of an unknown partition
    std::uint32_t count_ = 0;
    std::uint64_t changes_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_HELD_LEASES_HPP

// SPDX-License-Identifier: MIT
//
// held_leases: which partitions are ours, under which epoch, and for how long that can be trusted.
//
// The books of a lease_keeper. A partition is ours until the store says otherwise; it is trusted
// for less than an expiry after its last renewal was asked for, and not at all while it is doubted.
// Whoever had it before is taken for dead if his lease had expired; if he gave it back, or was
// robbed of it for balance, he is alive. A lease is given back under a higher epoch, so that the
// fence refuses what is still written under the old one.
//
// A partition that is not there is nobody's: nothing is known of it, and nothing can be noted.
// A value without locks: one thread at a time.

#ifndef WAYBILL_CONSUME_HELD_LEASES_HPP
#define WAYBILL_CONSUME_HELD_LEASES_HPP

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/consume/lease.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// What a keeper claims a lease for.
enum class lease_errand : std::uint8_t { renew, take, raise, give_back };

struct lease_chore {
    std::uint32_t partition = 0;
    lease_errand what = lease_errand::renew;
    std::uint32_t tries = 0;
    std::uint64_t above = 0;  ///< The epoch that a new one has to exceed, beside those seen.

    friend bool operator==(const lease_chore&, const lease_chore&) = default;
};

}  // namespace detail

class held_leases {
public:
    struct entry {
        bool mine = false;
        bool vacated = false;  ///< It is to be given back, and not trusted any more.
        bool doubted = false;  ///< A renewal was refused, or a look says so: the next look decides.
        bool answer_lost = false;  ///< The last claim got no answer: the row may be unchanged.
        std::uint64_t epoch = 0;
        std::uint64_t version = 0;
        std::uint64_t highest = 0;  ///< Of all epochs that were seen.
        std::optional<std::uint64_t> ended{};  ///< As `assignment` has it.
        steady_time trusted_until = steady_time::lowest();

        friend bool operator==(const entry&, const entry&) = default;
    };

    explicit held_leases(std::uint64_t partitions) : entries_(partitions) {}

    /// A claim that was asked for after `asked` has won.
    void won(std::uint32_t partition, const claim_outcome& o, steady_time asked, duration trusted)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (!e.mine || e.epoch != o.epoch) ++changes_;
        if (!e.mine) ++count_;
        e.mine = true;
        e.doubted = e.answer_lost = false;
        e.epoch = o.epoch;
        e.version = o.version;
        if (!e.vacated) e.trusted_until = asked + trusted;
        saw(partition, o.epoch);
    }

    /// It may be somebody else's: nothing is done there until that is known.
    void doubt(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].doubted = true;
        distrust(partition);
    }
    void lose_answer(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].answer_lost = true;
    }
    void distrust(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].trusted_until = steady_time::lowest();
    }

    void vacate(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].vacated = true;
        distrust(partition);
    }

    void lose(std::uint32_t partition)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (e.mine) {
            ++changes_;
            --count_;
        }
        e.mine = e.vacated = e.doubted = e.answer_lost = false;
        distrust(partition);
    }

    /// Owner or version of the row are uncertain until the next look.
    [[nodiscard]] bool in_doubt(std::uint32_t partition) const
    {
        const entry& e = (*this)[partition];
        return e.doubted || e.answer_lost;
    }

    /// Ends the doubt about a partition that is to be given back. True if the row that was read is
    /// ours.
    template <class Observer>
    bool settle(std::uint32_t partition, const Observer& seen, const owner_id& self)
    {
        const auto* const stored = seen.row_of(partition);
        if (stored) saw(partition, stored->epoch);
        if (!stored || stored->owner != self) {
            lose(partition);
            return false;
        }
        won(partition, {claim_end::won, stored->epoch, stored->version}, steady_time::lowest(), {});
        return true;
    }

    /// No look works: the last known state of the row is assumed.
    void stop_doubting(std::uint32_t partition)
    {
        if (partition < partitions()) {
            entries_[partition].doubted = entries_[partition].answer_lost = false;
        }
    }

    /// What a look has found, and what is to be done about it.
    template <class Observer>
    [[nodiscard]] std::vector<detail::lease_chore> look(const Observer& seen, const owner_id& self)
    {
        std::vector<detail::lease_chore> errands;
        for (std::uint32_t p = 0; p != partitions(); ++p) {
            if (const auto what = found(p, seen.row_of(p), self)) errands.push_back({p, *what});
            entries_[p].answer_lost = false;
        }
        return errands;
    }

    /// It was claimed from whoever was seen in its row, if there is one. What was claimed already,
    /// and the answer got lost, is still claimed from the one before.
    template <class Observer>
    void claimed_from(std::uint32_t partition, const Observer& seen, const owner_id& self)
    {
        if (partition >= partitions()) return;
        std::optional<std::uint64_t>& ended = entries_[partition].ended;
        const auto* const stored = seen.row_of(partition);
        if (!stored) {
            ended.reset();
        } else if (stored->owner != self) {
            ended = seen.expired(partition) ? stored->owner.incarnation : 0;
        }
    }

    void saw(std::uint32_t partition, std::uint64_t epoch)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (e.highest < epoch) e.highest = epoch;
    }

    /// The row to write; `stored` is the version that was seen last.
    [[nodiscard]] lease_claim claim(const detail::lease_chore& c, partition_key key,
                                    const owner_id& self, std::optional<std::uint64_t> stored) const
    {
        using detail::lease_errand;
        const entry& e = (*this)[c.partition];
        const std::uint64_t seen = e.highest < c.above ? c.above : e.highest;
        const std::uint64_t next = seen == last_epoch ? seen : seen + 1;
        return {std::move(key), c.what == lease_errand::give_back ? owner_id{} : self,
                c.what == lease_errand::renew ? e.epoch : next,
                c.what == lease_errand::take ? stored : std::optional(e.version)};
    }

    [[nodiscard]] const entry& operator[](std::uint32_t partition) const
    {
        return partition < partitions() ? entries_[partition] : nobodys_;
    }
    [[nodiscard]] bool mine(std::uint32_t partition) const { return (*this)[partition].mine; }
    [[nodiscard]] std::optional<std::uint64_t> epoch(std::uint32_t partition) const
    {
        const entry& e = (*this)[partition];
        return e.mine ? std::optional(e.epoch) : std::nullopt;
    }
    /// No epoch is left above all that were seen.
    [[nodiscard]] bool exhausted(std::uint32_t partition) const
    {
        return (*this)[partition].highest == last_epoch;
    }
    [[nodiscard]] bool trusted(std::uint32_t partition, steady_time now) const
    {
        const entry& e = (*this)[partition];
        return e.mine && now < e.trusted_until;
    }
    [[nodiscard]] std::uint32_t partitions() const
    {
        return static_cast<std::uint32_t>(entries_.size());
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    /// Grows with each change of what epoch() answers.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

    friend bool operator==(const held_leases&, const held_leases&) = default;

private:
    template <class Row>
    std::optional<detail::lease_errand> found(std::uint32_t partition, const Row* stored,
                                              const owner_id& self)
    {
        using detail::lease_errand;
        entry& e = entries_[partition];
        const bool ours = stored && stored->owner == self;
        if (stored) saw(partition, stored->epoch);
        if (e.mine && ours && stored->epoch == e.epoch) {
            if (in_doubt(partition)) e.version = stored->version;  // of a renewal without an answer
            if (!e.doubted) return {};
            return lease_errand::renew;
        }
        if (e.mine && !e.doubted) {
            doubt(partition);  // the look may be older than our last renewal: another one tells
            return lease_errand::renew;
        }
        lose(partition);
        return ours && !exhausted(partition) ? std::optional(lease_errand::take) : std::nullopt;
    }

    std::vector<entry> entries_;
    entry nobodys_;  // what stands for a partition that is not there
    std::uint32_t count_ = 0;
    std::uint64_t changes_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_HELD_LEASES_HPP

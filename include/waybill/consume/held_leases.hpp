// SPDX-License-Identifier: MIT
//
// held_leases: which partitions are ours, under which epoch, and for how long that can be trusted.
//
// The books of a lease_keeper. A partition is ours until the store says otherwise; it is trusted
// for less than an expiry after its last renewal was asked for, and not at all while it is doubted.
// Whoever had it before is taken for dead if his lease had expired; if he gave it back, or was robbed
// of it for balance, he is alive.

#ifndef WAYBILL_CONSUME_HELD_LEASES_HPP
#define WAYBILL_CONSUME_HELD_LEASES_HPP

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/consume/lease.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_1 {

namespace detail {

/// What a keeper claims a lease for.
enum class lease_errand : std::uint8_t { renew, take, raise, give_back };

struct lease_chore {
    std::uint32_t partition = 0;
    lease_errand what = lease_errand::renew;
    std::uint32_t tries = 0;

    friend bool operator==(const lease_chore&, const lease_chore&) = default;
};

}  // namespace detail

class held_leases {
public:
    struct entry {
        bool mine = false;
        bool released = false;  ///< It is to be given back, and not trusted any more.
        bool doubted = false;  ///< A renewal was refused, or a look says so: the next look decides.
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
        entry& e = entries_[partition];
        if (!e.mine || e.epoch != o.epoch) ++changes_;
        if (!e.mine) ++count_;
        e.mine = true;
        e.doubted = false;
        e.epoch = o.epoch;
        e.version = o.version;
        if (!e.released) e.trusted_until = asked + trusted;
        saw(partition, o.epoch);
    }

    /// It may be somebody else's: nothing is done there until that is known.
    void doubt(std::uint32_t partition)
    {
        entries_[partition].doubted = true;
        distrust(partition);
    }
    void distrust(std::uint32_t partition)
    {
        entries_[partition].trusted_until = steady_time::lowest();
    }

    void release(std::uint32_t partition)
    {
        entries_[partition].released = true;
        distrust(partition);
    }

    void lose(std::uint32_t partition)
    {
        entry& e = entries_[partition];
        if (e.mine) {
            ++changes_;
            --count_;
        }
        e.mine = e.released = e.doubted = false;
        distrust(partition);
    }

    /// It was claimed from whoever was seen in its row, if there is one. What was claimed already, and
    /// the answer got lost, is still claimed from the one before.
    template <class Observer>
    void claimed_from(std::uint32_t partition, const Observer& seen, const owner_id& self)
    {
        std::optional<std::uint64_t>& ended = entries_[partition].ended;
        const auto& stored = seen.row_of(partition);
        if (!stored) ended.reset();
        else if (stored->owner != self) ended = seen.expired(partition) ? stored->owner.incarnation : 0;
    }

    void saw(std::uint32_t partition, std::uint64_t epoch)
    {
        entry& e = entries_[partition];
        if (e.highest < epoch) e.highest = epoch;
    }
    /// The stored row is ours, but was written after what we know.
    void set_version(std::uint32_t partition, std::uint64_t version)
    {
        entries_[partition].version = version;
    }

    /// The row to write; `stored` is the version that was seen last.
    [[nodiscard]] lease_claim claim(const detail::lease_chore& c, partition_key key,
                                    const owner_id& self, std::optional<std::uint64_t> stored) const
    {
        using detail::lease_errand;
        const entry& e = entries_[c.partition];
        const bool taking = c.what == lease_errand::take;
        return {std::move(key), c.what == lease_errand::give_back ? owner_id{} : self,
                taking || c.what == lease_errand::raise ? next_epoch(c.partition) : e.epoch,
                taking ? stored : std::optional(e.version)};
    }

    [[nodiscard]] const entry& operator[](std::uint32_t partition) const
    {
        return entries_[partition];
    }
    [[nodiscard]] bool mine(std::uint32_t partition) const { return entries_[partition].mine; }
    [[nodiscard]] std::optional<std::uint64_t> epoch(std::uint32_t partition) const
    {
        const entry& e = entries_[partition];
        return e.mine ? std::optional(e.epoch) : std::nullopt;
    }
    /// Above all that were seen.
    [[nodiscard]] std::uint64_t next_epoch(std::uint32_t partition) const
    {
        const std::uint64_t n = entries_[partition].highest;
        return n == ~std::uint64_t{0} ? n : n + 1;
    }
    [[nodiscard]] bool trusted(std::uint32_t partition, steady_time now) const
    {
        return entries_[partition].mine && now < entries_[partition].trusted_until;
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
    std::vector<entry> entries_;
    std::uint32_t count_ = 0;
    std::uint64_t changes_ = 0;
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_CONSUME_HELD_LEASES_HPP

// SPDX-License-Identifier: MIT
//
// side_by_side: several batches that fill at the same time, in bounded room.
//
// Part of keyed_batches and open_bins, which differ in where an item goes and in which batch has to
// go when there is no room left. What they share is here: how many may be open, when they are due,
// and why each was closed.
//
// Who is refused has to find room after one take(). So a refusal closes a batch there and then, if
// none is closed yet, and take() gives closed ones first: nothing else need be remembered.

#ifndef WAYBILL_BATCH_SIDE_BY_SIDE_HPP
#define WAYBILL_BATCH_SIDE_BY_SIDE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/batch/tally.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// What may be open at a time, and for how long; `limits` says how large one batch may be.
struct open_limits {
    std::uint64_t open = 16;                ///< Most batches; 0 reads as 1.
    duration linger = duration::highest();  ///< Longest that a batch stays open.
    std::uint64_t items = unlimited;        ///< Most items in all of them; 0 reads as 1.

    friend bool operator==(const open_limits&, const open_limits&) = default;
};

/// `Batch` is what take() gives. If one has to make room it is the fullest, or else the oldest.
template <class Batch, class F, bool Fullest>
class side_by_side {
public:
    /// There is a batch with no reason to wait: it is full, or has been open for long enough, or
    /// has to make room for what was refused.
    [[nodiscard]] bool due(steady_time now) const { return !empty() && due_at(first(), now); }

    /// When one will be due though nothing more comes; empty where nothing is in or all may wait.
    [[nodiscard]] std::optional<steady_time> deadline() const
    {
        return empty() ? std::nullopt : deadline_of(first());
    }

    /// Takes the batch that has to go first, maybe an empty one. Its buffer goes with it.
    [[nodiscard]] Batch take(steady_time now) { return take_at(next(now), now); }

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    /// How many batches are open.
    [[nodiscard]] std::size_t open() const noexcept { return all_.size(); }
    /// How many items are in all of them.
    [[nodiscard]] std::uint64_t items() const noexcept { return items_; }

    /// Where items, and the size function or framing, can be compared.
    friend bool operator==(const side_by_side&, const side_by_side&) = default;

protected:
    // One of them. It is never empty, and its own sums are told when it is taken.
    struct filling {
        Batch batch{};
        tally<F> sum{};

        friend bool operator==(const filling&, const filling&) = default;
    };

    side_by_side(const limits& l, F f, const open_limits& o)
        : limits_(l), framing_(std::move(f)), open_(o)
    {
    }

    // Adds an item to the batch at `at`, or to `fresh` where that is the end, if there is room.
    // `counted` is the tally with it. All that can fail comes before the item is moved away.
    template <class T>
    adding put(std::size_t at, Batch fresh, tally<F> counted, T&& item, steady_time now)
    {
        if ((at != 0 && at >= open_.open) || (items_ != 0 && items_ >= open_.items)) {
            close_one(Fullest ? closed_by::bytes : closed_by::key, now);
            return adding::full;
        }
        const bool opens = at == all_.size();
        if (at == all_.capacity()) all_.reserve(2 * at + 1);
        if (opens) fresh.opened = now;
        (opens ? fresh : all_[at].batch).items.emplace_back(std::forward<T>(item));
        if (opens) all_.push_back({std::move(fresh), {}});
        all_[at].sum = std::move(counted);
        if (++items_ >= open_.items) close_one(closed_by::items, now);
        return adding::added;
    }

    // The batch at `at`, or an empty one at the end.
    [[nodiscard]] Batch take_at(std::size_t at, steady_time now)
    {
        if (at == all_.size()) return {};
        const bool overdue = !all_[at].sum.full && due_at(at, now);
        filling f = std::move(all_[at]);
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(at));
        items_ -= f.batch.items.size();
        f.batch.bytes = f.sum.bytes;
        f.batch.closed = overdue ? closed_by::deadline : f.sum.closed;
        return std::move(f.batch);
    }

    limits limits_;
    F framing_;
    open_limits open_;
    std::vector<filling> all_;  // as they were opened; but who must go next may stand first
    std::uint64_t items_ = 0;

private:
    // The first that is full, or else the one that was opened first, whose deadline is the first.
    [[nodiscard]] std::size_t first() const
    {
        std::size_t oldest = 0;
        for (std::size_t at = 0; at != all_.size(); ++at) {
            if (all_[at].sum.full) return at;
            if (all_[at].batch.opened < all_[oldest].batch.opened) oldest = at;
        }
        return oldest;
    }

    [[nodiscard]] std::size_t next(steady_time now) const
    {
        const std::size_t oldest = first();
        if (!Fullest || empty() || due_at(oldest, now)) return oldest;
        std::size_t fullest = 0;
        for (std::size_t at = 1; at != all_.size(); ++at) {
            if (all_[at].sum.bytes > all_[fullest].sum.bytes) fullest = at;
        }
        return fullest;
    }

    [[nodiscard]] std::optional<steady_time> deadline_of(std::size_t at) const
    {
        if (all_[at].sum.full) return all_[at].batch.opened;
        if (open_.linger == duration::highest()) return {};
        return all_[at].batch.opened + open_.linger;
    }

    [[nodiscard]] bool due_at(std::size_t at, steady_time now) const
    {
        const auto by = deadline_of(at);
        return by && (all_[at].sum.full || now >= *by);
    }

    void close_one(closed_by why, steady_time now)
    {
        tally<F>& sum = all_[next(now)].sum;
        if (!sum.full) sum.close(why);
    }
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SIDE_BY_SIDE_HPP

// SPDX-License-Identifier: MIT
//
// open_batches: several batches that fill at the same time, with a limit on their number.
//
// The base of keyed_batches and bin_packer. These differ in the batch that an item goes into, and
// in the batch that is closed to make room. The base decides how many batches may be open, when
// they are due, and why each was closed.
//
// A refused item must find room after one take(). So a refusal closes a batch at once, if there is
// no closed one yet, and take() returns closed batches first. No other state is needed.

#ifndef WAYBILL_BATCH_DETAIL_OPEN_BATCHES_HPP
#define WAYBILL_BATCH_DETAIL_OPEN_BATCHES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/open_limits.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// `Batch` is the result of take(). To make room, the fullest batch is closed if `Fullest`,
/// otherwise the oldest.
template <class Batch, class F, bool Fullest>
class open_batches {
public:
    /// True if a batch has no reason to wait: it is full, has been open for `linger`, or must make
    /// room for a refused item.
    [[nodiscard]] bool due(steady_time now) const { return !empty() && due_at(first(), now); }

    /// The time at which a batch becomes due without further items. Empty if no batch has such a
    /// time.
    [[nodiscard]] std::optional<steady_time> deadline() const
    {
        return empty() ? std::nullopt : deadline_of(first());
    }

    /// Takes the batch that must go first, with its buffer. If no batch is open, the result is
    /// empty.
    [[nodiscard]] Batch take(steady_time now) { return take_at(next(now), now); }

    [[nodiscard]] bool empty() const noexcept { return batches_.empty(); }
    /// The number of open batches.
    [[nodiscard]] std::size_t open() const noexcept { return batches_.size(); }
    /// The number of items in all open batches.
    [[nodiscard]] std::uint64_t items() const noexcept { return items_; }

    /// Requires that items, and the size function or framing, can be compared.
    friend bool operator==(const open_batches&, const open_batches&) = default;

protected:
    // An open batch, which is never empty. The sums in `batch` are set when it is taken.
    struct open_entry {
        Batch batch{};
        tally<F> sum{};

        friend bool operator==(const open_entry&, const open_entry&) = default;
    };

    open_batches(const batch_limits& l, F f, const open_limits& o)
        : limits_(l), framing_(std::move(f)), open_limits_(o)
    {
    }

    // Adds an item to the batch at `at`. If `at` is the end, opens the batch `fresh` with the item.
    // If there is no room for another batch or item, closes a batch and returns `full`. `counted`
    // is the tally with the item. Everything that can fail comes before the item is moved.
    template <class T>
    add_result put(std::size_t at, Batch fresh, tally<F> counted, T&& item, steady_time now)
    {
        if ((at != 0 && at >= open_limits_.open) || (items_ != 0 && items_ >= open_limits_.items)) {
            close_one(Fullest ? batch_close_reason::bytes : batch_close_reason::key, now);
            return add_result::full;
        }
        const bool opens = at == batches_.size();
        if (at == batches_.capacity()) batches_.reserve(2 * at + 1);
        if (opens) fresh.opened = now;
        (opens ? fresh : batches_[at].batch).items.emplace_back(std::forward<T>(item));
        if (opens) batches_.push_back({std::move(fresh), {}});
        batches_[at].sum = std::move(counted);
        if (++items_ >= open_limits_.items) close_one(batch_close_reason::items, now);
        return add_result::added;
    }

    // Takes the batch at `at`. The result is empty if `at` is the end.
    [[nodiscard]] Batch take_at(std::size_t at, steady_time now)
    {
        if (at == batches_.size()) return {};
        const bool overdue = !batches_[at].sum.full && due_at(at, now);
        open_entry taken = std::move(batches_[at]);
        batches_.erase(batches_.begin() + static_cast<std::ptrdiff_t>(at));
        items_ -= taken.batch.items.size();
        taken.batch.bytes = taken.sum.bytes;
        taken.batch.closed = overdue ? batch_close_reason::deadline : taken.sum.closed;
        return std::move(taken.batch);
    }

    batch_limits limits_;
    F framing_;
    open_limits open_limits_;
    std::vector<open_entry> batches_;  // in the order of opening, but a closed one may be first
    std::uint64_t items_ = 0;

private:
    // The first full batch, or else the batch that was opened first, which has the earliest
    // deadline.
    [[nodiscard]] std::size_t first() const
    {
        std::size_t oldest = 0;
        for (std::size_t at = 0; at != batches_.size(); ++at) {
            if (batches_[at].sum.full) return at;
            if (batches_[at].batch.opened < batches_[oldest].batch.opened) oldest = at;
        }
        return oldest;
    }

    // The batch that take() returns.
    [[nodiscard]] std::size_t next(steady_time now) const
    {
        const std::size_t oldest = first();
        if (!Fullest || empty() || due_at(oldest, now)) return oldest;
        std::size_t fullest = 0;
        for (std::size_t at = 1; at != batches_.size(); ++at) {
            if (batches_[at].sum.bytes > batches_[fullest].sum.bytes) fullest = at;
        }
        return fullest;
    }

    [[nodiscard]] std::optional<steady_time> deadline_of(std::size_t at) const
    {
        if (batches_[at].sum.full) return batches_[at].batch.opened;
        if (open_limits_.linger == duration::highest()) return {};
        return batches_[at].batch.opened + open_limits_.linger;
    }

    [[nodiscard]] bool due_at(std::size_t at, steady_time now) const
    {
        const auto due_time = deadline_of(at);
        return due_time && (batches_[at].sum.full || now >= *due_time);
    }

    // Closes the batch that take() returns next, unless it is closed already.
    void close_one(batch_close_reason reason, steady_time now)
    {
        tally<F>& sum = batches_[next(now)].sum;
        if (!sum.full) sum.close(reason);
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_OPEN_BATCHES_HPP

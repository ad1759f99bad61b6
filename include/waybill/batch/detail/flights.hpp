// SPDX-License-Identifier: MIT
//
// flights: the attempts whose outcome is not known yet.
//
// Detail of the sender. A flight contains its batch exactly as it was sent: a batch that may have
// arrived is repeated unchanged. Few flights exist at a time, so the search is linear.

#ifndef WAYBILL_BATCH_DETAIL_FLIGHTS_HPP
#define WAYBILL_BATCH_DETAIL_FLIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/detail/send_items.hpp>
#include <waybill/batch/detail/settlements.hpp>
#include <waybill/batch/sending.hpp>

namespace waybill::inline v0_2::detail {

/// One attempt to send a batch, until its outcome is known.
struct flight {
    std::uint64_t attempt = 0;
    std::vector<item_range> runs{};
    batch_sizes sizes{};
    batch_close_reason closed = batch_close_reason::end;
    bool in_flight = true;  ///< False while the batch waits for its repetition at `not_before`.
    bool probe = false;     ///< The batch is a probe. Unlike `cut`, this never changes.
    cut_with cut = cut_with::latest;
    std::uint32_t unknown_outcomes = 0;  ///< Number of unknown outcomes so far.
    steady_time not_before{};

    /// True if the batch was closed for its bytes. False for a single item that is predicted to
    /// exceed the limit by itself: it is no evidence for the limit.
    [[nodiscard]] bool full(const calibrator& estimates) const
    {
        const bool alone = sizes.items == 1 && estimates.predict(sizes) > estimates.limit();
        return closed == batch_close_reason::bytes && !alone;
    }
    /// The number of the item at `index` in the batch, counted from 0. `index` must be less than
    /// `sizes.items`.
    [[nodiscard]] std::uint64_t item_at(std::uint64_t index) const
    {
        const item_range* run = runs.data();
        for (; index >= run->count; ++run) index -= run->count;
        return run->first + index;
    }

    friend bool operator==(const flight&, const flight&) = default;
};

/// All flights, in the order of their attempts.
class flights {
public:
    [[nodiscard]] const flight* begin() const noexcept { return list_.data(); }
    [[nodiscard]] const flight* end() const noexcept { return list_.data() + size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t in_flight_count() const noexcept
    {
        std::size_t n = 0;
        for (const flight& f : *this) n += f.in_flight ? 1U : 0U;
        return n;
    }
    /// The first flight that waits for its repetition; null if there is none.
    [[nodiscard]] const flight* first_to_repeat() const
    {
        for (const flight& f : *this) {
            if (!f.in_flight) return &f;
        }
        return nullptr;
    }

    [[nodiscard]] const flight* find(std::uint64_t attempt) const
    {
        for (const flight& f : *this) {
            if (f.attempt == attempt) return &f;
        }
        return nullptr;
    }
    [[nodiscard]] flight* find(std::uint64_t attempt)
    {
        for (std::size_t i = 0; i != size_; ++i) {
            if (list_[i].attempt == attempt) return &list_[i];
        }
        return nullptr;
    }

    /// Allocates. The next `add` does not, nor one run of its flight.
    void make_room()
    {
        if (size_ == list_.size()) list_.emplace_back();
        detail::make_room(list_[size_].runs);
    }

    /// Appends a flight. It has no runs, but the buffer of a removed flight if there is one.
    flight& add(std::uint64_t attempt, const batch_sizes& sizes, batch_close_reason closed,
                cut_with cut)
    {
        flight& f = list_[size_++];
        f.attempt = attempt;
        f.sizes = sizes;
        f.closed = closed;
        f.probe = cut == cut_with::probe;
        f.cut = cut;
        return f;
    }

    void remove(const flight& f)
    {
        std::size_t i = static_cast<std::size_t>(&f - list_.data());
        for (--size_; i != size_; ++i) std::swap(list_[i], list_[i + 1]);
        std::vector<item_range> buffer;
        buffer.swap(list_[i].runs);
        buffer.clear();
        list_[i] = {};
        buffer.swap(list_[i].runs);
    }

    void clear() noexcept
    {
        while (size_ != 0) remove(list_[size_ - 1]);
    }

    /// True if a probe is in flight.
    [[nodiscard]] bool has_probe() const noexcept
    {
        for (const flight& f : *this) {
            if (f.probe) return true;
        }
        return false;
    }

    /// Marks all flights as cut before the last refusal.
    void mark_older() noexcept
    {
        for (std::size_t i = 0; i != size_; ++i) list_[i].cut = cut_with::older;
    }

    /// Marks the items of all flights as `in_flight`, for a caller that iterates over all items.
    void mark_in_flight(send_items& items) const
    {
        for (const flight& f : *this) items.set_state(f.runs, item_state::in_flight);
    }

    /// Buffers kept for reuse are not compared.
    friend bool operator==(const flights& a, const flights& b)
    {
        if (a.size_ != b.size_) return false;
        for (std::size_t i = 0; i != a.size_; ++i) {
            if (!(a.list_[i] == b.list_[i])) return false;
        }
        return true;
    }

private:
    std::vector<flight> list_;  // after the first `size_`: only buffers
    std::size_t size_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_FLIGHTS_HPP

// SPDX-License-Identifier: MIT
//
// done_runs: positions already done, as ascending ranges that do not touch.
//
// Part of the completion tracker. They are the positions that an earlier owner completed out of
// order, stored with the watermark. They are removed from the front as their positions are read
// again.

#ifndef WAYBILL_TRACKING_DETAIL_DONE_RUNS_HPP
#define WAYBILL_TRACKING_DETAIL_DONE_RUNS_HPP

#include <cstdint>
#include <utility>
#include <vector>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// The positions from `first` to `last`, both included.
struct position_run {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    friend bool operator==(const position_run&, const position_run&) = default;
};

class done_runs {
public:
    done_runs() noexcept = default;
    ~done_runs() = default;
    done_runs(const done_runs&) = default;
    done_runs& operator=(const done_runs&) = default;
    done_runs(done_runs&& o) noexcept { swap(o); }
    done_runs& operator=(done_runs&& o) noexcept
    {
        swap(o);
        o.clear();
        return *this;
    }

    [[nodiscard]] bool empty() const noexcept { return removed_count_ == list_.size(); }
    [[nodiscard]] std::uint64_t size() const noexcept { return list_.size() - removed_count_; }
    [[nodiscard]] const position_run& operator[](std::uint64_t n) const noexcept
    {
        return list_[removed_count_ + n];
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept
    {
        return list_.capacity() * sizeof(position_run);
    }

    /// Reserves memory for `runs` ranges.
    void reserve(std::uint64_t runs) { list_.reserve(removed_count_ + runs); }

    /// Appends a range. If it touches or overlaps the last range, that range is extended. Returns
    /// false, without a change, if `r` ends before it begins, or begins before the last range does.
    bool add(position_run r)
    {
        if (r.last < r.first) return false;
        if (!empty()) {
            position_run& newest = list_.back();
            if (r.first < newest.first) return false;
            if (r.first <= saturating_add(newest.last, 1)) {
                newest.last = greater(newest.last, r.last);
                return true;
            }
        }
        list_.push_back(r);
        return true;
    }

    /// Removes all positions before `sequence`.
    void pass(std::uint64_t sequence) noexcept
    {
        while (!empty() && list_[removed_count_].last < sequence) ++removed_count_;
        if (empty()) return clear();
        list_[removed_count_].first = greater(list_[removed_count_].first, sequence);
    }

    /// True if this position is done. Linear in the number of ranges before it.
    [[nodiscard]] bool holds(std::uint64_t sequence) const noexcept
    {
        std::uint64_t n = removed_count_;
        while (n != list_.size() && list_[n].last < sequence) ++n;
        return n != list_.size() && list_[n].first <= sequence;
    }

    void clear() noexcept
    {
        list_.clear();
        removed_count_ = 0;
    }

    /// Removed ranges are not part of the value.
    friend bool operator==(const done_runs& a, const done_runs& b) noexcept
    {
        if (a.size() != b.size()) return false;
        for (std::uint64_t n = 0; n != a.size(); ++n) {
            if (!(a[n] == b[n])) return false;
        }
        return true;
    }

private:
    void swap(done_runs& o) noexcept
    {
        list_.swap(o.list_);
        std::swap(removed_count_, o.removed_count_);
    }

    std::vector<position_run> list_;
    std::uint64_t removed_count_ = 0;  // ranges at the front of list_ that pass() removed
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_DONE_RUNS_HPP

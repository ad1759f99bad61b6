// SPDX-License-Identifier: MIT
//
// prune_planner: the two passes of plan_prune over the rows.

#ifndef WAYBILL_CONSUME_DETAIL_PRUNE_PLANNER_HPP
#define WAYBILL_CONSUME_DETAIL_PRUNE_PLANNER_HPP

#include <concepts>
#include <cstdint>
#include <iterator>

#include <waybill/consume/prune_plan.hpp>
#include <waybill/consume/prune_policy.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// The default `row_of`: each row is a `prune_plan::row` already.
struct as_it_is {
    [[nodiscard]] constexpr const prune_plan::row& operator()(
        const prune_plan::row& r) const noexcept
    {
        return r;
    }
};

/// The highest amount that may be left: less than the limit, and at most its share.
[[nodiscard]] constexpr std::uint64_t low_water(std::uint64_t limit, double share) noexcept
{
    if (limit == highest_size) return highest_size;
    const std::uint64_t below = saturating_sub(limit, 1);
    if (!(share > 0)) return 0;
    const double allowed = static_cast<double>(limit) * share;
    return allowed >= static_cast<double>(below) ? below : static_cast<std::uint64_t>(allowed);
}

/// An exact sum of 128 bits. A saturated sum could not be reduced again.
struct byte_sum {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // multiples of 2^64

    constexpr void add(std::uint64_t n) noexcept
    {
        low += n;
        if (low < n) ++high;
    }
    constexpr void subtract(std::uint64_t n) noexcept
    {
        if (low < n) --high;
        low -= n;
    }
    [[nodiscard]] constexpr std::uint64_t size() const noexcept
    {
        return high != 0 ? highest_size : low;
    }
};

/// Adds the removal of rows to a plan, oldest first, until the limits are met.
class pruner {
public:
    pruner(const prune_policy& p, wall_time now, prune_plan& plan)
        : policy_(p), now_(now), plan_(plan)
    {
    }

    /// First pass: counts a row. Call it for all rows, in any order, before `set_limits`.
    void count_row(const prune_plan::row& r) noexcept
    {
        plan_.rows_in_order = plan_.rows_in_order && !(r.dead_lettered_at < newest_);
        newest_ = later(newest_, r.dead_lettered_at);
        if (r.dead_lettered_at >= now_ - policy_.spike.within) ++plan_.recent;
        add(plan_.before, r);
        if (r.redriving) add(plan_.redriving, r);
        if (!r.redriving && is_old(r)) return;
        ++plan_.after.rows;
        bytes_left_.add(r.bytes);
    }

    /// Sets the limits for the second pass. Rows removed by age are not counted any more.
    void set_limits() noexcept
    {
        plan_.spike = policy_.spike.count != highest_size && plan_.recent >= policy_.spike.count;
        if (plan_.spike && policy_.full == prune_policy::when_full::refuse_new) return;
        const double share = plan_.spike ? 1.0 : policy_.low_water;
        if (plan_.after.rows >= policy_.count) max_rows_left_ = low_water(policy_.count, share);
        if (bytes_left_.size() >= policy_.bytes) max_bytes_left_ = low_water(policy_.bytes, share);
    }

    /// Second pass: removes the row if a limit requires it. Call it for all rows, oldest first.
    void remove_if_needed(const prune_plan::row& r, std::uint64_t index)
    {
        if (r.redriving) return;
        if (is_old(r)) return add_removal(r, index, prune_plan::removal::limit::age);
        const bool too_many_rows = plan_.after.rows > max_rows_left_;
        if (!too_many_rows && bytes_left_.size() <= max_bytes_left_) return;
        add_removal(
            r, index,
            too_many_rows ? prune_plan::removal::limit::count : prune_plan::removal::limit::bytes);
        --plan_.after.rows;
        bytes_left_.subtract(r.bytes);
    }

    /// After the second pass: completes `plan.after`, and checks whether a limit is still reached.
    void finish() noexcept
    {
        plan_.after.bytes = bytes_left_.size();
        const bool rows = policy_.count != highest_size && plan_.after.rows >= policy_.count;
        const bool bytes = policy_.bytes != highest_size && plan_.after.bytes >= policy_.bytes;
        plan_.limit_reached = rows || bytes;
    }

private:
    [[nodiscard]] bool is_old(const prune_plan::row& r) const noexcept
    {
        return now_ - r.dead_lettered_at > policy_.age;
    }

    static void add(prune_plan::totals& to, const prune_plan::row& r) noexcept
    {
        ++to.rows;
        to.bytes = saturating_add(to.bytes, r.bytes);
    }

    void add_removal(const prune_plan::row& r, std::uint64_t index,
                     prune_plan::removal::limit reason)
    {
        plan_.removals.push_back({.id = r.id,
                                  .index = index,
                                  .bytes = r.bytes,
                                  .dead_lettered_at = r.dead_lettered_at,
                                  .reason = reason});
    }

    prune_policy policy_;
    wall_time now_;
    prune_plan& plan_;
    byte_sum bytes_left_{};
    wall_time newest_ = wall_time::lowest();
    std::uint64_t max_rows_left_ = highest_size;   // the highest number of rows that may be left
    std::uint64_t max_bytes_left_ = highest_size;  // the highest number of bytes that may be left
};

/// A row and its index in the range. Ordered oldest first; rows of equal age by index.
struct aged_row {
    prune_plan::row row{};
    std::uint64_t index = 0;

    friend bool operator<(const aged_row& a, const aged_row& b) noexcept
    {
        const wall_time x = a.row.dead_lettered_at;
        const wall_time y = b.row.dead_lettered_at;
        return x < y || (!(y < x) && a.index < b.index);
    }
};

/// A function that returns the prune_plan::row for the value of an iterator.
template <class F, class I>
concept prune_view = std::forward_iterator<I> && requires(F& f, const I& i) {
    { f(*i) } -> std::convertible_to<prune_plan::row>;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_PRUNE_PLANNER_HPP

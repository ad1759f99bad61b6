// SPDX-License-Identifier: MIT
//
// prune: plans which dead letters to remove, and why.
//
//     auto plan = waybill::plan_prune(rows, {.age = 7 * 24h, .count = 100'000}, now);
//     for (const waybill::prune_removal& r : plan.removals)
//         db.exec("delete from letters where id=? and at=? and held=0", r.id, r.dead_lettered_at);
//     if (plan.spike) alarm(plan.recent);
//     if (plan.full) circuit_breaker.force_open(steady);              // no space for another row
//
// Guarantees (the guide has the reasons)
//   1. A row older than `age` is removed, also in a spike.
//   2. At `count` rows or `bytes` bytes, the oldest are removed down to the share `low_water`.
//   3. A `held` row is being resubmitted and is never removed.
//   4. In a spike, `count` and `bytes` remove no row unless `full` is `drop_oldest`.
//   5. A row that changed after the plan stays if the delete statement also compares
//      `dead_lettered_at` and
//      `held` (`may_remove`). All orders are tested: tests/enumerate/consume/prune.test.cpp.
//   6. A policy that `validate` rejects removes no row, and the plan contains the error.
// Cost: if rows are ordered oldest first, two passes, no sort, memory only for the removals.
// Otherwise O(n log n), and memory for each row that is not held.

#ifndef WAYBILL_CONSUME_PRUNE_HPP
#define WAYBILL_CONSUME_PRUNE_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <waybill/consume/prune_policy.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The properties of a dead letter that pruning needs.
struct prune_row {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
    wall_time dead_lettered_at{};  ///< The last time at which the message became a dead letter.
    bool held = false;   ///< The dead letter is being resubmitted.

    friend bool operator==(const prune_row&, const prune_row&) = default;
};

/// A row to remove. Remove it only if `may_remove` is still true.
struct prune_removal {
    /// The limit that removes a row.
    enum class limit : std::uint8_t { age, count, bytes };
    [[nodiscard]] friend constexpr std::string_view texts_of(limit) noexcept
    {
        return "age, count, bytes";
    }

    std::uint64_t id = 0;
    std::uint64_t index = 0;  ///< Index of the row in the range given to plan_prune, from 0.
    std::uint64_t bytes = 0;
    wall_time dead_lettered_at{};
    limit reason = limit::age;

    friend bool operator==(const prune_removal&, const prune_removal&) = default;
};

/// True if the current row is unchanged since the plan: same id, same `dead_lettered_at`, and not
/// held. Compare and remove in one statement.
[[nodiscard]] constexpr bool may_remove(const prune_removal& r, const prune_row& current) noexcept
{
    return r.id == current.id && r.dead_lettered_at == current.dead_lettered_at && !current.held;
}

/// Number and size of rows.
struct prune_totals {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;  ///< Saturates. The plan itself is computed from the exact sum.

    friend bool operator==(const prune_totals&, const prune_totals&) = default;
};

/// The rows to remove, and the state of the store before and after.
struct prune_plan {
    std::vector<prune_removal> removals{};  ///< Oldest first.
    prune_totals before{};    ///< All rows.
    prune_totals after{};     ///< The rows that are left after all removals.
    prune_totals held{};      ///< The rows in `after` that are held.
    std::uint64_t recent = 0;  ///< Rows not older than `spike.within` of the policy.
    bool spike = false;       ///< `recent` has reached `spike.count`: a dependency may be down.
    bool full = false;        ///< After all removals a limit is still reached: refuse new rows.
    bool in_order = true;     ///< The rows were ordered oldest first.
    std::optional<config_error> wrong{};  ///< The error of a rejected policy. No row is removed.

    friend bool operator==(const prune_plan&, const prune_plan&) = default;
};

namespace detail {

/// The default `row_of`: the rows are prune_rows already.
struct as_it_is {
    [[nodiscard]] constexpr const prune_row& operator()(const prune_row& r) const noexcept
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
    const double most = static_cast<double>(limit) * share;
    return most >= static_cast<double>(below) ? below : static_cast<std::uint64_t>(most);
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

/// Removes rows, oldest first, until the limits are met.
class pruner {
public:
    pruner(const prune_policy& p, wall_time now, prune_plan& plan)
        : policy_(p), now_(now), plan_(plan)
    {
    }

    /// First pass: counts a row. Call it for all rows, in any order, before `decide`.
    void count(const prune_row& r) noexcept
    {
        plan_.in_order = plan_.in_order && !(r.dead_lettered_at < newest_);
        newest_ = later(newest_, r.dead_lettered_at);
        if (r.dead_lettered_at >= now_ - policy_.spike.within) ++plan_.recent;
        add(plan_.before, r);
        if (r.held) add(plan_.held, r);
        if (!r.held && is_old(r)) return;
        ++plan_.after.rows;
        left_.add(r.bytes);
    }

    /// Sets the limits for the second pass. Rows removed by age are not counted any more.
    void decide() noexcept
    {
        plan_.spike = policy_.spike.count != highest_size && plan_.recent >= policy_.spike.count;
        if (plan_.spike && policy_.full == prune_policy::when_full::refuse_new) return;
        const double share = plan_.spike ? 1.0 : policy_.low_water;
        if (plan_.after.rows >= policy_.count) rows_ = low_water(policy_.count, share);
        if (left_.size() >= policy_.bytes) bytes_ = low_water(policy_.bytes, share);
    }

    /// Second pass: removes the row if a limit requires it. Call it for all rows, oldest first.
    void consider(const prune_row& r, std::uint64_t index)
    {
        if (r.held) return;
        if (is_old(r)) return take(r, index, prune_removal::limit::age);
        const bool rows = plan_.after.rows > rows_;
        if (!rows && left_.size() <= bytes_) return;
        take(r, index, rows ? prune_removal::limit::count : prune_removal::limit::bytes);
        --plan_.after.rows;
        left_.subtract(r.bytes);
    }

    void finish() noexcept
    {
        plan_.after.bytes = left_.size();
        const bool rows = policy_.count != highest_size && plan_.after.rows >= policy_.count;
        const bool bytes = policy_.bytes != highest_size && plan_.after.bytes >= policy_.bytes;
        plan_.full = rows || bytes;
    }

private:
    [[nodiscard]] bool is_old(const prune_row& r) const noexcept
    {
        return now_ - r.dead_lettered_at > policy_.age;
    }

    static void add(prune_totals& to, const prune_row& r) noexcept
    {
        ++to.rows;
        to.bytes = saturating_add(to.bytes, r.bytes);
    }

    void take(const prune_row& r, std::uint64_t index, prune_removal::limit reason)
    {
        plan_.removals.push_back({r.id, index, r.bytes, r.dead_lettered_at, reason});
    }

    prune_policy policy_;
    wall_time now_;
    prune_plan& plan_;
    byte_sum left_{};
    wall_time newest_ = wall_time::lowest();
    std::uint64_t rows_ = highest_size;   // the highest number of rows that may be left
    std::uint64_t bytes_ = highest_size;  // the highest number of bytes that may be left
};

struct aged_row {
    prune_row row{};
    std::uint64_t index = 0;

    friend bool operator<(const aged_row& a, const aged_row& b) noexcept
    {
        const wall_time x = a.row.dead_lettered_at;
        const wall_time y = b.row.dead_lettered_at;
        return x < y || (!(y < x) && a.index < b.index);
    }
};

/// A function that returns the prune_row for the value of an iterator.
template <class F, class I>
concept prune_view = std::forward_iterator<I> && requires(F& f, const I& i) {
    { f(*i) } -> std::convertible_to<prune_row>;
};

}  // namespace detail

/// The rows to remove at `now`. Calls `row_of` twice for each row. Rows with equal times are
/// removed in the order of the range. A row with a time after `now` is not old. A rejected policy
/// is reported in `prune_plan::wrong`. Two passes if the rows are ordered oldest first, otherwise
/// O(n log n).
template <std::forward_iterator I, std::sentinel_for<I> S,
          detail::prune_view<I> F = detail::as_it_is>
[[nodiscard]] prune_plan plan_prune(I first, S last, const prune_policy& policy, wall_time now,
                                    F row_of = {})
{
    prune_plan plan;
    plan.wrong = validate(policy);
    detail::pruner prune(plan.wrong ? prune_policy{} : policy, now, plan);
    for (I i = first; i != last; ++i) prune.count(row_of(*i));
    prune.decide();
    std::set<detail::aged_row> sorted;
    std::uint64_t index = 0;
    for (I i = first; i != last; ++i, ++index) {
        const prune_row r = row_of(*i);
        if (plan.in_order) prune.consider(r, index);
        else if (!r.held) sorted.insert({r, index});
    }
    for (const detail::aged_row& a : sorted) prune.consider(a.row, a.index);
    prune.finish();
    return plan;
}

/// The same for a range.
template <class R, class F = detail::as_it_is>
    requires requires(const R& rows, F& f) {
        { f(*std::begin(rows)) } -> std::convertible_to<prune_row>;
        std::end(rows);
    }
[[nodiscard]] prune_plan plan_prune(const R& rows, const prune_policy& policy, wall_time now,
                                    F row_of = {})
{
    return plan_prune(std::begin(rows), std::end(rows), policy, now, row_of);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_PRUNE_HPP

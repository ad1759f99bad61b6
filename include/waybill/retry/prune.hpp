// SPDX-License-Identifier: MIT
//
// prune: which dead letters to remove, and why.
//
// Dead letters that nobody looks at grow until the store is full, and then a failure cannot be
// recorded any more. A pure function says what may go; the caller removes it, or only prints it:
//
//     auto plan = waybill::plan_prune(rows, {.age = 7 * 24h, .count = 100'000}, now);
//     for (const waybill::prune_removal& r : plan.removals)
//         db.exec("delete from letters where id = ? and parked = ? and held = 0", r.id, r.parked);
//     if (plan.spike) alarm(plan.recent);
//     if (plan.full) valve.hold_shut(steady);              // there is no room for another one
//
// What holds:
//   1. what is older than `age` goes, whatever else is said; it may have to, by law;
//   2. at `count` rows or `bytes` bytes the oldest go, until no more is left than the low-water
//      share, so that the next rows find room and pruning does not begin again with each of them;
//   3. a row that is `held`, since it is being resubmitted, never goes;
//   4. in a spike, when many came in a short time, nothing goes for its number or bytes. Such a
//      burst is an outage: most of these messages are good, will be resubmitted, and tell what
//      happened; and they would push out all that was there before. Then the store may be full, and
//      what is to be done about that is said by `full`: by default nothing goes, and new ones are
//      refused;
//   5. what has changed since the plan was made stays. Each removal carries the time at which its
//      row was parked; a row that is parked again or held meanwhile has another time, or is held.
//      Who removes compares both in the same statement (`may_remove`); by id alone he loses what is
//      being resubmitted, or a new failure. Tests try all orders: prune.test.cpp;
//   6. a policy that `check` refuses removes nothing, and the plan says what is wrong with it: who
//      writes 0 for "no limit" does not lose all rows.
//
// Rows come oldest first, as an index on their time gives them: then two passes are made, nothing
// is sorted, and memory is taken for what is removed alone. Rows in another order are planned just
// as well; it takes n log n, and memory for each that is not held. Those of one time go in the
// order in which they come. A row from the future, by a clock that was wrong, is not old.

#ifndef WAYBILL_RETRY_PRUNE_HPP
#define WAYBILL_RETRY_PRUNE_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/prune_policy.hpp>

namespace waybill::inline v0_2 {

/// What there is to know of a dead letter.
struct prune_row {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
    wall_time parked{};  ///< When it became a dead letter, for the last time.
    bool held = false;   ///< It is being resubmitted.

    friend bool operator==(const prune_row&, const prune_row&) = default;
};

/// Why a row goes.
enum class prune_reason : std::uint8_t { age, count, bytes };

[[nodiscard]] constexpr std::string_view name(prune_reason r) noexcept
{
    switch (r) {
        case prune_reason::age: return "age";
        case prune_reason::count: return "count";
        case prune_reason::bytes: return "bytes";
    }
    return "?";
}

struct prune_removal {
    std::uint64_t id = 0;
    std::uint64_t index = 0;  ///< The place of the row in what was given.
    std::uint64_t bytes = 0;
    wall_time parked{};
    prune_reason why = prune_reason::age;

    friend bool operator==(const prune_removal&, const prune_removal&) = default;
};

/// Whether the row is still the one that the plan is about.
[[nodiscard]] constexpr bool may_remove(const prune_removal& r, const prune_row& current) noexcept
{
    return r.id == current.id && r.parked == current.parked && !current.held;
}

struct prune_totals {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;  ///< Saturates; which rows go is reckoned with the exact sum.

    friend bool operator==(const prune_totals&, const prune_totals&) = default;
};

struct prune_plan {
    std::vector<prune_removal> removals{};  ///< Oldest first.
    prune_totals before{};
    prune_totals after{};     ///< When all of it is done.
    prune_totals held{};      ///< Of those that are left: those that could not go.
    std::uint64_t recent = 0;  ///< Rows that came within the time of a spike.
    bool spike = false;       ///< There are too many of them: look what is down.
    bool full = false;        ///< Then there is no room for another row: refuse new ones.
    bool in_order = true;     ///< Rows came oldest first.
    std::optional<config_error> wrong{};  ///< The policy cannot be meant: nothing goes.

    friend bool operator==(const prune_plan&, const prune_plan&) = default;
};

/// What is given as it is: rows that are prune_rows.
struct as_it_is {
    [[nodiscard]] constexpr const prune_row& operator()(const prune_row& r) const noexcept
    {
        return r;
    }
};

namespace detail {

/// How many may be left at the most: below the limit, and no more than the share.
[[nodiscard]] constexpr std::uint64_t low_water(std::uint64_t limit, double share) noexcept
{
    if (limit == highest_size) return highest_size;
    const std::uint64_t below = saturating_sub(limit, 1);
    if (!(share > 0)) return 0;
    const double most = static_cast<double>(limit) * share;
    return most >= static_cast<double>(below) ? below : static_cast<std::uint64_t>(most);
}

/// A sum of sizes that can be taken apart again, as one that has saturated could not.
struct byte_sum {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // so many times 2 to the 64th

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

/// Takes rows, oldest first, for as long as there are too many.
class pruner {
public:
    pruner(const prune_policy& p, wall_time now, prune_plan& plan)
        : policy_(p), now_(now), plan_(plan)
    {
    }

    /// Each row, in any order, before the first one is considered.
    void count(const prune_row& r) noexcept
    {
        plan_.in_order = plan_.in_order && !(r.parked < newest_);
        newest_ = later(newest_, r.parked);
        if (r.parked >= now_ - policy_.spike.within) ++plan_.recent;
        add(plan_.before, r);
        if (r.held) add(plan_.held, r);
        if (!r.held && is_old(r)) return;
        ++plan_.after.rows;
        left_.add(r.bytes);
    }

    /// What goes by age leaves room, before anything goes for the lack of it.
    void decide() noexcept
    {
        plan_.spike = policy_.spike.count != highest_size && plan_.recent >= policy_.spike.count;
        if (plan_.spike && policy_.full == when_full::refuse_new) return;
        const double share = plan_.spike ? 1.0 : policy_.low_water;
        if (plan_.after.rows >= policy_.count) rows_ = low_water(policy_.count, share);
        if (left_.size() >= policy_.bytes) bytes_ = low_water(policy_.bytes, share);
    }

    /// Each row, oldest first.
    void consider(const prune_row& r, std::uint64_t index)
    {
        if (r.held) return;
        if (is_old(r)) return take(r, index, prune_reason::age);
        const bool rows = plan_.after.rows > rows_;
        if (!rows && left_.size() <= bytes_) return;
        take(r, index, rows ? prune_reason::count : prune_reason::bytes);
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
        return now_ - r.parked > policy_.age;
    }

    static void add(prune_totals& to, const prune_row& r) noexcept
    {
        ++to.rows;
        to.bytes = saturating_add(to.bytes, r.bytes);
    }

    void take(const prune_row& r, std::uint64_t index, prune_reason why)
    {
        plan_.removals.push_back({r.id, index, r.bytes, r.parked, why});
    }

    prune_policy policy_;
    wall_time now_;
    prune_plan& plan_;
    byte_sum left_{};
    wall_time newest_ = wall_time::lowest();
    std::uint64_t rows_ = highest_size;  // so many may be left
    std::uint64_t bytes_ = highest_size;
};

struct aged_row {
    prune_row row{};
    std::uint64_t index = 0;

    friend bool operator<(const aged_row& a, const aged_row& b) noexcept
    {
        const wall_time x = a.row.parked;
        const wall_time y = b.row.parked;
        return x < y || (!(y < x) && a.index < b.index);
    }
};

}  // namespace detail

/// Says what there is to know of what an iterator points to.
template <class F, class I>
concept prune_view = std::forward_iterator<I> && requires(F& f, const I& i) {
    { f(*i) } -> std::convertible_to<prune_row>;
};

/// What may go of these rows at this time. `row_of` is asked for each row, in each of two passes.
template <std::forward_iterator I, std::sentinel_for<I> S, prune_view<I> F = as_it_is>
[[nodiscard]] prune_plan plan_prune(I first, S last, const prune_policy& policy, wall_time now,
                                    F row_of = {})
{
    prune_plan plan;
    plan.wrong = check(policy);
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

/// The same of a range.
template <class R, class F = as_it_is>
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

#endif  // WAYBILL_RETRY_PRUNE_HPP

// SPDX-License-Identifier: MIT
//
// Plans against a model that sorts all rows and decides for each one.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/consume/prune.hpp>

namespace prune_prop {
namespace {

using namespace waybill;
using tests_support::dice;

constexpr int episodes = tests_support::brief ? 2'000 : 30'000;

wall_time at(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

prune_policy any_policy(dice& roll)
{
    constexpr double shares[] = {0.0, 0.25, 0.5, 0.9, 1.0, 2.0, -1.0};
    prune_policy p;
    const std::uint64_t lowest = roll.one_in(9) ? 0 : 1;  // 0 is refused
    if (roll.one_in(2)) p.age = duration::seconds(roll.below(40));
    if (roll.one_in(2)) p.count = lowest + roll(14);
    if (roll.one_in(2)) p.bytes = lowest + roll(60);
    p.low_water = shares[roll(roll.one_in(9) ? 7 : 5)];
    if (roll.one_in(3)) p.spike = {lowest + roll(6), duration::seconds(roll.below(20))};
    if (roll.one_in(2)) p.full = prune_policy::when_full::drop_oldest;
    return p;
}

// Decides row by row, in the order of the rules.
prune_plan model(const std::vector<prune_plan::row>& rows, const prune_policy& given, wall_time now)
{
    const auto wrong = validate(given);
    const prune_policy p = wrong ? prune_policy{} : given;
    struct entry {
        prune_plan::row row;
        std::uint64_t index;
        bool old;
    };
    prune_plan plan;
    plan.wrong = wrong;
    std::vector<entry> all;
    for (std::uint64_t n = 0; n != rows.size(); ++n) {
        const prune_plan::row& r = rows[n];
        all.push_back({r, n, now - r.dead_lettered_at > p.age && !r.redriving});
        if (n != 0 && r.dead_lettered_at < rows[n - 1].dead_lettered_at) plan.rows_in_order = false;
        plan.before.rows += 1;
        plan.before.bytes += r.bytes;
        if (r.redriving) plan.redriving = {plan.redriving.rows + 1, plan.redriving.bytes + r.bytes};
        if (!(r.dead_lettered_at < now - p.spike.within)) ++plan.recent;
    }
    std::sort(all.begin(), all.end(), [](const entry& a, const entry& b) {
        return a.row.dead_lettered_at != b.row.dead_lettered_at
                   ? a.row.dead_lettered_at < b.row.dead_lettered_at
                   : a.index < b.index;
    });
    plan.spike = p.spike.count != detail::highest_size && plan.recent >= p.spike.count;
    plan.after = plan.before;
    for (const entry& e : all) {
        if (!e.old) continue;
        plan.after = {plan.after.rows - 1, plan.after.bytes - e.row.bytes};
    }
    const bool spared = plan.spike && p.full == prune_policy::when_full::refuse_new;
    const bool by_count = !spared && p.count != detail::highest_size && plan.after.rows >= p.count;
    const bool by_bytes = !spared && p.bytes != detail::highest_size && plan.after.bytes >= p.bytes;
    const double share = plan.spike ? 1.0 : p.low_water;
    const std::uint64_t count = detail::low_water(p.count, share);
    const std::uint64_t bytes = detail::low_water(p.bytes, share);
    for (const entry& e : all) {
        prune_plan::removal r{e.row.id, e.index, e.row.bytes, e.row.dead_lettered_at,
                              prune_plan::removal::limit::age};
        if (!e.old) {
            if (e.row.redriving) continue;
            const bool many = by_count && plan.after.rows > count;
            if (!many && !(by_bytes && plan.after.bytes > bytes)) continue;
            r.reason = many ? prune_plan::removal::limit::count : prune_plan::removal::limit::bytes;
            plan.after = {plan.after.rows - 1, plan.after.bytes - e.row.bytes};
        }
        plan.removals.push_back(r);
    }
    plan.limit_reached = (p.count != detail::highest_size && plan.after.rows >= p.count) ||
                         (p.bytes != detail::highest_size && plan.after.bytes >= p.bytes);
    return plan;
}

}  // namespace

TEST_CASE("plan_prune: plans equal those of a model that sorts the rows, for rows in any order")
{
    dice roll(488);
    std::uint64_t full = 0;
    std::uint64_t spikes = 0;
    std::uint64_t reasons[3] = {};
    for (int episode = 0; episode != episodes; ++episode) {
        std::vector<prune_plan::row> rows;
        std::int64_t t = roll.below(30);
        for (std::uint64_t n = roll(16); n != 0; --n) {
            rows.push_back({roll(99), roll(9), at(t), roll.one_in(5)});
            if (roll.one_in(60)) rows.back().dead_lettered_at = wall_time::lowest();
            t = episode % 2 == 0 ? t + roll.below(4) : roll.below(40);
        }
        const prune_policy p = any_policy(roll);
        const wall_time now = roll.one_in(50) ? wall_time::highest() : at(roll.below(60));
        const prune_plan plan = plan_prune(rows, p, now);
        REQUIRE(plan == model(rows, p, now));
        full += plan.limit_reached ? 1U : 0U;
        spikes += plan.spike ? 1U : 0U;

        std::uint64_t bytes = plan.after.bytes;
        for (const prune_plan::removal& r : plan.removals) {
            REQUIRE(r.may_remove(rows[r.index]));
            bytes += r.bytes;
            ++reasons[static_cast<std::size_t>(r.reason)];
        }
        REQUIRE(bytes == plan.before.bytes);
        REQUIRE(plan.after.rows + plan.removals.size() == plan.before.rows);

        // A second plan at the same time removes no further rows.
        std::vector<prune_plan::row> left;
        for (std::uint64_t n = 0; n != rows.size(); ++n) {
            const bool gone =
                std::any_of(plan.removals.begin(), plan.removals.end(),
                            [&](const prune_plan::removal& r) { return r.index == n; });
            if (!gone) left.push_back(rows[n]);
        }
        const prune_plan again = plan_prune(left, p, now);
        if (again.spike == plan.spike) REQUIRE(again.removals.empty());
        REQUIRE((again.before == plan.after && again.redriving == plan.redriving));
    }
    CHECK(full > 100);
    CHECK(spikes > 100);
    for (const std::uint64_t n : reasons) CHECK(n > 1'000);
}

}  // namespace prune_prop

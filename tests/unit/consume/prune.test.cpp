// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/prune.hpp>

namespace prune_test {

using namespace std::chrono_literals;
using namespace waybill;

static_assert(name(prune_plan::removal::limit::age) == "age");
static_assert(name(prune_plan::removal::limit::count) == "count");
static_assert(name(prune_plan::removal::limit::bytes) == "bytes");
static_assert(name(static_cast<prune_plan::removal::limit>(9)) == "?");
static_assert(name(prune_policy::when_full::refuse_new) == "refuse_new");
static_assert(name(prune_policy::when_full::drop_oldest) == "drop_oldest");
static_assert(name(static_cast<prune_policy::when_full>(9)) == "?");

static_assert(!validate(prune_policy{}));
static_assert(validate(prune_policy{.age = 0s})->field == "prune.age");
static_assert(validate(prune_policy{.age = -1s})->negative);
static_assert(validate(prune_policy{.count = 0})->field == "prune.count");
static_assert(validate(prune_policy{.bytes = 0})->field == "prune.bytes");
static_assert(validate(prune_policy{.low_water = 1.1})->field == "prune.low_water");
static_assert(validate(prune_policy{.low_water = -0.1})->negative);
static_assert(validate(prune_policy{.spike = {.count = 0}})->field == "prune.spike.count");
static_assert(validate(prune_policy{.spike = {.count = 5, .within = 0s}})->field ==
              "prune.spike.within");
// Pruning by age during a spike would remove its evidence.
static_assert(validate(prune_policy{.age = 10min, .spike = {.count = 5}})->field == "prune.age");
static_assert(!validate(prune_policy{.age = 10min}));

static_assert(detail::low_water(10, 0.9) == 9);
static_assert(detail::low_water(10, 1.0) == 9);
static_assert(detail::low_water(10, 0.5) == 5);
static_assert(detail::low_water(10, 0.0) == 0);
static_assert(detail::low_water(10, -1.0) == 0);
static_assert(detail::low_water(1, 0.9) == 0);
static_assert(detail::low_water(0, 0.9) == 0);
static_assert(detail::low_water(detail::highest_size, 0.9) == detail::highest_size);
static_assert(detail::low_water(detail::highest_size - 1, 1.0) == detail::highest_size - 2);

static_assert(prune_plan::removal{.id = 3}.may_remove({.id = 3}));
static_assert(!prune_plan::removal{.id = 3}.may_remove({.id = 4}));
static_assert(!prune_plan::removal{.id = 3}.may_remove({.id = 3, .redriving = true}));
static_assert(!prune_plan::removal{.id = 3}.may_remove({.id = 3,
                                                        .dead_lettered_at = wall_time::at(1s)}));

namespace {

wall_time at(duration d)
{
    return wall_time::at(d);
}

// One row an hour, a hundred bytes each.
std::vector<prune_plan::row> hourly(std::uint64_t n)
{
    std::vector<prune_plan::row> rows;
    for (std::uint64_t i = 0; i != n; ++i) {
        rows.push_back({i, 100, at(duration::seconds(static_cast<std::int64_t>(3'600 * i)))});
    }
    return rows;
}

std::string ids(const prune_plan& p)
{
    std::string line;
    for (const prune_plan::removal& r : p.removals) {
        if (!line.empty()) line += ' ';
        line += std::to_string(r.id);
        line += name(r.reason)[0];
    }
    return line;
}

}  // namespace

TEST_CASE("plan_prune: the default policy has no limits and removes nothing")
{
    const prune_plan p = plan_prune(hourly(10), prune_policy{}, at(10'000h));
    CHECK(p.removals.empty());
    CHECK(p.before == prune_plan::totals{10, 1'000});
    CHECK(p.after == p.before);
    CHECK_FALSE(p.limit_reached);
    CHECK_FALSE(p.spike);
    CHECK(plan_prune(std::vector<prune_plan::row>{}, {.count = 1}, at(0s)) == prune_plan{});
}

TEST_CASE("plan_prune: a row older than the age is removed, a row of exactly that age is not")
{
    const prune_plan p = plan_prune(hourly(10), {.age = 7h}, at(10h));
    CHECK(ids(p) == "0a 1a 2a");
    CHECK(p.after == prune_plan::totals{7, 700});
    CHECK(p.removals[1] == prune_plan::removal{1, 1, 100, at(1h), prune_plan::removal::limit::age});
}

TEST_CASE("plan_prune: an age in hours is not read as days")
{
    CHECK(plan_prune(hourly(48), {.age = 7 * 24h}, at(48h)).removals.empty());
    CHECK(plan_prune(hourly(48), {.age = 48h}, at(48h)).removals.empty());
    CHECK(plan_prune(hourly(48), {.age = 47h}, at(48h)).removals.size() == 1);
}

TEST_CASE("plan_prune: an invalid policy removes nothing, and is reported")
{
    for (const prune_policy& p : {prune_policy{.age = duration::seconds(-1)},
                                  {.count = 0},
                                  {.bytes = 0},
                                  {.age = 1s, .low_water = 90}}) {
        const prune_plan plan = plan_prune(hourly(10), p, at(100h));
        CHECK(plan.removals.empty());
        CHECK(plan.after == plan.before);
        CHECK(plan.wrong == validate(p));
    }
    CHECK(describe(*plan_prune(hourly(1), {.count = 0}, at(0s)).wrong) ==
          "prune.count is 0: must be at least (1)");
    CHECK_FALSE(plan_prune(hourly(1), {.count = 1}, at(0s)).wrong);
}

TEST_CASE("plan_prune: at the limit, the oldest rows are removed down to low_water")
{
    CHECK(plan_prune(hourly(9), {.count = 10}, at(9h)).removals.empty());
    CHECK(ids(plan_prune(hourly(10), {.count = 10}, at(9h))) == "0c");
    CHECK(ids(plan_prune(hourly(10), {.count = 10, .low_water = 0.7}, at(9h))) == "0c 1c 2c");
    CHECK(ids(plan_prune(hourly(10), {.count = 10, .low_water = 1}, at(9h))) == "0c");
    CHECK(plan_prune(hourly(10), {.count = 10, .low_water = 0}, at(9h)).after.rows == 0);
    const prune_plan p = plan_prune(hourly(10), {.bytes = 1'000, .low_water = 0.8}, at(9h));
    CHECK(ids(p) == "0b 1b");
    CHECK(p.after == prune_plan::totals{8, 800});
    CHECK_FALSE(p.limit_reached);
    // By number as long as there are too many, then by bytes.
    CHECK(ids(plan_prune(hourly(10), {.count = 10, .bytes = 900, .low_water = 0.9}, at(9h))) ==
          "0c 1b");
}

TEST_CASE("plan_prune: at the count limit, 1,000 inserts cause 100 runs")
{
    std::vector<prune_plan::row> rows = hourly(99);
    std::uint64_t runs = 0;
    for (std::uint64_t n = 99; n != 1'099; ++n) {
        rows.push_back({n, 1, at(duration::seconds(static_cast<std::int64_t>(3'600 * n)))});
        const prune_plan p = plan_prune(rows, {.count = 100}, rows.back().dead_lettered_at);
        if (!p.removals.empty()) ++runs;
        rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(p.removals.size()));
        CHECK(rows.size() < 100);
    }
    CHECK(runs == 100);
}

TEST_CASE("plan_prune: rows removed by age count for the limits, so no further row is removed")
{
    const prune_plan p = plan_prune(hourly(10), {.age = 7h, .count = 9}, at(10h));
    CHECK(ids(p) == "0a 1a 2a");
}

TEST_CASE("plan_prune: a row that is being redriven is never removed")
{
    std::vector<prune_plan::row> rows = hourly(10);
    rows[0].redriving = rows[2].redriving = true;
    CHECK(ids(plan_prune(rows, {.age = 7h}, at(10h))) == "1a");
    const prune_plan p = plan_prune(rows, {.count = 10, .low_water = 0.7}, at(9h));
    CHECK(ids(p) == "1c 3c 4c");
    CHECK(p.redriving == prune_plan::totals{2, 200});
    for (prune_plan::row& r : rows) r.redriving = true;
    for (const prune_policy::when_full full :
         {prune_policy::when_full::refuse_new, prune_policy::when_full::drop_oldest}) {
        const prune_plan none = plan_prune(rows, {.age = 1h, .count = 5, .full = full}, at(99h));
        CHECK(none.removals.empty());
        CHECK(none.limit_reached);
        CHECK(none.redriving == none.before);
    }
}

TEST_CASE(
    "plan_prune: in a spike, the count limit removes nothing, or the minimum with "
    "drop_oldest")
{
    std::vector<prune_plan::row> rows = hourly(8);
    for (std::uint64_t n = 0; n != 4; ++n) rows.push_back({100 + n, 100, at(10h)});
    prune_policy p{.age = 9h, .count = 10, .spike = {.count = 4, .within = 30min}};
    const prune_plan calm = plan_prune(rows, p, at(11h));
    CHECK_FALSE(calm.spike);
    CHECK(ids(calm) == "0a 1a 2c");

    const prune_plan kept = plan_prune(rows, p, at(10h));
    CHECK(kept.spike);
    CHECK(kept.recent == 4);
    CHECK(ids(kept) == "0a");
    CHECK(kept.limit_reached);

    p.full = prune_policy::when_full::drop_oldest;
    const prune_plan dropped = plan_prune(rows, p, at(10h));
    CHECK(dropped.spike);
    CHECK(ids(dropped) == "0a 1c 2c");  // the fewest that make space for one
    CHECK_FALSE(dropped.limit_reached);
}

TEST_CASE(
    "plan_prune: a row from the future is recent, and a clock that goes back makes no row "
    "old")
{
    std::vector<prune_plan::row> rows = hourly(3);
    rows.push_back({9, 1, wall_time::highest()});
    const prune_plan p = plan_prune(rows, {.age = 2h, .spike = {.count = 1}}, at(-99h));
    CHECK(p.removals.empty());
    CHECK(p.recent == 4);
    rows.insert(rows.begin(), {8, 1, wall_time::lowest()});
    CHECK(ids(plan_prune(rows, {.age = 10'000h}, wall_time::highest())) == "8a 0a 1a 2a");
    CHECK(plan_prune(rows, prune_policy{}, wall_time::highest()).removals.empty());
}

TEST_CASE("plan_prune: rows in any order give the same plan, and rows_in_order reports the order")
{
    const std::vector<prune_plan::row> rows = hourly(10);
    const std::vector<prune_plan::row> back(rows.rbegin(), rows.rend());
    const prune_policy policy{.age = 9h, .count = 8, .low_water = 0.5};
    const prune_plan a = plan_prune(rows, policy, at(10h));
    const prune_plan b = plan_prune(back, policy, at(10h));
    CHECK(a.rows_in_order);
    CHECK_FALSE(b.rows_in_order);
    CHECK(ids(a) == "0a 1c 2c 3c 4c 5c");
    CHECK(ids(b) == ids(a));
    CHECK(b.removals[1].index == 8);
    CHECK(b.after == a.after);
}

TEST_CASE("plan_prune: accepts any forward range, and a function that returns the row")
{
    struct letter {
        const char* text;
        std::int64_t hour;
    };
    const std::forward_list<letter> letters{{"first", 1}, {"second", 2}, {"third", 3}};
    std::uint64_t asked = 0;
    const auto row_of = [&](const letter& l) {
        ++asked;
        return prune_plan::row{static_cast<std::uint64_t>(l.hour), std::string(l.text).size(),
                               at(duration::seconds(3'600 * l.hour))};
    };
    const prune_plan p = plan_prune(letters, {.bytes = 16, .low_water = 0.7}, at(4h), row_of);
    CHECK(ids(p) == "1b");
    CHECK(p.before == prune_plan::totals{3, 16});
    CHECK(asked == 6);
    const prune_plan::row array[] = {{1, 5, at(0s)}, {2, 5, at(0s)}};
    CHECK(ids(plan_prune(array, {.count = 2}, at(0s))) == "1c");
    CHECK(ids(plan_prune(array, array + 1, {.count = 1}, at(0s))) == "1c");
}

TEST_CASE("plan_prune: sums of sizes saturate, and reach no limit without one")
{
    std::vector<prune_plan::row> rows{{1, detail::highest_size, at(0s)},
                                      {2, detail::highest_size, at(0s)}};
    const prune_plan p = plan_prune(rows, {.bytes = 1'000}, at(0s));
    CHECK(p.before.bytes == detail::highest_size);
    CHECK(ids(p) == "1b 2b");
    CHECK_FALSE(plan_prune(rows, prune_policy{}, at(0s)).limit_reached);
}

TEST_CASE("plan_prune: the remaining bytes of a saturated sum are exact")
{
    std::vector<prune_plan::row> rows{
        {1, detail::highest_size, at(0s)}, {2, detail::highest_size, at(1s)}, {3, 5'000, at(2s)}};
    prune_plan p = plan_prune(rows, {.bytes = 1'000}, at(9s));
    CHECK(ids(p) == "1b 2b 3b");
    CHECK(p.after == prune_plan::totals{});
    p = plan_prune(rows, {.bytes = 6'000}, at(9s));
    CHECK(ids(p) == "1b 2b");
    CHECK(p.after == prune_plan::totals{1, 5'000});
    CHECK_FALSE(p.limit_reached);
    rows[1].redriving = true;
    p = plan_prune(rows, {.bytes = 6'000}, at(9s));
    CHECK(ids(p) == "1b 3b");
    CHECK(p.after == prune_plan::totals{1, detail::highest_size});
    CHECK(p.limit_reached);
}

TEST_CASE("plan_prune: a row exactly as old as spike.within is recent")
{
    const std::vector<prune_plan::row> rows{{1, 1, at(0s)}, {2, 1, at(1s)}};
    const prune_policy policy{.spike = {.count = 2, .within = 600s}};
    CHECK(plan_prune(rows, policy, at(600s)).spike);
    CHECK(plan_prune(rows, policy, at(601s)).recent == 1);
    CHECK_FALSE(plan_prune(rows, policy, at(601s)).spike);
}

TEST_CASE("prune_policy: an invalid low_water is reported in thousandths, with its sign")
{
    const auto said = [](double share) {
        return describe(*validate(prune_policy{.low_water = share}));
    };
    CHECK(said(7.5) == "prune.low_water is 7500: must be a number of thousandths from 0 to (1000)");
    CHECK(said(1.00001).find(" is 1001: ") != std::string::npos);
    CHECK(said(-0.5).find(" is -500: ") != std::string::npos);
    CHECK(said(-1e-9).find(" is -1: ") != std::string::npos);
    const double no_number = std::numeric_limits<double>::quiet_NaN();
    CHECK(validate(prune_policy{.low_water = no_number})->value == detail::highest_size);
    CHECK(validate(prune_policy{.low_water = -std::numeric_limits<double>::infinity()})->negative);
}

}  // namespace prune_test

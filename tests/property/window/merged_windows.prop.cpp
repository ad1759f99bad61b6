// SPDX-License-Identifier: MIT
//
// Random samples in two windows, merged. They are compared with a sorted list of all samples, and
// with one window that got all of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/naive_window.hpp>

#include <waybill/window/merged_windows.hpp>
#include <waybill/window/sliding_window.hpp>

namespace merged_windows_prop {

using namespace waybill;
using tests_support::brief;
using tests_support::clamped;
using tests_support::dice;
using tests_support::wide;

namespace {

using measured = weighted_stats<std::int64_t>;
using window = sliding_window<measured>;
using other = sliding_window<measured, wall_time, worst_case>;
using item = window::sample_type;

wall_time at(std::int64_t ns)
{
    return wall_time::at(duration::nanoseconds(ns));
}

window_options options(dice& roll)
{
    window_options o;
    if (!roll.one_in(4)) o.span = duration::nanoseconds(1 + roll.below(60));
    if (roll.one_in(3)) o.max_points = 1 + roll(20);
    if (roll.one_in(3)) o.ahead = duration::nanoseconds(roll.below(30));
    if (roll.one_in(2)) o.on_equal_time = window_options::equal_time::replace;
    return o;
}

template <class Window>
void fill(Window& w, dice& roll, std::int64_t middle)
{
    const std::uint64_t steps = roll(40);
    for (std::uint64_t n = 0; n != steps; ++n) {
        const std::int64_t t = clamped(wide{middle} + roll.below(101) - 50);
        if (roll.one_in(8)) w.advance(at(t));
        else w.insert(at(t), roll.below(100), roll(4));
    }
}

template <class Window>
std::vector<item> samples(const Window& w)
{
    std::vector<item> all;
    for (std::uint64_t n = 0; n != w.size(); ++n) all.push_back(w[n]);
    return all;
}

// All samples of both, sorted. Then the replaced, expired and future ones are removed.
std::vector<item> naive(const window& a, const other& b, window_losses& lost)
{
    const std::vector<item> first = samples(a);
    const std::vector<item> second = samples(b);
    std::vector<item> all(first.size() + second.size());
    std::merge(first.begin(), first.end(), second.begin(), second.end(), all.begin(),
               [](const item& x, const item& y) { return x.at < y.at; });
    std::optional<wall_time> clock = a.clock();
    if (b.clock() && (!clock || *clock < *b.clock())) clock = b.clock();

    const window_options& o = a.options();
    std::vector<item> rest;
    for (std::size_t n = 0; n != all.size(); ++n) {
        const bool again = n + 1 != all.size() && all[n + 1].at == all[n].at;
        if (again && o.on_equal_time == window_options::equal_time::replace) continue;
        if (clock && o.span != duration::highest()) {
            const wide now = clock->since_epoch().count();
            if (now - all[n].at.since_epoch().count() >= o.span.count()) continue;
        }
        if (clock && o.ahead != duration::highest() &&
            wide{all[n].at.since_epoch().count()} - clock->since_epoch().count() >
                o.ahead.count()) {
            ++lost.future;
            continue;
        }
        rest.push_back(all[n]);
    }
    for (; rest.size() > o.max_points; ++lost.pushed_out) rest.erase(rest.begin());
    return rest;
}

bool against_a_list(std::uint64_t seed)
{
    dice roll(seed);
    const std::int64_t middles[] = {0, 1'000, std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max()};
    const std::int64_t middle = roll.any_of(middles);
    window a{options(roll)};
    other b{options(roll)};
    fill(a, roll, middle);
    fill(b, roll, middle);
    window_losses lost;
    const std::vector<item> expected = naive(a, b, lost);

    window both = merged(a, b);
    if (samples(both) != expected || both.options() != a.options()) return false;
    if (both.clock() < a.clock() || both.clock() < b.clock()) return false;
    if (both.clock() != a.clock() && both.clock() != b.clock()) return false;
    if (both.losses() != lost) return false;

    // The merged window continues like any window.
    const wall_time now = at(clamped(wide{middle} + roll.below(101) - 50));
    const auto answer = both.query(now);
    measured m = measured::identity();
    const std::optional<wall_time> clock = both.clock();
    for (const item& s : expected) {
        const wide old = wide{clock->since_epoch().count()} - s.at.since_epoch().count();
        const bool gone =
            both.options().span != duration::highest() && old >= both.options().span.count();
        if (!gone && old >= 0) m = measured::combine(m, measured::of(s));
    }
    return answer.points == m.points && answer.weight() == m.weight() && answer.sum() == m.sum() &&
           answer.lowest() == m.lowest() && answer.highest() == m.highest() &&
           answer.first() == m.first() && answer.last() == m.last();
}

// Partitions of one stream: no two samples at one time, and all windows get the same times.
bool against_one_window(std::uint64_t seed)
{
    dice roll(seed);
    window_options o = options(roll);
    o.ahead = duration::highest();
    window a{o};
    other b{o};
    window one{o};
    std::vector<std::int64_t> times;
    for (std::int64_t n = 0; n != 120; ++n) times.push_back(n);
    for (std::size_t n = 0; n != times.size(); ++n) {  // mostly in order, some late
        std::swap(times[n], times[n + roll(roll.one_in(5) ? times.size() - n : 1)]);
    }
    const std::uint64_t steps = roll(120);
    for (std::uint64_t n = 0; n != steps; ++n) {
        const item s{at(times[n]), roll.below(100), static_cast<std::uint32_t>(1 + roll(3))};
        if (roll.one_in(2)) a.insert(s);
        else b.insert(s);
        one.insert(s);
        if (!roll.one_in(6)) continue;
        const wall_time now = at(times[n]);
        const auto all = one.query(now);
        const auto first = a.query(now);
        const auto second = b.query(now);
        if (samples(merged(a, b)) != samples(one)) return false;
        if (merged(a, b).clock() != one.clock()) return false;
        if (merged(a, b).query(now).complete() != one.query(now).complete()) return false;
        // two windows keep up to twice as many points
        if (o.max_points != detail::highest_size) continue;
        const auto answer = merged(first, second);
        if (!answer) return false;
        const auto& both = *answer;
        if (both.complete() != all.complete()) return false;
        if (both.points != all.points || both.weight() != all.weight() || both.sum() != all.sum() ||
            both.lowest() != all.lowest() || both.highest() != all.highest() ||
            both.first() != all.first() || both.last() != all.last() || both.now != all.now ||
            both.rate() != all.rate() || both.coverage() != all.coverage()) {
            return false;
        }
        if (all.empty() != both.empty()) return false;
        if (!all.empty() && !(*both.variance() <= *all.variance() + 1e-6 &&
                              *both.variance() >= *all.variance() - 1e-6)) {
            return false;
        }
    }
    return true;
}

TEST_CASE("merged_windows: a merged window equals the sorted samples of both windows")
{
    const std::uint64_t rounds = brief ? 3'000 : 50'000;
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        CAPTURE(seed);
        REQUIRE(against_a_list(seed));
    }
}

TEST_CASE("merged_windows: merged partitions equal one window with all samples")
{
    const std::uint64_t rounds = brief ? 1'000 : 10'000;
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        CAPTURE(seed);
        REQUIRE(against_one_window(seed));
    }
}

}  // namespace

}  // namespace merged_windows_prop

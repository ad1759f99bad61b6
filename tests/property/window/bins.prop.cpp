// SPDX-License-Identifier: MIT
//
// Random samples, widths and origins, including the ends of time, against a list of samples for
// each bin. Boundaries are computed in 128 bits, without overflow.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/naive_window.hpp>

#include <waybill/window/bins.hpp>

namespace bins_prop {

using namespace waybill;
using tests_support::brief;
using tests_support::clamped;
using tests_support::dice;
using tests_support::wide;

namespace {

using measured = weighted_stats<std::int64_t>;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

wall_time at(std::int64_t ns)
{
    return wall_time::at(duration::nanoseconds(ns));
}

struct naive_bin {
    wide from;
    wide until;
    std::vector<weighted_sample<std::int64_t>> samples{};
};

// Each sample is compared with each bin. A bin begins at origin + n * width for an integer n.
struct naive_bins {
    wide width;
    wide origin;
    std::uint64_t max_bins;
    std::vector<naive_bin> all{};  // ordered by time

    naive_bin around(wide t) const
    {
        wide n = (t - origin) / width;
        while (origin + n * width > t) --n;
        while (origin + (n + 1) * width <= t) ++n;
        return {origin + n * width, origin + (n + 1) * width};
    }
    binned add(const weighted_sample<std::int64_t>& s)
    {
        if (s.weight == 0) return binned::no_weight;
        const naive_bin b = around(s.at.since_epoch().count());
        std::size_t n = 0;
        while (n != all.size() && all[n].from < b.from) ++n;
        if (n == all.size() || all[n].from != b.from) {
            if (all.size() >= max_bins) return binned::no_room;
            all.insert(all.begin() + static_cast<std::ptrdiff_t>(n), b);
        }
        all[n].samples.push_back(s);
        return binned::added;
    }
};

bool same(const bin<measured>& b, const naive_bin& n)
{
    wide sum = 0;
    std::uint64_t weight = 0;
    std::optional<std::int64_t> low, high;
    const weighted_sample<std::int64_t>* first = nullptr;
    const weighted_sample<std::int64_t>* last = nullptr;
    for (const auto& s : n.samples) {
        sum += wide{s.value} * s.weight;
        weight += s.weight;
        if (!low || s.value < *low) low = s.value;
        if (!high || s.value > *high) high = s.value;
        if (first == nullptr || s.at < first->at) first = &s;
        if (last == nullptr || s.at >= last->at) last = &s;
    }
    const measured& m = b.measure;
    return b.from == at(clamped(n.from)) && b.until == at(clamped(n.until)) &&
           m.points == n.samples.size() && m.weight() == weight && m.lowest() == low &&
           m.highest() == high && m.first().has_value() == (first != nullptr) &&
           (first == nullptr || (m.first() == first->value && m.last() == last->value)) &&
           m.sum().has_value() == (first != nullptr) && m.sum().value_or(0) == clamped(sum);
}

template <class Bins>
bool same(const Bins& actual, const std::vector<naive_bin>& all)
{
    std::size_t n = 0;
    for (const auto& b : actual) {
        if (n == all.size() || !same(b, all[n])) return false;
        ++n;
    }
    return n == all.size();
}

std::vector<naive_bin> with_gaps(const naive_bins& n)
{
    std::vector<naive_bin> all;
    for (const naive_bin& b : n.all) {
        while (!all.empty() && all.back().until != b.from) {
            all.push_back({all.back().until, all.back().until + n.width});
        }
        all.push_back(b);
    }
    return all;
}

bool round(std::uint64_t seed)
{
    dice roll(seed);
    // Near zero or near an end of time. Bins have a width of a few units, or of half of all times.
    const std::int64_t middles[] = {0, 0, 1'000'000, lowest, lowest + 40, highest, highest - 40};
    const std::int64_t middle = roll.any_of(middles);
    const bool huge = roll.one_in(4);
    const std::int64_t width =
        huge ? highest - roll.below(highest / 2) : 1 + roll.below(roll.one_in(2) ? 9 : 60);
    const std::int64_t near = clamped(wide{middle} + roll.below(50));
    const std::int64_t origins[] = {0, near, roll.below(100) - 50};
    std::int64_t origin = roll.any_of(origins);
    if (huge && roll.one_in(2)) origin = static_cast<std::int64_t>(roll.bits());
    const std::uint64_t max_bins = roll.one_in(3) ? 1 + roll(6) : 1'000;

    bins<measured> actual(bin_options<>{
        .width = duration::nanoseconds(width), .origin = at(origin), .max_bins = max_bins});
    naive_bins model{width, origin, max_bins};
    bin_losses lost;
    const std::uint64_t steps = roll(60);
    for (std::uint64_t i = 0; i != steps; ++i) {
        std::int64_t t = clamped(wide{middle} + roll.below(201) - 100);
        if (huge || roll.one_in(200)) t = static_cast<std::int64_t>(roll.bits());
        // Larger gaps would have too many empty bins.
        const wide apart = wide{t} - middle;
        if (!huge && (apart > 500 || apart < -500)) t = middle;
        const std::int64_t value =
            roll.one_in(9) ? static_cast<std::int64_t>(roll.bits()) : roll.below(40) - 20;
        const weighted_sample<std::int64_t> s{at(t), value, static_cast<std::uint32_t>(roll(12))};
        const binned expected = model.add(s);
        if (actual.add(s) != expected) return false;
        if (expected == binned::no_room) ++lost.no_room;
        if (expected == binned::no_weight) ++lost.no_weight;
        const bin<measured> around = actual.at(s.at);
        const naive_bin b = model.around(t);
        if (around.from != at(clamped(b.from))) return false;
        if (around.until != at(clamped(b.until))) return false;
        if (roll.one_in(30)) {
            const std::int64_t limit = clamped(wide{middle} + roll.below(201) - 100);
            actual.forget_before(at(limit));
            while (!model.all.empty() && clamped(model.all[0].until) <= limit) {
                model.all.erase(model.all.begin());
            }
        }
    }
    return same(actual, model.all) && same(actual.with_gaps(), with_gaps(model)) &&
           actual.size() == model.all.size() && actual.losses() == lost;
}

TEST_CASE("bins: results and losses equal those of a list of samples for each bin")
{
    const std::uint64_t rounds = brief ? 3'000 : 100'000;
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        CAPTURE(seed);
        REQUIRE(round(seed));
    }
}

}  // namespace

}  // namespace bins_prop

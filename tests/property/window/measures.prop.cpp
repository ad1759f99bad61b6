// SPDX-License-Identifier: MIT
//
// The laws of measures on random samples. Combining with an identity changes nothing, and grouping
// does not matter. Order does not matter where documented. Exact for integers, within rounding for
// floating-point numbers.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/naive_window.hpp>

#include <waybill/window/measures.hpp>

namespace measures_prop {

using namespace waybill;
using tests_support::brief;
using tests_support::dice;
using tests_support::differs;

namespace {

template <class V>
V any_value(dice& roll, std::uint64_t kind)
{
    if constexpr (std::floating_point<V>) {
        const auto small = static_cast<V>(roll.below(20'001) - 10'000) / V{16};
        if (kind == 0) return small;
        if (kind == 1) return V{1e9} + static_cast<V>(roll.below(10));
        if (kind == 2) return roll.one_in(5) ? V{1e12} : small;
        if (kind == 3) return -std::fabs(small) - V{1};
        const V odd[] = {V{0}, -V{0}, std::numeric_limits<V>::denorm_min(), V{1e100}, V{-1e100}};
        return roll.any_of(odd);
    } else {
        if (kind == 0) return static_cast<V>(roll.below(201) - 100);
        if (kind == 1) return static_cast<V>(1'000'000'000 + roll.below(10));
        if (kind == 2) return static_cast<V>(roll.bits());
        if (kind == 3) return static_cast<V>(-1 - roll.below(100));
        const std::int64_t odd[] = {INT64_MIN, INT64_MAX, 0, -1, 1};
        return static_cast<V>(roll.any_of(odd));
    }
}

template <class V>
struct entry {
    std::int64_t at = 0;
    V value{};
    std::uint64_t weight = 1;
};

template <class M>
M of(const entry<typename M::value_type>& e)
{
    return M::of(weighted_sample<typename M::value_type>{
        wall_time::at(duration::nanoseconds(e.at)), e.value, static_cast<std::uint32_t>(e.weight)});
}

// Random grouping: (a)(b(c d))e ...
template <class M, class Entries>
M grouped(dice& roll, const Entries& all, std::size_t first, std::size_t last)
{
    if (first == last) return M::identity();
    if (last - first == 1 && !roll.one_in(8)) return of<M>(all[first]);
    const std::size_t cut = first + roll(last - first + 1);
    if (cut == first || cut == last) {
        const M rest = last - first == 1 ? of<M>(all[first]) : grouped<M>(roll, all, first, last);
        return cut == first ? M::combine(M::identity(), rest) : M::combine(rest, M::identity());
    }
    return M::combine(grouped<M>(roll, all, first, cut), grouped<M>(roll, all, cut, last));
}

template <class M>
void any_grouping(bool weights)
{
    using V = typename M::value_type;
    const std::uint64_t most = brief ? 3'000 : 40'000;
    for (std::uint64_t seed = 0; seed != most; ++seed) {
        dice roll(seed);
        const std::uint64_t kind = roll(5);
        std::vector<entry<V>> all(roll(30));
        std::int64_t at = roll.below(1'000) - 500;
        for (entry<V>& e : all) {
            at += roll.below(3);
            const std::uint64_t many[] = {1, 2, 100, 0xFFFF'FFFFU};
            e = {at, any_value<V>(roll, kind), weights ? roll.any_of(many) : 1};
        }
        const M one = grouped<M>(roll, all, 0, all.size());
        const std::string why = differs(one, all);
        CAPTURE(seed);
        CHECK(why == "");
        if (!why.empty()) return;
        // From the left, and from the right.
        M left = M::identity(), right = M::identity();
        for (std::size_t n = 0; n != all.size(); ++n) {
            left = M::combine(left, of<M>(all[n]));
            right = M::combine(of<M>(all[all.size() - 1 - n]), right);
        }
        CHECK(differs(left, all) == "");
        CHECK(differs(right, all) == "");
        if constexpr (std::integral<V> && !requires { one.squares; }) {
            CHECK(left == one);
            CHECK(right == one);
        }
    }
}

// Like a window with late samples: of two samples at one time, the one inserted later comes later.
template <class M>
void any_order(bool weights)
{
    using V = typename M::value_type;
    const std::uint64_t most = brief ? 3'000 : 40'000;
    for (std::uint64_t seed = 0; seed != most; ++seed) {
        dice roll(seed);
        std::vector<entry<V>> all(1 + roll(20));
        const std::uint64_t kind = roll(5);
        std::int64_t at = 0;
        for (entry<V>& e : all) {
            e = {at, any_value<V>(roll, kind), weights ? 1 + roll(1'000) : 1};
            at += 1 + roll.below(3);
        }
        std::vector<entry<V>> mixed = all;
        for (std::size_t n = mixed.size(); n > 1; --n) {
            std::swap(mixed[n - 1], mixed[roll(n)]);
        }
        const M m = grouped<M>(roll, mixed, 0, mixed.size());
        CAPTURE(seed);
        CHECK(differs(m, all) == "");
    }
}

}  // namespace

TEST_CASE("measures: results do not depend on the grouping of the samples")
{
    any_grouping<measures<std::int64_t, weighted_count, summed, extremes, ends>>(true);
    any_grouping<measures<std::int64_t, summed>>(false);
    any_grouping<stats<std::int64_t>>(false);
    any_grouping<stats<double>>(false);
    any_grouping<weighted_stats<std::int64_t>>(true);
    any_grouping<weighted_stats<double>>(true);
    any_grouping<measures<double, moments>>(false);
}

TEST_CASE("measures: results do not depend on the order of insertion")
{
    any_order<measures<std::int64_t, weighted_count, summed, extremes, ends>>(true);
    any_order<weighted_stats<std::int64_t>>(true);
    any_order<stats<double>>(false);
    any_order<weighted_stats<double>>(true);
}

}  // namespace measures_prop

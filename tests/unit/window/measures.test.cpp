// SPDX-License-Identifier: MIT

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <waybill/window/measures.hpp>

namespace measures_test {

using waybill::duration;
using waybill::ends;
using waybill::extremes;
using waybill::measure;
using waybill::measures;
using waybill::moments;
using waybill::sample;
using waybill::stats;
using waybill::steady_time;
using waybill::summed;
using waybill::wall_time;
using waybill::weighted_count;
using waybill::weighted_sample;
using waybill::weighted_stats;
using waybill::detail::is_finite;
using waybill::detail::measurable;

namespace {

using whole = stats<std::int64_t>;
using real = stats<double>;
using sampled = weighted_stats<std::int64_t>;
using sampled_real = weighted_stats<double>;

constexpr wall_time at(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

/// At the seconds 1, 2, 3 ...
template <class M>
constexpr M of(std::initializer_list<typename M::value_type> all, std::int64_t from = 1)
{
    M m = M::identity();
    using one = sample<typename M::value_type>;
    for (const auto& v : all) m = M::combine(m, M::of(one{at(from++), v}));
    return m;
}
template <class M>
constexpr M one(typename M::value_type v, std::uint32_t weight, std::int64_t s = 1)
{
    return M::of(weighted_sample<typename M::value_type>{at(s), v, weight});
}
constexpr bool near(double a, double b, double relative = 1e-12)
{
    const double apart = a < b ? b - a : a - b;
    const double size = b < 0 ? -b : b;
    return apart <= relative * size;
}

struct concatenated {  // one's own: not commutative, and it allocates
    using value_type = int;
    std::string ids;
    static concatenated identity() { return {}; }
    template <class S>
    static concatenated of(const S& s)
    {
        return {std::to_string(s.value)};
    }
    static concatenated combine(const concatenated& a, const concatenated& b)
    {
        return {a.ids + b.ids};
    }
};
struct no_identity {
    using value_type = int;
    static no_identity combine(const no_identity& a, const no_identity&) { return a; }
};
struct combines_to_int {
    using value_type = int;
    static combines_to_int identity() { return {}; }
    static int combine(const combines_to_int&, const combines_to_int&) { return 0; }
};

}  // namespace

// The concept of a measure, and the value types of measures.
static_assert(measure<whole> && measure<real> && measure<sampled> && measure<concatenated>);
static_assert(measure<measures<float, summed>> && measure<measures<std::uint8_t>>);
static_assert(!measure<int> && !measure<no_identity> && !measure<combines_to_int>);
static_assert(measurable<int> && measurable<double> && measurable<float> &&
              measurable<std::uint64_t>);
static_assert(!measurable<bool> && !measurable<int*> && !measurable<concatenated>);
static_assert(sampled::weighted && !whole::weighted && whole::commutative);

// A sample without a weight counts once.
static_assert(weight_of(sample<int>{at(1), 5}) == 1);
static_assert(weight_of(weighted_sample<int>{at(1), 5}) == 1);
static_assert(weight_of(weighted_sample<int>{at(1), 5, 7}) == 7);
static_assert(sample<int, steady_time>{} == sample<int, steady_time>{});

// Finite numbers.
static_assert(is_finite(1.0) && is_finite(-0.0) && is_finite(5) && is_finite(INT64_MIN));
static_assert(is_finite((std::numeric_limits<double>::max)()) &&
              is_finite(std::numeric_limits<double>::lowest()) &&
              is_finite(std::numeric_limits<double>::denorm_min()));
static_assert(!is_finite(std::numeric_limits<double>::infinity()) &&
              !is_finite(-std::numeric_limits<double>::infinity()) &&
              !is_finite(std::numeric_limits<double>::quiet_NaN()) &&
              !is_finite(std::numeric_limits<float>::infinity()));

// Without samples there is no result, not 0, which could be a sample.
template <class M>
constexpr bool has_no_results(const M& m)
{
    return m.empty() && m.points == 0 && m.weight() == 0 && !m.sum() && !m.mean() && !m.lowest() &&
           !m.highest() && !m.variance() && !m.first() && !m.last() && !m.sampling_rate() &&
           !m.is_sampled();
}
static_assert(has_no_results(whole::identity()) && has_no_results(real::identity()));
static_assert(has_no_results(sampled::identity()) && has_no_results(sampled_real::identity()));
static_assert(has_no_results(whole()) && whole() == whole::identity());
static_assert(has_no_results(whole::combine(whole(), whole())));

// Identity, left and right: exactly the same value, for every measure.
template <class M>
constexpr bool identity_is_nothing(const M& m)
{
    return M::combine(M::identity(), m) == m && M::combine(m, M::identity()) == m;
}
static_assert(identity_is_nothing(whole()) && identity_is_nothing(of<whole>({7})));
static_assert(identity_is_nothing(of<whole>({-3, INT64_MIN, INT64_MAX})));
static_assert(identity_is_nothing(of<real>({0.1, -0.2, 1e100, 5e-324})));
static_assert(identity_is_nothing(of<real>({1e200})), "and its square is infinite");
static_assert(identity_is_nothing(one<sampled>(INT64_MIN, 0xFFFF'FFFFU)));
static_assert(identity_is_nothing(of<measures<double, extremes>>({-1, -2})));
static_assert(identity_is_nothing(of<measures<double, moments>>({1e9, 1e9 + 1})));
static_assert(identity_is_nothing(of<measures<int, ends>>({1, 2})));

// Associative. Exact for integers, if no part is a floating-point number.
using exact = measures<std::int64_t, weighted_count, summed, extremes, ends>;
template <class M>
constexpr bool any_grouping(const M& a, const M& b, const M& c)
{
    return M::combine(a, M::combine(b, c)) == M::combine(M::combine(a, b), c);
}
static_assert(any_grouping(of<exact>({1, 2}), of<exact>({-3}, 3), of<exact>({4, 5}, 4)));
static_assert(any_grouping(of<exact>({INT64_MAX, INT64_MAX}), of<exact>({INT64_MIN}, 3),
                           of<exact>({-1}, 4)));
static_assert(any_grouping(of<exact>({1}, 5), of<exact>({2}, 5), of<exact>({3}, 5)), "at one time");
static_assert(any_grouping(exact(), of<exact>({2}), exact()));

// Commutative as documented, except for the first of several samples at one time.
static_assert(exact::combine(of<exact>({1, 2}), of<exact>({9}, 7)) ==
              exact::combine(of<exact>({9}, 7), of<exact>({1, 2})));
static_assert(*exact::combine(of<exact>({1}, 5), of<exact>({2}, 5)).first() == 1);
static_assert(*exact::combine(of<exact>({1}, 5), of<exact>({2}, 5)).last() == 2);

// All negative, all positive: the limits of the type are in no result.
static_assert(*of<whole>({-10, -14, -12}).highest() == -10);
static_assert(*of<whole>({10, 14, 12}).lowest() == 10);
static_assert(*of<real>({-10, -14, -12}).highest() == -10 && *of<real>({3, 2}).lowest() == 2);
static_assert(*of<stats<int>>({INT32_MIN}).highest() == INT32_MIN);
static_assert(*of<stats<std::uint8_t>>({255}).lowest() == 255);
static_assert(*of<whole>({INT64_MIN}).highest() == INT64_MIN);
static_assert(*of<whole>({INT64_MAX}).lowest() == INT64_MAX);
static_assert(*of<real>({std::numeric_limits<double>::lowest()}).highest() ==
              std::numeric_limits<double>::lowest());

// A plain one.
static_assert([] {
    const whole m = of<whole>({4, 8, 6, 2});
    return m.points == 4 && m.weight() == 4 && *m.sum() == 20 && *m.mean() == 5 &&
           *m.lowest() == 2 && *m.highest() == 8 && *m.variance() == 5 && *m.first() == 4 &&
           *m.last() == 2 && *m.sampling_rate() == 100 && !m.is_sampled() &&
           m.first_at == duration::seconds(1) && m.last_at == duration::seconds(4);
}());

// Large numbers that are close together: their variance, not the difference of two squares.
static_assert([] {
    const real m = of<real>(
        {1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4, 1e9 + 5, 1e9 + 6, 1e9 + 7, 1e9 + 8, 1e9 + 9});
    return near(*m.variance(), 8.25, 1e-6) && near(*m.mean(), 1e9 + 4.5);
}());
static_assert([] {
    const auto m =
        of<whole>({1'000'000'000, 1'000'000'001, 1'000'000'002, 1'000'000'003, 1'000'000'004,
                   1'000'000'005, 1'000'000'006, 1'000'000'007, 1'000'000'008, 1'000'000'009});
    return near(*m.variance(), 8.25, 1e-6) && *m.sum() == 10'000'000'045;
}());
static_assert(*of<stats<int>>({100'000, 100'001, 100'002}).variance() > 0.66);
static_assert(*of<real>({7, 7, 7}).variance() == 0);

// Sums beyond the type are clamped, and are exact inside.
static_assert(*of<whole>({INT64_MAX, INT64_MAX}).sum() == INT64_MAX);
static_assert(*of<whole>({INT64_MIN, INT64_MIN}).sum() == INT64_MIN);
static_assert(*of<whole>({INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN}).sum() == -2);
static_assert(!of<whole>({INT64_MAX, 1}).total.fits());
static_assert(of<whole>({INT64_MAX, 1, -1}).total.fits());
static_assert(near(*of<whole>({INT64_MAX, INT64_MAX}).mean(), 9'223'372'036'854'775'807.0));
static_assert(near(*of<whole>({INT64_MIN, INT64_MIN}).mean(), -9'223'372'036'854'775'808.0));
static_assert(*one<sampled>(INT64_MIN, 0xFFFF'FFFFU).sum() == INT64_MIN);
static_assert(near(*one<sampled>(INT64_MIN, 0xFFFF'FFFFU).mean(), -9'223'372'036'854'775'808.0));
static_assert(*sampled::combine(one<sampled>(INT64_MIN, 0xFFFF'FFFFU),
                                one<sampled>(INT64_MAX, 0xFFFF'FFFFU))
                   .sum() == -std::int64_t{0xFFFF'FFFFU});
static_assert(*of<stats<std::uint64_t>>({~std::uint64_t{0}}).sum() == ~std::uint64_t{0});
static_assert(*of<stats<std::int8_t>>({-128, -128}).sum() == -256, "wider than what is measured");

// One sample with a weight.
static_assert([] {
    const sampled m = sampled::combine(one<sampled>(10, 1), one<sampled>(20, 3, 2));
    return m.points == 2 && m.weight() == 4 && *m.sum() == 70 && *m.mean() == 17.5 &&
           *m.variance() == 18.75 && *m.sampling_rate() == 50 && m.is_sampled() &&
           *m.highest() == 20 && *m.lowest() == 10;
}());
static_assert(!one<sampled>(10, 1).is_sampled() && *one<sampled>(10, 1).sampling_rate() == 100);
static_assert(*one<sampled>(10, 4).sampling_rate() == 25 && one<sampled>(10, 4).is_sampled());
// Ten samples with weight 1 have the same sum as one sample with weight 10.
static_assert(*one<sampled_real>(2.5, 10).sum() ==
              *of<sampled_real>({2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5}).sum());
// A measure without weights ignores them.
static_assert(whole::of(weighted_sample<std::int64_t>{at(1), 5, 3}).weight() == 1);

// The mean of moments alone, and of sums alone.
static_assert(*of<measures<double, moments>>({1, 2, 3}).mean() == 2);
static_assert(*of<measures<double, summed>>({1, 2, 3}).mean() == 2);
static_assert(*of<measures<std::int64_t, summed>>({1, 2}).mean() == 1.5);

// Parts that were not requested do not exist.
template <class M>
concept knows_sum = requires(const M& m) { m.sum(); };
template <class M>
concept knows_mean = requires(const M& m) { m.mean(); };
template <class M>
concept knows_highest = requires(const M& m) { m.highest(); };
template <class M>
concept knows_variance = requires(const M& m) { m.variance(); };
template <class M>
concept knows_last = requires(const M& m) { m.last(); };
static_assert(knows_sum<whole> && knows_mean<whole> && knows_highest<whole>);
static_assert(knows_variance<whole> && knows_last<whole>);
using only_points = measures<double>;
static_assert(!knows_sum<only_points> && !knows_mean<only_points> && !knows_highest<only_points>);
static_assert(!knows_variance<only_points> && !knows_last<only_points>);
static_assert(of<only_points>({1, 2}).points == 2 && *of<only_points>({1}).sampling_rate() == 100);
static_assert(!knows_sum<measures<double, extremes>> && !knows_mean<measures<double, extremes>>);
static_assert(!knows_variance<measures<double, summed>> && knows_mean<measures<double, moments>>);

// An unused part takes no memory: 16 bytes of integer sum and a count.
static_assert(sizeof(measures<double, summed>) == 16);
static_assert(sizeof(measures<std::int64_t, summed>) == 24);

// First and last are those by time, for any order of the parts.
static_assert(*whole::combine(of<whole>({9}, 5), of<whole>({1}, 2)).first() == 1);
static_assert(*whole::combine(of<whole>({9}, 5), of<whole>({1}, 2)).last() == 9);
static_assert(*whole::of(sample<std::int64_t>{wall_time::lowest(), 3}).first() == 3);
static_assert(*whole::combine(whole::of(sample<std::int64_t>{wall_time::highest(), 3}), whole())
                   .first() == 3);
static_assert(
    *whole::combine(whole(), whole::of(sample<std::int64_t>{wall_time::lowest(), 3})).last() == 3);

TEST_CASE("measures: negative zero and denormal numbers keep their values")
{
    const double tiny = std::numeric_limits<double>::denorm_min();
    const real zero = of<real>({-0.0});
    CHECK(*zero.lowest() == 0.0);
    CHECK(std::signbit(*zero.first()));
    CHECK(std::signbit(*zero.lowest()));
    CHECK(*zero.variance() == 0);
    const real m = of<real>({tiny, -tiny, tiny});
    CHECK(*m.lowest() == -tiny);
    CHECK(*m.highest() == tiny);
    CHECK(*m.sum() == tiny);
    CHECK(*m.variance() == 0);
}

TEST_CASE("measures: a user-defined measure may depend on the order")
{
    using m = concatenated;
    const m one = m::of(sample<int>{at(1), 1}), two = m::of(sample<int>{at(2), 2});
    CHECK(m::combine(one, m::combine(two, one)).ids == "121");
    CHECK(m::combine(m::identity(), two).ids == "2");
}

TEST_CASE("measures: an overflow has no sum, variance or weighted mean")
{
    using waybill::sample;
    using M = waybill::stats<double>;
    constexpr double most = (std::numeric_limits<double>::max)();
    const M one = M::of(sample<double>{{}, most});
    const M two = M::combine(one, one);
    CHECK(!two.sum());
    CHECK(two.mean() == most);
    CHECK(two.highest() == most);
    const M apart = M::combine(one, M::of(sample<double>{{}, -most}));
    CHECK(!apart.variance());
    using W = waybill::measures<double, waybill::weighted_count, waybill::summed>;
    const W heavy = W::of(waybill::weighted_sample<double>{{}, 1e300, 4'000'000'000U});
    CHECK(!heavy.sum());
    CHECK(!heavy.mean());
}

}  // namespace measures_test

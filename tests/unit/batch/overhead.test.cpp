// SPDX-License-Identifier: MIT

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

#include <waybill/batch/detail/overhead.hpp>

namespace overhead_test {

using waybill::detail::item_sum;
using waybill::detail::overhead;
using item_estimate = waybill::calibration::item_estimate;

namespace {

constexpr bool near(double a, double b, double within)
{
    return (a < b ? b - a : a - b) <= within;
}

template <class... Told>
constexpr overhead taught(overhead o, const Told&... tell)
{
    (tell(o), ...);
    return o;
}

struct dice {
    std::uint64_t state;
    std::uint64_t operator()(std::uint64_t n)  // splitmix64
    {
        state += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return (z ^ (z >> 31U)) % n;
    }
};

bool possible(const item_estimate& s)
{
    for (const double x : {s.ratio, s.header, s.ratio_variance, s.covariance, s.header_variance,
                           s.noise, s.drift, s.error}) {
        if (!std::isfinite(x)) return false;
    }
    return s.header >= 0 && s.ratio >= 1.0 / 64 && s.ratio <= 16 && s.ratio_variance >= 0 &&
           s.header_variance >= 0 && s.noise >= 0;
}

}  // namespace

// The line: a factor on the bodies and an amount an item.
static_assert(near(overhead(54).mean(1'000, 10), 540, 0));
static_assert(near(overhead(item_estimate{.ratio = 1.25, .header = 4}).mean(1'000, 10), 290, 0));
static_assert(near(overhead(item_estimate{.ratio = 0.5, .header = 4}).mean(1'000, 10), -460, 0));

// Without a guess, sizes count as exact until an observation contradicts that. A guess is uncertain
// from the start.
static_assert(overhead().counts_as_exact() && overhead(0.0).counts_as_exact() &&
              !overhead(54).counts_as_exact());
static_assert(!(overhead().variance(1'000, 10, 1) > 0));
static_assert(overhead(54).variance(1'000, 10, 1) > 0);
static_assert(taught(overhead(), [](overhead& o) { o.observe(1'000, 10, 0); }).counts_as_exact());
static_assert(taught(overhead(), [](overhead& o) { o.bounded(1'000, 10, 5, false); }) ==
              overhead());
static_assert(!taught(overhead(), [](overhead& o) { o.observe(1'000, 10, 1); }).counts_as_exact());
static_assert(!taught(overhead(), [](overhead& o) {
                   o.bounded(1'000, 10, 5, true);
               }).counts_as_exact());

// Uncertainty of the mean can count less than once. Items that were reported together vary an
// eighth as much.
static_assert(overhead(54).variance(0, 10, 0.5) < overhead(54).variance(0, 10, 1));

// One distant sum is adopted nearly completely, upwards and downwards.
static_assert(
    near(taught(overhead(54), [](overhead& o) { o.observe(3'000, 10, 3'000); }).mean(3'000, 10),
         3'000, 60));
static_assert(
    near(taught(overhead(300), [](overhead& o) { o.observe(9'000, 100, 2'000); }).mean(9'000, 100),
         2'000, 200));

// A batch without items gives no information.
static_assert(taught(overhead(54), [](overhead& o) {
                  o.observe(0, 0, 100);
                  o.bounded(0, 0, 100, true);
                  o.bounded(0, 0, 100, false);
              }) == overhead(54));

// Bodies of one size do not separate a factor from a header.
constexpr overhead all_alike = taught(overhead(54), [](overhead& o) {
    for (int i = 0; i != 3; ++i) o.observe(1'500'000, 50, 502'500);
});
static_assert(near(all_alike.mean(180'000, 6), 60'300, 60));
static_assert(all_alike.variance(180'000, 6, 1) < 10'000);
static_assert(all_alike.variance(6'000, 20, 1) > 1e5);

// The sum of the sizes of single items leaves out unknown sizes.
static_assert([] {
    item_sum s;
    s.add(100, 160);
    s.add(300, 250);
    s.add(100, ~std::uint64_t{0});
    s.add(~std::uint64_t{0}, 160);
    return near(s.items, 2, 0) && near(s.bodies, 400, 0) && near(s.beyond, 10, 0);
}());

// A header below 0 and a ratio outside [1/64, 16] are not possible. The other parameter follows.
constexpr overhead encoded(double ratio, double header)
{
    return taught(overhead(54), [=](overhead& o) {
        for (int i = 0; i != 40; ++i) {
            const double bodies = i % 2 == 0 ? 200'000 : 20'000;
            o.observe(bodies, 200, (ratio - 1) * bodies + header * 200);
        }
    });
}
static_assert(near(encoded(0.25, 0).state().ratio, 0.25, 0.01));
static_assert(encoded(0.25, 0).state().header < 5);
static_assert(near(encoded(0.5, -20).mean(200'000, 200), -104'000, 5'000));
static_assert(encoded(0.001, 0).state().ratio >= 1.0 / 64);
static_assert(encoded(30, 0).state().ratio <= 16);

// A state is accepted unchanged, or not at all.
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr item_estimate sound{.ratio = 1.2,
                              .header = 60,
                              .ratio_variance = 0.01,
                              .covariance = -1,
                              .header_variance = 200,
                              .noise = 9,
                              .drift = -1,
                              .error = 2,
                              .seen = 3};
static_assert(overhead(sound).state() == sound);
static_assert(overhead(item_estimate{}) == overhead());

constexpr item_estimate with(double item_estimate::* field, double value)
{
    item_estimate s = sound;
    s.*field = value;
    return s;
}
constexpr bool repaired(double item_estimate::* field, double value)
{
    const item_estimate s = with(field, value);
    // A header that is a number is still a good guess.
    return overhead(s) == overhead(s.header > 0 && s.header < 1e60 ? s.header : 0.0);
}
static_assert(repaired(&item_estimate::ratio, no_number));
static_assert(repaired(&item_estimate::header, no_number));
static_assert(repaired(&item_estimate::header, infinite));
static_assert(repaired(&item_estimate::header, -infinite));
static_assert(repaired(&item_estimate::header, -1e-9));
static_assert(repaired(&item_estimate::ratio, 0.015));
static_assert(repaired(&item_estimate::ratio, 16.1));
static_assert(repaired(&item_estimate::ratio_variance, -1));
static_assert(repaired(&item_estimate::ratio_variance, no_number));
static_assert(repaired(&item_estimate::header_variance, -1e-9));
static_assert(repaired(&item_estimate::noise, -1));
static_assert(repaired(&item_estimate::noise, infinite));
static_assert(repaired(&item_estimate::covariance, no_number));
static_assert(repaired(&item_estimate::covariance,
                       2));  // more than both variances allow
static_assert(repaired(&item_estimate::drift, no_number));
static_assert(repaired(&item_estimate::error, infinite));
static_assert(overhead(item_estimate{.seen = 4'000'000'000}).state().seen == 4);

TEST_CASE("overhead: ratio and header converge to the true values, and noise to its variance")
{
    overhead o(54);
    dice roll{1};
    for (int i = 0; i != 300; ++i) {
        double bodies = 0;
        double sum = 0;
        const double items = static_cast<double>(100 + roll(400));
        for (int n = 0; n < static_cast<int>(items); ++n) {
            const double body = static_cast<double>(100 + roll(i % 2 == 0 ? 200 : 2'000));
            bodies += body;
            sum += body / 3 + 80 + static_cast<double>(roll(41)) - 20;  // variance 140
        }
        o.observe(bodies, items, sum);
    }
    CHECK(std::abs(o.state().ratio - 4.0 / 3) < 0.005);
    CHECK(std::abs(o.state().header - 80) < 3);
    CHECK(o.state().noise > 60);
    CHECK(o.state().noise < 1'000);
}

TEST_CASE("overhead: items of two kinds are learnt from sums as a large noise")
{
    overhead o(60);
    dice roll{2};
    for (int i = 0; i != 200; ++i) {
        double sum = 0;
        for (int n = 0; n != 300; ++n) sum += roll(20) == 0 ? 3'000 : 60;
        o.observe(300 * 200, 300, sum);
    }
    const double deviation = std::sqrt(o.state().noise);
    CHECK(std::abs(o.mean(60'000, 300) / 300 - 207) < 60);
    CHECK(deviation > 400);  // 641 it is
    CHECK(deviation < 1'000);
}

TEST_CASE("overhead: follows a drift, and adopts a step within three sums")
{
    overhead o(54);
    double header = 54;
    double worst = 0;
    for (int i = 0; i != 400; ++i) {
        header += 0.5;
        o.observe(100'000, 400, header * 400);
        if (i > 20) worst = std::fmax(worst, std::abs(o.mean(100'000, 400) / 400 - header));
    }
    CHECK(worst < 2);
    for (const double to : {600.0, 20.0, 250.0, 0.0}) {
        for (int i = 0; i != 3; ++i) o.observe(100'000, 400, to * 400);
        CAPTURE(to);
        CHECK(std::abs(o.mean(100'000, 400) / 400 - to) < 3);
    }
}

TEST_CASE("overhead: an unexpected acceptance changes the estimate, as an unexpected refusal does")
{
    // 300 bytes are known and certain. Then a batch is accepted that should be far above the limit.
    overhead o(54);
    for (int i = 0; i != 50; ++i) o.observe(100'000, 400, 120'000);
    const double before = o.mean(100'000, 400);
    overhead less = o;
    less.bounded(100'000, 400, 100'000, false);
    CHECK(less.mean(100'000, 400) < 105'000);
    overhead more = o;
    more.bounded(100'000, 400, 140'000, true);
    CHECK(more.mean(100'000, 400) > 135'000);
    // A bound without uncertainty changes nothing.
    o.bounded(100'000, 400, 160'000, false);
    CHECK(std::abs(o.mean(100'000, 400) - before) < 1e-9);
}

TEST_CASE("overhead: the state stays possible after extreme numbers")
{
    const double wild[] = {0, 1, 1e3, 1e9, 1.8446744073709552e19, -1e3, -1.8446744073709552e19};
    for (const double bodies : wild) {
        for (const double items : wild) {
            for (const double sum : wild) {
                overhead o(54);
                for (int i = 0; i != 3 && bodies >= 0; ++i) {
                    o.observe(bodies, items, sum);
                    CHECK(possible(o.state()));
                    o.bounded(bodies, items, sum, i % 2 == 0);
                    CHECK(possible(o.state()));
                    o.observe(100, 2, sum);
                    o.bounded(1e19, 2, -sum, true);
                    CHECK(possible(o.state()));
                    CHECK(overhead(o.state()) == o);
                }
            }
        }
    }
    // Nor with a state at the limit of valid values.
    overhead o(item_estimate{.header = 1e59, .header_variance = 1e119, .noise = 1e119});
    o.observe(1, 1, -1e59);
    o.bounded(1, 1, 1e19, true);
    o.bounded(1, 1, 1e19, false);
    CHECK(possible(o.state()));
    overhead calm(item_estimate{.header = 50, .header_variance = 1e-300, .noise = 0});
    for (const bool above : {false, true}) {
        overhead c = calm;
        c.bounded(1e18, 1, above ? 1e19 : -1e19, above);
        CHECK(possible(c.state()));
    }
}

TEST_CASE("overhead: recovers from an implausible sum within three plausible ones")
{
    for (const double sum : {-24'000.0, 0.0, 1e9, 1e15, 1.8e19}) {
        CAPTURE(sum);
        overhead o(54);
        for (int i = 0; i != 30; ++i) o.observe(100'000, 400, 24'000 + i % 7);
        o.observe(100'000, 400, sum);
        for (int i = 0; i != 3; ++i) o.observe(100'000, 400, 24'000);
        CHECK(std::abs(o.mean(100'000, 400) - 24'000) < 500);
    }
}

namespace {

// After `batches` batches of 200 items with bodies of 250 bytes. The headers have 80 or 900 bytes,
// and change after each `turn` batches.
overhead switched(int batches, int turn)
{
    overhead o(54);
    for (int n = 0; n != batches; ++n) {
        o.observe(50'000, 200, 200.0 * (n / turn % 2 == 0 ? 80 : 900) + n % 3);
    }
    return o;
}

}  // namespace

TEST_CASE("overhead: a change of headers is adopted at once and does not raise the noise")
{
    for (const int turn : {6, 8, 20}) {
        CAPTURE(turn);
        const item_estimate s = switched(40 * turn, turn).state();
        CHECK(near(s.header * 200 + (s.ratio - 1) * 50'000, 900 * 200, 200));
        CHECK(std::sqrt(s.noise) < 20);
    }
}

}  // namespace overhead_test

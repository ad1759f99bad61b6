// SPDX-License-Identifier: MIT

#include <cmath>

#include <doctest/doctest.h>

#include <waybill/batch/detail/normal.hpp>

namespace normal_test {

using namespace waybill::detail;

namespace {

constexpr bool near(double a, double b, double relative)
{
    const double far = a < b ? b - a : a - b;
    const double size = b < 0 ? -b : b;
    return far <= relative * size;
}

}  // namespace

// All of it is there at compile time.
static_assert(near(root(4), 2, 1e-14) && near(root(2), 1.4142135623730951, 1e-14));
static_assert(near(root(0.25), 0.5, 1e-14));
static_assert(!(root(0) > 0) && !(root(-1) > 0));
static_assert(near(log_of(0.5), -0.69314718, 1e-6) && !(log_of(1) < 0) && !(log_of(1) > 0));
static_assert(near(decay(1), 0.36787944, 1e-3) && !(decay(0) < 1) && !(decay(0) > 1));
static_assert(near(hazard(0), 0.79788456, 1e-2));
static_assert(near(best_distance(0.01), 2.7152, 1e-3));

// If one standard deviation is 40 % of the limit or more, no distance is best. Without a deviation,
// no distance is needed.
static_assert(!(best_distance(0.4) > 0) && best_distance(0.39) > 0);
static_assert(!(best_distance(0) > 0) && !(best_distance(1e300) > 0));

TEST_CASE("root: correct to 14 digits between 1e-300 and 1e300, and never infinite")
{
    for (double x = 1e-299; x < 1e300; x *= 3.7) {
        CAPTURE(x);
        CHECK(near(root(x), std::sqrt(x), 1e-14));
    }
    CHECK(!(root(std::nan("")) > 0));
    CHECK(root(1e-305) < 1e-150);
    CHECK(root(1e305) >= 1e150);
    CHECK(std::isfinite(root(HUGE_VAL)));
}

TEST_CASE("log_of: correct to 0.0001 in (0, 1], and finite at 0")
{
    for (double x = 1; x > 1e-300; x *= 0.97) {
        CAPTURE(x);
        CHECK(std::abs(log_of(x) - std::log(x)) < 1e-4);
    }
    CHECK(log_of(0) < -600);  // and it ends
}

TEST_CASE("decay: never below exp(-x), and within x^2 / 1,500 above it")
{
    for (double x = 0; x < 30; x += 0.01) {
        CAPTURE(x);
        CHECK(decay(x) >= std::exp(-x));
        CHECK(decay(x) <= std::exp(-x) * (1 + x * x / 1'500));
    }
    CHECK(!(decay(1e300) > 0));
}

TEST_CASE("hazard: correct to 1.2 % from -2.5 on, and always above its argument")
{
    double before = 0;
    for (double x = -5; x < 25; x += 0.01) {
        CAPTURE(x);
        const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
        const double exact = density / (std::erfc(x / std::sqrt(2.0)) / 2);
        CHECK(near(hazard(x), exact, x < -2.5 ? 0.08 : 0.012));
        CHECK(hazard(x) > x);
        CHECK(hazard(x) > before * (1 - 1e-12));
        before = hazard(x);
    }
    CHECK(near(hazard(1e9), 1e9, 1e-9));
    CHECK(hazard(-40) < 1e-100);
}

TEST_CASE("best_distance: the density equals the unused part, and the cost is minimal")
{
    for (double part = 1e-9; part < 0.3; part *= 1.1) {
        CAPTURE(part);
        const double d = best_distance(part);
        const double density = std::exp(-d * d / 2) / std::sqrt(2 * std::acos(-1.0));
        CHECK(near(density, part, 1e-3));
        // A larger or smaller distance costs more: the unused part plus the refused sends.
        const auto cost = [part](double x) { return part * x + std::erfc(x / std::sqrt(2.0)) / 2; };
        CHECK(cost(d) < cost(d * 0.9));
        CHECK(cost(d) < cost(d * 1.1));
    }
}

}  // namespace normal_test

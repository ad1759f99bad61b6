// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>
#include <optional>

#include <doctest/doctest.h>

#include <waybill/scaling/threshold.hpp>

namespace threshold_test {

using namespace waybill::scaling;

// A threshold is stored and compared, which captures do not allow.
struct times {
    double each;
    double operator()(std::uint64_t n) const { return each * static_cast<double>(n); }
};
template <class F>
concept of_number = requires(F f) { of_instances(f); };
static_assert(of_number<double (*)(std::uint64_t)> && !of_number<times>);

TEST_CASE("threshold: a number, per_instance, by_instances and of_instances")
{
    CHECK(threshold(300).at(0) == 300.0);
    CHECK(threshold(-1.5).at(7) == -1.5);
    CHECK(per_instance(100).at(4) == 400.0);
    CHECK(per_instance(100).at(1) == 100.0);

    const threshold t = by_instances({{1, 100}, {4, 350}, {8, 600}});
    CHECK(t.at(1) == 100.0);
    CHECK(t.at(3) == 100.0);
    CHECK(t.at(4) == 350.0);
    CHECK(t.at(1'000) == 600.0);

    const threshold f = of_instances([](std::uint64_t n) { return 50.0 * static_cast<double>(n); });
    CHECK(f.at(3) == 150.0);
    CHECK(f == f);
    CHECK(!(f == t));
}

TEST_CASE("threshold: a missing or non-finite value is no threshold, not 0")
{
    CHECK(per_instance(100).at(0) == std::nullopt);
    CHECK(by_instances({{1, 100}}).at(0) == std::nullopt);
    CHECK(by_instances({}).at(5) == std::nullopt);
    CHECK(of_instances(nullptr).at(5) == std::nullopt);
    CHECK(threshold(std::numeric_limits<double>::quiet_NaN()).at(1) == std::nullopt);
    CHECK(threshold(std::numeric_limits<double>::infinity()).at(1) == std::nullopt);
    CHECK(per_instance(1e308).at(1'000) == std::nullopt);
    const auto endless = [](std::uint64_t) { return std::numeric_limits<double>::infinity(); };
    CHECK(of_instances(endless).at(2) == std::nullopt);
    CHECK(per_instance(1).at(UINT64_MAX).has_value());
}

}  // namespace threshold_test

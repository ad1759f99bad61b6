// SPDX-License-Identifier: MIT
//
// The error of a histogram against a sorted vector, and merges in any order.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/brief.hpp>

#include <waybill/window/log_histogram.hpp>
#include <waybill/window/quantile.hpp>

namespace log_histogram_prop {

using namespace waybill;

namespace {

using weighted_value = std::pair<double, std::uint64_t>;

// All 64 bits, for every size of the test case.
rc::Gen<std::uint64_t> bits64()
{
    return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
}

// Any magnitude, sign and bit pattern; or one magnitude, or ties.
rc::Gen<double> values()
{
    return rc::gen::map(bits64(), [](std::uint64_t n) {
        const double any = std::bit_cast<double>(n);
        switch ((n >> 20U) % 5) {
            case 0: return std::isfinite(any) ? any : 0.0;
            case 1: return std::bit_cast<double>(n >> (12U + n % 51));  // denormal
            case 2: return std::ldexp(1.0 + static_cast<double>(n % 4'096) / 4'096, 3);
            case 3: return static_cast<double>(n % 2'001) - 1'000;
            default: break;
        }
        return std::ldexp(n % 2 == 0 ? 1.0 : -1.0, static_cast<int>(n % 2'000) - 1'000);
    });
}

rc::Gen<std::vector<weighted_value>> many()
{
    auto any = rc::gen::container<std::vector<weighted_value>>(
        rc::gen::pair(values(), rc::gen::inRange<std::uint64_t>(1, 1'000)));
    if (!tests_support::brief) return any;
    return rc::gen::scale(0.3, std::move(any));
}

double exactly(std::vector<weighted_value> sorted, std::uint64_t rank)
{
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [value, weight] : sorted) {
        if (weight >= rank) return value;
        rank -= weight;
    }
    return sorted.back().first;
}

// got - exact| <= |exact| * error, computed without rounding.
template <unsigned Bits>
bool near(double got, double exact)
{
    const double off = std::fabs(got / 2 - exact / 2);  // the difference of two signs may overflow
    if (std::fabs(exact) < 1e-300) {
        return std::ldexp(std::fabs(got - exact), Bits + 1) <= std::fabs(exact);
    }
    return off <= std::fabs(exact) / 2 * log_histogram<Bits>::relative_error;
}

template <unsigned Bits>
void keeps_its_error()
{
    const std::vector<weighted_value> given = *many();
    log_histogram<Bits> h;
    std::uint64_t all = 0;
    for (const auto& [value, weight] : given) {
        RC_ASSERT(h.add(value, weight));
        all += weight;
    }
    RC_ASSERT(h.points() == given.size());
    RC_ASSERT(h.weight() == all);
    RC_ASSERT(h.buckets() <= log_histogram<Bits>::max_buckets);
    if (given.empty()) {
        RC_ASSERT(!h.quantile(0.5));
        return;
    }
    double before = *h.lowest();
    for (const double q : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const std::optional<double> got = h.quantile(q);
        RC_ASSERT(got.has_value());
        RC_ASSERT(near<Bits>(*got, exactly(given, detail::quantile_rank(q, all))));
        RC_ASSERT(before <= *got);
        before = *got;
    }
    RC_ASSERT(h.quantile(0) == exactly(given, 1));
    RC_ASSERT(h.quantile(1) == exactly(given, all));
    RC_ASSERT(before == *h.highest());
}

}  // namespace

TEST_CASE("log_histogram: quantiles are within the relative error of the exact ones")
{
    CHECK(rc::check("1024 buckets", keeps_its_error<10>));
    if (tests_support::brief) return;
    CHECK(rc::check("one bucket", keeps_its_error<0>));
    CHECK(rc::check("8 buckets", keeps_its_error<3>));
    CHECK(rc::check("64 buckets", keeps_its_error<6>));
}

TEST_CASE("log_histogram: parts merged in different orders equal one histogram of all values")
{
    CHECK(rc::check("merge", [] {
        const std::vector<weighted_value> given = *many();
        log_histogram<3> whole;
        std::vector<log_histogram<3>> parts(4);
        for (const auto& [value, weight] : given) {
            whole.add(value, weight);
            parts[*rc::gen::inRange<std::size_t>(0, 4)].add(value, weight);
        }
        auto upwards = parts[0];
        for (std::size_t i = 1; i != 4; ++i) upwards.merge(parts[i]);
        auto left = parts[3], right = parts[1];
        left.merge(parts[2]);
        right.merge(parts[0]);
        left.merge(right);
        RC_ASSERT(upwards == whole);
        RC_ASSERT(left == whole);
        auto nothing = log_histogram<3>();
        nothing.merge(whole);
        RC_ASSERT(nothing == whole);
        whole.merge({});
        RC_ASSERT(nothing == whole);
    }));
}

TEST_CASE("log_histogram: saturated weights do not depend on the order, and give no quantile")
{
    CHECK(rc::check("saturate", [] {
        const auto weights = rc::gen::map(bits64(), [](std::uint64_t n) { return n >> n % 8; });
        auto given =
            *rc::gen::container<std::vector<weighted_value>>(rc::gen::pair(values(), weights));
        log_histogram<1> there, back;
        for (const auto& [value, weight] : given) there.add(value, weight);
        std::reverse(given.begin(), given.end());
        for (const auto& [value, weight] : given) back.add(value, weight);
        RC_ASSERT(there == back);
        RC_ASSERT(there.quantile(0.5).has_value() ==
                  (there.weight() != 0 && there.weight() != detail::highest_size));
    }));
}

}  // namespace log_histogram_prop

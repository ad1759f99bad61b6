// SPDX-License-Identifier: MIT
//
// Quantiles against a sorted vector of all events.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/window/measures.hpp>
#include <waybill/window/quantile.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>

namespace quantile_prop {

using namespace waybill;

namespace {

// The quantile is in thousandths, so that ranks are exact integers.
template <class V>
std::optional<V> by_sorting(std::vector<std::pair<V, std::uint64_t>> values,
                            std::uint64_t thousandths)
{
    std::sort(values.begin(), values.end());
    std::uint64_t all = 0, seen = 0;
    for (const auto& v : values) all += v.second;
    for (const auto& v : values) {
        seen += v.second;
        if (seen != 0 && seen * 1'000 >= all * thousandths) return v.first;
    }
    return {};
}

// All 64 bits, for every size of the test case.
rc::Gen<std::uint64_t> bits64()
{
    return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
}

// Values of all magnitudes, many of them equal or close together.
template <class V>
rc::Gen<V> values()
{
    if constexpr (std::floating_point<V>) {
        return rc::gen::map(bits64(), [](std::uint64_t n) -> V {
            const auto bits = (n >> 3U) << 3U;
            switch (n % 4) {
                case 0: return static_cast<V>(n % 64);
                case 1: return -static_cast<V>(n % 1'000) / 8;
                case 2: return static_cast<V>(1e9) + static_cast<V>(n % 4'096) / 4'096;
                default: break;
            }
            const auto any = std::bit_cast<double>(bits);
            const bool fits = any >= static_cast<double>(std::numeric_limits<V>::lowest()) &&
                              any <= static_cast<double>(std::numeric_limits<V>::max());
            return fits ? static_cast<V>(any) : V{};
        });
    } else {
        return rc::gen::map(rc::gen::pair(bits64(), rc::gen::inRange(0, 64)), [](const auto& p) {
            return static_cast<V>(
                std::signed_integral<V>
                    ? static_cast<std::uint64_t>(static_cast<std::int64_t>(p.first) >> p.second)
                    : p.first >> p.second);
        });
    }
}

template <class V>
void agrees_with_sorting()
{
    const auto given = *rc::gen::container<std::vector<V>>(values<V>());
    std::vector<sample<V>> plain;
    std::vector<weighted_sample<V>> heavy;
    std::vector<std::pair<V, std::uint64_t>> once, often;
    for (const V v : given) {
        const auto weight = *rc::gen::inRange<std::uint32_t>(0, 50);
        plain.push_back({{}, v});
        heavy.push_back({{}, v, weight});
        once.emplace_back(v, 1);
        if (weight != 0) often.emplace_back(v, weight);
    }
    const auto any = *rc::gen::inRange<std::uint64_t>(0, 1'001);
    const std::uint64_t shares[] = {any, 0, 500, 1'000};
    for (const std::uint64_t share : shares) {
        const double q = static_cast<double>(share) / 1'000;
        RC_ASSERT(quantile(plain, q) == by_sorting(once, share));
        RC_ASSERT(quantile(heavy, q) == by_sorting(often, share));
    }
}

}  // namespace

TEST_CASE("quantile: equals that of a sorted vector, with and without weights")
{
    CHECK(rc::check("double", agrees_with_sorting<double>));
    CHECK(rc::check("float", agrees_with_sorting<float>));
    CHECK(rc::check("int64", agrees_with_sorting<std::int64_t>));
    CHECK(rc::check("uint64", agrees_with_sorting<std::uint64_t>));
    CHECK(rc::check("int8", agrees_with_sorting<std::int8_t>));
    CHECK(rc::check("uint16", agrees_with_sorting<std::uint16_t>));
}

TEST_CASE("quantile: of a window with late and future samples, equals that of a sorted vector")
{
    CHECK(rc::check("window", [] {
        const auto ns = [](std::int64_t n) { return wall_time::at(duration::nanoseconds(n)); };
        const auto span = *rc::gen::inRange<std::int64_t>(1, 60);
        sliding_window<weighted_stats<std::int64_t>> w{{.span = duration::nanoseconds(span)}};
        std::vector<weighted_sample<std::int64_t>> taken;
        std::int64_t clock = -1'000'000;
        std::int64_t now = 0;
        for (int i = 0; i != 60; ++i) {
            now += *rc::gen::inRange<std::int64_t>(-3, 6);
            const auto at = now + *rc::gen::inRange<std::int64_t>(-20, 20);
            const auto value = *rc::gen::inRange<std::int64_t>(-9, 10);
            const weighted_sample<std::int64_t> s{ns(at), value,
                                                  *rc::gen::inRange<std::uint32_t>(1, 9)};
            const insert_result what = w.insert(s);
            if (what == insert_result::newest || what == insert_result::late) taken.push_back(s);
            if (*rc::gen::inRange(0, 4) == 0) {
                w.advance(ns(now));
                clock = std::max(clock, now);
            }
            const std::int64_t until = std::max(clock, now);
            std::vector<std::pair<std::int64_t, std::uint64_t>> inside;
            for (const auto& t : taken) {
                const std::int64_t then = t.at.since_epoch().count();
                if (until - span < then && then <= until) inside.emplace_back(t.value, t.weight);
            }
            const auto n = *rc::gen::inRange<std::uint64_t>(0, 1'001);
            const double q = static_cast<double>(n) / 1'000;
            RC_ASSERT(quantile(w, q, ns(now)) == by_sorting(inside, n));
        }
    }));
}

TEST_CASE("quantile_rank: thousandths give exact ranks below 2^39 events, at most 1 less above")
{
    CHECK(rc::check("ranks", [] {
        const auto events = 1 + (*bits64() >> (15 + *rc::gen::inRange(0, 45)));
        const auto n = *rc::gen::inRange<std::uint64_t>(1, 1'001);
        // n/1000 of all events, rounded up, computed without overflow.
        const std::uint64_t rest = events % 1'000 * n;
        const std::uint64_t exact = events / 1'000 * n + (rest + 999) / 1'000;
        const std::uint64_t rank = detail::quantile_rank(static_cast<double>(n) / 1'000, events);
        if (events < (std::uint64_t{1} << 39U)) {  // a thousandth is larger than the rounding
            RC_ASSERT(rank == exact);
        } else {
            RC_ASSERT(exact - rank <= 1);
        }
    }));
}

}  // namespace quantile_prop

// SPDX-License-Identifier: MIT

#include <cstdint>
#include <list>
#include <vector>

#include <doctest/doctest.h>
#include <support/dice.hpp>

#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/retry/detail/permits.hpp>

namespace permits_test {
namespace {

using waybill::circuit_breaker;
using waybill::duration;
using waybill::steady_time;
using waybill::detail::permits;

constexpr steady_time s(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

// The permit with the earliest deadline is first, for any order of results.
static_assert([] {
    permits<3> out;
    if (out.size() != 0 || out.full() || out.next_deadline() != steady_time::highest())
        return false;
    const circuit_breaker::permit a = out.issue(1, s(1));
    const circuit_breaker::permit b = out.issue(1, s(2));
    const circuit_breaker::permit c = out.issue(1, s(3));
    if (!out.full() || out.next_deadline() != s(1)) return false;
    if (!out.take_back(b) || out.take_back(b) || out.next_deadline() != s(1)) return false;
    if (!out.take_back(a) || out.next_deadline() != s(3)) return false;
    const circuit_breaker::permit d = out.issue(2, s(4));
    if (out.has(a) || !out.has(d) || d.place != a.place || d.generation != 2) return false;
    out.drop_oldest();
    return !out.has(c) && out.size() == 1 && out.next_deadline() == s(4);
}());

// Void permits stay void when their places are used again, and numbers never repeat.
static_assert([] {
    permits<2> out;
    const circuit_breaker::permit a = out.issue(1, s(1));
    out.clear();
    if (out.has(a) || out.take_back(a) || out.size() != 0) return false;
    const circuit_breaker::permit b = out.issue(2, s(2));
    return b.place == a.place && b.number != a.number && !out.take_back(a) && out.take_back(b);
}());

TEST_CASE("permits: equal a list of issued permits after random operations")
{
    tests_support::dice dice(7);
    permits<17> out;
    std::list<circuit_breaker::permit> naive;
    std::vector<circuit_breaker::permit> all;
    for (std::int64_t i = 0; i != 200'000; ++i) {
        const auto what = dice(12);
        if (what < 5 && !out.full()) {
            all.push_back(out.issue(1, s(i / 3)));
            naive.push_back(all.back());
        } else if (what < 10 && !all.empty()) {
            const circuit_breaker::permit p =
                all[all.size() - 1 - dice(all.size() < 40 ? all.size() : 40)];
            const auto before = naive.size();
            naive.remove(p);
            REQUIRE(out.take_back(p) == (naive.size() != before));
        } else if (what == 10 && !naive.empty()) {
            out.drop_oldest();
            naive.pop_front();
        } else if (what == 11 && dice.one_in(20)) {
            out.clear();
            naive.clear();
        }
        REQUIRE(out.size() == naive.size());
        REQUIRE(out.full() == (naive.size() == 17));
        REQUIRE(out.next_deadline() ==
                (naive.empty() ? steady_time::highest() : naive.front().deadline));
    }
}

}  // namespace
}  // namespace permits_test

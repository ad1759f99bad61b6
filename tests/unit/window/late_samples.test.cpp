// SPDX-License-Identifier: MIT
//
// late_samples against a sorted list: order, measure, links, ranks and depth.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/dice.hpp>

#include <waybill/window/detail/late_samples.hpp>
#include <waybill/window/measures.hpp>

namespace late_samples_test {

using namespace waybill;
using tests_support::dice;

namespace {

using measure = measures<std::int64_t, summed, extremes, ends>;
using sample_type = sample<std::int64_t>;
using tree = waybill::detail::late_samples<sample_type, measure>;

wall_time at(std::int64_t n)
{
    return wall_time::at(duration::nanoseconds(n));
}

measure measure_of(const std::vector<sample_type>& all)
{
    measure m = measure::identity();
    for (const sample_type& s : all) m = measure::combine(m, measure::of(s));
    return m;
}

bool equal(const tree& t, const std::vector<sample_type>& all)
{
    if (t.size() != all.size() || t.empty() != all.empty()) return false;
    if (all.empty()) return true;
    auto n = t.first();
    for (const sample_type& s : all) {
        if (n == tree::none || !(t.at(n) == s)) return false;
        n = t.after(n);
    }
    std::vector<sample_type> backwards;
    t.for_each_from_newest([&](const sample_type& s) { backwards.push_back(s); });
    std::reverse(backwards.begin(), backwards.end());
    return n == tree::none && backwards == all && t.all() == measure_of(all);
}

void insert_sorted(std::vector<sample_type>& all, sample_type s)
{
    const auto after = [](wall_time t, const sample_type& x) { return t < x.at; };
    all.insert(std::upper_bound(all.begin(), all.end(), s.at, after), s);
}

}  // namespace

TEST_CASE("late samples: random insertions and removals equal those of a sorted list")
{
    for (std::uint64_t seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        dice roll(seed);
        tree t;
        std::vector<sample_type> all;
        const std::int64_t times = seed % 3 == 0 ? 5 : 1'000;
        for (int i = 0; i != 600; ++i) {
            if (!all.empty() && roll.one_in(seed % 5 + 2)) {
                t.drop_oldest();
                all.erase(all.begin());
            } else {
                const std::int64_t any = roll.below(times);
                const std::int64_t when = seed % 4 == 1 ? i : seed % 4 == 2 ? -i : any;
                const sample_type s{at(when), roll.below(100)};
                t.insert(s);
                insert_sorted(all, s);
            }
            if (roll.one_in(100)) {
                tree moved(std::move(t));
                t = moved;
            }
            if (roll.one_in(200)) t.clear(), all.clear();
            if (!equal(t, all)) FAIL("differs at step " << i);
        }
    }
}

TEST_CASE("late samples: a sample is found and replaced by its time")
{
    tree t;
    CHECK(t.find(at(1)) == tree::none);
    std::vector<sample_type> all;
    for (std::int64_t n = 0; n != 100; ++n) insert_sorted(all, {at(n * 7 % 100), n});
    for (const sample_type& s : all) t.insert(s);
    for (std::size_t n = 0; n != all.size(); ++n) {
        all[n].value = 1'000 + static_cast<std::int64_t>(n);
        CHECK(t.replace(all[n]));
        if (!equal(t, all)) FAIL("differs at " << n);
    }
    CHECK(t.find(at(100)) == tree::none);
    CHECK(!t.replace({at(100), 1}));
    CHECK(t.at(t.find(at(42))).value == 1'042);
}

TEST_CASE("late samples: first_not returns the first sample and its rank in O(log n) calls")
{
    tree t;
    for (std::int64_t n = 0; n != 1'000; ++n) t.insert({at(n), n});
    for (const std::int64_t limit : {0, 1, 500, 999}) {
        int calls = 0;
        const auto found = t.first_not([&](const sample_type& s, std::uint64_t rank) {
            ++calls;
            CHECK(s.value == static_cast<std::int64_t>(rank));
            return s.value < limit;
        });
        CHECK(found.rank == static_cast<std::uint64_t>(limit));
        CHECK(t.at(found.at).value == limit);
        CHECK(calls <= 24);  // 2.41 log2(1,001)
    }
    const auto none = t.first_not([](const sample_type&, std::uint64_t) { return true; });
    CHECK(none.at == tree::none);
    CHECK(none.rank == 1'000);
}

TEST_CASE(
    "late samples: the tree stays balanced if samples arrive in order and the oldest are "
    "dropped")
{
    tree t;
    for (std::int64_t n = 0; n != 20'000; ++n) {
        t.insert({at(n), n});
        if (n >= 3'000) t.drop_oldest();
        if (n % 97 != 0) continue;
        int calls = 0;
        for (const bool answer : {false, true}) {
            calls = 0;
            (void)t.first_not([&](const sample_type&, std::uint64_t) {
                ++calls;
                return answer;
            });
            if (calls > 28) FAIL("too deep: " << calls);  // 2.41 log2(3,001)
        }
    }
    CHECK(t.size() == 3'000);
}

}  // namespace late_samples_test

// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/window/merged_windows.hpp>
#include <waybill/window/sliding_window.hpp>

namespace merged_windows_test {

using namespace std::chrono_literals;
using namespace waybill;

namespace {

using whole = stats<std::int64_t>;
using window = sliding_window<whole>;

constexpr wall_time at(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

std::uint64_t greater_of(std::uint64_t a, std::uint64_t b)
{
    return a < b ? b : a;
}

std::vector<std::int64_t> values(const window& w)
{
    std::vector<std::int64_t> all;
    for (std::uint64_t n = 0; n != w.size(); ++n) all.push_back(w[n].value);
    return all;
}
using list = std::vector<std::int64_t>;

// Counts how often measures are combined.
struct tallied {
    using value_type = std::int64_t;
    static inline std::uint64_t combines = 0;
    std::uint64_t points = 0;
    static tallied identity() { return {}; }
    template <class S>
    static tallied of(const S&)
    {
        return {1};
    }
    static tallied combine(const tallied& a, const tallied& b)
    {
        ++combines;
        return {a.points + b.points};
    }
};

// A measure for which order matters has no shortcut.
template <class S>
concept merges = requires(const S& s) { merged(s, s); };
static_assert(merges<window_summary<whole, wall_time>>);
static_assert(!merges<window_summary<tallied, wall_time>>);

TEST_CASE("merged: samples are ordered by time, then by window")
{
    window a{{.span = 10min}};
    window b{{.span = 10min}};
    for (const int t : {10, 30, 30, 60}) a.insert(at(t), t);
    for (const int t : {20, 30, 70}) b.insert(at(t), 100 + t);
    CHECK(values(merged(a, b)) == list{10, 120, 30, 30, 130, 60, 170});
    CHECK(values(merged(b, a)) == list{10, 120, 130, 30, 30, 60, 170});
    CHECK(merged(a, b).query(at(70)).points == 7);
    CHECK(values(merged(a, window{})) == values(a));
    CHECK(values(merged(window{}, a)) == values(a));
    CHECK(merged(window{}, window{}).size() == 0);
}

TEST_CASE("merged: with equal_time::replace, the last sample of each time is kept")
{
    window a{{.span = 10min, .on_equal_time = window_options::equal_time::replace}};
    window b{{.span = 10min}};
    for (const int t : {10, 30, 60}) a.insert(at(t), t);
    for (const int t : {30, 30, 70}) b.insert(at(t), 100 + static_cast<int>(b.size()));
    CHECK(values(merged(a, b)) == list{10, 101, 60, 102});
    CHECK(values(merged(b, a)) == list{10, 100, 101, 30, 60, 102});
}

TEST_CASE("merged: the later clock is kept, and expired samples stay removed")
{
    window a{{.span = 60s}};
    window b{{.span = 1h}};
    a.insert(at(10), 1);
    a.insert(at(100), 2);
    b.insert(at(20), 3);
    b.insert(at(70), 4);
    b.insert(at(500), 5);
    CHECK(merged(a, b).clock() == std::nullopt);
    CHECK(merged(a, b).size() == 5);
    b.advance(at(80));
    a.advance(at(40));
    CHECK(merged(a, b).clock() == at(80));
    CHECK(merged(a, b).options() == a.options());
    CHECK(values(merged(a, b)) == list{4, 2, 5});  // the span is that of the first
    CHECK(values(merged(b, a)) == list{1, 3, 4, 2, 5});
    CHECK(merged(a, b).losses() == window_losses{});
    CHECK(merged(a, b).insert(at(20), 1) == insert_result::too_old);
}

TEST_CASE("merged: over max_points, the newest samples are kept")
{
    window a{{.span = 1h, .max_points = 3}};
    window b{{.span = 1h, .max_points = 3}};
    for (const int t : {10, 30, 50}) a.insert(at(t), t);
    for (const int t : {20, 40}) b.insert(at(t), t);
    auto both = merged(a, b);
    CHECK(values(both) == list{30, 40, 50});
    CHECK(both.losses() == window_losses{.pushed_out = 2});
    CHECK(both.query(at(50)).sum() == 120);
}

TEST_CASE("merged: summaries are merged without the samples")
{
    window a{{.span = 10min}};
    sliding_window<whole, wall_time, worst_case> b{{.span = 10min}};
    for (const int t : {10, 40}) a.insert(at(t), t);
    for (const int t : {5, 30, 50}) b.insert(at(t), t);
    const auto both = merged(a.query(at(60)), b.query(at(60)));
    REQUIRE(both.has_value());
    const auto answer = *both;
    const auto all = merged(a, b).query(at(60));
    CHECK(answer.points == all.points);
    CHECK(answer.sum() == all.sum());
    CHECK(answer.lowest() == 5);
    CHECK(answer.highest() == 50);
    CHECK(answer.first() == 5);  // by time, whichever part it is from
    CHECK(answer.last() == 50);
    CHECK(answer.rate() == all.rate());
    CHECK(answer.coverage() == all.coverage());
    CHECK(answer.now == at(60));
    CHECK(answer.span == 10min);
    CHECK(merged(b.query(at(60)), a.query(at(60)))->last() == 50);
    CHECK(merged(window{{.span = 10min}}.query(at(60)), a.query(at(60)))->first() == 10);
}

TEST_CASE("merged: summaries of different times or spans are refused")
{
    window a{{.span = 10min}};
    window b{{.span = 10min}};
    window c{{.span = 5min}};
    using merge_mismatch = decltype(a.query(at(60)))::merge_mismatch;
    for (window* w : {&a, &b, &c}) w->insert(at(10), 1);
    CHECK(merged(a.query(at(60)), b.query(at(60))).has_value());
    CHECK(merged(a.query(at(60)), c.query(at(60))).error() == merge_mismatch::span);
    CHECK(merged(a.query(at(60)), c.query(at(61))).error() == merge_mismatch::time);
    // One of them already has a later time, so its result is not for the requested time.
    b.advance(at(300));
    CHECK(merged(a.query(at(60)), b.query(at(60))).error() == merge_mismatch::time);
    CHECK(merged(a.query(at(300)), b.query(at(60)))->points == 2);
    CHECK(merged(window{}.query(at(9)), a.query(at(300))).error() == merge_mismatch::time);
    CHECK(name(merge_mismatch::time) == "time");
    CHECK(name(merge_mismatch::span) == "span");
}

TEST_CASE("merged: samples missing in either window are missing in the result")
{
    window a{{.span = 1min, .max_points = 3}};
    window b{{.span = 1min}};
    for (const int t : {10, 20, 30, 40}) a.insert(at(t), t);
    b.insert(at(15), 1);
    auto both = merged(b, a);
    CHECK(both.missing() == at(10));
    CHECK(both.losses() == window_losses{});
    CHECK_FALSE(both.query(at(60)).complete());
    CHECK_FALSE(both.query(at(60)).rate().has_value());
    CHECK(both.query(at(70)).complete());  // it would have left by now
    CHECK(*both.query(at(70)).rate() == doctest::Approx(4 / 60.0));
    CHECK_FALSE(merged(a.query(at(60)), b.query(at(60)))->complete());
    CHECK_FALSE(merged(b.query(at(60)), a.query(at(60)))->complete());
    CHECK(merged(b.query(at(70)), a.query(at(70)))->complete());
    // And the samples that the merge itself displaces.
    window few{{.span = 1min, .max_points = 2}};
    CHECK(merged(few, b).missing() == std::nullopt);
    CHECK(merged(few, a).missing() == at(20));
}

// Samples that alternate, follow each other, or have equal times; all kept, or only some.
template <template <class> class How>
std::uint64_t most_combines_a_sample()
{
    std::uint64_t most = 0;
    for (const std::uint64_t max_points : {std::uint64_t{100}, std::uint64_t{5'000}}) {
        for (const int step : {1, 2, 3}) {
            for (const int shift : {0, 1, 2'000}) {
                const window_options o{.span = 10min,
                                       .max_points = max_points,
                                       .on_equal_time = window_options::equal_time::replace};
                sliding_window<tallied, wall_time, How> a{o};
                sliding_window<tallied, wall_time, How> b{o};
                for (int n = 0; n != 2'000; ++n) a.insert(at(n), 1);
                for (int n = 0; n != 2'000; ++n) b.insert(at(n * step + shift), 1);
                tallied::combines = 0;
                const auto both = merged(a, b);
                CHECK(both.size() <= max_points);
                most = greater_of(most, tallied::combines / (a.size() + b.size()));
            }
        }
    }
    return most;
}

TEST_CASE("merged: at most 2 combinations a sample amortised, and 6 with worst_case")
{
    CHECK(most_combines_a_sample<amortised>() <= 2);
    CHECK(most_combines_a_sample<worst_case>() <= 6);
}

}  // namespace

}  // namespace merged_windows_test

// SPDX-License-Identifier: MIT

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/istream.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <waybill/ext/ranges.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>

namespace sliding_test {

using namespace std::chrono_literals;
using namespace waybill;

namespace {

using whole = stats<std::int64_t>;
using sampled = weighted_stats<double>;
using series = std::vector<sample<std::int64_t>>;
using answer = window_summary<whole, wall_time>;
using sums = std::vector<std::int64_t>;

constexpr wall_time at(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

template <class View>
sums sums_of(View&& view)
{
    sums all;
    for (const auto& s : view) all.push_back(s.sum().value_or(-1));
    return all;
}

// The results of a window with a query after each sample.
template <template <class> class How = amortised>
std::vector<answer> by_hand(const series& all, const window_options& o)
{
    sliding_window<whole, wall_time, How> w{o};
    std::vector<answer> answers;
    for (const auto& s : all) {
        w.insert(s);
        answers.push_back(w.query(s.at));
    }
    return answers;
}

const series five{{at(0), 1}, {at(30), 2}, {at(60), 4}, {at(90), 8}, {at(200), 16}};

TEST_CASE("a series gives a summary for each sample")
{
    auto view = five | waybill::views::sliding<whole>({.span = 60s});
    static_assert(ranges::input_range<decltype(view)>);
    static_assert(ranges::view_<decltype(view)>);
    static_assert(std::same_as<ranges::range_value_t<decltype(view)>, answer>);
    CHECK(sums_of(view) == sums{1, 3, 6, 12, 16});
    CHECK(sums_of(view) == sums{1, 3, 6, 12, 16});  // again, with an empty window
    CHECK(sums_of(waybill::views::sliding<whole>(five, {.span = 60s})) == sums_of(view));
    CHECK(ranges::to<std::vector>(view) == by_hand(five, {.span = 60s}));
    CHECK((*view.begin()).now == at(0));
    CHECK(sums_of(five | ranges::views::take(0) | waybill::views::sliding<whole>({})).empty());
}

TEST_CASE("a window is a range, and its samples can be piped into other views")
{
    using window = sliding_window<whole>;
    static_assert(ranges::random_access_range<const window>);
    static_assert(ranges::sized_range<const window>);
    window w{{.span = 300s}};
    for (const auto& s : five) w.insert(s);
    CHECK(ranges::to<std::vector>(w | ranges::views::filter([](const auto& s) {
                                      return s.value > 3;
                                  })) == series(five.begin() + 2, five.end()));
    CHECK(sums_of(w | waybill::views::sliding<whole>({.span = 60s})) == sums{1, 3, 6, 12, 16});
}

TEST_CASE("two loops over one view are independent")
{
    auto view = five | waybill::views::sliding<whole>({.span = 60s});
    auto slow = view.begin();
    auto copy = view;
    for (auto fast = copy.begin(); fast != copy.end(); ++fast) {
        if (fast->now == at(200)) CHECK(slow->sum() == 1);
    }
    ++slow;
    CHECK(slow->sum() == 3);
}

TEST_CASE("both window types give the same summaries")
{
    const auto view = [](const auto& sliding) {
        return ranges::to<std::vector>(five | sliding({.span = 60s, .max_points = 2}));
    };
    CHECK(view(waybill::views::sliding<whole>) == view(waybill::views::sliding<whole, worst_case>));
}

TEST_CASE("late samples and samples that are not inserted have a summary, too")
{
    const series odd{{at(0), 1}, {at(100), 2}, {at(90), 4}, {at(10), 8}, {at(100), 16}};
    const window_options o{.span = 60s};
    const auto answers = ranges::to<std::vector>(odd | waybill::views::sliding<whole>(o));
    CHECK(answers == by_hand(odd, o));
    CHECK(sums_of(odd | waybill::views::sliding<whole>(o)) == sums{1, 2, 6, 6, 22});
    CHECK(answers[3].now == at(100));

    const std::vector<sample<double>> wild{
        {at(0), 1.0}, {at(10), std::numeric_limits<double>::quiet_NaN()}, {at(70), 2.0}};
    std::vector<std::uint64_t> points;
    std::vector<wall_time> times;
    for (const auto& s : wild | waybill::views::sliding<stats<double>>({.span = 60s})) {
        points.push_back(s.points);
        times.push_back(s.now);
    }
    CHECK(points == std::vector<std::uint64_t>{1, 1, 1});
    // a value that is no number does not move the clock
    CHECK(times == std::vector<wall_time>{at(0), at(0), at(70)});
}

TEST_CASE("a sample beyond `ahead` is not inserted")
{
    const series all{{at(0), 1}, {at(9'999), 2}, {at(20), 4}, {at(75), 8}};
    CHECK(sums_of(all | waybill::views::sliding<whole>({.span = 60s, .ahead = 60s})) ==
          sums{1, 1, 5, 12});
    CHECK(sums_of(all | waybill::views::sliding<whole>({.span = 60s})) == sums{1, 2, 2, 2});
}

TEST_CASE("weights of weighted samples are used, and summaries that ignore them are refused")
{
    std::vector<weighted_sample<double>> all{{at(0), 2.0, 10}, {at(1), 2.0, 1}};
    std::vector<std::uint64_t> weights;
    for (const auto& s : all | waybill::views::sliding<sampled>({.span = 60s})) {
        weights.push_back(s.weight());
    }
    CHECK(weights == std::vector<std::uint64_t>{10, 11});
    using ignoring = decltype(waybill::views::sliding<stats<double>>);
    static_assert(!std::invocable<ignoring, decltype(all)&, window_options>);
    static_assert(std::invocable<ignoring, std::vector<sample<double>>&, window_options>);
    static_assert(!std::invocable<ignoring, std::vector<int>&, window_options>);
}

TEST_CASE("a single-pass range is read once, and not ahead of the loop")
{
    std::istringstream in("1 2 4 8 16");
    std::int64_t read = 0;
    auto view = ranges::istream_view<std::int64_t>(in) |
                ranges::views::transform(
                    [&read](std::int64_t v) { return sample<std::int64_t>{at(++read), v}; }) |
                waybill::views::sliding<whole>({.span = 2s});
    static_assert(ranges::input_range<decltype(view)> && !ranges::forward_range<decltype(view)>);
    CHECK(read == 0);
    auto i = view.begin();
    CHECK(read == 1);
    CHECK(i->sum() == 1);
    CHECK(i->sum() == 1);
    ++i;
    CHECK(read == 2);
    CHECK(i->sum() == 3);
    // A second loop, over a copy, continues after the elements that were read.
    auto copy = view;
    CHECK(sums_of(copy) == sums{6, 12, 24});
    CHECK(read == 5);
    CHECK(sums_of(view).empty());
    CHECK(i == view.end());
}

TEST_CASE("a loop that ends before its first access loses no sample")
{
    std::istringstream in("1 2 4");
    auto view =
        ranges::istream_view<std::int64_t>(in) |
        ranges::views::transform([](std::int64_t v) { return sample<std::int64_t>{at(v), v}; }) |
        waybill::views::sliding<whole>({.span = 1h});
    CHECK(view.begin() != view.end());
    CHECK(sums_of(view) == sums{1, 3, 7});
}

TEST_CASE("views can be piped into other views")
{
    const auto alarms = ranges::to<std::vector>(
        five | waybill::views::sliding<whole>({.span = 60s}) |
        ranges::views::filter([](const answer& s) { return *s.sum() > 5; }) |
        ranges::views::transform([](const answer& s) { return s.now; }));
    CHECK(alarms == std::vector<wall_time>{at(60), at(90), at(200)});

    std::int64_t n = 0;
    auto answers = five | waybill::views::sliding<whole>({.span = 60s});
    for (const auto& [given, summary] : ranges::views::zip(five, answers)) {
        CHECK(summary.last() == given.value);
        ++n;
    }
    CHECK(n == 5);

    const std::forward_list<sample<std::int64_t>> once(five.begin(), five.end());
    CHECK(sums_of(once | waybill::views::sliding<whole>({.span = 60s})) == sums{1, 3, 6, 12, 16});
}

TEST_CASE("samples of another clock give summaries with times of that clock")
{
    const std::vector<sample<std::int64_t, steady_time>> all{{steady_time::at(1s), 1},
                                                             {steady_time::at(2s), 2}};
    auto view = all | waybill::views::sliding<whole>({.span = 1s});
    static_assert(
        std::same_as<ranges::range_value_t<decltype(view)>, window_summary<whole, steady_time>>);
    CHECK(sums_of(view) == sums{1, 2});
}

TEST_CASE("after an exception reading continues, and no sample is repeated")
{
    bool thrown = false;
    std::istringstream in("1 2 4");
    auto view = ranges::istream_view<std::int64_t>(in) |
                ranges::views::transform([&thrown](std::int64_t v) {
                    if (v == 2 && !std::exchange(thrown, true)) throw std::runtime_error("two");
                    return sample<std::int64_t>{at(v), v};
                }) |
                waybill::views::sliding<whole>({.span = 1h});
    sums all;
    const auto loop = [&] {
        for (const auto& s : view) all.push_back(*s.sum());
    };
    CHECK_THROWS_AS(loop(), std::runtime_error);
    CHECK(all == sums{1});
    loop();
    CHECK(all == sums{1, 3, 7});
}

TEST_CASE("the guide's example: a series and its means")
{
    std::vector<double> means;

    //! [ext_sliding]
    using backlog = waybill::stats<std::int64_t>;
    for (const auto& s : five | waybill::views::sliding<backlog>({.span = 60s}))
        means.push_back(*s.mean());
    //! [ext_sliding]
    CHECK(means == std::vector<double>{1, 1.5, 3, 6, 16});
}

}  // namespace

}  // namespace sliding_test

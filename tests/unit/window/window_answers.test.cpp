// SPDX-License-Identifier: MIT
//
// The properties of a query's result; a time that is passed with a sample; and a window as a range.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/window/bins.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_snapshot.hpp>

namespace window_answers_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;

using quick = sliding_window<stats<std::int64_t>>;
using steady = sliding_window<stats<std::int64_t>, wall_time, worst_case>;
using sampled = sliding_window<weighted_stats<double>>;

constexpr wall_time at(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

}  // namespace

TEST_CASE_TEMPLATE(
    "query: a result cut by max_points is incomplete without a "
    "rate",
    W, quick, steady)
{
    W w{{.span = 60s, .max_points = 3}};
    for (const std::int64_t t : {10, 20, 30}) w.insert(at(t), t);
    CHECK(w.missing() == std::nullopt);
    CHECK(w.query(at(30)).complete());
    CHECK(*w.query(at(30)).rate() == doctest::Approx(3 / 60.0));
    w.insert(at(40), 40);
    CHECK(w.missing() == at(10));
    const auto s = w.query(at(69));
    CHECK_FALSE(s.complete());
    CHECK(s.points == 3);
    CHECK(s.mean() == 30.0);
    CHECK(s.rate() == std::nullopt);
    // At 70 the displaced sample would have expired.
    CHECK(w.query(at(70)).complete());
    CHECK(*w.query(at(70)).rate() == doctest::Approx(3 / 60.0));
    CHECK_FALSE(W{{.max_points = 1}}.query(at(0)).rate().has_value());
}

TEST_CASE_TEMPLATE("query: a late sample over max_points is missing", W, quick, steady)
{
    W w{{.span = 60s, .max_points = 2}};
    w.insert(at(50), 1);
    w.insert(at(60), 1);
    CHECK(w.insert(at(20), 1, at(61)) == insert_result::too_old);
    CHECK(w.missing() == at(20));
    CHECK_FALSE(w.query(at(61)).complete());
    CHECK(w.insert(at(55), 1) == insert_result::late);  // 50 is removed
    CHECK(w.missing() == at(50));
    CHECK_FALSE(w.query(at(109)).complete());
    CHECK(w.query(at(110)).complete());
    // Without a span, displaced samples stay missing.
    W all{{.max_points = 1}};
    all.insert(wall_time::lowest(), 1);
    all.insert(at(1), 1);
    CHECK_FALSE(all.query(wall_time::highest()).complete());
}

TEST_CASE("missing: copied, moved and compared with the window, and not stored")
{
    quick w{{.span = 60s, .max_points = 1}};
    w.insert(at(1), 1);
    w.insert(at(2), 1);
    const quick copy(w);
    CHECK(copy == w);
    CHECK(copy.missing() == at(1));
    quick moved(std::move(w));
    CHECK(moved == copy);
    quick again = *load<quick>(save(copy), copy.options());
    CHECK(again.missing() == std::nullopt);
    CHECK(again.query(at(3)).complete());
    again.missed(*copy.missing());
    CHECK_FALSE(again.query(at(3)).complete());
    again.missed(at(0));  // the newest counts
    CHECK(again.missing() == at(1));
    quick other{{.span = 60s, .max_points = 1}};
    other.missed(at(1));
    CHECK_FALSE(other == quick{other.options()});
}

TEST_CASE_TEMPLATE("insert: ahead is measured from the clock passed with the sample", W, quick,
                   steady)
{
    W timed{{.span = 60s, .max_points = 5, .ahead = 2s}};
    CHECK(timed.insert(at(1'000), 1, at(10)) == insert_result::future);  // the first one already
    CHECK(timed.clock() == at(10));
    CHECK(timed.insert(at(12), 1, at(10)) == insert_result::newest);
    CHECK(timed.insert(at(13), 1, at(10)) == insert_result::future);
    CHECK(timed.insert(at(13), 1, at(11)) == insert_result::newest);
    CHECK(timed.insert(at(13), 1, at(5)) == insert_result::newest);  // the clock does not go back
    CHECK(timed.clock() == at(11));
    CHECK(timed.losses() == window_losses{.future = 2});
    // A sample that has expired at that time is too old.
    CHECK(timed.insert(at(40), 1, at(100)) == insert_result::too_old);
    CHECK(timed.size() == 0);
    CHECK(timed.insert({at(41), 1}, at(100)) == insert_result::newest);
}

TEST_CASE("insert: ahead is measured from the clock passed with a weighted sample")
{
    sampled w{{.span = 60s, .ahead = 0s}};
    CHECK(w.insert(at(11), 1.5, 3, at(10)) == insert_result::future);
    CHECK(w.insert(at(11), 1.5, 0, at(11)) == insert_result::no_weight);
    CHECK(w.insert(at(11), 1.5, 3, at(11)) == insert_result::newest);
    CHECK(w.insert({at(11), 1.5, 2}, at(12)) == insert_result::newest);
    CHECK(w.insert(at(12), 1.0, at(12)) == insert_result::newest);
    CHECK(w.query(at(12)).weight() == 6);
}

TEST_CASE_TEMPLATE("iterator: a window is a random-access range of its samples", W, quick, steady)
{
    static_assert(std::random_access_iterator<typename W::iterator>);
    W w{{.span = 60s, .max_points = 4}};
    CHECK(w.begin() == w.end());
    for (const std::int64_t t : {10, 20, 30, 40, 50, 25}) w.insert(at(t), t);
    std::vector<std::int64_t> values;
    for (const auto& s : w) values.push_back(s.value);
    CHECK(values == std::vector<std::int64_t>{25, 30, 40, 50});
    CHECK(w.end() - w.begin() == 4);
    CHECK(w.begin()[2].value == 40);
    CHECK((w.begin() + 1)->value == 30);
    CHECK((1 + w.begin())->value == 30);
    CHECK((w.end() - 1)->value == 50);
    CHECK(w.begin() < w.end());
    auto i = w.begin();
    CHECK((i++)->value == 25);
    CHECK((++i)->value == 40);
    CHECK((i--)->value == 40);
    CHECK((--i)->value == 25);
    CHECK(i == w.begin());
    CHECK(std::find_if(w.begin(), w.end(), [](const auto& s) { return s.value == 40; }) ==
          w.begin() + 2);
}

TEST_CASE_TEMPLATE("iterator: very late samples are in the range", W, quick, steady)
{
    W w{{.span = 4'000s}};
    std::int64_t late = 0;
    for (std::int64_t t = 0; t != 5'000; ++t) {
        w.insert(at(t), t, at(t));
        if (t > 3'500 && t % 40 == 0) late += w.insert(at(t - 2'000), t) == insert_result::late;
    }
    CHECK(late == 37);
    CHECK(w.size() == 4'037);
    std::uint64_t n = 0;
    auto i = w.begin();
    for (const auto& s : w) {
        const auto ahead = static_cast<std::ptrdiff_t>(n);
        if (!(s == w[n]) || !(s == *(w.begin() + ahead)) || !(s == w.begin()[ahead]) || !(s == *i))
            FAIL_CHECK("not the sample " << n);
        if (n != 0 && s.at < w[n - 1].at) FAIL_CHECK("not in order: " << n);
        // Among samples of the same time, the late one counts as later.
        if (n != 0 && s.at == w[n - 1].at && s.value < w[n - 1].value) FAIL_CHECK("swapped: " << n);
        ++n;
        ++i;
    }
    CHECK(n == w.size());
    CHECK(i == w.end());
    while (i != w.begin()) {
        --i;
        --n;
        if (!(*i == w[n])) FAIL_CHECK("backwards, not the sample " << n);
    }
    const W copy(w);
    CHECK(copy == w);
    W moved(std::move(w));
    CHECK(moved == copy);
    CHECK(w.size() == 0);
    CHECK(w.begin() == w.end());
    CHECK(moved.query(at(5'000)).points == 4'036);
}

}  // namespace window_answers_test

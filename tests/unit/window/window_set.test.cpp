// SPDX-License-Identifier: MIT

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/config_error.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_set.hpp>

namespace window_set_test {

using namespace std::chrono_literals;
using namespace waybill;

namespace {

using window = sliding_window<stats<std::int64_t>>;
using resource_metric = std::pair<std::string, std::string>;
using set = window_set<std::string, window>;

constexpr wall_time at(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

// The minimal requirements of a key.
class plain_key {
public:
    explicit plain_key(int n) : n_(n) {}
    friend bool operator==(const plain_key& a, const plain_key& b) { return a.n_ == b.n_; }
    friend bool operator<(const plain_key& a, const plain_key& b) { return a.n_ < b.n_; }

private:
    int n_;
};

// Invalid key types: without an order, without a comparison, or without a copy.
struct unordered {
    friend bool operator==(const unordered&, const unordered&) = default;
};
struct unequal {
    friend bool operator<(const unequal&, const unequal&) { return false; }
};
struct uncopied {
    uncopied(const uncopied&) = delete;
    uncopied& operator=(const uncopied&) = delete;
    friend auto operator<=>(const uncopied&, const uncopied&) = default;
};
static_assert(detail::window_key<int> && detail::window_key<std::string> &&
              detail::window_key<resource_metric>);
static_assert(sizeof(set({})) != 0, "braces are default options, not a copy");
static_assert(detail::window_key<plain_key>);
static_assert(!detail::window_key<unordered> && !detail::window_key<unequal> &&
              !detail::window_key<uncopied>);

static_assert(!validate(window_set_options{}));
static_assert(!validate(window_set_options{.window = {.span = 10min}, .idle = 10min}));
static_assert(validate(window_set_options{.window = {.span = 10min}, .idle = 9min})->bound ==
              600'000'000'000U);
static_assert(validate(window_set_options{.idle = duration{}})->field == "idle");
static_assert(validate(window_set_options{.idle = -3s})->value == 3'000'000'000U);
static_assert(validate(window_set_options{.window = {.span = 0s}})->field == "window.span");
static_assert(validate(window_set_options{.window = {.max_points = 0}})->field ==
              "window.max_points");
static_assert(validate(window_set_options{.window = {.ahead = -1s}})->field == "window.ahead");
static_assert(validate(window_set_options{.max_keys = 0})->field == "max_keys");

std::vector<std::string> keys(const set& s)
{
    std::vector<std::string> all;
    s.for_each_window([&](const std::string& k, const window&) { all.push_back(k); });
    return all;
}
using list = std::vector<std::string>;

TEST_CASE("window_set: each key has its own window, and all share one clock")
{
    window_set<resource_metric, window> s{{.window = {.span = 10min}}};
    CHECK(s.insert({"orders", "length"}, at(10), 5) == insert_result::newest);
    CHECK(s.insert({"orders", "age"}, at(20), 70) == insert_result::newest);
    CHECK(s.insert({"mails", "length"}, at(5), 9) == insert_result::newest);
    CHECK(s.insert({"orders", "length"}, at(8), 3) == insert_result::late);
    CHECK(s.size() == 3);
    CHECK(s.query({"orders", "length"}, at(60))->sum() == 8);
    CHECK(s.query({"orders", "age"}, at(60))->highest() == 70);
    CHECK_FALSE(s.query({"mails", "age"}, at(60)).has_value());
    CHECK(s.size() == 3);

    // A time that one window gets is that of all, and does not go back.
    CHECK(s.query({"orders", "age"}, at(607))->points == 1);
    CHECK(s.query({"mails", "length"}, at(0))->now == at(607));
    CHECK(s.query({"mails", "length"}, at(0))->points == 0);
    CHECK(s.insert({"mails", "length"}, at(6), 9) == insert_result::too_old);
    CHECK(s.clock() == at(607));
}

TEST_CASE("window_set: for_each visits the keys in order")
{
    set s{{.window = {.span = 10min}}};
    for (const char* k : {"m", "b", "z", "a"}) s.insert(k, at(1), 1);
    CHECK(keys(s) == list{"a", "b", "m", "z"});
    std::string order;
    s.for_each(at(700), [&](const std::string& k, const window::summary& w) {
        order += k;
        CHECK(w.empty());
        CHECK(w.now == at(700));
    });
    CHECK(order == "abmz");
}

TEST_CASE("window_set: an idle key is removed and has no result")
{
    set s{{.window = {.span = 60s}, .idle = 100s}};
    s.insert("a", at(0), 7);
    s.insert("b", at(50), 8);
    CHECK(s.query("a", at(59))->last() == 7);
    const auto silent = s.query("a", at(99));
    REQUIRE(silent.has_value());
    CHECK(silent->empty());
    CHECK_FALSE(silent->last().has_value());
    CHECK_FALSE(s.query("a", at(100)).has_value());
    CHECK(keys(s) == list{"b"});
    CHECK(s.evict_idle(at(149)) == 0);
    s.insert("b", at(148), 9);
    CHECK(s.evict_idle(at(150)) == 0);  // it was filed under its first sample
    CHECK(s.evict_idle(at(247)) == 0);
    CHECK(s.evict_idle(at(248)) == 1);
    CHECK(s.empty());
    CHECK(s.evict_idle(at(100)) == 0);
    CHECK(s.clock() == at(248));
}

TEST_CASE("window_set: a key is not removed before its window is empty")
{
    set s{{.window = {.span = 60s}, .idle = 10s}};
    CHECK(s.options().idle == duration(60s));
    s.insert("a", at(0), 7);
    CHECK(s.query("a", at(59))->points == 1);
    CHECK_FALSE(s.query("a", at(60)).has_value());
}

TEST_CASE("window_set: a window without a span is removed with its samples")
{
    set s{{.window = {.max_points = 4}, .idle = 10s}};
    s.insert("a", at(0), 7);
    s.insert("b", at(9), 7);
    CHECK(s.query("a", at(9))->points == 1);
    CHECK_FALSE(s.query("a", at(10)).has_value());
    CHECK(s.insert("a", at(0), 7) == insert_result::too_old);
    CHECK(s.losses().too_old == 1);
    CHECK(s.insert("b", at(0), 7) == insert_result::late);
    CHECK(s.query("b", at(18))->points == 2);
    CHECK_FALSE(s.query("b", at(19)).has_value());
}

TEST_CASE("window_set: max_keys is never exceeded")
{
    set s{{.window = {.span = 60s}, .idle = 60s, .max_keys = 2}};
    CHECK(s.insert("a", at(0), 1) == insert_result::newest);
    CHECK(s.insert("b", at(30), 1) == insert_result::newest);
    CHECK_FALSE(s.insert("c", at(30), 1).has_value());
    CHECK(s.insert("a", at(1), 1) == insert_result::newest);
    CHECK(s.refused() == 1);
    CHECK_FALSE(s.query("c", at(30)).has_value());
    CHECK_FALSE(s.query("a", at(61)).has_value());
    CHECK(s.insert("c", at(61), 1) == insert_result::newest);
    CHECK(keys(s) == list{"b", "c"});
    CHECK(set{{.max_keys = 0}}.options().max_keys == 1);
}

TEST_CASE("window_set: a refused sample opens no window and is counted")
{
    window_set<std::string, sliding_window<weighted_stats<double>>> s{
        {.window = {.span = 60s, .ahead = 5s}}};
    CHECK(s.insert("a", at(0), std::numeric_limits<double>::infinity()) ==
          insert_result::not_finite);
    CHECK(s.insert("a", at(0), 1.0, 0) == insert_result::no_weight);
    CHECK(s.insert("a", at(0), 1.0, std::uint64_t{1} << 32) == insert_result::no_weight);
    CHECK(s.evict_idle(at(100)) == 0);
    CHECK(s.insert("a", at(40), 1.0) == insert_result::too_old);
    CHECK(s.insert("a", at(106), 1.0) == insert_result::future);
    CHECK(s.empty());
    CHECK(s.insert("a", at(105), 1.0, 4) == insert_result::newest);
    CHECK(s.query("a", at(105))->weight() == 4);
    CHECK(s.insert("a", at(111), 1.0, 4) == insert_result::future);
    CHECK(s.losses() == window_losses{.too_old = 1, .future = 2, .not_finite = 1, .no_weight = 2});
}

TEST_CASE("window_set: losses stay after the removal of their key")
{
    set s{{.window = {.span = 60s, .ahead = 1s}, .idle = 60s}};
    s.insert("a", at(0), 1);
    s.evict_idle(at(10));
    s.insert("a", at(50), 1);
    CHECK(s.losses().future == 1);
    CHECK(s.evict_idle(at(60)) == 1);
    CHECK(s.losses().future == 1);
}

TEST_CASE("window_set: copies are independent")
{
    set s{{.window = {.span = 60s}, .idle = 60s}};
    s.insert("a", at(0), 1);
    set copy = s;
    CHECK(copy == s);
    copy.insert("b", at(1), 1);
    CHECK(copy != s);
    CHECK(copy.evict_idle(at(60)) == 1);
    CHECK(keys(copy) == list{"b"});
    CHECK(keys(s) == list{"a"});
    set moved = std::move(copy);
    CHECK(moved.evict_idle(at(61)) == 1);
    CHECK(s.evict_idle(at(61)) == 1);
}

TEST_CASE("window_set: insert and advance set the clock")
{
    set s{{.window = {.span = 60s, .ahead = 5s}, .idle = 60s}};
    CHECK(s.insert("a", at(1'000), 1, at(10)) == insert_result::future);
    CHECK(s.empty());  // and so it opened no window
    CHECK(s.insert("a", at(10), 1, at(10)) == insert_result::newest);
    CHECK(s.insert("b", {at(15), 1}, at(12)) == insert_result::newest);
    CHECK(s.insert("b", at(18), 1, at(12)) == insert_result::future);
    CHECK(s.clock() == at(12));
    s.advance(at(70));
    CHECK(keys(s) == list{"b"});
    CHECK(s.insert("b", at(71), 1, at(75)) == insert_result::newest);
    CHECK(s.query("b", at(75))->points == 1);
    window_set<int, sliding_window<weighted_stats<double>>> weights;
    CHECK(weights.insert(1, at(1), 0.5, 3, at(1)) == insert_result::newest);
    CHECK(weights.insert(1, at(1), 0.5, 0, at(1)) == insert_result::no_weight);
    CHECK(weights.query(1, at(1))->weight() == 3);
}

TEST_CASE("window_set: merge adds a stored window, and combines windows of one key")
{
    set s{{.window = {.span = 60s}, .idle = 100s, .max_keys = 1}};
    window stored{{.span = 10min}};
    stored.insert(at(10), 1);
    stored.insert(at(80), 2);
    stored.advance(at(90));
    CHECK(s.merge("a", stored));
    CHECK(s.clock() == at(90));
    CHECK(s.query("a", at(90))->points == 1);  // the span is that of the set
    CHECK(s.find("a")->options() == s.options().window);
    CHECK(s.find("b") == nullptr);

    window other{{.span = 60s}};
    other.insert(at(85), 5);
    CHECK(s.merge("a", other));
    CHECK(s.query("a", at(90))->sum() == 7);
    CHECK_FALSE(s.merge("b", other));
    CHECK(s.merge("b", window{}));  // no samples, no key
    CHECK(s.size() == 1);
    CHECK(s.evict_idle(at(184)) == 0);
    CHECK(s.evict_idle(at(185)) == 1);

    // A window that was stored long ago is empty after loading, and not stale.
    CHECK(s.merge("a", stored));
    CHECK(s.empty());
    CHECK_FALSE(s.query("a", at(0)).has_value());
}

TEST_CASE("window_set: a key needs only a comparison")
{
    window_set<plain_key, window> s{{.window = {.span = 60s}, .idle = 60s}};
    s.insert(plain_key(2), at(1), 1);
    s.insert(plain_key(1), at(1), 1);
    CHECK(s.query(plain_key(1), at(1))->points == 1);
    const auto copy = s;
    CHECK(copy == s);
    CHECK(s.evict_idle(at(61)) == 2);
}

TEST_CASE("window_set: the lowest and highest times are valid")
{
    set s{{.window = {.span = 60s}, .idle = 60s}};
    CHECK(s.insert("a", wall_time::lowest(), 1) == insert_result::newest);
    CHECK(s.query("a", wall_time::lowest())->points == 1);
    CHECK(s.insert("b", wall_time::highest(), 1) == insert_result::newest);
    CHECK(s.query("b", wall_time::lowest())->points == 0);
    CHECK(s.evict_idle(at(0)) == 1);
    CHECK(s.query("b", wall_time::highest())->points == 1);
    set for_ever{{}};
    for_ever.insert("a", wall_time::lowest(), 1);
    CHECK(for_ever.query("a", wall_time::highest())->points == 1);
}

TEST_CASE("window_set: a key is removed if its only sample is too far ahead of a later clock")
{
    set s{{.window = {.span = 60s, .ahead = 60s}, .idle = 3'600s, .max_keys = 1}};
    CHECK(s.insert("a", at(1'000'000), 1) == insert_result::newest);
    CHECK(!s.insert("b", at(10), 1));
    CHECK(s.evict_idle(at(10)) == 1);
    CHECK(s.insert("b", at(10), 1) == insert_result::newest);
    CHECK(s.query("b", at(10))->points == 1);
    CHECK(!s.query("a", at(10)));
}

TEST_CASE("window_set: keys used once are removed while a busy key stays")
{
    set s{{.window = {.span = 10s}, .idle = 30s, .max_keys = 100}};
    for (int t = 0; t != 2'000; ++t) {
        s.insert("busy", at(t), t);
        s.insert("once " + std::to_string(t), at(t), t);
        const auto answer = s.query("busy", at(t));
        REQUIRE(answer.has_value());
        CHECK(answer->points == (t < 10 ? static_cast<std::uint64_t>(t) + 1 : 10U));
        CHECK(s.size() <= 31);
    }
    CHECK(s.refused() == 0);
}

}  // namespace

}  // namespace window_set_test

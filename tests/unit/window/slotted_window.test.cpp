// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/core/config_error.hpp>
#include <waybill/window/log_histogram.hpp>
#include <waybill/window/slotted_window.hpp>

namespace slotted_window_test {

using namespace waybill;

namespace {

constexpr wall_time at(std::int64_t seconds)
{
    return wall_time::at(duration::seconds(seconds));
}

constexpr slot_options ten_minutes{.span = duration::seconds(600), .width = duration::seconds(60)};

using window = slotted_window<log_histogram<10>>;

// A sketch without weights and without a default constructor.
class count_above {
public:
    explicit count_above(double limit) : limit_(limit) {}
    void add(double v) { n_ += v > limit_ ? 1 : 0; }
    void merge(const count_above& o) { n_ += o.n_; }
    std::optional<double> quantile(double) { return n_; }

private:
    double limit_;
    int n_ = 0;
};

}  // namespace

static_assert(sizeof(window({})) != 0, "braces are default options, not a copy");
static_assert(!validate(slot_options{}) && !validate(ten_minutes));
static_assert(validate(slot_options{.span = duration{}})->field == "span");
static_assert(validate(slot_options{.width = duration{}})->field == "width");
static_assert(validate(slot_options{.width = duration::seconds(-1)})->negative);
static_assert(validate(slot_options{.span = duration::seconds(30)})->field == "width");
static_assert(validate(slot_options{.width = duration::nanoseconds(1)})->bound == 54'931'641);
static_assert(!validate(slot_options{.width = duration::nanoseconds(54'931'641)}));
static_assert(validate(slot_options{.span = duration::highest()})->field == "width");

TEST_CASE("slotted_window: at slot boundaries the result covers exactly the span")
{
    window w(ten_minutes);
    CHECK(!w.quantile(0.5, at(0)));
    for (std::int64_t t = 60; t <= 1'200; t += 60) {
        CHECK(w.insert(at(t), static_cast<double>(t), at(t)) == insert_result::newest);
        const auto s = w.query(at(t));
        CHECK(s.points() == static_cast<std::uint64_t>(t < 600 ? t / 60 : 10));
        CHECK(s.lowest() == static_cast<double>(t < 600 ? 60 : t - 540));
        CHECK(s.highest() == static_cast<double>(t));
    }
}

TEST_CASE("slotted_window: a moved-from window is empty and may be used")
{
    window w({.span = duration::seconds(600), .width = duration::seconds(60)});
    w.insert(at(1), 5, at(1));
    window other = std::move(w);
    CHECK(other.quantile(0.5, at(1)).has_value());
    CHECK(w.insert(at(2), 5, at(2)) == insert_result::too_old);  // NOLINT: on purpose
    CHECK(!w.quantile(0.5, at(2)));
    w = other;
    CHECK(w.quantile(0.5, at(1)).has_value());

    log_histogram<> h;
    for (int n = 0; n != 100; ++n) h.add(100.0);
    const log_histogram<> taken = std::move(h);
    CHECK(taken.points() == 100);
    CHECK(h == log_histogram<>());
    h.add(1.0);
    CHECK(h.quantile(0.5) == 1.0);
}

TEST_CASE("slotted_window: between slot boundaries, up to one slot more is included")
{
    window w(ten_minutes);
    w.insert(at(61), 1, at(61));            // in (60, 120]
    CHECK(w.query(at(661)).points() == 1);  // has just expired, its slot has not
    CHECK(w.query(at(719)).points() == 1);
    CHECK(w.query(at(720)).points() == 0);                          // the whole slot has
    CHECK(w.insert(at(780), 2, at(725)) == insert_result::newest);  // the slot of now
    CHECK(w.query(at(726)).points() == 1);
    CHECK(w.insert(at(781), 3, at(726)) == insert_result::newest);  // the one after it waits
    CHECK(w.query(at(780)).points() == 1);
    CHECK(w.query(at(781)).points() == 2);
}

TEST_CASE("slotted_window: insert reports late, too old and future samples")
{
    window w(ten_minutes);
    CHECK(w.insert(at(601), 1, at(1'200)) == insert_result::late);
    CHECK(w.insert(at(600), 1, at(1'200)) == insert_result::too_old);
    CHECK(w.insert(at(1'261), 1, at(1'200)) == insert_result::future);
    CHECK(w.insert(wall_time::highest(), 1, at(1'200)) == insert_result::future);
    CHECK(w.insert(wall_time::lowest(), 1, at(1'200)) == insert_result::too_old);
    CHECK(w.insert(at(1'200), std::numeric_limits<double>::infinity(), at(1'200)) ==
          insert_result::not_finite);
    CHECK(w.insert(at(1'200), 1, 0, at(1'200)) == insert_result::no_weight);
    CHECK(w.insert(at(1'200), 2, 3, at(1'200)) == insert_result::newest);
    CHECK(w.losses() == window_losses{.too_old = 2, .future = 2, .not_finite = 1, .no_weight = 1});
    CHECK(w.query(at(1'200)).points() == 2);
    CHECK(w.query(at(1'200)).weight() == 4);
    CHECK(w.quantile(0.25, at(1'200)) == 1.0);
}

TEST_CASE("slotted_window: no sample is stale after a long gap")
{
    window w(ten_minutes);
    w.insert(at(100), 1, at(100));
    CHECK(w.quantile(0.5, at(100)) == 1.0);
    CHECK(!w.quantile(0.5, at(100'000'000)));
    CHECK(!w.quantile(0.5, at(100)));  // the clock went back, and restores nothing
    CHECK(w.insert(at(100), 1, at(100)) == insert_result::too_old);
    CHECK(w.insert(at(100'000'000), 5, at(99'999'999)) == insert_result::newest);
    CHECK(w.quantile(0.5, at(100'000'000)) == 5.0);
    CHECK(w.clock() == at(100'000'000));
}

TEST_CASE("slotted_window: the first and last times and times before the epoch are valid")
{
    for (const slot_options& o : {ten_minutes, slot_options{duration::nanoseconds(1), duration{}},
                                  slot_options{duration::highest(), duration::highest()},
                                  slot_options{duration::lowest(), duration::lowest()}}) {
        window first(o), last(o);
        CHECK(!first.quantile(0.5, wall_time::lowest()));
        CHECK(last.insert(wall_time::highest(), 1, wall_time::highest()) == insert_result::newest);
        CHECK(last.quantile(0.5, wall_time::highest()) == 1.0);
        CHECK(!validate(last.options()));
    }
    window w(ten_minutes);
    for (std::int64_t t = -1'200; t <= 1'200; t += 60) {
        w.insert(at(t), static_cast<double>(t), at(t));
        CHECK(w.query(at(t)).points() == static_cast<std::uint64_t>(t < -600 ? t / 60 + 21 : 10));
    }
}

TEST_CASE("slotted_window: a user-defined sketch is accepted")
{
    slotted_window<count_above, steady_time> w({}, count_above(10));
    const auto when = [](std::int64_t s) { return steady_time::at(duration::seconds(s)); };
    w.insert(when(1), 5, when(1));
    w.insert(when(2), 15, when(2));
    w.insert(when(62), 25, when(62));
    CHECK(w.quantile(0.5, when(62)) == 2.0);
    CHECK(w.quantile(0.5, when(3'661)) == 1.0);
}

TEST_CASE("slotted_window: copies are independent")
{
    window a(ten_minutes);
    a.insert(at(1), 1, at(1));
    window b = a;
    CHECK(a == b);
    b.insert(at(2), 2, at(2));
    CHECK(!(a == b));
    CHECK(a.query(at(2)).points() == 1);
}

}  // namespace slotted_window_test

// SPDX-License-Identifier: MIT
//
// The cost of a window, in combinations of measures. And a user's measure that depends on the
// order: it gets the samples in order, also late ones.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/window/sliding_window.hpp>

namespace window_costs_test {

using waybill::amortised;
using waybill::duration;
using waybill::measure;
using waybill::sliding_window;
using waybill::wall_time;
using waybill::window_options;
using waybill::worst_case;

namespace {

std::uint64_t combined = 0;

// Counts the calls of combine.
struct counting {
    using value_type = int;
    std::uint64_t points = 0;

    static counting identity() { return {}; }
    template <class S>
    static counting of(const S&)
    {
        return {1};
    }
    static counting combine(const counting& a, const counting& b)
    {
        ++combined;
        return {a.points + b.points};
    }
};
static_assert(measure<counting>);

// The same, with an explicit value for "depends on the order". False is the default.
template <bool Any>
struct counting_in : counting {
    static constexpr bool commutative = Any;
    static constexpr bool weighted = false;

    static counting_in identity() { return {}; }
    template <class S>
    static counting_in of(const S& s)
    {
        return {counting::of(s)};
    }
    static counting_in combine(const counting_in& a, const counting_in& b)
    {
        return {counting::combine(a, b)};
    }
};
using in_any_order = counting_in<true>;
using in_one_order = counting_in<false>;
static_assert(measure<in_any_order> && !sliding_window<in_any_order>::weighted);

// The values, one after the other.
struct letters {
    using value_type = char;
    std::string text;

    static letters identity() { return {}; }
    template <class S>
    static letters of(const S& s)
    {
        return {std::string(1, s.value)};
    }
    static letters combine(const letters& a, const letters& b) { return {a.text + b.text}; }
};
static_assert(measure<letters>);

constexpr wall_time at(std::int64_t n)
{
    return wall_time::at(duration::nanoseconds(n));
}

struct cost {
    std::uint64_t all = 0;
    std::uint64_t dearest_sample = 0;
    std::uint64_t dearest_advance = 0;
    std::uint64_t dearest_answer = 0;
    std::uint64_t steps = 0;
};

std::uint64_t price(std::uint64_t& dearest, std::uint64_t before)
{
    const std::uint64_t n = combined - before;
    if (n > dearest) dearest = n;
    return n;
}

// One sample is added, one expires, one query, `steps` times after the window is full.
template <class W>
cost in_order(std::int64_t span, std::int64_t steps)
{
    W w{{.span = duration::nanoseconds(span)}};
    for (std::int64_t n = 0; n != span; ++n) w.insert(at(n), 1);
    w.advance(at(span - 1));
    cost c;
    for (std::int64_t n = span; n != span + steps; ++n) {
        const std::uint64_t a = combined;
        w.insert(at(n), 1);
        c.all += price(c.dearest_sample, a);
        const std::uint64_t b = combined;
        w.advance(at(n));
        c.all += price(c.dearest_advance, b);
        const std::uint64_t q = combined;
        CHECK(w.query(at(n)).points == static_cast<std::uint64_t>(span));
        c.all += price(c.dearest_answer, q);
        ++c.steps;
    }
    return c;
}

using quick = sliding_window<counting, wall_time, amortised>;
using steady = sliding_window<counting, wall_time, worst_case>;

double a_step(const cost& c)
{
    return static_cast<double>(c.all) / static_cast<double>(c.steps);
}

}  // namespace

TEST_CASE("window costs: insert, expire and query take three combinations on average")
{
    for (const std::int64_t span : {1, 2, 3, 10, 64, 100, 1'000}) {
        const cost c = in_order<quick>(span, 10 * span + 90);
        // A measurement that starts within a round may include a part of the next one.
        CHECK(c.all <= 3 * c.steps + static_cast<std::uint64_t>(span));
        CHECK(c.dearest_answer <= 1);
        CHECK(c.dearest_sample == 1);
        MESSAGE("amortised, ", span, " samples: ", a_step(c), " a step, dearest ",
                c.dearest_advance);
    }
    // Over whole rounds it is exactly three.
    const cost c = in_order<quick>(100, 20'000);
    CHECK(a_step(c) <= 3.0);
}

TEST_CASE("window costs: worst_case has a constant bound for each operation")
{
    for (const std::int64_t span : {1, 2, 3, 4, 5, 10, 64, 100, 1'000}) {
        const cost c = in_order<steady>(span, 10 * span + 90);
        CHECK(c.dearest_sample <= 3);
        CHECK(c.dearest_advance <= 2);
        CHECK(a_step(c) <= 4.05);
        CHECK(c.dearest_answer <= 1);
        MESSAGE("worst case, ", span, " samples: ", a_step(c), " a step, dearest ",
                c.dearest_sample, " + ", c.dearest_advance, " + ", c.dearest_answer);
    }
}

TEST_CASE("window costs: worst_case with max_points takes at most 5 combinations an insert")
{
    steady w{{.max_points = 37}};
    std::uint64_t dearest = 0;
    for (std::int64_t n = 0; n != 1'000; ++n) {
        const std::uint64_t before = combined;
        w.insert(at(n), 1);
        price(dearest, before);
    }
    CHECK(dearest <= 5);
    CHECK(w.query(at(1'000)).points == 37);
}

TEST_CASE("window costs: worst_case takes at most two combinations an expired sample")
{
    for (std::int64_t gone = 0; gone <= 64; ++gone) {
        steady w{{.span = duration::nanoseconds(64)}};
        for (std::int64_t n = 0; n != 64; ++n) w.insert(at(n), 1);
        const std::uint64_t before = combined;
        w.advance(at(63 + gone));
        CHECK(combined - before <= 2 * static_cast<std::uint64_t>(gone));
        CHECK(w.query(at(63 + gone)).points == static_cast<std::uint64_t>(64 - gone));
    }
}

TEST_CASE("window costs: a far jump forward costs at most one combination a sample")
{
    sliding_window<counting> w{{.span = duration::nanoseconds(10)}};
    for (std::int64_t n = 0; n != 10; ++n) w.insert(at(n), 1);
    const std::uint64_t before = combined;
    CHECK(w.query(wall_time::highest()).points == 0);
    CHECK(combined - before <= 10);
}

TEST_CASE_TEMPLATE("window costs: without order, a late sample takes at most 3 combinations", W,
                   sliding_window<in_any_order, wall_time, amortised>,
                   sliding_window<in_any_order, wall_time, worst_case>)
{
    W w{{.span = duration::nanoseconds(1'000)}};
    for (std::int64_t n = 0; n != 100; ++n) w.insert(at(2 * n), 1);
    std::uint64_t dearest = 0;
    for (std::int64_t n = 0; n != 20; ++n) {
        const std::uint64_t before = combined;
        w.insert(at(197 - n), 1);
        price(dearest, before);
    }
    CHECK(dearest <= 3);
    CHECK(w.query(at(200)).points == 120);
}

TEST_CASE("window costs: a sample late within the newer part takes one combination")
{
    sliding_window<in_any_order> w{{.span = duration::nanoseconds(100)}};
    for (std::int64_t n = 0; n != 20; ++n) w.insert(at(2 * n), 1);
    w.advance(at(100));  // one has expired, and all others have become the older part
    for (std::int64_t n = 20; n != 30; ++n) w.insert(at(2 * n), 1);
    const std::uint64_t before = combined;
    w.insert(at(39), 1);  // before the oldest of the newer part
    CHECK(combined - before == 1);
    w.insert(at(37), 1);  // in the older part
    CHECK(combined - before > 20);
    CHECK(w.query(at(100)).points == 31);
}

// Every second sample is late: by `lag`, or by any time up to it.
template <class W>
double combined_each(std::int64_t size, std::int64_t lag, bool any)
{
    W w{{.span = duration::nanoseconds(size)}};
    std::uint64_t before = 0;
    for (std::int64_t n = 0; n != 6 * size; ++n) {
        if (n == 2 * size) before = combined;
        const std::int64_t behind = any ? (n * 7'919) % lag : lag;
        w.insert(at(n % 2 == 0 ? n : n - behind), 1, at(n));
        if (w.query(at(n)).points > static_cast<std::uint64_t>(size)) FAIL("too many");
    }
    return static_cast<double>(combined - before) / static_cast<double>(4 * size);
}

TEST_CASE_TEMPLATE("window costs: a very late sample takes O(log n) combinations", W,
                   sliding_window<in_any_order, wall_time, amortised>,
                   sliding_window<in_any_order, wall_time, worst_case>)
{
    const std::int64_t largest = tests_support::rounds(10'000, 100'000);
    for (std::int64_t size = 100; size <= largest; size *= 10) {
        const std::int64_t lags[] = {1, 10, size / 4, size / 2, size - size / 10, size - 1};
        for (const std::int64_t lag : lags) {
            for (const bool any : {false, true}) {
                CAPTURE(size);
                CAPTURE(lag);
                CAPTURE(any);
                CHECK(combined_each<W>(size, lag, any) <= 8 + std::log2(static_cast<double>(size)));
            }
        }
    }
}

TEST_CASE_TEMPLATE("window costs: a late sample recomputes all if order may matter", W,
                   sliding_window<counting>, sliding_window<in_one_order>)
{
    W w{{.span = duration::nanoseconds(1'000)}};
    for (std::int64_t n = 0; n != 100; ++n) w.insert(at(2 * n), 1);
    const std::uint64_t before = combined;
    w.insert(at(197), 1);
    CHECK(combined - before == 101);
    CHECK(w.query(at(200)).points == 101);
}

TEST_CASE_TEMPLATE("window costs: a stream that replaces each newest sample is linear", W,
                   sliding_window<counting, wall_time, amortised>,
                   sliding_window<counting, wall_time, worst_case>,
                   sliding_window<in_any_order, wall_time, amortised>,
                   sliding_window<in_any_order, wall_time, worst_case>)
{
    for (const std::int64_t span : {1, 2, 10, 100, 3'000}) {
        W w{{.span = duration::nanoseconds(span),
             .on_equal_time = window_options::equal_time::replace}};
        const std::int64_t steps = 10 * span + 1'000;
        const std::uint64_t before = combined;
        for (std::int64_t n = 0; n != steps; ++n) {
            w.insert(at(n), 1, at(n));
            CHECK(w.insert(at(n), 1, at(n)) == waybill::insert_result::replaced);
            CHECK(w.insert(at(n), 1, at(n)) == waybill::insert_result::replaced);
        }
        const double each = static_cast<double>(combined - before) / static_cast<double>(steps);
        MESSAGE(span, " samples, each inserted three times: ", each, " a sample");
        CHECK(each <= 9.0);
        CHECK(w.query(at(steps - 1)).points == static_cast<std::uint64_t>(span));
    }
}

TEST_CASE_TEMPLATE("window costs: replacing the newest sample takes at most one combination", W,
                   sliding_window<counting, wall_time, amortised>,
                   sliding_window<counting, wall_time, worst_case>)
{
    W w{{.span = duration::nanoseconds(1'000),
         .on_equal_time = window_options::equal_time::replace}};
    for (std::int64_t n = 0; n != 100; ++n) w.insert(at(2 * n), 1);
    w.insert(at(198), 1);  // may recompute all
    const std::uint64_t before = combined;
    for (int n = 0; n != 50; ++n) w.insert(at(198), n);
    CHECK(combined - before == 50);
    for (int n = 0; n != 50; ++n) w.insert(at(198), 49);  // the same sample again
    CHECK(combined - before == 50);
}

TEST_CASE_TEMPLATE("window costs: samples ahead of the clock keep the average cost constant", W,
                   sliding_window<counting, wall_time, amortised>,
                   sliding_window<counting, wall_time, worst_case>)
{
    // One far ahead; samples whose clock is always ahead by the same time; and one that is ahead at
    // times.
    for (const std::int64_t span : {10, 100, 3'000}) {
        for (const int kind : {0, 1, 2}) {
            W w{{.span = duration::nanoseconds(span)}};
            const std::int64_t steps = 10 * span + 1'000;
            if (kind == 0) w.insert(at(1'000'000), 1);
            const std::uint64_t before = combined;
            for (std::int64_t n = 0; n != steps; ++n) {
                const std::int64_t ahead = kind == 1 ? 3 : kind == 2 && n % 50 == 0 ? 20 : 0;
                w.insert(at(n + ahead), 1);
                CHECK(w.query(at(n)).points <= static_cast<std::uint64_t>(span + 1));
            }
            const double each = static_cast<double>(combined - before) / static_cast<double>(steps);
            MESSAGE(span, " samples, some of the future: ", each, " a step");
            CHECK(each <= 12.0);
        }
    }
}

TEST_CASE_TEMPLATE("window costs: samples ahead of the clock are not measured before their time", W,
                   sliding_window<letters, wall_time, amortised>,
                   sliding_window<letters, wall_time, worst_case>)
{
    W w{{.span = duration::nanoseconds(10),
         .max_points = 6,
         .on_equal_time = window_options::equal_time::replace}};
    for (const char c : {'a', 'b'}) w.insert(at(c), c);
    w.insert(at('m'), 'm');
    CHECK(w.query(at('c')).text == "ab");
    w.insert(at('l'), 'l');  // late, and of the future
    w.insert(at('c'), 'c');  // late, and due
    CHECK(w.query(at('c')).text == "abc");
    w.insert(at('m'), 'M');  // replaced before its time
    w.insert(at('c'), 'C');
    CHECK(w.query(at('d')).text == "abC");
    w.insert(at('n'), 'n');
    CHECK(w.query(at('d')).text == "abC");
    w.insert(at('o'), 'o');  // no space: a is removed
    CHECK(w.query(at('d')).text == "bC");
    CHECK(w.query(at('l')).text == "Cl");
    CHECK(w.query(at('m')).text == "lM");
    CHECK(w.query(at('n')).text == "lMn");
    // due samples are removed for them
    for (const char c : {'p', 'q', 'r', 's', 't'}) w.insert(at(c), c);
    CHECK(w.size() == 6);
    CHECK(w.query(at('n')).text == "");
    w.insert(at('u'), 'u');  // and now a waiting sample
    CHECK(w.query(at('n')).text == "");
    CHECK(w.query(at('p')).text == "p");
    CHECK(w.query(at('z')).text == "qrstu");
}

TEST_CASE_TEMPLATE("window costs: a measure gets its samples in order, late ones included", W,
                   sliding_window<letters, wall_time, amortised>,
                   sliding_window<letters, wall_time, worst_case>)
{
    const auto letter = [](std::int64_t n) { return static_cast<char>('a' + n); };
    // Every position among ten for a late sample, after any number of expired ones.
    for (std::int64_t gone = 0; gone != 10; ++gone) {
        for (std::int64_t late = 0; late != 20; ++late) {
            W w{{.span = duration::nanoseconds(20)}};
            std::string expected;
            for (std::int64_t n = 0; n != 10; ++n) w.insert(at(2 * n), letter(n));
            for (std::int64_t n = gone; n != 10; ++n) {
                if (2 * n - 1 == late && late > 2 * (gone - 1)) expected += 'X';
                if (2 * n == late) {
                    expected += letter(n);
                    expected += 'X';
                    continue;
                }
                expected += letter(n);
            }
            if (late == 19 && gone != 0) expected += 'X';   // or it is a nanosecond ahead
            const wall_time now = at(20 + 2 * (gone - 1));  // those up to 2 * (gone - 1) have gone
            w.advance(now);
            w.insert(at(late), 'X');
            CHECK(w.query(now).text == expected);
        }
    }
    // And with equal times: in the order of insertion.
    W w;
    for (const char c : {'a', 'b'}) w.insert(at(1), c);
    w.insert(at(5), 'z');
    for (const char c : {'c', 'd'}) w.insert(at(1), c);
    w.insert(at(0), '0');
    CHECK(w.query(at(9)).text == "0abcdz");
    CHECK(w.query(at(9)).text == "0abcdz");
    W replaced{{.on_equal_time = window_options::equal_time::replace}};
    for (const char c : {'a', 'b', 'c'}) replaced.insert(at(c), c);
    replaced.insert(at('b'), 'B');
    replaced.insert(at('c'), 'C');
    CHECK(replaced.query(at(1'000)).text == "aBC");
    // Samples in the future are not included yet.
    CHECK(replaced.query(at(1'000)).now == at(1'000));
    replaced.insert(at(2'000), 'F');
    CHECK(replaced.query(at(1'500)).text == "aBC");
    CHECK(replaced.query(at(2'000)).text == "aBCF");
}

}  // namespace window_costs_test

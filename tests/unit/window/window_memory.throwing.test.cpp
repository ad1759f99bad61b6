// SPDX-License-Identifier: MIT
//
// Memory: with a limit of points, none after the constructor; without one, none after warm-up. If
// there is no memory, nothing changes.

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_set.hpp>

namespace window_memory_test {

using waybill::amortised;
using waybill::duration;
using waybill::sliding_window;
using waybill::stats;
using waybill::wall_time;
using waybill::weighted_sample;
using waybill::window_set;
using waybill::worst_case;

using waybill::detail::stored_measure;

using tests_support::scarce::bytes;
using tests_support::scarce::left;
using tests_support::scarce::plenty;
using tests_support::scarce::taken;

namespace {

constexpr wall_time at(std::int64_t n)
{
    return wall_time::at(duration::nanoseconds(n));
}

using quick = sliding_window<stats<std::int64_t>, wall_time, amortised>;
using steady = sliding_window<stats<std::int64_t>, wall_time, worst_case>;

template <class W>
void busy(W& w, std::int64_t from, std::int64_t to)
{
    for (std::int64_t n = from; n != to; ++n) {
        w.insert(at(n), n);
        w.insert(at(n - 5), n);
        w.insert(at(n - 500), n);
        if (w.query(at(n)).empty()) FAIL("empty");
    }
}

}  // namespace

static_assert(sizeof(quick::sample_type) == 16);
static_assert(sizeof(sliding_window<stats<double>>::sample_type) == 16);
static_assert(sizeof(weighted_sample<float>) == 16);

TEST_CASE_TEMPLATE("window memory: with max_points, no allocation after the constructor", W, quick,
                   steady)
{
    for (const std::uint64_t most : {1U, 15U, 16U, 17U, 100U}) {
        W w{{.span = duration::nanoseconds(60), .max_points = most}};
        const std::uint64_t before = taken;
        busy(w, 0, 1'000);
        W moved(std::move(w));
        busy(moved, 1'000, 1'100);
        CHECK(taken == before);
    }
}

TEST_CASE_TEMPLATE("window memory: no allocation after the first span", W, quick, steady)
{
    W w{{.span = duration::nanoseconds(60)}};
    busy(w, 0, 100);
    const std::uint64_t before = taken;
    busy(w, 100, 2'000);
    CHECK(taken == before);
}

TEST_CASE_TEMPLATE("window memory: 16 bytes, a stored measure and 1/16 of a node for each sample",
                   W, quick, steady)
{
    // Without the ends of the samples. A node has the whole measure.
    constexpr std::uint64_t each = 16 + sizeof(stored_measure<stats<std::int64_t>>);
    constexpr std::uint64_t node = 32 + sizeof(stats<std::int64_t>);
    static_assert(each == 16 + 7 * 8);
    for (const std::uint64_t most : {1U, 7U, 63U, 64U, 600U, 4'096U, 5'000U}) {
        CAPTURE(most);
        const std::uint64_t before = bytes;
        W w{{.max_points = most}};
        const std::uint64_t nodes = most < 64 ? 0 : most / 16 + 1;
        CHECK(bytes - before == most * each + nodes * node);
        W moved(std::move(w));
        const std::uint64_t moved_bytes = bytes;
        w.insert(at(1), 1);  // a moved-from window allocates its memory again at once
        CHECK(bytes - moved_bytes == most * each);
    }
}

TEST_CASE_TEMPLATE("window memory: a very late sample without memory changes nothing", W, quick,
                   steady)
{
    W w{{.span = duration::nanoseconds(2'000)}};
    int failures = 0;
    for (std::int64_t n = 0; n != 4'000; ++n) {
        w.insert(at(n), n, at(n));
        const std::int64_t late = n - (n * 7'919) % 1'900;
        if (late < 0) continue;
        const W before(w);
        left = n % 2 == 0 ? 0 : plenty;
        bool failed = false;
        try {
            w.insert(at(late), 1);
        } catch (const std::bad_alloc&) {
            failed = true;
        }
        left = plenty;
        failures += failed;
        if (failed && !(w == before)) FAIL_CHECK("changed at " << n);
        const auto s = w.query(at(n));
        if (s.points != before.size() + (failed ? 0 : 1)) FAIL_CHECK("wrong at " << n);
    }
    CHECK(failures > 3);
}

TEST_CASE_TEMPLATE("window memory: a failed insert or assignment changes nothing", W, quick, steady)
{
    const auto fails = [](std::uint64_t after, auto&& f) {
        left = after;
        bool failed = false;
        try {
            f();
        } catch (const std::bad_alloc&) {
            failed = true;
        }
        left = plenty;
        return failed;
    };
    for (std::uint64_t after = 0; after != 2; ++after) {
        W w{{.span = duration::nanoseconds(1'000)}};
        W large{{.span = duration::nanoseconds(5'000)}};
        for (std::int64_t n = 0; n != 16; ++n) w.insert(at(2 * n), n);
        for (std::int64_t n = 0; n != 99; ++n) large.insert(at(n), n);
        const W before(w);
        const W large_before(large);
        CHECK(fails(after, [&] { w.insert(at(100), 1); }));
        CHECK(w == before);
        CHECK(fails(after, [&] { w.insert(at(5), 1); }));
        CHECK(w == before);
        CHECK(fails(after, [&] { w = large; }));
        CHECK(w == before);
        CHECK(*w.query(at(50)).sum() == 120);
        CHECK(fails(after, [&] { large = w; }));
        CHECK(large == large_before);
        CHECK(*large.query(at(98)).sum() == 99 * 49);
        CHECK(fails(after, [&] { const W copy(large); }));
        CHECK(!fails(after, [&] { const W moved(std::move(large)); }));
    }
}

TEST_CASE("window memory: a failed assignment of a window_set changes nothing")
{
    using set = window_set<int, quick>;
    const waybill::window_set_options o{.window = {.span = duration::seconds(1)},
                                        .idle = duration::seconds(1)};
    set from{o};
    set into{o};
    for (int key = 0; key != 5; ++key) from.insert(key, at(key), key, at(5));
    into.insert(7, at(3), 7, at(4));
    const set before(into);
    std::uint64_t failed = 0;
    for (std::uint64_t after = 0;; ++after) {
        left = after;
        bool thrown = false;
        try {
            into = from;
        } catch (const std::bad_alloc&) {
            thrown = true;
        }
        left = plenty;
        if (!thrown) break;
        ++failed;
        CHECK(into == before);
        CHECK(into.query(7, at(4))->points == 1);
    }
    CHECK(failed >= 10);  // a node and two blocks for each key, and one to be filed
    CHECK(into == from);
    CHECK(into.evict_idle(at(1'000'000'004)) == 5);
}

}  // namespace window_memory_test

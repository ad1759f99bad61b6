// SPDX-License-Identifier: MIT
//
// Slots against a list of all accepted samples.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/window/log_histogram.hpp>
#include <waybill/window/slotted_window.hpp>

namespace slotted_window_prop {

using namespace waybill;

namespace {

struct taken {
    std::int64_t at;
    double value;
    std::uint64_t weight;
};

// The end of the slot of a time, found by a search.
std::int64_t end_of_slot(std::int64_t at, std::int64_t width)
{
    std::int64_t end = at;
    while (end % width != 0) ++end;
    return end;
}

void agrees()
{
    const auto ns = [](std::int64_t n) { return wall_time::at(duration::nanoseconds(n)); };
    const auto width = *rc::gen::inRange<std::int64_t>(1, 12);
    const auto span = width + *rc::gen::inRange<std::int64_t>(0, 70);
    slotted_window<log_histogram<2>> w(
        {.span = duration::nanoseconds(span), .width = duration::nanoseconds(width)});
    std::vector<taken> all;
    std::int64_t clock = *rc::gen::inRange<std::int64_t>(-200, 200);
    w.advance(ns(clock));
    for (int i = 0; i != 80; ++i) {
        const auto now = clock + *rc::gen::inRange<std::int64_t>(-5, *rc::gen::element(3, 10, 100));
        clock = std::max(clock, now);
        const std::int64_t at = now + *rc::gen::inRange<std::int64_t>(-100, 40);
        const auto value = static_cast<double>(*rc::gen::inRange(-50, 50));
        const auto weight = *rc::gen::inRange<std::uint64_t>(1, 5);

        const std::int64_t end = end_of_slot(at, width);
        const insert_result what = w.insert(ns(at), value, weight, ns(now));
        if (end <= clock - span) {
            RC_ASSERT(what == insert_result::too_old);
        } else if (end > end_of_slot(clock, width) + width) {
            RC_ASSERT(what == insert_result::future);
        } else {
            const bool late = end < end_of_slot(clock, width);
            RC_ASSERT(what == (late ? insert_result::late : insert_result::newest));
            all.push_back({at, value, weight});
        }

        log_histogram<2> expected;
        std::uint64_t fewest = 0, most = 0;  // the documented bounds
        for (const taken& t : all) {
            const std::int64_t its_end = end_of_slot(t.at, width);
            if (its_end > clock - span && its_end <= end_of_slot(clock, width)) {
                expected.add(t.value, t.weight);
            }
            fewest += t.at > clock - span && t.at <= clock;
            most += t.at > clock - span - width && t.at < clock + width;
        }
        const auto got = w.query(ns(now));
        RC_ASSERT(got == expected);
        RC_ASSERT(got.points() >= fewest);
        RC_ASSERT(got.points() <= most);
        if (clock % width == 0 && span % width == 0) RC_ASSERT(got.points() == fewest);
    }
}

}  // namespace

TEST_CASE("slotted_window: contains the samples of the window, at most one slot more at each end")
{
    CHECK(rc::check("slots", agrees));
}

}  // namespace slotted_window_prop

// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/stuck_watch.hpp>

namespace completion_tracker_test {
namespace {

using waybill::completion_tracker;
using waybill::duration;
using waybill::event_result;
using waybill::steady_time;
using waybill::stuck_watch;
using waybill::tracked_event;
using waybill::tracker_options;
using waybill::tracker_start;

constexpr std::uint64_t highest = ~std::uint64_t{0};

static_assert(sizeof(completion_tracker({})) != 0, "braces are default options, not a copy");
static_assert(!waybill::validate(tracker_options{}));
static_assert(waybill::validate(tracker_options{.max_in_flight = 0})->field == "max_in_flight");
static_assert(waybill::validate(tracker_options{.span = 0})->field == "span");
static_assert(waybill::validate(tracker_options{.max_in_flight = 9, .span = 8})->bound == 8);
static_assert(waybill::validate(tracker_options{.span = highest})->field == "span");
static_assert(name(completion_tracker::track_error::done_before) == "done_before");
static_assert(name(tracker_options::commit_mark::high_water) == "high_water");

// A whole run, dense and sparse.
bool waits_for_the_oldest(std::uint64_t apart)
{
    completion_tracker t{{}, 10};
    const auto a = t.begin(11);
    const auto b = t.begin(11 + apart);
    const auto c = t.begin(11 + 2 * apart);
    if (!a || !b || !c || t.watermark() != 10 || t.in_flight() != 3) return false;
    if (t.complete(*b) != event_result::applied || t.watermark() != 10) return false;
    if (t.blocked_by() != waybill::completion_tracker::blocked{11, 1} ||
        t.high_water() != 11 + apart)
        return false;
    if (t.complete(*a) != event_result::applied || t.watermark() != 11 + apart) return false;
    if (t.complete(*a) != event_result::stale || t.pending() != 1) return false;
    if (t.complete(*c) != event_result::applied || t.watermark() != 11 + 2 * apart) return false;
    return t.in_flight() == 0 && t.pending() == 0 && t.resume_at() == 12 + 2 * apart;
}
TEST_CASE("the watermark waits for the oldest event in flight")
{
    CHECK(waits_for_the_oldest(1));
    CHECK(waits_for_the_oldest(63));
    CHECK(waits_for_the_oldest(1'000));
    CHECK(waits_for_the_oldest(std::uint64_t{1} << 40U));
}

completion_tracker::track_error refused(completion_tracker& t, std::uint64_t sequence)
{
    const auto r = t.begin(sequence);
    REQUIRE(!r);
    return r.error();
}

}  // namespace

TEST_CASE("completion_tracker: begin reports the reason of each refusal")
{
    completion_tracker t{{.max_in_flight = 2, .span = 4}, 10};
    CHECK(refused(t, 10) == completion_tracker::track_error::behind);
    CHECK(refused(t, 0) == completion_tracker::track_error::behind);
    const tracked_event a = *t.begin(20);
    const tracked_event b = *t.begin(30);
    CHECK(!t.can_accept());
    CHECK(refused(t, 40) == completion_tracker::track_error::full);
    CHECK(refused(t, 30) == completion_tracker::track_error::duplicate);
    CHECK(refused(t, 25) == completion_tracker::track_error::not_ascending);
    CHECK(refused(t, 15) == completion_tracker::track_error::not_ascending);
    CHECK(t.complete(b) == event_result::applied);
    CHECK(refused(t, 30) == completion_tracker::track_error::done_before);
    const tracked_event c = *t.begin(40);
    CHECK(t.complete(c) == event_result::applied);
    const tracked_event d = *t.begin(50);
    CHECK(t.complete(d) == event_result::applied);
    CHECK(t.in_flight() == 1);
    CHECK(t.pending() == 4);
    CHECK(refused(t, 60) ==
          completion_tracker::track_error::full);  // the span: one event holds three
    CHECK(t.complete(a) == event_result::applied);
    CHECK(t.watermark() == 50);
    CHECK(refused(t, 45) == completion_tracker::track_error::behind);
    t.revoke();
    CHECK(refused(t, 60) == completion_tracker::track_error::not_assigned);
    CHECK(!t.can_accept());
    CHECK(t.watermark() == 50);
}

TEST_CASE("completion_tracker: invalid options are clamped to the nearest valid ones")
{
    completion_tracker t{{.max_in_flight = 0, .span = 0}};
    CHECK(t.options().max_in_flight == 1);
    CHECK(t.begin(1).has_value());
    CHECK(refused(t, 2) == completion_tracker::track_error::full);
}

TEST_CASE("completion_tracker: completions move the watermark to events, never into gaps")
{
    completion_tracker t{{}, 0};
    std::vector<tracked_event> tickets;
    for (const std::uint64_t s : {3U, 4U, 70U, 71U, 500U}) tickets.push_back(*t.begin(s));
    t.complete(tickets[0]);
    t.complete(tickets[1]);
    CHECK(t.watermark() == 4);  // not 69: that is no event, and has no offset
    t.complete(tickets[2]);
    t.complete(tickets[3]);
    CHECK(t.watermark() == 71);
    t.complete(tickets[4]);
    CHECK(t.watermark() == 500);
}

TEST_CASE("completion_tracker: resume_at is known before an event is completed")
{
    completion_tracker t;
    CHECK(!t.watermark());
    CHECK(!t.resume_at());
    CHECK(t.expected() == 0);
    const tracked_event k = *t.begin(100);
    CHECK(!t.watermark());
    CHECK(t.resume_at() == 100);  // Kafka's position, if all of it were lost now
    CHECK(t.expected() == 101);
    t.complete(k);
    CHECK(t.watermark() == 100);
    CHECK(t.resume_at() == 101);
}

TEST_CASE("completion_tracker: the highest sequence number is valid")
{
    completion_tracker t{{}, highest - 3};
    const tracked_event a = *t.begin(highest - 2);
    const tracked_event c = *t.begin(highest);
    CHECK(!t.expected());
    CHECK(refused(t, highest) == completion_tracker::track_error::duplicate);
    t.complete(c);
    CHECK(refused(t, highest) == completion_tracker::track_error::done_before);
    t.complete(a);
    CHECK(t.watermark() == highest);
    CHECK(!t.resume_at());
    CHECK(refused(t, highest) == completion_tracker::track_error::behind);
    t.forget_below(highest);
    CHECK(t.watermark() == highest);
    completion_tracker wide{{}, 0};
    const tracked_event first = *wide.begin(1);
    const tracked_event last = *wide.begin(highest);
    wide.complete(last);
    wide.complete(first);
    CHECK(wide.watermark() == highest);
    completion_tracker over{{}, highest};
    CHECK(refused(over, 0) == completion_tracker::track_error::behind);
    CHECK(!over.expected());
}

// An event is the oldest, the newest and the only one of a word of 64, and of a ring of words.
TEST_CASE("completion_tracker: completion in order moves the watermark at once, at any position")
{
    for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{62}, highest - 400}) {
        for (const std::uint64_t out : {1U, 2U, 63U, 64U, 65U, 129U}) {
            completion_tracker t{{}, from};
            std::vector<tracked_event> tickets;
            std::uint64_t done = 0;
            for (std::uint64_t n = 0; n != 399; ++n) {
                tickets.push_back(*t.begin(from + 1 + n));
                if (tickets.size() - done < out) continue;
                CHECK(t.complete(tickets[done]) == event_result::applied);
                CHECK(t.complete(tickets[done]) == event_result::stale);
                ++done;
                CHECK(t.watermark() == from + done);
                CHECK(t.pending() == tickets.size() - done);
                CHECK(t.in_flight() == t.pending());
            }
        }
    }
}

TEST_CASE("completion_tracker: events of an earlier generation are stale")
{
    completion_tracker t{{}, 0};
    const tracked_event old = *t.begin(1);
    t.revoke();
    const auto generation = t.generation();
    t.revoke();
    CHECK(t.generation() == generation);
    t.assign(0);
    const tracked_event now = *t.begin(1);
    CHECK(old.sequence == now.sequence);
    CHECK(t.complete(old) == event_result::stale);
    CHECK(t.in_flight() == 1);
    CHECK(t.complete(now) == event_result::applied);
    CHECK(t.watermark() == 1);
}

TEST_CASE("completion_tracker: first_generation makes events of an earlier tracker stale")
{
    completion_tracker first{{}, 0};
    const tracked_event old = *first.begin(1);
    completion_tracker second{{.first_generation = first.generation() + 1}, 0};
    const tracked_event now = *second.begin(1);
    CHECK(second.complete(old) == event_result::stale);
    CHECK(second.complete(now) == event_result::applied);
    second.assign(1);
    CHECK(second.generation() == first.generation() + 2);
    completion_tracker around{{.first_generation = ~std::uint32_t{0}}};
    CHECK(around.generation() == ~std::uint32_t{0});
    around.assign({});
    CHECK(around.generation() == 0);
}

template <class N>
concept takes = requires(completion_tracker t, N n) {
    t.begin(n);
    t.forget_below(n);
};

TEST_CASE(
    "completion_tracker: a negative enum value is invalid; floating point types do not "
    "compile")
{
    enum error : int { end_of_log = -1001 };
    completion_tracker t;
    CHECK(t.begin(end_of_log).error() == waybill::completion_tracker::track_error::invalid);
    t.forget_below(end_of_log);
    CHECK(!t.watermark());
    CHECK(t.begin(error(5)).has_value());
    static_assert(takes<int> && takes<error> && takes<unsigned char> && !takes<double> &&
                  !takes<bool>);
}

TEST_CASE("completion_tracker: a negative integer is no position")
{
    completion_tracker t{{}, -1};
    CHECK(!t.watermark());
    for (const std::int64_t n : {std::int64_t{-1}, std::int64_t{-1'001}, INT64_MIN}) {
        const auto r = t.begin(n);
        REQUIRE(!r);
        CHECK(r.error() == completion_tracker::track_error::invalid);
        CHECK(t == completion_tracker());
        t.forget_below(n);
        CHECK(t == completion_tracker());
    }
    CHECK(name(completion_tracker::track_error::invalid) == "invalid");
    const tracked_event k = *t.begin(std::int8_t{7});
    CHECK(k.sequence == 7);
    CHECK(t.complete(k) == event_result::applied);
    t.forget_below(std::int16_t{10});
    CHECK(t.watermark() == 9);
    t.assign(std::int64_t{-1});
    CHECK(!t.watermark());
    t.assign(std::optional<std::int64_t>(-1));
    CHECK(!t.watermark());
    t.assign(std::optional<int>(5));
    CHECK(t.watermark() == 5);
    t.assign(std::optional<int>());
    CHECK(!t.watermark());
    t.assign(std::nullopt);
    CHECK(!t.watermark());
    t.assign(highest);
    CHECK(t.watermark() == highest);
}

TEST_CASE("completion_tracker: complete accepts an event made of its number and generation")
{
    for (const std::uint64_t apart : {1U, 1'000'000U}) {
        completion_tracker t;
        for (std::uint64_t n = 0; n != 100; ++n) (void)t.begin(n * apart);
        CHECK(t.dense() == (apart == 1));
        CHECK(t.complete({50 * apart, t.generation()}) == event_result::applied);
        const event_result next = apart == 1 ? event_result::applied : event_result::stale;
        CHECK(t.complete({50 * apart + 1, t.generation()}) == next);
        CHECK(t.complete({100 * apart, t.generation()}) == event_result::stale);
        CHECK(t.complete({highest, t.generation()}) == event_result::stale);
    }
}

TEST_CASE("completion_tracker: forget_below drops events in flight and moves the watermark")
{
    for (const std::uint64_t apart : {1U, 1'000'000U}) {
        completion_tracker t{{}, 0};
        std::vector<tracked_event> tickets;
        for (std::uint64_t n = 1; n != 11; ++n) tickets.push_back(*t.begin(n * apart));
        t.complete(tickets[5]);
        t.forget_below(0);
        t.forget_below(1);
        CHECK(t.watermark() == 0);
        t.forget_below(6 * apart);  // five in flight go, and the sixth is done
        CHECK(t.watermark() == 6 * apart);
        CHECK(t.in_flight() == 4);
        CHECK(t.complete(tickets[0]) == event_result::stale);
        const completion_tracker once = t;
        t.forget_below(6 * apart);
        t.forget_below(3);
        CHECK(t == once);
        t.forget_below(7 * apart);
        CHECK(t.watermark() == (apart == 1 ? 6 : 7 * apart - 1));
        CHECK(t.in_flight() == 4);
        t.forget_below(100 * apart);
        CHECK(t.watermark() == 100 * apart - 1);
        CHECK(t.in_flight() == 0);
        CHECK(t.expected() == 100 * apart);
        CHECK(refused(t, 50 * apart) == completion_tracker::track_error::behind);
    }
}

TEST_CASE("completion_tracker: equality includes completed events with a high-water mark")
{
    completion_tracker a{{.mark = tracker_options::commit_mark::high_water}, 10};
    completion_tracker b = a;
    REQUIRE(a.begin(11));
    REQUIRE(b.begin(11));
    const auto done = a.begin(12);
    REQUIRE(done);
    REQUIRE(b.begin(12));
    CHECK(a == b);
    a.complete(*done);
    a.revoke();
    b.revoke();
    CHECK(a.high_water() != b.high_water());
    CHECK(!(a == b));
}

TEST_CASE("completion_tracker: the high-water mark is optional; low_water is the safe position")
{
    completion_tracker t{{.mark = tracker_options::commit_mark::high_water}, 10};
    const tracked_event a = *t.begin(11);
    const tracked_event b = *t.begin(12);
    const tracked_event c = *t.begin(13);
    t.complete(b);
    CHECK(t.watermark() == 12);
    CHECK(t.resume_at() == 13);
    CHECK(t.low_water() == 10);
    t.complete(a);
    CHECK(t.watermark() == 12);
    t.complete(c);
    CHECK(t.watermark() == 13);
}

TEST_CASE("completion_tracker: resume continues with the completed events of an earlier owner")
{
    tracker_start s{10, {}, {}};
    CHECK(s.done.add({5, 12}));  // 5 to 10 are at or before `from` anyway
    CHECK(s.done.add({15, 15}));
    CHECK(s.done.add({16, 20}));
    CHECK(!s.done.add({14, 14}));
    CHECK(!s.done.add({22, 21}));
    CHECK(s.done.size() == 2);
    completion_tracker t;
    t.resume(s);
    CHECK(t.watermark() == 10);
    CHECK(refused(t, 11) == completion_tracker::track_error::done_before);
    CHECK(t.watermark() == 11);
    CHECK(refused(t, 12) == completion_tracker::track_error::done_before);
    CHECK(t.watermark() == 12);
    const tracked_event k = *t.begin(14);  // 13 is gone from the log
    CHECK(refused(t, 15) == completion_tracker::track_error::done_before);
    CHECK(refused(t, 18) == completion_tracker::track_error::done_before);
    CHECK(t.watermark() == 12);
    t.complete(k);
    CHECK(t.watermark() == 18);
    CHECK(refused(t, 19) == completion_tracker::track_error::done_before);
    CHECK(t.begin(21).has_value());
    CHECK(t.watermark() == 19);
}

TEST_CASE("completion_tracker: the representation changes between dense and sparse")
{
    completion_tracker t{{}, 0};
    std::vector<tracked_event> tickets;
    std::uint64_t at = 1;
    const auto begin = [&](std::uint64_t many, std::uint64_t apart) {
        for (std::uint64_t n = 0; n != many; ++n, at += apart) tickets.push_back(*t.begin(at));
    };
    const auto complete = [&](std::size_t many) {
        for (std::size_t n = 0; n != many; ++n)
            CHECK(t.complete(tickets[n]) == event_result::applied);
        tickets.erase(tickets.begin(), tickets.begin() + static_cast<std::ptrdiff_t>(many));
    };
    begin(1'000, 1);
    CHECK(t.dense());
    begin(2, 1'000'000);
    CHECK(!t.dense());
    begin(5'000, 1);
    CHECK(!t.dense());
    complete(1'002);
    CHECK(!t.dense());
    begin(6'000, 1);  // enough further events that it checks the density again
    CHECK(t.dense());
    begin(10, 100'000'000);
    CHECK(!t.dense());
    complete(tickets.size());
    CHECK(t.dense());
    CHECK(t.watermark() == at - 100'000'000);
}

TEST_CASE("completion_tracker: copies are independent, and a moved-from tracker is empty")
{
    completion_tracker a{{}, 5};
    const tracked_event k = *a.begin(6);
    (void)a.begin(7);
    completion_tracker b = a;
    CHECK(a == b);
    CHECK(b.complete(k) == event_result::applied);
    CHECK(!(a == b));
    CHECK(a.watermark() == 5);
    completion_tracker c = std::move(a);
    CHECK(c.in_flight() == 2);
    CHECK(a.in_flight() == 0);
    CHECK(a.begin(8).has_value());
    b = std::move(c);
    CHECK(b.in_flight() == 2);
    CHECK(c.in_flight() == 0);
}

TEST_CASE("stuck_watch: stuck_for is the time for which the same event is the oldest")
{
    const auto at = [](std::int64_t s) { return steady_time::at(duration::seconds(s)); };
    completion_tracker t{{}, 0};
    stuck_watch watch;
    CHECK(watch.stuck_for(t, at(1)) == duration{});
    const tracked_event a = *t.begin(1);
    const tracked_event b = *t.begin(2);
    CHECK(watch.stuck_for(t, at(10)) == duration{});
    CHECK(watch.stuck_for(t, at(70)) == duration::seconds(60));
    t.complete(b);
    CHECK(watch.stuck_for(t, at(71)) == duration::seconds(61));
    CHECK(watch.stuck_for(t, at(5)) == duration{});  // the clock has gone back
    (void)t.begin(3);
    t.complete(a);
    CHECK(watch.stuck_for(t, at(80)) == duration{});
    t.assign(2);
    (void)t.begin(3);
    CHECK(watch.stuck_for(t, at(90)) == duration{});  // the same number in another generation
}

TEST_CASE(
    "completion_tracker: the high-water mark follows 65,535 completions and survives a "
    "revoke")
{
    completion_tracker t{
        {.max_in_flight = 100'000, .mark = waybill::tracker_options::commit_mark::high_water}};
    std::vector<waybill::tracked_event> tickets;
    for (std::uint64_t n = 0; n != 65'536; ++n) tickets.push_back(*t.begin(n * 40));
    for (std::uint64_t n = 1; n != 65'536; ++n) {
        t.complete(tickets[n]);
        REQUIRE(t.watermark() == n * 40);  // quadratic, were it looked for each time
    }
    t.revoke();
    CHECK(t.watermark() == 65'535 * 40);
    t.forget_below(1'000'000'000);
    CHECK(t.watermark() == 65'535 * 40);
    t.assign(7);
    CHECK(t.watermark() == 7);
}

}  // namespace completion_tracker_test

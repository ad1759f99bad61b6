// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/held.hpp>
#include <support/send_said.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/core/match.hpp>

namespace sender_test {

using namespace waybill;
using namespace std::chrono_literals;
using send_said::items;
using send_said::numbers;
using send_said::sending;
using send_said::settle_all;

namespace {

constexpr steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}

// Retries after exactly 100, 200, 400 ms ...
constexpr retry_policy steady_retries{
    .max_attempts = 3, .pauses = {.base = 100ms, .cap = 10s, .spread = backoff::jitter::none}};

batch_sender with(const batch_limits& l, std::vector<std::uint64_t> sizes,
                  std::uint32_t in_flight = 1)
{
    batch_sender s({.limit = l, .in_flight = in_flight, .retry = steady_retries});
    for (const std::uint64_t n : sizes) s.on(batch_sender::queued{n}, at(0));
    s.on(batch_sender::flushed{}, at(0));
    return s;
}

std::optional<steady_time> waiting(const batch_sender& s, steady_time now = at(0))
{
    const auto a = s.next(now);
    const auto* w = waybill::get_if<waybill::wait_until>(&a);
    return w ? std::optional(w->time) : std::nullopt;
}

bool idle(const batch_sender& s, steady_time now = at(0))
{
    return waybill::holds_alternative<waybill::idle>(s.next(now));
}

}  // namespace

static_assert(name(item_outcome::accepted) == "accepted" &&
              name(item_outcome::too_large) == "too_large");
static_assert(name(item_outcome::failed) == "failed" && name(item_outcome::in_doubt) == "in_doubt");
static_assert(name(item_outcome::unsent) == "unsent" && name(static_cast<item_outcome>(9)) == "?");
static_assert(batch_sender::queued(-1).bytes == unlimited && batch_sender::queued(7U).bytes == 7);
static_assert(!std::is_constructible_v<batch_sender::queued, bool>);
static_assert(std::is_copy_constructible_v<batch_sender> &&
              std::is_copy_assignable_v<batch_sender>);
static_assert(std::is_nothrow_move_constructible_v<batch_sender>);

TEST_CASE("sender: a send contains its close reason and its size in bytes")
{
    batch_sender s({.limit = {.bytes = 100, .items = 3, .envelope = 10}, .linger = 50ms});
    const auto closed = [&](steady_time now) {
        const auto a = s.next(now);
        REQUIRE(waybill::holds_alternative<batch_sender::send>(a));
        const batch_sender::send send = tests_support::held<batch_sender::send>(a);
        const std::pair result(send.closed, send.bytes);
        s.on(batch_sender::accepted{send.attempt}, now);
        settle_all(s);
        return result;
    };
    for (int i = 0; i != 3; ++i) s.on(batch_sender::queued{22}, at(0));
    CHECK(closed(at(0)) == std::pair(batch_close_reason::items, std::uint64_t{76}));
    s.on(batch_sender::queued{62}, at(0));
    CHECK(waiting(s) == at(50));
    s.on(batch_sender::queued{62}, at(10));
    CHECK(closed(at(10)) == std::pair(batch_close_reason::bytes, std::uint64_t{72}));
    CHECK(waiting(s, at(10)) == at(60));  // the second has waited since it is at the head
    CHECK(closed(at(60)) == std::pair(batch_close_reason::deadline, std::uint64_t{72}));
    s.on(batch_sender::queued{62}, at(70));
    s.on(batch_sender::flushed{}, at(70));
    CHECK(closed(at(70)) == std::pair(batch_close_reason::end, std::uint64_t{72}));
    s.on(batch_sender::queued{1}, at(70));
    CHECK(waiting(s, at(70)) == at(120));  // only the earlier items are flushed
}

TEST_CASE("sender: a batch waits for its linger time, also if the clock goes back")
{
    batch_sender for_ever(send_policy{});
    for_ever.on(batch_sender::queued{1}, at(5));
    CHECK(idle(for_ever, at(5)));
    CHECK(idle(for_ever, steady_time::highest()));
    CHECK(for_ever.on(batch_sender::accepted{0}, at(5)) ==
          event_result::stale);  // it has never been sent
    CHECK(for_ever.on(batch_sender::started{0}, at(5)) == event_result::stale);
    for_ever.on(batch_sender::flushed{}, at(5));
    CHECK(sending(for_ever, steady_time::lowest()) == numbers{0});

    for (const duration linger : {duration(0s), duration(-1s), duration::lowest()}) {
        batch_sender at_once({.linger = linger});
        at_once.on(batch_sender::queued{1}, at(5));
        CHECK(sending(at_once, at(5)) == numbers{0});
    }
    batch_sender s({.linger = 50ms});
    s.on(batch_sender::queued{1}, at(100));
    s.on(batch_sender::queued{1}, at(20));
    CHECK(waiting(s, at(10)) == at(150));
    CHECK(sending(s, at(150)) == numbers{0, 1});
}

TEST_CASE("sender: an item refused alone is reported with its size and limit; later items are sent")
{
    batch_sender s = with({.bytes = 100}, {60, 70, 80});
    CHECK(sending(s) == numbers{0});
    s.on(batch_sender::too_large{0, 170, 150}, at(0));
    CHECK(settle_all(s) == std::vector<batch_sender::report>{
                               {{0, 1}, item_outcome::too_large, fault_kind::permanent, 170, 150}});
    CHECK(s.learnt() == detail::calibrator({.bytes = 100}).state());
    CHECK(sending(s) == numbers{1});
    s.on(batch_sender::too_large{1}, at(0));
    CHECK(settle_all(s) == std::vector<batch_sender::report>{
                               {{1, 1}, item_outcome::too_large, fault_kind::permanent, 70, 100}});
    const std::uint64_t sizes[] = {123};
    s.on(batch_sender::too_large{2, {}, {}, sizes}, at(0));
    CHECK(settle_all(s) == std::vector<batch_sender::report>{
                               {{2, 1}, item_outcome::too_large, fault_kind::permanent, 123, 100}});
    CHECK(s.finished());
}

TEST_CASE("sender: an item above the limit is too_large before any send, with the limit it exceeds")
{
    batch_sender s = with({.bytes = 100, .single = 50, .envelope = 10}, {51, 50, unlimited, 0});
    CHECK(settle_all(s) ==
          std::vector<batch_sender::report>{
              {{0, 1}, item_outcome::too_large, fault_kind::permanent, 51, 50, 10},
              {{2, 1}, item_outcome::too_large, fault_kind::permanent, unlimited, 50, 10}});
    CHECK(sending(s) == numbers{1, 3});
    batch_sender t = with({.bytes = 100, .envelope = 10}, {91, 90});
    CHECK(settle_all(t) ==
          std::vector<batch_sender::report>{
              {{0, 1}, item_outcome::too_large, fault_kind::permanent, 101, 100, 10}});
    CHECK(sending(t) == numbers{1});
    batch_sender none = with({.bytes = 10, .envelope = 11}, {0, 0});
    CHECK(settle_all(none).size() == 2);
    CHECK(none.finished());
}

TEST_CASE("sender: after a refusal, smaller batches are cut by the reported numbers")
{
    batch_sender s = with({.bytes = 100}, {20, 20, 20, 20, 20, 20});
    CHECK(sending(s) == numbers{0, 1, 2, 3, 4});
    s.on(batch_sender::too_large{0, 150, 100}, at(0));  // ten unknown bytes per item
    CHECK(s.learnt().items.header == doctest::Approx(10).epsilon(0.01));
    CHECK(sending(s) == numbers{0, 1});  // three would have 90, if none differs from the others
    s.on(batch_sender::accepted{1}, at(0));
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{0, 2}, item_outcome::accepted}});
    CHECK(sending(s) == numbers{2, 3});

    batch_sender t = with({.bytes = 100}, {20, 20, 20, 20, 20, 20});
    const std::uint64_t sizes[] = {90, 5, 5, 60, 60};
    t.on(batch_sender::too_large{0, {}, {}, sizes}, at(0));
    CHECK(sending(t) == numbers{0, 1, 2});
    t.on(batch_sender::accepted{1}, at(0));
    settle_all(t);
    CHECK(sending(t) == numbers{3});

    // Without any numbers: one less, then half, then half.
    batch_sender u = with({.items = 8}, {0, 0, 0, 0, 0, 0, 0, 0});
    std::vector<std::size_t> cuts;
    for (std::uint64_t attempt = 0; cuts.empty() || cuts.back() != 1; ++attempt) {
        cuts.push_back(sending(u).size());
        u.on(batch_sender::too_large{attempt}, at(0));
    }
    CHECK(cuts == std::vector<std::size_t>{8, 7, 3, 1});
    CHECK(settle_all(u).size() == 1);
    CHECK(sending(u).front() == 1);
}

TEST_CASE(
    "sender: after a partial failure, retryable items are sent again in order, the rest is "
    "reported")
{
    batch_sender s = with({.items = 4}, {1, 1, 1, 1, 1, 1});
    const batch_sender::entry_fault some[] = {{2, fault_kind::transient},
                                              {0, fault_kind::infrastructure},
                                              {1, fault_kind::permanent},
                                              {1, fault_kind::transient},
                                              {3, batch_sender::accepted{}}};
    s.on(batch_sender::partial{.attempt = 0, .failed = some}, at(0));
    CHECK(settle_all(s) ==
          std::vector<batch_sender::report>{{{1, 1}, item_outcome::failed, fault_kind::permanent},
                                            {{3, 1}, item_outcome::accepted}});
    CHECK(waiting(s) == at(100));
    CHECK(sending(s, at(100)) == numbers{0, 2, 4, 5});
    const batch_sender::entry_fault third[] = {{1, fault_kind::transient}};
    s.on(batch_sender::partial{.attempt = 1, .failed = third, .retry_after = 1s}, at(100));
    CHECK(settle_all(s).size() == 2);
    CHECK(waiting(s, at(100)) == at(1'100));
    const batch_sender::entry_fault last[] = {{0, fault_kind::transient}};
    s.on(batch_sender::partial{.attempt = 2, .failed = last}, at(1'100));  // its third try
    CHECK(settle_all(s) ==
          std::vector<batch_sender::report>{{{2, 1}, item_outcome::failed, fault_kind::transient}});
    CHECK(s.finished());
}

TEST_CASE("sender: failures are retried up to max_attempts, the first retries immediately")
{
    for (const std::uint32_t most : {0U, 1U, 2U, 5U}) {
        batch_sender s(
            {.retry = {.max_attempts = most, .immediate = 1, .pauses = steady_retries.pauses}});
        s.on(batch_sender::queued{1}, at(0));
        s.on(batch_sender::flushed{}, at(0));
        steady_time now = at(0);
        std::vector<duration> pauses;
        std::uint64_t sends = 0;
        for (; sends != 10; ++sends) {
            if (const auto until = waiting(s, now)) {
                pauses.push_back(*until - now);
                now = *until;
            }
            if (sending(s, now).empty()) break;
            CHECK(s.on(batch_sender::failed{.attempt = sends}, now) == event_result::applied);
        }
        CHECK(sends == (most == 0 ? 1 : most));
        CHECK(settle_all(s) == std::vector<batch_sender::report>{
                                   {{0, 1}, item_outcome::failed, fault_kind::transient}});
        if (most == 5) CHECK(pauses == std::vector<duration>{100ms, 200ms, 400ms});
    }
}

TEST_CASE("sender: the highest max_attempts ends after 255 attempts")
{
    batch_sender s(
        {.retry = {.max_attempts = ~std::uint32_t{0}, .immediate = ~std::uint32_t{0} - 1}});
    s.on(batch_sender::queued{1}, at(0));
    s.on(batch_sender::flushed{}, at(0));
    std::uint64_t sends = 0;
    while (!sending(s).empty() && sends != 70'000)
        s.on(batch_sender::failed{.attempt = sends++}, at(0));
    CHECK(sends == 255);  // tries are counted in 8 bits
    CHECK(settle_all(s).size() == 1);
    batch_sender u(
        {.retry = {.max_attempts = ~std::uint32_t{0}, .immediate = ~std::uint32_t{0} - 1}});
    u.on(batch_sender::queued{1}, at(0));
    u.on(batch_sender::flushed{}, at(0));
    for (sends = 0; !sending(u).empty() && sends != 70'000; ++sends)
        u.on(batch_sender::outcome_unknown{0}, at(0));
    CHECK(sends == 255);
    CHECK(settle_all(u) == std::vector<batch_sender::report>{{{0, 1}, item_outcome::in_doubt}});
}

TEST_CASE("sender: a batch of unknown outcome is repeated identically, or reported as in_doubt")
{
    batch_sender s = with({.items = 3}, {1, 1, 1, 1});
    s.on(batch_sender::outcome_unknown{0}, at(0));
    CHECK(waiting(s) == at(100));
    s.on(batch_sender::queued{1}, at(0));
    CHECK(sending(s, at(100)) == numbers{0, 1, 2});
    CHECK(tests_support::held<batch_sender::send>(s.next(at(100))).attempt == 0);
    CHECK(s.on(batch_sender::started{0}, at(100)) == event_result::applied);
    CHECK(s.on(batch_sender::started{0}, at(100)) == event_result::stale);
    CHECK(s.in_flight() == 1);

    batch_sender failure = s;
    failure.on(batch_sender::failed{.attempt = 0}, at(100));
    CHECK(sending(failure, at(300)) == numbers{0, 1, 2});
    failure.on(batch_sender::failed{.attempt = 0}, at(300));
    CHECK(settle_all(failure) ==
          std::vector<batch_sender::report>{{{0, 3}, item_outcome::in_doubt}});

    batch_sender busy = s;
    busy.on(batch_sender::throttled{0, 2s}, at(100));
    CHECK(waiting(busy, at(100)) == at(2'100));
    CHECK(sending(busy, at(2'100)) == numbers{0, 1, 2});

    batch_sender stop = s;
    stop.on(batch_sender::outcome_unknown{0}, at(100));
    stop.on(batch_sender::stopped{}, at(100));
    CHECK(settle_all(stop) == std::vector<batch_sender::report>{{{0, 3}, item_outcome::in_doubt},
                                                                {{3, 2}, item_outcome::unsent}});
    CHECK(stop.finished());

    // The answer to the first send arrives after it was given up, and is accepted.
    batch_sender late = with({.items = 3}, {1, 1, 1, 1});
    late.on(batch_sender::outcome_unknown{0}, at(0));
    CHECK(late.on(batch_sender::accepted{0}, at(1)) == event_result::applied);
    CHECK(settle_all(late) == std::vector<batch_sender::report>{{{0, 3}, item_outcome::accepted}});

    batch_sender back({.limit = {.items = 2}, .on_unknown = send_policy::when_unknown::hand_back});
    for (int i = 0; i != 3; ++i) back.on(batch_sender::queued{1}, at(0));
    back.on(batch_sender::outcome_unknown{0}, at(0));
    CHECK(settle_all(back) == std::vector<batch_sender::report>{{{0, 2}, item_outcome::in_doubt}});
}

TEST_CASE("sender: a batch of unknown outcome is cut again if its repetition is too large")
{
    batch_sender s = with({.items = 3}, {1, 1, 1, 1});
    s.on(batch_sender::outcome_unknown{0}, at(0));
    s.on(batch_sender::started{0}, at(100));
    s.on(batch_sender::too_large{0, 500, 400}, at(100));
    CHECK(settle_all(s).empty());
    CHECK(s.learnt().limit == 400);
    CHECK(sending(s, at(100)) == numbers{0, 1});
    const std::uint64_t smaller = tests_support::held<batch_sender::send>(s.next(at(100))).attempt;
    CHECK(smaller != 0);

    batch_sender good = s;
    good.on(batch_sender::accepted{smaller}, at(100));
    CHECK(settle_all(good) == std::vector<batch_sender::report>{{{0, 2}, item_outcome::accepted}});
    CHECK(sending(good, at(100)) == numbers{2, 3});
    good.on(batch_sender::accepted{smaller + 1}, at(100));
    CHECK(settle_all(good) == std::vector<batch_sender::report>{{{2, 2}, item_outcome::accepted}});

    // With any other end, the first send may still be there: the limit may have been lowered since.
    batch_sender bad = s;
    const batch_sender::entry_fault both[] = {{0, fault_kind::permanent},
                                              {1, fault_kind::permanent}};
    bad.on(batch_sender::partial{.attempt = smaller, .failed = both}, at(100));
    CHECK(settle_all(bad) == std::vector<batch_sender::report>{{{0, 2}, item_outcome::in_doubt}});
    bad.on(batch_sender::partial{.attempt = smaller + 1, .failed = both}, at(100));
    CHECK(settle_all(bad) ==
          std::vector<batch_sender::report>{{{2, 1}, item_outcome::in_doubt},
                                            {{3, 1}, item_outcome::failed, fault_kind::permanent}});

    batch_sender stop = s;
    stop.on(batch_sender::stopped{}, at(100));
    std::vector<item_outcome> ends;
    for (const batch_sender::report& r : settle_all(stop))
        ends.insert(ends.end(), r.items.count, r.outcome);
    CHECK(ends == std::vector{item_outcome::in_doubt, item_outcome::in_doubt,
                              item_outcome::in_doubt, item_outcome::unsent});

    // The smaller batch has its full number of repetitions.
    batch_sender again = s;
    again.on(batch_sender::outcome_unknown{smaller}, at(100));
    CHECK(waiting(again, at(100)) == at(200));
    again.on(batch_sender::too_large{smaller}, at(200));
    CHECK(sending(again, at(200)) == numbers{0});
    const std::uint64_t alone =
        tests_support::held<batch_sender::send>(again.next(at(200))).attempt;
    again.on(batch_sender::too_large{alone}, at(200));
    CHECK(settle_all(again) == std::vector<batch_sender::report>{{{0, 1}, item_outcome::in_doubt}});
}

TEST_CASE("sender: a batch of unknown outcome is resent in part if its repetition fails in part")
{
    batch_sender s = with({.items = 3}, {1, 1, 1});
    s.on(batch_sender::outcome_unknown{0}, at(0));
    s.on(batch_sender::started{0}, at(100));
    const batch_sender::entry_fault some[] = {{1, fault_kind::transient},
                                              {2, fault_kind::permanent}};
    s.on(batch_sender::partial{.attempt = 0, .failed = some}, at(100));
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{0, 1}, item_outcome::accepted},
                                                             {{2, 1}, item_outcome::in_doubt}});
    CHECK(waiting(s, at(100)) == at(300));  // the second of three attempts has failed
    CHECK(sending(s, at(300)) == numbers{1});
    const std::uint64_t alone = tests_support::held<batch_sender::send>(s.next(at(300))).attempt;
    batch_sender good = s;
    good.on(batch_sender::accepted{alone}, at(300));
    CHECK(settle_all(good) == std::vector<batch_sender::report>{{{1, 1}, item_outcome::accepted}});
    s.on(batch_sender::failed{.attempt = alone}, at(300));
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{1, 1}, item_outcome::in_doubt}});
}

TEST_CASE("sender: throttling also delays repetitions, and its pause grows up to the cap")
{
    batch_sender s = with({.items = 1}, {1, 1}, 2);
    s.on(batch_sender::started{0}, at(0));
    s.on(batch_sender::started{1}, at(0));
    s.on(batch_sender::outcome_unknown{0}, at(0));
    CHECK(waiting(s) == at(100));
    s.on(batch_sender::throttled{1, 5s}, at(0));
    CHECK(waiting(s) == at(5'000));
    CHECK(sending(s, at(5'000)) == numbers{0});

    // Consecutive throttled answers lengthen the pause, until a batch got another answer.
    batch_sender t = with({}, {1});
    t.on(batch_sender::throttled{0}, at(0));
    CHECK(waiting(t, at(0)) == at(100));
    t.on(batch_sender::throttled{1}, at(100));
    CHECK(waiting(t, at(100)) == at(300));
    batch_sender part = t;
    const batch_sender::entry_fault all[] = {{0, fault_kind::transient}};
    part.on(batch_sender::partial{.attempt = 2, .failed = all}, at(300));
    part.on(batch_sender::throttled{3}, at(400));
    CHECK(waiting(part, at(400)) == at(500));
    t.on(batch_sender::throttled{2, 1h}, at(300));
    CHECK(waiting(t, at(300)) == at(3'600'300));  // a hint may exceed the cap

    // Even with zero pauses a throttled sender waits, so that the broker gets a rest.
    batch_sender u({.retry = {.pauses = {.base = {}, .cap = {}}}});
    u.on(batch_sender::queued{1}, at(0));
    u.on(batch_sender::flushed{}, at(0));
    u.on(batch_sender::throttled{0, {}, 0.0}, at(0));
    CHECK(waiting(u) == at(0) + duration::nanoseconds(1));
    // At the end of time it still waits, which is different from idle.
    u.on(batch_sender::throttled{1}, steady_time::highest());
    CHECK(waiting(u) == steady_time::highest());
}

TEST_CASE("sender: after stopped, no batch is sent, and results of batches in flight are applied")
{
    batch_sender s = with({.items = 2}, {1, 1, 1, 1});
    s.on(batch_sender::started{0}, at(0));
    CHECK(s.on(batch_sender::stopped{}, at(0)) == event_result::applied);
    CHECK(s.on(batch_sender::stopped{}, at(0)) == event_result::stale);
    CHECK(s.has_stopped());
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{2, 1}, item_outcome::unsent},
                                                             {{3, 1}, item_outcome::unsent}});
    CHECK(idle(s));
    CHECK(!s.finished());
    batch_sender ok = s, no = s, lost = s, part = s;
    ok.on(batch_sender::accepted{0}, at(0));
    CHECK(settle_all(ok) == std::vector<batch_sender::report>{{{0, 2}, item_outcome::accepted}});
    no.on(batch_sender::too_large{0}, at(0));
    CHECK(settle_all(no).front().outcome == item_outcome::unsent);
    lost.on(batch_sender::outcome_unknown{0}, at(0));
    CHECK(settle_all(lost) == std::vector<batch_sender::report>{{{0, 2}, item_outcome::in_doubt}});
    const batch_sender::entry_fault second[] = {{1, fault_kind::transient}};
    part.on(batch_sender::partial{.attempt = 0, .failed = second}, at(0));
    CHECK(settle_all(part) == std::vector<batch_sender::report>{{{0, 1}, item_outcome::accepted},
                                                                {{1, 1}, item_outcome::unsent}});
    ok.on(batch_sender::queued{1}, at(0));
    CHECK(settle_all(ok) == std::vector<batch_sender::report>{{{4, 1}, item_outcome::unsent}});
    CHECK(ok.finished());

    for (const fault_kind how : {fault_kind::cancelled, fault_kind::ownership_lost}) {
        batch_sender c = with({.items = 2}, {1, 1, 1});
        c.on(batch_sender::failed{.attempt = 0, .kind = how}, at(0));
        CHECK(c.has_stopped());
        std::uint64_t unsent = 0;
        for (const batch_sender::report& x : settle_all(c)) {
            CHECK(x.outcome == item_outcome::unsent);
            unsent += x.items.count;
        }
        CHECK(unsent == 3);
        CHECK(c.finished());
    }
}

TEST_CASE("sender: a result for a batch that has grown since it was requested is stale")
{
    batch_sender s({.retry = steady_retries});
    s.on(batch_sender::queued{1}, at(0));
    s.on(batch_sender::flushed{}, at(0));
    const std::uint64_t asked = tests_support::held<batch_sender::send>(s.next(at(0))).attempt;
    s.on(batch_sender::queued{1}, at(0));
    CHECK(sending(s) == numbers{0, 1});
    CHECK(s.on(batch_sender::accepted{asked}, at(0)) == event_result::stale);
    CHECK(settle_all(s).empty());
    CHECK(tests_support::held<batch_sender::send>(s.next(at(0))).attempt != asked);
    s.on(batch_sender::started{asked + 1}, at(0));
    s.on(batch_sender::queued{1}, at(0));  // no change after `started`
    CHECK(s.on(batch_sender::accepted{asked + 1}, at(0)) == event_result::applied);
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{0, 2}, item_outcome::accepted}});
}

TEST_CASE("sender: 10,000 items with one oversized item take fewer than 160 requests")
{
    // A thousand items of 100 bytes and a header of 10 that the broker keeps to itself.
    for (const bool names_its_limit : {false, true}) {
        batch_sender s({.limit = {.bytes = 10'000}, .retry = steady_retries});
        for (std::uint64_t n = 0; n != 10'000; ++n)
            s.on(batch_sender::queued{n == 300 ? 9'995U : 100U}, at(0));
        s.on(batch_sender::flushed{}, at(0));
        std::size_t sends = 0;
        for (; !s.finished(); ++sends) {
            settle_all(s);
            const auto next = s.next(at(0));
            const batch_sender::send* a = waybill::get_if<batch_sender::send>(&next);
            if (!a) break;
            std::uint64_t bytes = 0;
            for (const item_range& r : a->items) {
                for (std::uint64_t n = r.first; n != r.end(); ++n) bytes += n == 300 ? 10'005 : 110;
            }
            batch_sender::too_large no{a->attempt};
            if (names_its_limit) no.limit = 10'000;
            if (bytes > 10'000) s.on(no, at(0));
            else s.on(batch_sender::accepted{a->attempt}, at(0));
        }
        settle_all(s);
        CHECK(s.finished());
        CHECK(sends < 160);  // 111 would do; it was thousands
    }
}

TEST_CASE("sender: an empty calibration equals the policy's own limits")
{
    batch_sender s({.limit = {.bytes = 100}, .item_overhead = 7}, calibration());
    CHECK(s.learnt() == detail::calibrator({.bytes = 100}, 7).state());
}

TEST_CASE("sender: several attempts in flight are settled in any order")
{
    batch_sender s = with({.items = 2}, {1, 1, 1, 1, 1, 1}, 2);
    s.on(batch_sender::started{0}, at(0));
    CHECK(sending(s) == numbers{2, 3});
    s.on(batch_sender::started{1}, at(0));
    CHECK(idle(s));
    CHECK(s.in_flight() == 2);
    CHECK(s.on(batch_sender::accepted{2}, at(0)) == event_result::stale);  // it was never requested
    s.on(batch_sender::accepted{1}, at(0));
    CHECK(settle_all(s) == std::vector<batch_sender::report>{{{2, 2}, item_outcome::accepted}});
    CHECK(s.first_open() == 0);
    CHECK(sending(s) == numbers{4, 5});
    s.on(batch_sender::failed{.attempt = 0}, at(0));
    // the first items are sent, and the later ones wait
    CHECK(sending(s, at(100)) == numbers{0, 1});
    CHECK(s.on(batch_sender::accepted{2}, at(100)) ==
          event_result::stale);  // that was to be {4, 5}
    s.on(batch_sender::accepted{3}, at(100));
    settle_all(s);
    CHECK(s.first_open() == 4);
    CHECK(sending(s, at(100)) == numbers{4, 5});

    batch_sender one({.in_flight = 0});
    one.on(batch_sender::queued{1}, at(0));
    one.on(batch_sender::flushed{}, at(0));
    CHECK(sending(one) == numbers{0});
}

TEST_CASE("sender: stale and contradictory events change nothing")
{
    batch_sender s = with({.items = 2}, {1, 1, 1});
    const batch_sender before = s;
    const batch_sender::entry_fault far[] = {{0, fault_kind::transient},
                                             {2, fault_kind::transient}};
    const std::uint64_t three[] = {1, 2, 3};
    CHECK(s.on(batch_sender::partial{.attempt = 0, .failed = far}, at(0)) == event_result::invalid);
    CHECK(s.on(batch_sender::too_large{0, {}, {}, three}, at(0)) == event_result::invalid);
    CHECK(s.on(batch_sender::failed{0, fault_kind::none}, at(0)) == event_result::invalid);
    CHECK(s.on(batch_sender::partial{.attempt = 9, .failed = far}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::too_large{9, {}, {}, three}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::reported{{0, 1}}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::input_closed{}, at(0)) == event_result::stale);
    CHECK(s == before);
    s.on(batch_sender::accepted{0}, at(0));
    const batch_sender settling = s;
    CHECK(s.first_open() == 0);  // not before its outcome is noted
    CHECK(s.on(batch_sender::reported{{0, 1}}, at(0)) == event_result::invalid);
    CHECK(s.on(batch_sender::accepted{0}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::outcome_unknown{0}, at(0)) == event_result::stale);
    CHECK(s == settling);
    CHECK(!(s == before));
}

TEST_CASE("sender: with exact sizes and a true limit, it needs no more requests than chunk_by")
{
    std::uint64_t seed = 7;
    const auto dice = [&](std::uint64_t n) {
        return (seed = seed * 6'364'136'223'846'793'005U + 1) / 65'536 % n;
    };
    for (int round = 0; round != 300; ++round) {
        const batch_limits l{.bytes = 50 + dice(100),
                             .items = 1 + dice(12),
                             .single = 20 + dice(100),
                             .envelope = dice(30)};
        numbers sizes;
        for (std::uint64_t n = dice(60); n != 0; --n) sizes.push_back(dice(70));
        std::vector<numbers> expected;
        std::uint64_t first = 0, over = 0;
        for (const auto& part : chunk_by(sizes, l, [](std::uint64_t n) { return n; })) {
            if (part.fits) {
                expected.emplace_back();
                for (std::uint64_t i = 0; i != part.count; ++i)
                    expected.back().push_back(first + i);
            } else {
                ++over;
            }
            first += part.count;
        }
        batch_sender s({.limit = l, .retry = steady_retries});
        std::vector<numbers> sent;
        std::uint64_t too_large = 0;
        const auto drain = [&] {
            for (;;) {
                for (const batch_sender::report& x : settle_all(s))
                    too_large += x.outcome == item_outcome::too_large ? 1U : 0U;
                const numbers batch = sending(s);
                if (batch.empty()) return;
                sent.push_back(batch);
                s.on(batch_sender::accepted{sent.size() - 1}, at(0));
            }
        };
        const bool streaming = round % 2 == 0;
        for (const std::uint64_t n : sizes) {
            s.on(batch_sender::queued{n}, at(0));
            if (streaming) drain();
        }
        s.on(batch_sender::flushed{}, at(0));
        drain();
        CHECK(s.finished());
        CHECK(too_large == over);
        // An item that is too large leaves no gap in the batches: its neighbours may be in one
        // batch.
        CHECK(sent.size() <= expected.size());
        if (over == 0) CHECK(sent == expected);
    }
}

TEST_CASE("sender: a new sender continues with the calibration of an earlier one")
{
    batch_sender s = with({.bytes = 100}, {20, 20, 20, 20, 20});
    s.on(batch_sender::too_large{0, 150, 90}, at(0));
    batch_sender next({.limit = {.bytes = 100}}, s.learnt());
    CHECK(next.learnt() == s.learnt());
    CHECK(next.learnt().limit == 90);
    CHECK(next.learnt().items.header == doctest::Approx(10).epsilon(0.01));
    for (int i = 0; i != 5; ++i) next.on(batch_sender::queued{20}, at(0));
    // 60 of 90 bytes: one sum does not show how much items vary
    CHECK(sending(next) == numbers{0, 1});
}

TEST_CASE("send_policy: validate names the invalid field")
{
    const auto bad = [](const send_policy& p) {
        const auto error = validate(p);
        return error ? error->field : std::string_view();
    };
    CHECK(bad({}) == "");
    CHECK(bad({.in_flight = 0}) == "in_flight");
    CHECK(bad({.linger = -1s}) == "linger");
    CHECK(describe(*validate(send_policy{.linger = -1s})) ==
          "linger is -1000000000: nanoseconds must be at least (0)");
    CHECK(bad({.limit = {.items = 0}}) == "limits.items");
    CHECK(bad({.retry = {.max_attempts = 0}}) == "retry.max_attempts");
    CHECK(make<batch_sender>(send_policy{.limit = {.bytes = 5}}).has_value());
    CHECK(make<batch_sender>(send_policy{.limit = {.bytes = 0}}).error().field == "limits.bytes");
}

}  // namespace sender_test

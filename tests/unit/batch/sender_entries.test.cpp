// SPDX-License-Identifier: MIT
//
// Services that answer for each entry of a request, and those that fail a request as a whole.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/send_said.hpp>

#include <waybill/batch/describe.hpp>
#include <waybill/batch/send_all.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace sender_entries_test {

using namespace waybill;
using namespace std::chrono_literals;
using send_said::attempt;
using send_said::numbers;
using send_said::sending;

namespace {

constexpr steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}

send_policy in_order(std::uint64_t items)
{
    return {
        .limit = {.items = items},
        .exact_sizes = true,
        .ordered = true,
        .retry = {.max_attempts = 2, .pauses = {.base = 100ms, .spread = backoff::jitter::none}}};
}

void queue(batch_sender& s, const std::vector<std::uint64_t>& keys)
{
    for (const std::uint64_t key : keys) s.on(batch_sender::queued(1U, key), at(0));
    s.on(batch_sender::flushed{}, at(0));
}

using entries = std::vector<batch_sender::entry_fault>;
using reports = std::vector<batch_sender::report>;

/// Sends the next batch; these entries of it are refused.
reports answer(batch_sender& s, const entries& failed, std::int64_t ms = 0)
{
    CHECK(s.on(batch_sender::partial{.attempt = attempt(s, at(ms)), .failed = failed}, at(ms)) ==
          event_result::applied);
    return send_said::settle_all(s);
}

batch_sender::report ended(std::uint64_t first, std::uint64_t count, item_outcome outcome,
                           bool overtook = false)
{
    return {.items = {first, count}, .outcome = outcome, .overtook = overtook};
}

constexpr item_outcome accepted = item_outcome::accepted;

}  // namespace

TEST_CASE("sender: with answers per entry a batch has one item of each key")
{
    batch_sender s(in_order(4));
    queue(s, {1, 1, 2, 1, 3, 2});
    CHECK(sending(s) == numbers{0, 2, 4});
    CHECK(answer(s, {{1, fault_kind::transient}}) ==
          reports{ended(0, 1, accepted), ended(4, 1, accepted)});
    CHECK(sending(s, at(100)) == numbers{1, 2});
    CHECK(answer(s, {}, 100) == reports{ended(1, 2, accepted)});
    CHECK(sending(s, at(100)) == numbers{3, 5});
}

TEST_CASE("sender: a batch of few keys is sent when nothing can be added to it")
{
    batch_sender s(in_order(100));
    std::uint64_t queued = 0;
    while (s.wants_more() && queued != 100'000) {
        s.on(batch_sender::queued(1U, queued++ % 3), at(0));
    }
    CHECK(queued < 10'000);
    CHECK(sending(s) == numbers{0, 1, 2});
    const auto next = s.next(at(0));
    CHECK(get_if<batch_sender::send>(&next)->closed == batch_close_reason::key);
}

TEST_CASE("sender: a key that was overtaken stops, and what overtook it is reported")
{
    send_policy p = in_order(4);
    p.limit.answers_per_entry = false;
    batch_sender s(p);
    queue(s, {1, 1, 1, 2, 1});
    CHECK(sending(s) == numbers{0, 1, 2, 3});
    const reports r = answer(s, {{0, batch_sender::failed{.text = "busy"}}, {2}});
    REQUIRE(r.size() == 5);
    CHECK(r[0].outcome == item_outcome::failed);
    CHECK(r[1] == ended(1, 1, accepted, true));
    CHECK(r[2] == ended(3, 1, accepted));
    CHECK(r[3] == ended(2, 1, item_outcome::blocked_by_key));
    CHECK(r[4] == ended(4, 1, item_outcome::blocked_by_key));
    CHECK(s.finished());
}

TEST_CASE(
    "sender: with may_overtake a refused item is sent again, and what overtook it is reported")
{
    send_policy p = in_order(4);
    p.may_overtake = true;
    batch_sender s(p);
    queue(s, {1, 1, 2, 1});
    CHECK(sending(s) == numbers{0, 1, 2, 3});
    CHECK(answer(s, {{0}}) ==
          reports{ended(1, 1, accepted, true), ended(2, 1, accepted), ended(3, 1, accepted, true)});
    CHECK(sending(s, at(100)) == numbers{0});
    CHECK(answer(s, {}, 100) == reports{ended(0, 1, accepted)});
    // An answer that was lost can have accepted a later item only.
    queue(s, {1, 1, 2});
    s.on(batch_sender::outcome_unknown{attempt(s, at(200))}, at(200));
    CHECK(answer(s, {}, 300) ==
          reports{ended(4, 1, accepted), ended(5, 1, accepted, true), ended(6, 1, accepted)});
}

TEST_CASE("sender: entries that are throttled, or whose service is down, use up no try")
{
    for (const bool down : {false, true}) {
        batch_sender s(in_order(4));
        queue(s, {1, 2});
        std::int64_t now = 0;
        for (int n = 0; n != 50; ++n) {
            CHECK(sending(s, at(now)) == (n == 0 ? numbers{0, 1} : numbers{0}));
            entries failed{{0, batch_sender::throttled{}}};
            if (down) failed = {{0, fault_kind::infrastructure}};
            CHECK(answer(s, failed, now).size() == (n == 0 ? 1 : 0));
            CHECK(sending(s, at(now)).empty());
            now += 60'000;  // more than the longest pause
        }
        CHECK(answer(s, {}, now) == reports{ended(0, 1, accepted)});
    }
    // The longest pause that an entry demands.
    batch_sender s(in_order(4));
    queue(s, {1, 2, 3});
    (void)answer(s, {{0, batch_sender::throttled{.retry_after = 2s}},
                     {1, batch_sender::throttled{.retry_after = 5s}}});
    CHECK(sending(s, at(4'999)).empty());
    CHECK(sending(s, at(5'000)) == numbers{0, 1});
}

TEST_CASE("sender: an entry that is too large ends, or is replaced")
{
    send_policy p = in_order(4);
    p.ordered = false;
    batch_sender s(p);
    queue(s, {0, 0, 0});
    const entries large{{1, batch_sender::too_large{.actual = 900, .limit = 800}}};
    const reports r = answer(s, large);
    REQUIRE(r.size() == 3);
    CHECK(r[1].outcome == item_outcome::too_large);
    CHECK(r[1].bytes == 900);
    CHECK(r[1].limit == 800);
    p.on_too_large = send_policy::when_too_large::replace;
    batch_sender t(p);
    queue(t, {0, 0, 0});
    CHECK(answer(t, large) == reports{ended(0, 1, accepted), ended(2, 1, accepted)});
    const auto next = t.next(at(0));
    const auto* asks = get_if<batch_sender::replace>(&next);
    REQUIRE(asks);
    CHECK(asks->item == 1);
    CHECK(asks->bytes == 900);
    t.on(batch_sender::replaced{1, 1}, at(0));
    CHECK(sending(t) == numbers{1});
}

TEST_CASE("sender: an entry of unknown outcome is sent again or handed back")
{
    const entries unknown{{1, batch_sender::outcome_unknown{}}};
    batch_sender s(in_order(4));
    queue(s, {1, 2, 3});
    CHECK(answer(s, unknown) == reports{ended(0, 1, accepted), ended(2, 1, accepted)});
    CHECK(s.maybe_twice() == 0);
    CHECK(sending(s, at(100)) == numbers{1});
    s.on(batch_sender::started{attempt(s, at(100))}, at(100));
    CHECK(s.maybe_twice() == 1);
    s.on(batch_sender::failed{.attempt = 1, .kind = fault_kind::permanent}, at(100));
    CHECK(send_said::settle_all(s) == reports{ended(1, 1, item_outcome::in_doubt)});
    send_policy p = in_order(4);
    p.on_unknown = send_policy::when_unknown::hand_back;
    batch_sender t(p);
    queue(t, {1, 2, 3});
    CHECK(answer(t, unknown) == reports{ended(0, 1, accepted), ended(1, 1, item_outcome::in_doubt),
                                        ended(2, 1, accepted)});
    // Each outcome of a request can be that of an entry.
    batch_sender u(p);
    queue(u, {1, 2});
    CHECK(answer(u, {{0, batch_sender::accepted{}}, {1, batch_sender::partial{}}}) ==
          reports{ended(0, 1, accepted), ended(1, 1, item_outcome::in_doubt)});
}

TEST_CASE("sender: one item that makes a request fail for good is found in few requests")
{
    for (std::uint64_t bad = 0; bad != 100; ++bad) {
        std::vector<std::uint64_t> input(100);
        for (std::uint64_t n = 0; n != 100; ++n) input[n] = n;
        batch_sender s({.limit = {.items = 100}, .exact_sizes = true});
        std::uint64_t requests = 0;
        const auto transmit = [&](const auto& batch) -> send_outcome {
            ++requests;
            for (const std::uint64_t n : batch) {
                if (n == bad) return batch_sender::failed{0, fault_kind::permanent, "no colour"};
            }
            return batch_sender::accepted{};
        };
        const send_report r = send_all(input, [](std::uint64_t) { return 1U; }, s, transmit, at(0));
        CHECK(r.accepted == 99);
        CHECK(requests <= 16);
        for (const item_report& o : r.outcomes) {
            if (o.outcome != accepted)
                CHECK(describe(o) ==
                      "item " + std::to_string(bad) + ": failed, permanent: no colour");
        }
    }
}

TEST_CASE("sender: each failed entry keeps its own text")
{
    batch_sender s(in_order(4));
    queue(s, {1, 2, 3, 4});
    const std::vector<std::uint64_t> input{1, 2, 3, 4};
    const entries failed{{3, batch_sender::failed{0, fault_kind::permanent, "no such field"}},
                         {0, batch_sender::failed{0, fault_kind::permanent, "too old"}}};
    s.on(batch_sender::partial{.attempt = attempt(s, at(0)), .failed = failed}, at(0));
    std::vector<std::string> texts;
    for (auto a = s.next(at(0)); const auto* r = get_if<batch_sender::report>(&a);
         a = s.next(at(0))) {
        texts.emplace_back(r->text);
        s.on(batch_sender::reported{r->items}, at(0));
    }
    CHECK(texts == std::vector<std::string>{"too old", "", "no such field"});
    CHECK(detail::words::line(failed[0]) == "entry 3: permanent: no such field");
}

TEST_CASE("sender: an entry that failed without a kind has not arrived, and uses up no try")
{
    send_policy p = in_order(2);
    p.retry.max_attempts = 1;
    batch_sender s(p);
    queue(s, {1, 2});
    for (int n = 0; n != 300; ++n) {
        const std::uint64_t next = attempt(s, at(n * 1'000'000));
        const entries unclear{{0, fault_kind::none}};
        s.on(batch_sender::partial{.attempt = next, .failed = unclear}, at(n * 1'000'000));
        CHECK_FALSE(s.finished());
        if (n == 0) s.on(batch_sender::reported{{1, 1}}, at(0));
    }
    CHECK(sending(s, at(300'000'000)) == numbers{0});
}

TEST_CASE("sender: discarded items get no report, and their keys start anew")
{
    batch_sender s(in_order(2));
    queue(s, {1, 2, 1, 2});
    const std::uint64_t first = attempt(s, at(0));
    s.on(batch_sender::started{first}, at(0));
    const entries failed{{0, fault_kind::permanent}};
    s.on(batch_sender::partial{.attempt = first, .failed = failed}, at(0));
    CHECK(s.on(batch_sender::discarded{}, at(0)) == event_result::applied);
    CHECK(s.finished());
    CHECK(s.in_flight() == 0);
    CHECK(s.on(batch_sender::accepted{first}, at(0)) == event_result::stale);
    queue(s, {1, 1});
    CHECK(sending(s) == numbers{4});
    CHECK(answer(s, {}) == reports{ended(4, 1, accepted)});
    CHECK(answer(s, {}) == reports{ended(5, 1, accepted)});
    CHECK(s.finished());
}

TEST_CASE("send_policy: batches of one key and one item of a key exclude each other")
{
    send_policy p = in_order(4);
    CHECK(!validate(p));
    p.one_key = true;
    const auto bad = validate(p);
    REQUIRE(bad);
    CHECK(bad->field == "one_key");
    p.may_overtake = true;
    CHECK(!validate(p));
    p.may_overtake = false;
    p.limit.answers_per_entry = false;
    CHECK(!validate(p));
}

}  // namespace sender_entries_test

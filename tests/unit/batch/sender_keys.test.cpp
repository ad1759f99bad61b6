// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/send_said.hpp>

#include <waybill/batch/batch_sender.hpp>

namespace sender_keys_test {

using namespace waybill;
using send_said::attempt;
using send_said::numbers;
using send_said::sending;

namespace {

constexpr steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}

struct sized {
    std::uint64_t key = 0;
    std::uint64_t bytes = 1;
};

void queue(batch_sender& s, const std::vector<sized>& all)
{
    for (const sized& i : all) s.on(batch_sender::queued(i.bytes, i.key), at(0));
    s.on(batch_sender::flushed{}, at(0));
}

send_policy in_order(std::uint64_t items, std::uint32_t in_flight = 1)
{
    return {.limit = {.bytes = 100, .items = items, .answers_per_entry = false},
            .in_flight = in_flight,
            .ordered = true,
            .retry = {
                .max_attempts = 2,
                .pauses = {.base = duration::milliseconds(100), .spread = backoff::jitter::none}}};
}

std::uint64_t start(batch_sender& s, steady_time now = at(0))
{
    const std::uint64_t n = attempt(s, now);
    CHECK(s.on(batch_sender::started{n}, now) == event_result::applied);
    return n;
}

struct ending {
    std::uint64_t item = 0;
    item_outcome how = item_outcome::accepted;
    friend bool operator==(const ending&, const ending&) = default;
};

std::vector<ending> settle_all(batch_sender& s)
{
    std::vector<ending> all;
    for (const batch_sender::report& x : send_said::settle_all(s)) {
        for (std::uint64_t n = x.items.first; n != x.items.end(); ++n) {
            all.push_back({n, x.outcome});
        }
    }
    return all;
}

constexpr item_outcome accepted_ = item_outcome::accepted;
constexpr item_outcome failed_ = item_outcome::failed;
constexpr item_outcome too_large_ = item_outcome::too_large;
constexpr item_outcome held_back_ = item_outcome::blocked_by_key;

using endings = std::vector<ending>;

}  // namespace

TEST_CASE("sender: items of a busy key are skipped, items of other keys are sent")
{
    batch_sender s(in_order(2, 3));
    queue(s, {{1}, {1}, {1}, {2}, {1}, {3}});
    CHECK(sending(s) == numbers{0, 1});
    const std::uint64_t first = start(s);
    CHECK(sending(s) == numbers{3, 5});
    const std::uint64_t second = start(s);
    CHECK(sending(s).empty());
    s.on(batch_sender::accepted{second}, at(0));
    settle_all(s);
    CHECK(sending(s).empty());  // all remaining items have the busy key
    s.on(batch_sender::queued(1U, 2), at(0));
    s.on(batch_sender::flushed{}, at(0));
    CHECK(sending(s) == numbers{6});
    s.on(batch_sender::accepted{first}, at(0));
    CHECK(settle_all(s) == endings{{0, accepted_}, {1, accepted_}});
    CHECK(sending(s) == numbers{2, 4});
}

TEST_CASE("sender: a batch that is less than half full waits for keys in flight")
{
    batch_sender s(in_order(4, 3));
    queue(s, {{1}, {2}, {3}, {4}, {1}, {5}});
    CHECK(sending(s) == numbers{0, 1, 2, 3});
    const std::uint64_t first = start(s);
    CHECK(sending(s).empty());  // one of four, and item 4 could be added
    s.on(batch_sender::accepted{first}, at(0));
    settle_all(s);
    CHECK(sending(s) == numbers{4, 5});
}

TEST_CASE("sender: a batch that is half full does not wait for keys in flight")
{
    for (const std::uint64_t bytes : {1U, 50U}) {  // half of the items, or of the bytes
        batch_sender s(in_order(bytes == 1 ? 4 : 100, 3));
        queue(s, {{1, 30}, {2, 30}, {3, 30}, {4, 10}, {1}, {5, bytes}});
        if (bytes == 1) s.on(batch_sender::queued(1U, 6), at(0));
        s.on(batch_sender::flushed{}, at(0));
        CHECK(sending(s) == numbers{0, 1, 2, 3});
        start(s);
        CHECK(sending(s) == (bytes == 1 ? numbers{5, 6} : numbers{5}));
    }
}

TEST_CASE("sender: a batch that waits for keys is sent after its linger time or after a failure")
{
    send_policy p = in_order(4, 3);
    p.linger = duration::milliseconds(5);
    batch_sender s(p);
    queue(s, {{1}, {2}, {3}, {4}, {1}, {5}});
    const std::uint64_t first = start(s);
    CHECK(sending(s, at(4)).empty());
    CHECK(sending(s, at(5)) == numbers{5});
    // The key of the attempt in flight stops: its item ends, and there is nothing to wait for.
    batch_sender t(in_order(4, 3));
    queue(t, {{1}, {2}, {3}, {4}, {1}, {5}});
    const batch_sender::entry_fault failed[] = {{0, fault_kind::permanent}};
    t.on(batch_sender::partial{.attempt = start(t), .failed = failed}, at(0));
    CHECK(settle_all(t) ==
          endings{{0, failed_}, {1, accepted_}, {2, accepted_}, {3, accepted_}, {4, held_back_}});
    CHECK(sending(t) == numbers{5});
    s.on(batch_sender::accepted{first}, at(5));
    CHECK(settle_all(s).size() == 4);
}

TEST_CASE("sender: a batch does not wait for keys whose attempt waits for its retry")
{
    batch_sender s(in_order(4, 3));
    queue(s, {{1}, {2}, {3}, {4}, {1}, {5}});
    const std::uint64_t first = start(s);
    CHECK(sending(s).empty());
    s.on(batch_sender::outcome_unknown{.attempt = first}, at(0));
    CHECK(sending(s) == numbers{5});
    const std::uint64_t second = start(s);
    s.on(batch_sender::accepted{second}, at(0));
    settle_all(s);
    CHECK(sending(s, at(99)).empty());
    CHECK(sending(s, at(100)) == numbers{0, 1, 2, 3});
}

TEST_CASE("sender: a key stops at its first failed item, other keys continue")
{
    batch_sender s(in_order(2));
    queue(s, {{1}, {2}, {1}, {2}, {1}});
    const batch_sender::entry_fault first[] = {{0, fault_kind::permanent}};
    s.on(batch_sender::partial{.attempt = start(s), .failed = first}, at(0));
    CHECK(settle_all(s) == endings{{0, failed_}, {1, accepted_}, {2, held_back_}, {4, held_back_}});
    CHECK(sending(s) == numbers{3});
    CHECK(s.on(batch_sender::resumed{2}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::resumed{9}, at(0)) == event_result::stale);
    s.on(batch_sender::queued(1U, 1), at(0));
    CHECK(settle_all(s) == endings{{5, held_back_}});
    CHECK(s.on(batch_sender::resumed{1}, at(0)) == event_result::applied);
    CHECK(s.on(batch_sender::resumed{1}, at(0)) == event_result::stale);
    s.on(batch_sender::queued(1U, 1), at(0));
    CHECK(sending(s) == numbers{3, 6});
}

TEST_CASE("sender: every outcome except accepted, unsent and a retry stops the key")
{
    for (int how = 0; how != 4; ++how) {
        send_policy p = in_order(1);
        p.on_unknown = send_policy::when_unknown::hand_back;
        batch_sender s(p);
        queue(s, {{1, how == 3 ? 101U : 1U}, {1}, {2}});
        if (how == 0)
            s.on(batch_sender::failed{.attempt = start(s), .kind = fault_kind::permanent}, at(0));
        if (how == 1) s.on(batch_sender::outcome_unknown{start(s)}, at(0));
        if (how == 2) s.on(batch_sender::too_large{start(s)}, at(0));
        const endings e = settle_all(s);
        REQUIRE(e.size() == 2);
        CHECK(e[1] == ending{1, held_back_});
        CHECK(sending(s) == numbers{2});
    }
    // Not returned items, and not items that were never sent.
    batch_sender s(in_order(1));
    queue(s, {{1}, {1}});
    s.on(batch_sender::throttled{start(s)}, at(0));
    CHECK(sending(s, at(100)) == numbers{0});
    s.on(batch_sender::failed{.attempt = start(s, at(100))}, at(100));
    CHECK(settle_all(s).empty());
    CHECK(sending(s, at(900)) == numbers{0});
    s.on(batch_sender::stopped{}, at(900));
    for (const ending& e : settle_all(s)) CHECK(e.how == item_outcome::unsent);
    CHECK(s.on(batch_sender::resumed{1}, at(900)) == event_result::stale);
    CHECK(s.finished());
}

TEST_CASE("sender: an oversized item blocks only later items of its key")
{
    batch_sender s(in_order(4));
    queue(s, {{1}, {1, 101}, {1}, {2}});
    CHECK(settle_all(s) == endings{{1, too_large_}, {2, held_back_}});
    CHECK(sending(s) == numbers{0, 3});
    s.on(batch_sender::throttled{start(s)}, at(0));
    CHECK(settle_all(s).empty());
    CHECK(sending(s, at(100)) == numbers{0, 3});
    s.on(batch_sender::accepted{start(s, at(100))}, at(100));
    CHECK(settle_all(s) == endings{{0, accepted_}, {3, accepted_}});

    // If an earlier item fails after all, the key stops there, resumed or not.
    batch_sender t(in_order(4, 2));
    queue(t, {{1}, {1, 101}});
    CHECK(settle_all(t) == endings{{1, too_large_}});
    const std::uint64_t n = start(t);
    CHECK(t.on(batch_sender::resumed{1}, at(0)) == event_result::applied);
    t.on(batch_sender::queued(1U, 1), at(0));
    t.on(batch_sender::failed{.attempt = n, .kind = fault_kind::permanent}, at(0));
    CHECK(settle_all(t) == endings{{0, failed_}, {2, held_back_}});
}

TEST_CASE("sender: resumed applies to items queued after it, not to earlier ones")
{
    batch_sender s(in_order(1));
    queue(s, {{1}, {2}, {1}});
    s.on(batch_sender::failed{.attempt = start(s), .kind = fault_kind::permanent}, at(0));
    CHECK(settle_all(s) == endings{{0, failed_}});  // the third was not checked yet
    CHECK(s.on(batch_sender::resumed{1}, at(0)) == event_result::applied);
    s.on(batch_sender::queued(1U, 1), at(0));
    s.on(batch_sender::flushed{}, at(0));
    CHECK(sending(s) == numbers{1});
    s.on(batch_sender::accepted{start(s)}, at(0));
    CHECK(settle_all(s) == endings{{2, held_back_}, {1, accepted_}});
    CHECK(sending(s) == numbers{3});
}

TEST_CASE("sender: a batch of unknown outcome keeps its keys busy")
{
    batch_sender s(in_order(1, 3));
    queue(s, {{1}, {1}, {2}});
    const std::uint64_t n = start(s);
    s.on(batch_sender::outcome_unknown{n}, at(0));
    CHECK(sending(s) == numbers{2});
    start(s);
    CHECK(sending(s, at(100)) == numbers{0});
    CHECK(start(s, at(100)) == n);
    CHECK(sending(s, at(100)).empty());
    s.on(batch_sender::accepted{n}, at(100));
    CHECK(settle_all(s) == endings{{0, accepted_}});
    CHECK(sending(s, at(100)) == numbers{1});
}

TEST_CASE("sender: with one_key, a batch closes with `key` if the next item has another key")
{
    batch_sender s({.limit = {.items = 3}, .one_key = true});
    queue(s, {{7}, {7}, {0}, {unlimited}, {unlimited}});
    std::vector<numbers> sent;
    std::vector<batch_close_reason> why;
    while (!s.finished()) {
        const auto a = s.next(at(0));
        if (const auto* x = waybill::get_if<batch_sender::report>(&a)) {
            s.on(batch_sender::reported{item_range(x->items)}, at(0));
            continue;
        }
        const auto* send = waybill::get_if<batch_sender::send>(&a);
        REQUIRE(send);
        sent.push_back(sending(s));
        why.push_back(send->closed);
        s.on(batch_sender::accepted{send->attempt}, at(0));
    }
    CHECK(sent == std::vector<numbers>{{0, 1}, {2}, {3, 4}});
    CHECK(why == std::vector<batch_close_reason>{batch_close_reason::key, batch_close_reason::key,
                                                 batch_close_reason::end});

    // Without order, one key does not affect the others.
    batch_sender t({.limit = {.items = 1}, .one_key = true, .retry = {.max_attempts = 1}});
    queue(t, {{1}, {1}});
    t.on(batch_sender::failed{.attempt = start(t)}, at(0));
    CHECK(settle_all(t) == endings{{0, failed_}});
    CHECK(sending(t) == numbers{1});
    CHECK(t.on(batch_sender::resumed{1}, at(0)) == event_result::stale);
}

TEST_CASE("sender: without ordered or one_key, keys have no effect")
{
    batch_sender s({.limit = {.items = 2}});
    queue(s, {{1}, {2}, {1}});
    CHECK(sending(s) == numbers{0, 1});
    const batch_sender::entry_fault both[] = {{0, fault_kind::permanent},
                                              {1, fault_kind::permanent}};
    s.on(batch_sender::partial{.attempt = start(s), .failed = both}, at(0));
    CHECK(settle_all(s) == endings{{0, failed_}, {1, failed_}});
    CHECK(sending(s) == numbers{2});
}

TEST_CASE("sender: an accepted batch resets the throttling pause, ordered or not")
{
    for (const bool ordered : {false, true}) {
        send_policy p = in_order(1);
        p.ordered = ordered;
        batch_sender s(p);
        queue(s, {{1}, {1}, {1}, {1}});
        steady_time now = at(0);
        for (int i = 0; i != 3; ++i) {
            s.on(batch_sender::throttled{start(s, now)}, now);
            const auto a = s.next(now);
            const auto* w = waybill::get_if<wait_until>(&a);
            REQUIRE(w);
            CHECK(w->time - now == duration::milliseconds(100));
            now = w->time;
            s.on(batch_sender::accepted{start(s, now)}, now);
            settle_all(s);
        }
    }
}

TEST_CASE("sender: retries stop when the budget is spent, and resume after successes")
{
    send_policy p = in_order(1);
    p.ordered = false;
    p.retry.max_attempts = 9;
    p.budget = {.tokens = 1, .successes = 2};
    batch_sender s(p);
    queue(s, {{0}, {0}, {0}, {0}, {0}});
    s.on(batch_sender::failed{.attempt = start(s)}, at(0));
    CHECK(settle_all(s).empty());
    s.on(batch_sender::failed{.attempt = start(s, at(100))}, at(100));
    CHECK(settle_all(s) == endings{{0, failed_}});
    s.on(batch_sender::outcome_unknown{start(s, at(100))},
         at(100));  // items that may have arrived are not repeated either
    CHECK(settle_all(s) == endings{{1, item_outcome::in_doubt}});
    for (const std::uint64_t n : {2U, 3U}) {
        s.on(batch_sender::accepted{start(s, at(100))}, at(100));
        CHECK(settle_all(s) == endings{{n, accepted_}});
    }
    s.on(batch_sender::failed{.attempt = start(s, at(100))}, at(100));
    CHECK(settle_all(s).empty());
    s.on(batch_sender::failed{.attempt = start(s, at(900))}, at(900));
    CHECK(settle_all(s) == endings{{4, failed_}});
    // A throttled answer is no retry, and neither is a refusal.
    queue(s, {{0}});
    s.on(batch_sender::throttled{start(s, at(900))}, at(900));
    CHECK(sending(s, at(9'000)) == numbers{5});
}

TEST_CASE("sender: ends with a broker that refuses every batch with wrong numbers")
{
    const std::optional<std::uint64_t> wild[] = {std::nullopt,  0U,       1U, 99U, 100U,
                                                 unlimited - 1, unlimited};
    for (const bool ordered : {false, true}) {
        for (const auto& actual : wild) {
            for (const auto& limit : wild) {
                send_policy p = in_order(unlimited, 2);
                p.ordered = ordered;
                batch_sender s(p);
                std::vector<sized> all;
                for (std::uint64_t n = 0; n != 60; ++n) all.push_back({n % 7, n % 5});
                queue(s, all);
                std::uint64_t sends = 0, ended = 0;
                for (; sends != 2'000; ++sends) {
                    ended += settle_all(s).size();
                    const std::uint64_t n = attempt(s, steady_time::highest());
                    if (n == unlimited) break;
                    s.on(batch_sender::too_large{n, actual, limit}, steady_time::lowest());
                }
                CHECK(ended == 60);
                CHECK(s.finished());
                CHECK(sends < 60 * 20);
            }
        }
    }
}

TEST_CASE("sender: events for items never queued or sent are stale")
{
    batch_sender s(in_order(2));
    const batch_sender fresh = s;
    CHECK(s.on(batch_sender::replaced{0, 1}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::not_replaced{unlimited}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::resumed{unlimited}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::accepted{0}, at(0)) == event_result::stale);
    CHECK(s.on(batch_sender::outcome_unknown{unlimited}, at(0)) == event_result::stale);
    CHECK(s == fresh);
    queue(s, {{0}, {unlimited}});
    batch_sender same(in_order(2));
    queue(same, {{0}, {unlimited}});
    CHECK(s == same);
    batch_sender other(in_order(2));
    queue(other, {{0}, {1}});
    CHECK(!(s == other));
}

}  // namespace sender_keys_test

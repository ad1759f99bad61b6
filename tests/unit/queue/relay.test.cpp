// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/send_all.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/queue/relay.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_outbox.hpp>

namespace relay_test {
namespace {

using namespace std::chrono_literals;
using waybill::batch_sender;
using waybill::relay_report;
using waybill::steady_time;
using waybill::testing::manual_environment;
using waybill::testing::memory_outbox;
using ending = waybill::relay_report::ending;

constexpr relay_report::policy drain{.drain = true};

waybill::send_policy limits(std::uint64_t items = 3)
{
    return {.limit = {.bytes = 100, .items = items, .answers_per_entry = false},
            .exact_sizes = true,
            .ordered = true};
}

void add(memory_outbox& box, const std::string& key, const std::string& id, std::string body = "b")
{
    auto tx = *box.begin();
    CHECK(box.add(tx, {.key = key, .id = id, .body = std::move(body)}));
    CHECK(tx.commit());
}

/// A broker that returns the given outcomes in turn, and then accepts everything.
struct broker {
    std::vector<waybill::send_outcome> outcomes{};
    std::size_t sends = 0;
    std::vector<std::string> got{};

    template <class Batch>
    waybill::send_outcome operator()(const Batch& batch)
    {
        const waybill::send_outcome o =
            sends < outcomes.size() ? outcomes[sends] : batch_sender::accepted{};
        ++sends;
        const bool arrives = waybill::holds_alternative<batch_sender::accepted>(o) ||
                             waybill::holds_alternative<batch_sender::outcome_unknown>(o);
        for (const auto& m : batch) {
            if (arrives) got.push_back(m.id);
        }
        return o;
    }
};

TEST_CASE("relay: sends all rows in batches, in order, and removes them")
{
    memory_outbox box;
    for (int n = 0; n != 7; ++n) add(box, n % 2 ? "a" : "", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits());
    broker b;
    const relay_report r = waybill::relay(box, sender, b, env, drain);
    CHECK(b.got == std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6"});
    CHECK(r == relay_report{.outcome = ending::drained, .sent = 7, .sends = 3, .claims = 1});
    CHECK(box.rows().empty());
    CHECK(env.sleeps() == 0);
    CHECK(describe(r) == "7 sent; drained");
    CHECK(sender.finished());
}

TEST_CASE("relay: sends rows that are added while it runs, until its time limit")
{
    memory_outbox box;
    manual_environment env;
    batch_sender sender(limits());
    broker b;
    int sent = 0;
    const auto transmit = [&](const auto& batch) {
        if (++sent < 5) add(box, "a", std::to_string(sent));
        return b(batch);
    };
    add(box, "a", "0");
    const relay_report r = waybill::relay(box, sender, transmit, waybill::time_limited(env, 10min));
    CHECK(r.outcome == ending::stop_requested);
    CHECK(r.sent == 5);
    CHECK(b.got == std::vector<std::string>{"0", "1", "2", "3", "4"});
    CHECK(env.now() == steady_time::at(10min));
    CHECK(env.sleeps() == 600);
}

TEST_CASE("relay: a row that is too large is marked dead with the reason, and other rows are sent")
{
    for (const bool blocks : {false, true}) {
        memory_outbox box;
        add(box, "a", "1");
        add(box, "a", "2", std::string(200, 'x'));
        add(box, "a", "3");
        add(box, "b", "4");
        manual_environment env;
        batch_sender sender(limits());
        broker b;
        const relay_report r =
            waybill::relay(box, sender, b, env, {.drain = true, .dead_row_blocks_key = blocks});
        CHECK(r.outcome == ending::drained);
        CHECK(r.dead == 1);
        if (blocks) CHECK(b.got == std::vector<std::string>{"1", "4"});
        else CHECK(b.got == std::vector<std::string>{"1", "4", "3"});
        REQUIRE(box.rows().size() == (blocks ? 2 : 1));
        CHECK(box.rows().at(2).dead);
        CHECK(box.rows().at(2).reason == "too large: 200 bytes where the limit is 100");
        if (!blocks) continue;
        box.erase(2);
        CHECK(waybill::relay(box, sender, b, env, drain).sent == 1);
        CHECK(b.got.back() == "3");
    }
}

TEST_CASE("relay: of a permanently refused batch, only the row at fault is marked dead")
{
    memory_outbox box;
    for (int n = 0; n != 40; ++n) add(box, n % 2 ? "a" : "b", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits(20));
    std::vector<std::string> got;
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        for (const auto& m : batch) {
            if (m.id == "17") {
                return batch_sender::failed{.kind = waybill::fault_kind::permanent,
                                            .text = "no such topic"};
            }
        }
        for (const auto& m : batch) got.push_back(m.id);
        return batch_sender::accepted{};
    };
    const relay_report r = waybill::relay(box, sender, transmit, env, drain);
    CHECK(r.sent == 39);
    CHECK(r.dead == 1);
    CHECK(got.size() == 39);
    CHECK(r.sends < 30);
    REQUIRE(box.rows().size() == 1);
    CHECK(box.rows().begin()->second.content.id == "17");
    CHECK(box.rows().begin()->second.reason == "no such topic");
    CHECK(env.sleeps() == 0);
}

TEST_CASE("relay: a row in a partial refusal is marked dead, other rows of its batch are sent")
{
    memory_outbox box;
    for (int n = 0; n != 3; ++n) add(box, n == 1 ? "a" : "b", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits());
    const std::vector<batch_sender::entry_fault> faults{{1, waybill::fault_kind::permanent}};
    broker b{.outcomes = {batch_sender::partial{.failed = faults}}};
    const relay_report r = waybill::relay(box, sender, b, env, drain);
    CHECK(r.sent == 2);
    CHECK(r.dead == 1);
    REQUIRE(box.rows().size() == 1);
    CHECK(box.rows().at(2).reason == "refused by the broker without a text");
}

TEST_CASE("relay: waits while the broker throttles, and renews its claim")
{
    memory_outbox box;
    add(box, "a", "1");
    manual_environment env;
    batch_sender sender(limits());
    broker b{.outcomes = {20, batch_sender::throttled{.retry_after = 50s}}};
    const relay_report r = waybill::relay(box, sender, b, env, drain);
    CHECK(r.sent == 1);
    CHECK(r.lost_claims == 0);
    CHECK(r.maybe_twice == 0);
    CHECK(r.sends == 21);
    CHECK(env.now() > steady_time::at(5min));
}

TEST_CASE("relay: ends at its time limit from a broker that always throttles, and returns the rows")
{
    memory_outbox box;
    add(box, "a", "1");
    add(box, "b", "2");
    manual_environment env;
    batch_sender sender(limits());
    const auto transmit = [](const auto&) { return batch_sender::throttled{.retry_after = 7s}; };
    const relay_report r =
        waybill::relay(box, sender, transmit, waybill::time_limited(env, 10min), drain);
    CHECK(r.outcome == ending::stop_requested);
    CHECK(env.now() == steady_time::at(10min));
    CHECK(r.sent == 0);
    CHECK(r.returned >= 2);  // also after each wait
    CHECK(sender.finished());
    auto other = box.claim(10, env.wall_now(), env.wall_now() + 1min);
    CHECK(other->messages.size() == 2);
}

TEST_CASE("relay: a transient failure marks no row dead, and other keys continue")
{
    memory_outbox box;
    for (int n = 0; n != 3; ++n) add(box, "a", "a" + std::to_string(n));
    for (int n = 0; n != 3; ++n) add(box, "b", "b" + std::to_string(n));
    manual_environment env;
    batch_sender sender(limits());
    std::vector<std::string> got;
    std::vector<batch_sender::entry_fault> faults;
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        faults.clear();
        std::uint64_t n = 0;
        for (const auto& m : batch) {
            if (m.key == "a" && env.now() < steady_time::at(1h)) faults.push_back({n});
            else got.push_back(m.id);
            ++n;
        }
        return batch_sender::partial{.failed = faults};
    };
    const relay_report r = waybill::relay(box, sender, transmit, env, drain);
    CHECK(got == std::vector<std::string>{"b0", "b1", "b2", "a0", "a1", "a2"});
    CHECK(r.sent == 6);
    CHECK(r.outcome == ending::drained);
    CHECK(r.returned > 10);
}

TEST_CASE("relay: counts rows whose batch had an unknown outcome once")
{
    memory_outbox box;
    for (int n = 0; n != 4; ++n) add(box, "a", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits());
    broker b{.outcomes = {batch_sender::outcome_unknown{}, batch_sender::outcome_unknown{}}};
    const relay_report r = waybill::relay(box, sender, b, env, drain);
    CHECK(r.sent == 4);
    CHECK(r.maybe_twice == 3);
    CHECK(b.got == std::vector<std::string>{"0", "1", "2", "0", "1", "2", "0", "1", "2", "3"});
}

TEST_CASE("relay: refuses a sender without order and a sender with an open input")
{
    memory_outbox box;
    add(box, "a", "1");
    manual_environment env;
    batch_sender unordered{{.limit = {.bytes = 100}}};
    broker b;
    CHECK(waybill::relay(box, unordered, b, env, drain).outcome == ending::unordered_sender);

    batch_sender open(limits());
    const std::vector<std::string> words{"one"};
    const auto throttles = [](const auto&) { return batch_sender::throttled{}; };
    (void)waybill::send_all(
        words, [](const auto& w) { return w.size(); }, open, throttles,
        waybill::time_limited(env, 1s));
    CHECK(waybill::relay(box, open, b, env, drain).outcome == ending::other_input);
    CHECK(b.sends == 0);
}

TEST_CASE("relay: does nothing after a stop request")
{
    memory_outbox box;
    add(box, "a", "1");
    const memory_outbox before = box;
    manual_environment env;
    env.stop_at({});
    batch_sender sender(limits());
    broker b;
    const relay_report r = waybill::relay(box, sender, b, env);
    CHECK(r == relay_report{.outcome = ending::stop_requested});
    CHECK(box == before);
}

TEST_CASE("relay: sends no further batch after a stop request, and returns the rows at once")
{
    memory_outbox box;
    for (int n = 0; n != 4; ++n) add(box, "a", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits(2));
    const auto transmit = [&](const auto&) {
        env.stop_at(env.now());
        return batch_sender::accepted{};
    };
    const relay_report r = waybill::relay(box, sender, transmit, env, drain);
    CHECK(r.outcome == ending::stop_requested);
    CHECK(r.sends == 1);
    CHECK(r.sent == 2);
    CHECK(r.returned == 2);
    CHECK(box.claim(9, env.wall_now(), env.wall_now() + 1s)->messages.size() == 2);
}

TEST_CASE("relay: a row that has reached max_attempts waits for the poll interval")
{
    memory_outbox box;
    add(box, "a", "1");
    manual_environment env;
    waybill::send_policy once = limits();
    once.retry.max_attempts = 1;
    batch_sender sender(once);
    const auto fails = [](const auto&) { return batch_sender::failed{}; };
    const relay_report r =
        waybill::relay(box, sender, fails, waybill::time_limited(env, 10s), drain);
    CHECK(r.outcome == ending::stop_requested);
    CHECK(r.sends == 10);
    CHECK(r.dead == 0);
}

TEST_CASE("relay: ends if the sender has stopped, and returns the rows")
{
    memory_outbox box;
    for (int n = 0; n != 4; ++n) add(box, "a", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits(2));
    broker b{.outcomes = {batch_sender::accepted{},
                          batch_sender::failed{.kind = waybill::fault_kind::cancelled}}};
    const relay_report r = waybill::relay(box, sender, b, env, drain);
    CHECK(r.outcome == ending::sender_stopped);
    CHECK(r.sent == 2);
    CHECK(r.returned == 2);
    CHECK(box.claim(9, env.wall_now(), env.wall_now() + 1s)->messages.size() == 2);
}

TEST_CASE("relay: a key that the sender has stopped for another input is sent")
{
    manual_environment env;
    batch_sender sender(limits());
    broker b{.outcomes = {batch_sender::failed{.kind = waybill::fault_kind::permanent}}};
    const std::vector<std::string> words{"one"};
    const auto size = [](const auto& w) {
        return batch_sender::queued{w.size(), waybill::detail::key_number("a")};
    };
    const auto fails = [](const auto&) {
        return batch_sender::failed{.kind = waybill::fault_kind::permanent};
    };
    (void)waybill::send_all(words, size, sender, fails, env);
    memory_outbox box;
    add(box, "a", "1");
    CHECK(waybill::relay(box, sender, broker{}, env, drain).sent == 1);
}

TEST_CASE("relay: a drain waits for the rows of a relay that was killed")
{
    memory_outbox box;
    add(box, "a", "1");
    add(box, "a", "2");
    manual_environment env;
    (void)box.claim(1, env.wall_now(), env.wall_now() + 1min);
    batch_sender sender(limits());
    broker b;
    const relay_report r = waybill::relay(box, sender, b, env, drain);
    CHECK(b.got == std::vector<std::string>{"1", "2"});
    CHECK(r.outcome == ending::drained);
    CHECK(env.now() == steady_time::at(1min));
}

TEST_CASE("relay: sends no row of a claim that another relay has taken over")
{
    memory_outbox box;
    add(box, "a", "1");
    add(box, "b", "2");
    manual_environment env;
    batch_sender sender(limits());
    int sends = 0;
    const auto transmit = [&](const auto&) -> waybill::send_outcome {
        if (++sends > 1) return batch_sender::accepted{};
        // The wall clock of another relay is ahead by more than the lease.
        (void)box.claim(1, env.wall_now() + 2min, env.wall_now() + 3min);
        return batch_sender::throttled{.retry_after = 30s};
    };
    const relay_report r = waybill::relay(box, sender, transmit, env, drain);
    CHECK(r.lost_claims == 1);
    CHECK(r.sent == 2);
    CHECK(r.store_errors == 1);
    CHECK(r.last_error.kind == waybill::fault_kind::ownership_lost);
    CHECK(env.now() >= steady_time::at(1min));
}

TEST_CASE("relay: counts the rows of a slow call that another relay has sent meanwhile")
{
    memory_outbox box;
    for (int n = 0; n != 3; ++n) add(box, "a", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits());
    batch_sender other(limits());
    broker b;
    relay_report second;
    const auto slow = [&](const auto& batch) {
        env.advance(61s);
        second = waybill::relay(box, other, b, env, drain);
        return b(batch);
    };
    const relay_report r = waybill::relay(box, sender, slow, env, drain);
    CHECK(b.got.size() == 6);
    CHECK(second == relay_report{.outcome = ending::drained, .sent = 3, .sends = 1, .claims = 1});
    CHECK(r.sent == 0);
    CHECK(r.maybe_twice == 3);
    CHECK(r.lost_claims == 1);
}

TEST_CASE("relay: a slow call without another relay sends nothing twice")
{
    memory_outbox box;
    for (int n = 0; n != 3; ++n) add(box, "a", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits(1));
    const auto slow = [&](const auto&) -> waybill::send_outcome {
        env.advance(10min);
        return batch_sender::accepted{};
    };
    CHECK(waybill::relay(box, sender, slow, env, drain) ==
          relay_report{.outcome = ending::drained, .sent = 3, .sends = 3, .claims = 1});
}

TEST_CASE("relay: within the limits of the lease, a relay whose clock is ahead sends nothing twice")
{
    struct ahead {
        manual_environment& e;
        steady_time now() { return e.now(); }
        waybill::wall_time wall_now() { return e.wall_now() + 29s; }
        void sleep_until(steady_time t) { e.sleep_until(t); }
        double random() { return e.random(); }
    };
    memory_outbox box;
    for (int n = 0; n != 9; ++n) add(box, "a", std::to_string(n));
    manual_environment env;
    batch_sender sender(limits(1));
    broker b;
    const auto slow = [&](const auto& batch) {
        env.advance(15s);
        batch_sender other(limits(1));
        ahead clocks{env};
        const auto r = waybill::relay(box, other, b, waybill::time_limited(clocks, 1ms), drain);
        CHECK(r.claims == 0);
        return b(batch);
    };
    const relay_report r = waybill::relay(box, sender, slow, env, drain);
    CHECK(r.sent == 9);
    CHECK(r.maybe_twice == 0);
    CHECK(b.got.size() == 9);
}

TEST_CASE("relay: a claim that cannot be renewed sends no batch")
{
    struct failing : memory_outbox {
        manual_environment* env = nullptr;
        waybill::result<void> hold(const claimed_rows& c, const std::vector<std::uint64_t>& rows,
                                   waybill::wall_time until)
        {
            if (env->now() < steady_time::at(30s))
                return waybill::unexpected(waybill::transient("busy"));
            return memory_outbox::hold(c, rows, until);
        }
    } box;
    for (int n = 0; n != 3; ++n) add(box, "a", std::to_string(n));
    manual_environment env;
    box.env = &env;
    batch_sender sender(limits(1));
    std::size_t sends = 0;
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        const waybill::duration took[] = {16s, 10s, 44s};
        env.advance(took[sends++]);
        CHECK(batch.size() == 1);
        CHECK(box.claim(9, env.wall_now(), env.wall_now() + 1min)->messages.empty());
        return batch_sender::accepted{};
    };
    const relay_report r = waybill::relay(box, sender, transmit, env, drain);
    CHECK(r.sent == 3);
    CHECK(r.maybe_twice == 0);
    CHECK(r.sends == 3);
}

TEST_CASE("relay: a stop while the store cannot mark rows returns each other row once")
{
    struct failing : memory_outbox {
        waybill::result<void> mark_sent(const claimed_rows&, const std::vector<std::uint64_t>&)
        {
            return waybill::unexpected(waybill::transient("busy"));
        }
    } box;
    for (int n = 0; n != 3; ++n) add(box, std::to_string(n), std::to_string(n));
    manual_environment env;
    waybill::send_policy once = limits();
    once.retry.max_attempts = 1;
    batch_sender sender(once);
    const std::vector<batch_sender::entry_fault> faults{{0, waybill::fault_kind::transient}};
    broker b{.outcomes = {batch_sender::partial{.failed = faults}}};
    const relay_report r = waybill::relay(box, sender, b, waybill::time_limited(env, 500ms), drain);
    CHECK(r.outcome == ending::stop_requested);
    CHECK(r.returned == 1);
    CHECK(r.maybe_twice == 2);
    CHECK(box.claim(9, env.wall_now(), env.wall_now() + 1min)->messages.size() == 1);
}

TEST_CASE("relay: rows added while a key is throttled are claimed and sent")
{
    memory_outbox box;
    add(box, "hot", "1");
    manual_environment env;
    waybill::send_policy p = limits();
    p.limit.answers_per_entry = true;
    batch_sender sender(p);
    std::vector<batch_sender::entry_fault> faults;
    std::size_t sends = 0;
    steady_time arrived = steady_time::highest();
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        if (++sends == 2) add(box, "cold", "2");
        faults.clear();
        std::uint64_t n = 0;
        for (const auto& m : batch) {
            if (m.key == "hot") faults.emplace_back(n, batch_sender::throttled{});
            else arrived = env.now();
            ++n;
        }
        if (faults.empty()) return batch_sender::accepted{};
        return batch_sender::partial{.failed = faults};
    };
    const relay_report r =
        waybill::relay(box, sender, transmit, waybill::time_limited(env, 10min), drain);
    CHECK(r.sent == 1);
    CHECK(arrived < steady_time::at(1min));
}

TEST_CASE("relay: a row that makes each request fail is alone after a few requests")
{
    memory_outbox box;
    for (int n = 0; n != 40; ++n) add(box, std::to_string(n), std::to_string(n));
    manual_environment env;
    batch_sender sender(limits(50));
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        for (const auto& m : batch) {
            if (m.id == "3") return batch_sender::failed{};
        }
        return batch_sender::accepted{};
    };
    const relay_report r =
        waybill::relay(box, sender, transmit, waybill::time_limited(env, 1min), drain);
    CHECK(r.sent == 39);
    CHECK(box.rows().size() == 1);
}

TEST_CASE("relay: a row that makes each request fail is found although rows are added all the time")
{
    memory_outbox box;
    int rows = 0;
    const auto add_some = [&] {
        for (int n = 0; n != 50; ++n, ++rows) add(box, std::to_string(rows), std::to_string(rows));
    };
    add_some();
    manual_environment env;
    batch_sender sender(limits(50));
    steady_time arrived{};  // the last one of the first rows
    std::size_t first_rows = 0;
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        env.advance(10ms);
        for (const auto& m : batch) {
            if (m.id == "3") return batch_sender::failed{};
        }
        for (const auto& m : batch) {
            if (std::stoi(m.id) >= 50) continue;
            arrived = env.now();
            ++first_rows;
        }
        if (box.rows().size() < 200) add_some();
        return batch_sender::accepted{};
    };
    (void)waybill::relay(box, sender, transmit, waybill::time_limited(env, 2min), drain);
    CHECK(first_rows == 49);
    CHECK(arrived < steady_time::at(1min));
    CHECK(rows > 1'000);
}

TEST_CASE("relay: claims that were not sent whole do not grow")
{
    struct recording : memory_outbox {
        std::vector<std::uint64_t> asked{};

        waybill::result<claimed_rows> claim(std::uint64_t n, waybill::wall_time now,
                                            waybill::wall_time until)
        {
            asked.push_back(n);
            return memory_outbox::claim(n, now, until);
        }
    } box;
    for (int n = 0; n != 8; ++n) add(box, std::to_string(n), std::to_string(n));
    manual_environment env;
    waybill::send_policy once = limits(8);
    once.retry.max_attempts = 1;
    batch_sender sender(once);
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        if (batch.size() == 8) return batch_sender::failed{};
        return batch_sender::throttled{};
    };
    (void)waybill::relay(box, sender, transmit, waybill::time_limited(env, 30s), drain);
    REQUIRE(box.asked.size() > 5);
    CHECK(box.asked.front() == drain.max_rows);
    for (std::size_t n = 1; n != box.asked.size(); ++n) CHECK(box.asked[n] == 4);
}

TEST_CASE("relay: in an outage, smaller claims make no more requests than the retries allow")
{
    memory_outbox box;
    for (int n = 0; n != 200; ++n) add(box, std::to_string(n), std::to_string(n));
    manual_environment env;
    batch_sender sender(limits(50));
    const auto fails = [](const auto&) { return batch_sender::failed{}; };
    const relay_report r =
        waybill::relay(box, sender, fails, waybill::time_limited(env, 1h), drain);
    CHECK(r.sent == 0);
    // Five attempts have pauses of 0.1, 0.2, 0.4 and 0.8 s, on average half of that with jitter.
    CHECK(r.sends < 1.1 * 3'600 / 0.75 * 5);
}

TEST_CASE("relay: a row that the store cannot mark is sent once, and the others are marked")
{
    struct picky : memory_outbox {
        waybill::result<void> mark_sent(const claimed_rows& c,
                                        const std::vector<std::uint64_t>& rows)
        {
            for (const std::uint64_t n : rows) {
                if (c.messages[n].id == "0") return waybill::unexpected(waybill::permanent("no"));
            }
            return memory_outbox::mark_sent(c, rows);
        }
    } box;
    for (int n = 0; n != 7; ++n) add(box, "key " + std::to_string(n), std::to_string(n));
    manual_environment env;
    batch_sender sender(limits());
    broker b;
    const relay_report r = waybill::relay(box, sender, b, waybill::time_limited(env, 1h), drain);
    CHECK(b.got == std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6"});
    CHECK(r.sent == 6);
    CHECK(r.unwritten == 1);
    CHECK(r.maybe_twice == 1);
    CHECK(r.last_error.text == "row \"0\": no");
    CHECK(box.rows().size() == 1);
}

TEST_CASE("relay: a row that could not be marked is forgotten two leases after its last claim")
{
    struct picky : memory_outbox {
        manual_environment* env = nullptr;
        int changes = 0;

        waybill::result<claimed_rows> claim(std::uint64_t n, waybill::wall_time now,
                                            waybill::wall_time until)
        {
            if (changes == 0 && env->now() >= steady_time::at(5min)) {
                erase(1);
                relay_test::add(*this, "a", "0", "another body");
                ++changes;
            }
            if (changes == 1 && env->now() >= steady_time::at(9min)) {
                relay_test::add(*this, "a", "0");
                ++changes;
            }
            return memory_outbox::claim(n, now, until);
        }
        waybill::result<void> mark_sent(const claimed_rows& c,
                                        const std::vector<std::uint64_t>& rows)
        {
            if (env->now() < steady_time::at(5min))
                return waybill::unexpected(waybill::permanent("no"));
            return memory_outbox::mark_sent(c, rows);
        }
    } box;
    add(box, "a", "0");
    manual_environment env;
    box.env = &env;
    batch_sender sender(limits());
    broker b;
    const relay_report r = waybill::relay(box, sender, b, waybill::time_limited(env, 10min));
    CHECK(b.got.size() == 3);
    CHECK(r.sent == 2);
    CHECK(r.unwritten == 1);
    CHECK(r.maybe_twice == 1);
}

TEST_CASE("relay: while the store is down, no row is left unmarked")
{
    struct down : memory_outbox {
        manual_environment* env = nullptr;
        [[nodiscard]] bool is_down() const
        {
            return env->now() > steady_time::at(0s) && env->now() < steady_time::at(30s);
        }
        waybill::result<void> hold(const claimed_rows& c, const std::vector<std::uint64_t>& rows,
                                   waybill::wall_time until)
        {
            if (is_down()) return waybill::unexpected(waybill::infrastructure("down"));
            return memory_outbox::hold(c, rows, until);
        }
        waybill::result<void> mark_sent(const claimed_rows& c,
                                        const std::vector<std::uint64_t>& rows)
        {
            if (is_down()) return waybill::unexpected(waybill::infrastructure("down"));
            return memory_outbox::mark_sent(c, rows);
        }
    } box;
    for (int n = 0; n != 7; ++n) add(box, "key " + std::to_string(n), std::to_string(n));
    manual_environment env;
    box.env = &env;
    batch_sender sender(limits());
    std::size_t sends = 0;
    const auto transmit = [&](const auto&) -> waybill::send_outcome {
        env.advance(1s);
        ++sends;
        return batch_sender::accepted{};
    };
    const relay_report r = waybill::relay(box, sender, transmit, env, drain);
    CHECK(r.sent == 7);
    CHECK(sends == 3);
    CHECK(r.unwritten == 0);
    CHECK(r.maybe_twice == 0);
}

TEST_CASE("relay: if the wall clock goes back, no row is lost and the order is kept")
{
    memory_outbox box;
    for (int n = 0; n != 9; ++n) add(box, "a", std::to_string(n));
    manual_environment env({}, waybill::wall_time::at(100h));
    batch_sender sender(limits());
    std::vector<std::string> got;
    struct jumping {
        manual_environment& e;
        waybill::duration jump{};
        steady_time now() { return e.now(); }
        waybill::wall_time wall_now() { return e.wall_now() + jump; }
        void sleep_until(steady_time t) { e.sleep_until(t); }
        double random() { return e.random(); }
    } clocks{env};
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        clocks.jump -= 1h;
        env.advance(40s);
        for (const auto& m : batch) got.push_back(m.id);
        return batch_sender::accepted{};
    };
    const relay_report r = waybill::relay(box, sender, transmit, clocks, drain);
    CHECK(r.sent == 9);
    CHECK(got == std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "7", "8"});
}

TEST_CASE("relay: the policy is validated")
{
    CHECK_FALSE(validate(relay_report::policy{}));
    CHECK(validate(relay_report::policy{.max_rows = 0})->field == "max_rows");
    CHECK(validate(relay_report::policy{.poll_interval = 0s})->field == "poll_interval");
    CHECK(validate(relay_report::policy{.lease = 1s})->field == "lease");
    CHECK(describe(*validate(relay_report::policy{.lease = -1s})) ==
          "lease is -1000000000: nanoseconds must be at least twice poll_interval, which is "
          "(1000000000)");
    CHECK(describe(*validate(relay_report::policy{.poll_interval = -1s})) ==
          "poll_interval is -1000000000: nanoseconds must be at least (1000000)");
    CHECK_FALSE(validate(relay_report::policy{.lease = 2s}));

    memory_outbox box;
    add(box, "a", "1");
    manual_environment env;
    batch_sender sender(limits());
    broker b;
    const relay_report::policy invalid{
        .max_rows = 0, .lease = -1s, .poll_interval = -1s, .drain = true};
    CHECK(waybill::relay(box, sender, b, env, invalid).sent == 1);
}

TEST_CASE("relay_report: describes its counts")
{
    relay_report r{.outcome = ending::stop_requested,
                   .sent = 5,
                   .dead = 1,
                   .returned = 2,
                   .maybe_twice = 3,
                   .lost_claims = 1,
                   .store_errors = 4,
                   .unwritten = 2};
    r.last_error = waybill::infrastructure("disk full");
    CHECK(describe(r) ==
          "5 sent, 1 dead, 2 returned, 3 maybe twice, 1 claim lost, 2 unwritten, "
          "4 store errors (last: disk full); stop_requested");
    CHECK(
        describe(relay_report{.outcome = ending::unordered_sender}) ==
        "0 sent; unordered_sender: nothing was sent, because the policy of the sender does not set "
        "`ordered`");
    CHECK(describe(relay_report{.outcome = ending::other_input}) ==
          "0 sent; other_input: the sender has items of another call");
}

}  // namespace
}  // namespace relay_test

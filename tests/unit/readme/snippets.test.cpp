// SPDX-License-Identifier: MIT
//
// The pieces of code that the README shows stand here between marks, so that they compile and do
// what is said there. tests/integration/readme.sh compares the two texts.
#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include <waybill/batch.hpp>
#include <waybill/consume.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/memory_store.hpp>

namespace readme_snippets {
namespace {

using namespace std::chrono_literals;

struct message {
    std::string body;
};

// A broker with a limit of bytes that it counts its own way, and that is busy now and then.
struct broker {
    std::deque<std::string> got;
    int calls = 0;

    waybill::send_outcome send(const std::vector<message>& batch)
    {
        if (++calls % 5 == 0) return waybill::batch_sender::throttled{.retry_after = 1s};
        std::uint64_t bytes = 20;
        for (const message& m : batch) bytes += m.body.size() + 61;
        if (bytes > 1'024) return waybill::batch_sender::too_large{.actual = bytes, .limit = 1'024};
        for (const message& m : batch) got.push_back(m.body);
        return waybill::batch_sender::accepted{};
    }
};

TEST_CASE("README: the one loop drives the sender")
{
    std::vector<message> inbox;
    for (int i = 0; i < 100; ++i) inbox.push_back({"message " + std::to_string(i)});
    broker sdk;
    std::vector<waybill::batch_sender::report> noted;
    waybill::steady_time time;
    const auto now = [&] { return time; };
    const auto sleep_until = [&](waybill::steady_time t) { time = t; };
    const auto note = [&](const waybill::batch_sender::report& x) { noted.push_back(x); };
    const auto transmit = [&](const waybill::item_ranges& items) {
        std::vector<message> batch;
        for (const waybill::item_range& r : items) {
            for (std::uint64_t i = r.first; i != r.end(); ++i) batch.push_back(inbox[i]);
        }
        return sdk.send(batch);
    };

    //! [loop]
    using sender = waybill::batch_sender;
    sender s{{.limit = {.bytes = 1'024}, .header = 8}};
    for (const message& m : inbox) s.on(sender::queued{m.body.size()}, now());
    s.on(sender::flushed{}, now());
    while (!s.finished())
        waybill::match(s.next(now()),
            [&](sender::send a) {
                auto answer = transmit(a.items);             // accepted, refused, throttled ...
                waybill::match(answer, [&](auto& event) {
                    event.attempt = a.attempt;
                    s.on(event, now());
                });
            },
            [&](sender::report r)      { note(r); s.on(sender::reported{r.items}, now()); },
            [&](sender::replace r)     { s.on(sender::not_replaced{r.item}, now()); },  // or `replaced`
            [&](waybill::wait_until w) { sleep_until(w.time); },
            [&](waybill::idle)         {});
    //! [loop]

    REQUIRE(sdk.got.size() == inbox.size());
    for (std::size_t i = 0; i < inbox.size(); ++i) CHECK(sdk.got[i] == inbox[i].body);
    CHECK_FALSE(noted.empty());
}

TEST_CASE("README: send_all goes on after a wait")
{
    std::vector<message> inbox;
    for (int i = 0; i < 100; ++i) inbox.push_back({"message " + std::to_string(i)});
    broker sdk;
    waybill::steady_time time;
    const auto clock = [&] { return time; };
    const auto sleep_until = [&](waybill::steady_time t) { time = t; };
    waybill::batch_sender sender{{.limit = {.bytes = 1'024}}};

    //! [send_all]
    const auto body_size = [](const message& m) { return m.body.size(); };
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        return sdk.send({batch.begin(), batch.end()});
    };
    auto report = waybill::send_all(inbox, body_size, sender, clock, transmit);
    while (report.waiting) {
        sleep_until(*report.waiting);
        report += waybill::send_all(inbox, body_size, sender, clock, transmit);
    }
    //! [send_all]

    CHECK(report.accepted == 100);
    CHECK(report.not_accepted == 0);
    CHECK(sdk.got.size() == 100);
}

struct order {
    std::uint64_t sequence;
    std::string body;
    long total;
};

TEST_CASE("README: process_batch")
{
    waybill::testing::memory_store<std::string> store;
    const waybill::partition_key key{"orders", "billing", "0"};
    const std::vector<order> events{{1, "a", 10}, {2, "b", -1}, {5, "c", 30}};
    const waybill::wall_time now;
    const std::uint64_t epoch = 1;
    const auto complain = [](const waybill::fault& f) { FAIL(f.text); };

    //! [process_batch]
    const auto handle = [](auto& tx, const order& o) -> waybill::fault {
        if (o.total < 0) return waybill::permanent("total is negative");
        tx.record(o.body);  // in your store: an INSERT or an UPDATE through tx
        return {};
    };
    auto stored = store.load(key);  // a value, absent, or an error: three answers
    if (!stored) return complain(stored.error());
    waybill::assignment mine{key, waybill::position_of(*stored), epoch};
    auto r = waybill::process_batch(store, mine, events, handle, now);
    if (r.outcome == waybill::batch_outcome::committed) mine.from = r.reached;
    //! [process_batch]

    CHECK(r.outcome == waybill::batch_outcome::committed);
    CHECK(store.records() == std::vector<std::string>{"a", "c"});
    CHECK((*store.find(key, 2))->reason == "total is negative");
    CHECK(mine.from->sequence == 5);
}

}  // namespace
}  // namespace readme_snippets

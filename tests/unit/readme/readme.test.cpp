// SPDX-License-Identifier: MIT
//
// The loop that the README of the project shows. tests/integration/documents.sh compares the two.
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch.hpp>

namespace readme_test {
namespace {

using namespace std::chrono_literals;

struct message {
    std::string body;
};

// A broker with a limit of bytes, message headers included. Each fifth call is throttled.
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

TEST_CASE("README: one loop drives the sender")
{
    std::vector<message> inbox;
    for (int i = 0; i < 100; ++i) inbox.push_back({"message " + std::to_string(i)});
    broker sdk;
    std::vector<waybill::batch_sender::report> noted;
    waybill::steady_time time;
    const auto now = [&] { return time; };
    const auto sleep_until = [&](waybill::steady_time t) { time = t; };
    const auto note = [&](const waybill::batch_sender::report& x) { noted.push_back(x); };
    const auto transmit = [&](const waybill::batch_sender::item_ranges& items) {
        std::vector<message> batch;
        for (const waybill::item_range& r : items) {
            for (std::uint64_t i = r.first; i != r.end(); ++i) batch.push_back(inbox[i]);
        }
        return sdk.send(batch);
    };

    //! [loop]
    using sender = waybill::batch_sender;
    sender s{{.limit = {.bytes = 1'024}, .item_overhead = 8}};
    for (const message& m : inbox) s.on(sender::queued{m.body.size()}, now());
    s.on(sender::flushed{}, now());
    while (!s.finished())
        waybill::match(
            s.next(now()),
            [&](sender::send a) {
                auto answer = transmit(a.items);  // accepted, refused, throttled ...
                waybill::match(answer, [&](auto& event) {
                    event.attempt = a.attempt;
                    s.on(event, now());
                });
            },
            [&](sender::report r) {
                note(r);
                s.on(sender::reported{r.items}, now());
            },
            [&](sender::replace r) { s.on(sender::not_replaced{r.item}, now()); },  // or `replaced`
            [&](waybill::wait_until w) { sleep_until(w.time); }, [&](waybill::idle) {});
    //! [loop]

    REQUIRE(sdk.got.size() == inbox.size());
    for (std::size_t i = 0; i < inbox.size(); ++i) CHECK(sdk.got[i] == inbox[i].body);
    CHECK_FALSE(noted.empty());
}

}  // namespace
}  // namespace readme_test

// SPDX-License-Identifier: MIT
//
// The snippets of include/waybill/batch/README.md, compiled and run.
#include <chrono>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/wire.hpp>

namespace batch_guide_test {
namespace {

using namespace std::chrono_literals;
namespace wire = waybill::wire;

struct message {
    std::string body;
    std::string id;
};

std::uint64_t wire_size(const message& m)
{
    return m.body.size() + m.id.size() + 110;
}

// 2,000 messages. Number 500 fits into no batch.
std::vector<message> messages()
{
    std::vector<message> made;
    for (std::size_t i = 0; i != 2'000; ++i) {
        made.push_back({std::string(i * i % 997, '.'), "message-" + std::to_string(i)});
    }
    made[500].body = std::string(300'000, '.');
    return made;
}

struct response {
    bool ok = false;
    std::string code{};
    std::string text{};
};

// Accepts at most 262,144 bytes, headers included. Can be busy once.
struct broker {
    std::vector<std::string> arrived{};
    int batches = 0;
    int refusals = 0;
    bool busy = false;

    template <class Batch>
    response send(const Batch& batch)
    {
        if (busy) {
            busy = false;
            return {.code = "com.microsoft:server-busy"};
        }
        ++batches;
        std::uint64_t bytes = 0;
        for (const message& m : batch) bytes += wire_size(m);
        if (bytes > 262'144) {
            ++refusals;
            return {.code = "amqp:link:message-size-exceeded",
                    .text = "The received message (delivery-id:7, size:" + std::to_string(bytes) +
                            " bytes) exceeds the limit (262144 bytes) currently allowed on the "
                            "link."};
        }
        for (const message& m : batch) arrived.push_back(m.id);
        return {.ok = true};
    }
};

struct archive_of_messages {
    std::vector<std::string> ids{};

    waybill::fault store(const message& m)
    {
        ids.push_back(m.id);
        return {};
    }
};

TEST_CASE("batch guide: cut a sequence")
{
    const std::vector<message> inbox = messages();
    broker client;
    archive_of_messages archive;
    constexpr waybill::batch_limits limits = waybill::wire::service_bus_standard();
    for (auto part : waybill::chunk_by(inbox, limits, wire_size)) {
        if (part.fits) client.send(part);
        else archive.store(*part.begin());
    }
    CHECK(client.arrived.size() == 1'999);
    CHECK(client.refusals == 0);
    CHECK(archive.ids == std::vector<std::string>{"message-500"});

    std::string line;
    const auto check = [&] {
        if (auto bad = waybill::first_too_large(inbox, limits, wire_size)) {
            line = describe(*bad);
            return false;
        }
        return true;
    };
    CHECK_FALSE(check());
    CHECK(line ==
          "item 500: too_large, 300121 bytes where the limit is 262144 for one item, "
          "envelope 0");

    std::uint64_t items = 0;
    std::vector<message> own = inbox;
    auto batches = waybill::owned_chunks(std::move(own), limits, wire_size);
    for (const auto& b : batches) items += b.size();
    CHECK(items == 2'000);
}

TEST_CASE("batch guide: sizes")
{
    const std::vector<message> inbox = messages();
    constexpr waybill::batch_limits limits = waybill::wire::service_bus_standard();
    const auto items_that_fit = [](auto parts) {
        std::uint64_t items = 0;
        for (auto part : parts) items += part.fits ? part.count : 0;
        return items;
    };
    const auto body_size = [](const message& m) { return m.body.size(); };
    //! [batch_model]
    // One header size for all messages.
    auto guessed = waybill::chunk_by(inbox, limits, waybill::fixed_overhead(54, body_size));

    // Each message is measured as the SDK's encoder writes it, envelope included.
    namespace amqp = waybill::wire::amqp;
    const auto as_amqp = [](const message& m) {
        return amqp::message{.body = m.body, .message_id = m.id};
    };
    const auto model = waybill::framed(amqp::batch<amqp::proton>{}, as_amqp);
    auto exact = waybill::chunk_by(inbox, limits, model);

    // The same, with 68 bytes for the tracing headers that a library adds to each message.
    auto traced = waybill::chunk_by(inbox, limits, waybill::with_reserve(model, {.item = 68}));
    //! [batch_model]
    CHECK(items_that_fit(guessed) == 1'999);
    CHECK(items_that_fit(exact) == 1'999);
    CHECK(items_that_fit(traced) == 1'999);
    const auto first = (*exact.begin()).count;
    CHECK((*traced.begin()).count < first);
}

TEST_CASE("batch guide: send_all learns the sizes")
{
    std::vector<message> inbox = messages();
    broker client{.busy = true};
    waybill::testing::manual_environment env;
    std::vector<std::string> lines;
    const auto log = [&](const std::string& line) { lines.push_back(line); };

    using waybill::batch_sender;
    batch_sender sender{{.limit = wire::service_bus_standard(), .item_overhead = 54}};
    const auto body_size = [](const message& m) { return m.body.size(); };
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        const auto r = client.send(batch);
        if (r.ok) return batch_sender::accepted{};
        return wire::outcome_of(wire::azure_amqp_errors, r.code, r.text);
    };

    auto report = waybill::send_all(inbox, body_size, sender, transmit, env);
    for (const auto& r : report.outcomes) log(describe(r));
    CHECK(report.accepted == 1'999);
    CHECK(report.not_accepted == 1);
    CHECK(client.arrived.size() == 1'999);
    CHECK(client.refusals <= 2);  // one is evidence, one is the message that fits into no batch
    CHECK(env.sleeps() == 1);     // the broker was busy once
    CHECK(lines ==
          std::vector<std::string>{"items 0 to 384: accepted",
                                   "item 500: too_large, 300000 bytes where the limit is 262144",
                                   "items 385 to 499: accepted", "items 501 to 1999: accepted"});

    waybill::calibration stored;
    const auto load = [&] { return stored; };
    const auto store = [&](const waybill::calibration& c) { stored = c; };
    const waybill::send_policy policy = sender.policy();
    {
        //! [batch_keep]
        store(sender.learnt());
        waybill::batch_sender next{policy, load()};
        store(merged(load(), next.learnt()));  // if several workers store for one destination
        //! [batch_keep]
    }
    CHECK(stored == sender.learnt());
}

TEST_CASE("batch guide: a service that answers for each entry")
{
    struct entry {
        std::uint64_t index = 0;
        bool ok = false;
        std::string code{};
    };
    struct {
        std::vector<entry> entries{};
    } answer;
    const std::vector<std::string> inbox{"a", "b", "c"};
    std::string stored;
    std::vector<waybill::batch_sender::entry_fault> failed;
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        answer.entries.clear();
        for (const std::string& m : batch) {
            const bool ok = m != "b" || !stored.empty();
            if (ok) stored += m;
            answer.entries.push_back({answer.entries.size(), ok, ok ? "" : "RequestThrottled"});
        }
        //! [batch_partial]
        failed.clear();  // std::vector<waybill::batch_sender::entry_fault>
        for (const auto& e : answer.entries) {
            if (e.ok) continue;
            failed.push_back(
                {e.index, waybill::wire::outcome_of(waybill::wire::sqs_errors, e.code)});
        }
        if (!failed.empty()) return waybill::batch_sender::partial{.failed = failed};
        //! [batch_partial]
        return waybill::batch_sender::accepted{};
    };
    waybill::testing::manual_environment env;
    waybill::batch_sender sender{{.limit = {.items = 2}}};
    const auto report = waybill::send_all(inbox, &std::string::size, sender, transmit, env);
    CHECK(report.accepted == 3);
    CHECK(stored.size() == 3);
    CHECK(report.sends >= 2);
}

TEST_CASE("batch guide: exact sizes, keys, claim check, an input that is read once")
{
    std::vector<message> inbox = messages();
    waybill::testing::manual_environment env;
    constexpr waybill::batch_limits limits = wire::service_bus_standard();
    broker client;
    archive_of_messages archive;
    const auto customer = [](const message& m) { return m.id.size(); };
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        if (client.send(batch).ok) return waybill::batch_sender::accepted{};
        return waybill::batch_sender::too_large{};
    };
    {
        //! [batch_exact]
        waybill::batch_sender sender{{.limit = limits, .exact_sizes = true, .ordered = true}};
        const auto sized = [&](const message& m) {
            return waybill::batch_sender::queued(wire_size(m), customer(m));
        };
        auto report = waybill::send_all(inbox, sized, sender, transmit, env);
        //! [batch_exact]
        // The key of the oversized message stops there. The other keys continue.
        CHECK(client.refusals == 0);
        CHECK(report.accepted == 10 + 90 + 400 + 1'000);
        CHECK(report.not_accepted == 500);
    }
    client = {};
    {
        //! [batch_replace]
        waybill::batch_sender sender{
            {.limit = limits,
             .exact_sizes = true,
             .on_too_large = waybill::send_policy::when_too_large::replace}};
        const auto replace = [&](message& m,
                                 const waybill::batch_sender::replace&) -> waybill::fault {
            const waybill::fault f = archive.store(m);
            if (f.ok()) m.body = "stored as " + m.id;
            return f;
        };
        auto report = waybill::send_all(inbox, wire_size, sender, transmit, env, replace);
        //! [batch_replace]
        CHECK(report.accepted == 2'000);
        CHECK(archive.ids.size() == 1);
    }
    {
        std::istringstream input("one two three");
        std::uint64_t words = 0;
        const auto send_words = [&](const auto& batch) -> waybill::send_outcome {
            words += batch.size();
            return waybill::batch_sender::accepted{};
        };
        waybill::batch_sender sender{{.limit = limits}};
        using word = std::istream_iterator<std::string>;
        waybill::resend_buffer buffer{word(input), word()};
        auto report = waybill::send_all(buffer, &std::string::size, sender, send_words, env);
        CHECK(report.accepted == 3);
        CHECK(words == 3);
    }
}

TEST_CASE("batch guide: messages that arrive one by one")
{
    const std::vector<message> inbox = messages();
    constexpr waybill::batch_limits limits = wire::service_bus_standard();
    waybill::steady_time time;
    const auto now = [&] { return time; };
    archive_of_messages archive;
    std::uint64_t items = 0;
    const auto flush = [&](const auto& batch) { items += batch.items.size(); };
    const auto session = [](const message& m) { return m.id.substr(m.id.size() - 1); };
    {
        //! [batch_open]
        auto open = waybill::open_batch<message>::of(limits, wire_size, 50ms);
        const auto on_message = [&](const message& m) {
            const waybill::add_result result = open.try_add(m, now());
            if (result == waybill::add_result::too_large) archive.store(m);
            if (result == waybill::add_result::full) {
                flush(open.take(now()));
                open.try_add(m, now());  // now it is `added`
            }
        };
        const auto on_timer = [&] {  // at open.deadline()
            if (open.due(now())) flush(open.take(now()));
        };
        //! [batch_open]
        for (const message& m : inbox) on_message(m);
        time = time + 50ms;
        on_timer();
        CHECK(open.empty());
        CHECK(items == 1'999);
        CHECK(archive.ids.size() == 1);
    }
    items = 0;
    {
        //! [batch_keyed]
        auto open = waybill::keyed_batches<std::string, message>::of(
            limits, wire_size, {.open = 16, .linger = 50ms, .items = 100});
        const auto add = [&](const message& m) { return open.try_add(session(m), m, now()); };
        //! [batch_keyed]
        for (const message& m : inbox) {
            if (add(m) != waybill::add_result::full) continue;
            flush(open.take(now()));
            CHECK(add(m) == waybill::add_result::added);
        }
        while (!open.empty()) flush(open.take(now()));
        CHECK(items == 1'999);
    }
    {
        const auto send = [&](const std::vector<std::size_t>& positions) {
            items += positions.size();
        };
        items = 0;
        //! [batch_bins]
        waybill::packed_bins packed = waybill::pack(inbox, limits, wire_size);
        for (const auto& batch : packed.batches) send(batch.items);  // positions in `inbox`
        for (std::size_t i : packed.too_large) archive.store(inbox[i]);
        //! [batch_bins]
        CHECK(items == 1'999);
        CHECK(packed.too_large == std::vector<std::size_t>{500});
    }
}

TEST_CASE("batch guide: the caller's own loop")
{
    const std::vector<message> inbox = messages();
    const auto limits = wire::service_bus_standard();
    broker client;
    waybill::steady_time time;
    const auto now = [&] { return time; };
    const auto sleep_until = [&](waybill::steady_time t) { time = t; };
    std::uint64_t recorded = 0;
    const auto record = [&](const waybill::batch_sender::report& s) { recorded += s.items.count; };
    const auto transmit =
        [&](const waybill::batch_sender::item_ranges& items) -> waybill::send_outcome {
        std::vector<message> batch;
        for (const waybill::item_range& r : items) {
            for (std::uint64_t i = r.first; i != r.end(); ++i) batch.push_back(inbox[i]);
        }
        if (client.send(batch).ok) return waybill::batch_sender::accepted{};
        return waybill::batch_sender::too_large{};
    };
    //! [batch_loop]
    using waybill::batch_sender;
    batch_sender s{{.limit = limits, .item_overhead = 54}};
    for (const message& m : inbox) s.on(batch_sender::queued{m.body.size()}, now());
    s.on(batch_sender::flushed{}, now());
    while (!s.finished())
        waybill::match(
            s.next(now()),
            [&](batch_sender::send a) {
                auto outcome = transmit(a.items);
                waybill::match(outcome, [&](auto& event) {
                    event.attempt = a.attempt;
                    s.on(event, now());
                });
            },
            [&](batch_sender::report a) {
                record(a);
                s.on(batch_sender::reported{a.items}, now());
            },
            [&](batch_sender::replace a) { s.on(batch_sender::not_replaced{a.item}, now()); },
            [&](waybill::wait_until a) { sleep_until(a.time); }, [&](waybill::idle) {});
    //! [batch_loop]
    CHECK(recorded == 2'000);
    CHECK(client.arrived.size() == 1'999);
}

}  // namespace
}  // namespace batch_guide_test

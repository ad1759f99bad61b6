// SPDX-License-Identifier: MIT
//
// A full stream, cut connections and slow consumers on NATS JetStream. Each count is made by a
// plain pull consumer of nats.c, or by the handler itself.
//
//     nats FOLDER

#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <engines/nats_client.hpp>
#include <engines/nats_log.hpp>
#include <engines/nats_publisher.hpp>
#include <engines/nats_server.hpp>
#include <engines/nats_work_queue.hpp>

#include "cutting_proxy.hpp"
#include "slow_workers.hpp"
#include "support.hpp"
#include <waybill/queue.hpp>
#include <waybill/testing/memory_outbox.hpp>

namespace {

using namespace engines_test;
using engines::out;
using outbox = waybill::testing::memory_outbox;

std::string url_of(std::uint16_t port)
{
    return "nats://127.0.0.1:" + std::to_string(port);
}

std::uint16_t port_of(const engines::nats_server& s)
{
    return static_cast<std::uint16_t>(std::stoi(s.at().port));
}

/// A pull consumer of a stream, on a connection of its own.
class plain_reader {
public:
    plain_reader(const std::string& url, const std::string& stream, bool acknowledges)
        : client_(url), acknowledges_(acknowledges)
    {
        if (client_.ready(seconds(2)) != NATS_OK) throw engines::server_error("no connection");
        jsSubOptions o{};
        jsSubOptions_Init(&o);
        o.Stream = stream.c_str();
        o.Config.AckPolicy = acknowledges ? js_AckExplicit : js_AckNone;
        o.Config.DeliverPolicy = js_DeliverAll;
        o.Config.AckWait = 30'000'000'000;
        const std::string all = stream + ".>";
        const natsStatus s =
            js_PullSubscribe(out(subscription_), client_.jetstream(), all.c_str(),
                             acknowledges ? "plain" : nullptr, nullptr, &o, nullptr);
        if (s != NATS_OK) throw engines::server_error("subscribe: " + engines::nats_text(s));
    }

    /// The number of messages that it has got within 500 ms.
    int take(int most, arrivals& found, std::vector<std::string>* bodies = nullptr)
    {
        engines::nats_messages got;
        const natsStatus s =
            natsSubscription_Fetch(got.list(), subscription_.get(), most, 500, nullptr);
        if (s != NATS_OK) return 0;
        int count = 0;
        for (natsMsg* m : got) {
            const std::string_view body(natsMsg_GetData(m),
                                        static_cast<std::size_t>(natsMsg_GetDataLength(m)));
            found.add(body);
            if (bodies != nullptr) bodies->emplace_back(body);
            if (acknowledges_) natsMsg_Ack(m, nullptr);
            ++count;
        }
        return count;
    }

    void take_all(arrivals& found, std::vector<std::string>* bodies = nullptr)
    {
        for (int idle = 0; idle != 2;) idle = take(1'000, found, bodies) == 0 ? idle + 1 : 0;
    }

private:
    engines::nats_client client_;
    bool acknowledges_;
    engines::nats_subscription subscription_{nullptr, {&client_}};
};

/// A stream that removes acknowledged messages and refuses new ones above `max_bytes`.
void make_limited(const std::string& url, const char* name, std::int64_t max_bytes)
{
    engines::nats_client client(url);
    if (client.ready(seconds(2)) != NATS_OK) throw engines::server_error("no connection");
    const std::string all = std::string(name) + ".>";
    const char* subjects[] = {all.c_str()};
    jsStreamConfig c{};
    jsStreamConfig_Init(&c);
    c.Name = name;
    c.Subjects = subjects;
    c.SubjectsLen = 1;
    c.Retention = js_WorkQueuePolicy;
    c.MaxBytes = max_bytes;
    c.Discard = js_DiscardNew;
    c.Duplicates = 120'000'000'000;
    engines::nats_stream_info info;
    const natsStatus s = js_AddStream(out(info), client.jetstream(), &c, nullptr, nullptr);
    if (s != NATS_OK) throw engines::server_error("create stream: " + engines::nats_text(s));
}

outbox outbox_of(const std::vector<std::string>& events)
{
    outbox rows;
    auto tx = *rows.begin();
    for (std::size_t n = 0; n != events.size(); ++n)
        (void)rows.add(tx, {key_of(n), "e" + std::to_string(n), events[n]});
    (void)tx.commit();
    return rows;
}

struct publish_counts {
    std::atomic<std::uint64_t> failed = 0;   ///< Batches that were not accepted.
    std::atomic<std::uint64_t> refused = 0;  ///< Of these: the stream was full.
};

waybill::relay_report relay_all(outbox& rows, engines::nats_publisher& broker, publish_counts& n)
{
    support::standard_environment env;
    waybill::batch_sender sender{
        {.limit = {.items = 500, .answers_per_entry = false},
         .ordered = true,
         .retry = {.pauses = {.base = milliseconds(10), .cap = milliseconds(200)}}}};
    return waybill::relay(rows, sender,
                          [&](auto batch) {
                              auto o = broker.publish(batch);
                              if (waybill::holds_alternative<waybill::batch_sender::accepted>(o))
                                  return o;
                              ++n.failed;
                              if (broker.problem().find("maximum bytes") != std::string::npos)
                                  ++n.refused;
                              return o;
                          },
                          env, {.poll_interval = milliseconds(20), .drain = true});
}

/// The stream has 4 MiB. It refuses messages until a consumer has removed others.
void full_stream(const std::vector<std::string>& events, const std::string& url)
{
    const auto begin = clock::now();
    make_limited(url, "FULL", 4 << 20);
    outbox rows = outbox_of(events);
    engines::nats_publisher broker(url, "FULL");
    publish_counts counts;
    const std::atomic<std::uint64_t>& refused = counts.refused;
    std::atomic<bool> sent = false;
    arrivals found(events);
    std::thread consumer([&] {
        plain_reader reader(url, "FULL", true);
        wait_for([&] { return refused != 0 || sent; }, seconds(60));
        std::uint64_t seen = 0;
        while (!sent) {
            // After the stream is empty, the publisher must be refused again.
            if (reader.take(1'000, found) != 0) continue;
            seen = refused;
            wait_for([&] { return refused > seen || sent; }, seconds(3));
        }
        reader.take_all(found);
    });
    const auto report = relay_all(rows, broker, counts);
    sent = true;
    consumer.join();
    engines_test::report("full stream (max_bytes, discard=new)", found, begin,
                         {.missing = at_least(refused, 2, "refusals")},
                         std::to_string(refused) + " refusals, " + describe(report));
}

/// The log appends and reads through a proxy that cuts connections.
void cut_log(const std::vector<std::string>& events, const engines::nats_server& server)
{
    const auto begin = clock::now();
    cutting_proxy proxy(port_of(server), {milliseconds(100), milliseconds(600)});
    constexpr std::uint64_t partitions = 8;
    std::atomic<bool> sent = false;
    std::atomic<std::uint64_t> faults = 0;
    arrivals read(events);
    std::vector<std::vector<std::string>> read_bodies(partitions);
    std::thread reader([&] {
        engines::nats_log log(url_of(proxy.port()), "CUTLOG", partitions);
        std::vector<std::optional<waybill::position>> after(partitions);
        for (int idle = 0; idle < 2;) {
            const bool last = sent;
            bool any = false;
            for (std::uint64_t p = 0; p != partitions; ++p) {
                const auto page = log.read(std::to_string(p), after[p], 500);
                if (!page) ++faults;
                any = any || !page || !page->empty();
                if (!page) continue;
                for (const auto& e : *page) {
                    read.add(e.body);
                    read_bodies[p].push_back(e.body);
                    after[p] = waybill::position{e.sequence, {}};
                }
            }
            idle = last && !any ? idle + 1 : 0;
            if (last && clock::now() - begin > seconds(200)) break;
        }
    });
    {
        engines::nats_log log(url_of(proxy.port()), "CUTLOG", partitions);
        std::vector<engines::nats_log::new_event> batch;
        for (std::size_t n = 0; n != events.size(); ++n) {
            batch.push_back({std::to_string(n % partitions), "e" + std::to_string(n), events[n]});
            if (batch.size() != 500 && n + 1 != events.size()) continue;
            while (!log.append_all(batch, seconds(5))) ++faults;
            batch.clear();
        }
    }
    sent = true;
    reader.join();
    const std::uint64_t cuts = proxy.cuts();
    arrivals stored(events);
    std::vector<std::string> stored_bodies;
    plain_reader(url_of(port_of(server)), "CUTLOG", false).take_all(stored, &stored_bodies);
    std::vector<std::vector<std::string>> expected(partitions);
    for (std::string& body : stored_bodies)
        expected[std::strtoull(body.c_str(), nullptr, 10) % partitions].push_back(std::move(body));
    std::uint64_t differ = 0;
    for (std::uint64_t p = 0; p != partitions; ++p) differ += read_bodies[p] != expected[p] ? 1 : 0;
    // A repeated publish can be stored after later events: guarantee 5 of nats_log.
    report("cut connections, read through the log", read, begin,
           {.ordered = false,
            .missing = proxy.missing(5) + at_least(faults, 1, "faults of the log") +
                       none(differ, "partitions in another order than the stream")},
           std::to_string(cuts) + " cuts, " + std::to_string(faults) + " faults");
    report("cut connections, count of the stream", stored, begin, {.ordered = false}, "");
}

/// A relay publishes through the proxy. The messages of a key keep their order.
void cut_publisher(const std::vector<std::string>& events, const engines::nats_server& server)
{
    const auto begin = clock::now();
    cutting_proxy proxy(port_of(server), {milliseconds(100), milliseconds(600)});
    outbox rows = outbox_of(events);
    engines::nats_publisher broker(url_of(proxy.port()), "CUTPUB");
    publish_counts counts;
    const auto report = relay_all(rows, broker, counts);
    arrivals stored(events);
    plain_reader(url_of(port_of(server)), "CUTPUB", false).take_all(stored);
    engines_test::report(
        "cut connections of a relay", stored, begin,
        {.missing = proxy.missing(5) + at_least(counts.failed, 1, "failed batches")},
        std::to_string(proxy.cuts()) + " cuts, " + describe(report));
}

/// Some messages are handled for longer than the ack wait.
void slow_consumer(const std::vector<std::string>& events, const engines::nats_server& server)
{
    const auto begin = clock::now();
    constexpr milliseconds lock(400);
    engines::nats_work_queue all(server.at(), "SLOW", lock);
    slow_workers::in_threads([&](std::size_t w) {
        engines::nats_work_queue queue(server.at(), "SLOW", lock);
        for (std::size_t n = w; n < events.size(); n += slow_workers::workers) queue.put(events[n]);
    });
    slow_workers workers(events, lock, lock + milliseconds(200));
    workers.run(
        "ack wait shorter than the handler", begin,
        [&](std::size_t) { return engines::nats_work_queue(server.at(), "SLOW", lock); },
        [&] { return all.sent() - all.finished(); }, seconds(200));
}

}  // namespace

int main(int, char** argv)
{
    try {
        const auto events = make_events(event_count());
        engines::nats_server server(std::string(argv[1]) + "/server");
        full_stream(events, url_of(port_of(server)));
        cut_log(events, server);
        cut_publisher(events, server);
        slow_consumer(events, server);
    } catch (const std::exception& e) {
        std::printf("nats: %s\n", e.what());
        return 1;
    }
    return failures == 0 ? 0 : 1;
}

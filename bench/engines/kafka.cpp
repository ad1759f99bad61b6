// SPDX-License-Identifier: MIT
//
// Kafka: the mock cluster of librdkafka, three brokers in this process, in memory. All producers
// are idempotent.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../examples/engines/kafka_log.hpp"
#include "../../examples/engines/kafka_producer.hpp"
#include "../../examples/engines/kafka_sender.hpp"
#include "../../examples/support/send_in_flight.hpp"
#include "consumer.hpp"
#include "frame.hpp"

namespace engines_bench {

namespace {

using namespace std::chrono_literals;

/// The bodies outlive their delivery reports. kafka_sender does not copy them either.
constexpr int no_copy = 0;

/// A producer of librdkafka that counts the delivered events.
class producer {
public:
    producer(const std::string& brokers, const char* linger)
    {
        rd_kafka_conf_t* const conf = engines::kafka_settings{
            {"bootstrap.servers", brokers},
            {"enable.idempotence", "true"},
            {"linger.ms", linger}}.made();
        rd_kafka_conf_set_opaque(conf, &delivered);
        rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t* m, void* n) {
            if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++*static_cast<std::uint64_t*>(n);
        });
        k = engines::new_kafka(RD_KAFKA_PRODUCER, conf);
        topic = rd_kafka_topic_new(k, "out", nullptr);
    }
    producer(const producer&) = delete;
    producer& operator=(const producer&) = delete;
    ~producer()
    {
        rd_kafka_topic_destroy(topic);
        rd_kafka_destroy(k);
    }

    rd_kafka_t* k = nullptr;
    rd_kafka_topic_t* topic = nullptr;
    std::uint64_t delivered = 0;
};

/// Queues all events. librdkafka makes batches of those that are in its queue.
double by_librdkafka(producer& out, std::uint64_t count)
{
    const std::vector<message> all = messages(count);
    out.delivered = 0;
    return events_in(all.size(), [&] {
        for (const message& m : all) {
            while (rd_kafka_produce(out.topic, RD_KAFKA_PARTITION_UA, no_copy,
                                    const_cast<char*>(m.body.data()), m.body.size(), nullptr, 0,
                                    nullptr) != 0) {
                expect(rd_kafka_last_error() == RD_KAFKA_RESP_ERR__QUEUE_FULL, "rd_kafka_produce");
                rd_kafka_poll(out.k, 10);
            }
            rd_kafka_poll(out.k, 0);
        }
        while (out.delivered != all.size()) rd_kafka_poll(out.k, 100);
    });
}

/// Up to five batches in flight, as librdkafka has them for each broker.
double by_send_in_flight(engines::kafka_sender& out, const waybill::batch_limits& limit,
                         std::uint64_t count)
{
    const std::vector<message> all = messages(count);
    return events_in(all.size(), [&] {
        support::standard_environment env;
        waybill::batch_sender sender{{.limit = limit, .in_flight = 5}};
        const auto report = support::send_in_flight(
            all, [](const message& m) { return engines::kafka_sender::size_of(m.body.size()); },
            sender,
            [&](std::uint64_t attempt, const auto& batch) {
                std::vector<std::string_view> bodies;
                for (const message* m : batch) bodies.push_back(m->body);
                out.start(attempt, bodies);
            },
            [&](std::chrono::milliseconds wait) { return out.finished(wait); }, env);
        expect(report.accepted == all.size(), "send_in_flight: an event was not accepted");
    });
}

/// The delivery report of each event before the next event.
double one_at_a_time(producer& out, std::uint64_t count)
{
    const std::vector<message> all = messages(count);
    out.delivered = 0;
    return events_in(all.size(), [&] {
        std::uint64_t sent = 0;
        for (const message& m : all) {
            expect(rd_kafka_produce(out.topic, RD_KAFKA_PARTITION_UA, no_copy,
                                    const_cast<char*>(m.body.data()), m.body.size(), nullptr, 0,
                                    nullptr) == 0,
                   "rd_kafka_produce");
            for (++sent; out.delivered != sent;) rd_kafka_poll(out.k, 100);
        }
    });
}

/// The same number of events in each partition.
void fill(const std::string& brokers, std::uint64_t events)
{
    engines::kafka_producer out({{"bootstrap.servers", brokers}});
    std::uint64_t delivered = 0;
    for (std::uint64_t n = 0; n != events; ++n) {
        const auto p = static_cast<std::int32_t>(n % partitions);
        expect(out.queue({.topic = "log", .partition = p, .body = body(n)}, n) == 0, "fill");
    }
    for (const auto& d : out.flush(20s)) delivered += d.how.ok() ? 1U : 0U;
    expect(delivered == events, "kafka: the log cannot be filled");
}

/// One queue for all partitions, as of librdkafka's simple consumer.
double by_librdkafka(const std::string& brokers, sink& to, std::uint64_t events)
{
    rd_kafka_t* const k = engines::new_kafka(
        RD_KAFKA_CONSUMER,
        engines::kafka_settings{{"bootstrap.servers", brokers}, {"fetch.wait.max.ms", "100"}}
            .made());
    rd_kafka_topic_t* const t = rd_kafka_topic_new(k, "log", nullptr);
    for (std::uint64_t p = 0; p != partitions; ++p) {
        expect(rd_kafka_consume_start(t, static_cast<std::int32_t>(p), 0) == 0,
               "rd_kafka_consume_start");
    }
    std::vector<rd_kafka_message_t*> batch(max_events);
    const double rate = to.by_hand(events, [&](std::uint64_t p, auto take) {
        const ssize_t n =
            rd_kafka_consume_batch(t, static_cast<std::int32_t>(p), 10, batch.data(), max_events);
        for (ssize_t i = 0; i < n; ++i) {
            rd_kafka_message_t* const m = batch[static_cast<std::size_t>(i)];
            if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                take(static_cast<std::uint64_t>(m->offset),
                     {static_cast<const char*>(m->payload), m->len});
            rd_kafka_message_destroy(m);
        }
    });
    for (std::uint64_t p = 0; p != partitions; ++p)
        rd_kafka_consume_stop(t, static_cast<std::int32_t>(p));
    rd_kafka_topic_destroy(t);
    rd_kafka_destroy(k);
    return rate;
}

}  // namespace

row kafka(const std::string& folder)
{
    engines::kafka_mock cluster(3);
    cluster.topic("out", partitions);
    cluster.topic("log", partitions);
    const std::string brokers = cluster.address();

    engines::kafka_sender sender({{"bootstrap.servers", brokers}}, "out");
    const waybill::batch_limits limit = engines::kafka_sender::about(1'000'000).limit;
    producer batches(brokers, "5");
    producer single(brokers, "0");
    peers send;
    send.add("ours", [&](std::uint64_t n) { return by_send_in_flight(sender, limit, n); });
    send.add("one batch in flight", [&](std::uint64_t n) {
        return by_send_all(messages(n), limit, &engines::kafka_sender::size_of,
                           [&](auto batch) { return sender.send(bodies_of(batch)); });
    });
    send.add("single", [&](std::uint64_t n) { return one_at_a_time(single, n); });
    send.add("library", [&](std::uint64_t n) { return by_librdkafka(batches, n); });
    send.take_turns();
    std::printf("kafka: one batch in flight %.0f, several %.0f events per second\n",
                send.at("one batch in flight").highest, send.at("ours").highest);

    // The mock cluster keeps 5 MB of each partition.
    constexpr std::uint64_t events = 24'000;
    fill(brokers, events + events / 4);
    engines::database db(folder + "/consumer.sqlite");
    sink to(db);
    peers consume;
    const auto ours = [&](std::uint64_t n) {
        engines::kafka_log log({{"bootstrap.servers", brokers}}, "log");
        return to.by_run_partitions(log, n);
    };
    consume.add("ours", ours, events);
    consume.add("by hand", [&](std::uint64_t n) { return by_librdkafka(brokers, to, n); }, events);
    consume.take_turns();

    return {.engine = std::string("Kafka: mock cluster of librdkafka ") + rd_kafka_version_str(),
            .adapters = "kafka_sender.hpp kafka_log.hpp",
            .ours = send.at("ours"),
            .single = send.at("single"),
            .library = send.at("library"),
            .consumer = consume.at("ours"),
            .by_hand = consume.at("by hand")};
}

}  // namespace engines_bench

// SPDX-License-Identifier: MIT
//
// NATS JetStream: file storage, one replica. All publishers set the id of each message.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nats/nats.h>

#include "../../examples/engines/nats_client.hpp"
#include "../../examples/engines/nats_log.hpp"
#include "../../examples/engines/nats_publisher.hpp"
#include "../../examples/engines/nats_server.hpp"
#include "consumer.hpp"
#include "frame.hpp"

namespace engines_bench {

namespace {

constexpr waybill::batch_limits limit{.items = 10'000};

void check(natsStatus s, const char* call)
{
    if (s != NATS_OK) throw missing(std::string(call) + ": " + engines::nats_text(s));
}

jsPubOptions with_id(const message& m)
{
    jsPubOptions o{};
    jsPubOptions_Init(&o);
    o.MsgId = m.id.c_str();
    return o;
}

/// Messages without keys, for which the publisher keeps no order. nats.c keeps none.
std::vector<message> without_keys(std::uint64_t count)
{
    std::vector<message> all = messages(count);
    for (message& m : all) m.key.clear();
    return all;
}

double one_at_a_time(jsCtx* js, const engines::nats_publisher& names, std::uint64_t count)
{
    const std::vector<message> all = messages(count);
    return events_in(all.size(), [&] {
        for (const message& m : all) {
            jsPubOptions o = with_id(m);
            check(js_Publish(nullptr, js, names.subject(m.key).c_str(), m.body.data(),
                             static_cast<int>(m.body.size()), &o, nullptr),
                  "js_Publish");
        }
    });
}

double by_nats_c(jsCtx* js, const engines::nats_publisher& names, std::uint64_t count)
{
    const std::vector<message> all = without_keys(count);
    return events_in(all.size(), [&] {
        for (const message& m : all) {
            jsPubOptions o = with_id(m);
            check(js_PublishAsync(js, names.subject(m.key).c_str(), m.body.data(),
                                  static_cast<int>(m.body.size()), &o),
                  "js_PublishAsync");
        }
        check(js_PublishAsyncComplete(js, nullptr), "js_PublishAsyncComplete");
    });
}

/// A pull consumer for each partition, as nats_log has them.
double by_fetch(engines::nats_client& client, sink& to, std::uint64_t events)
{
    std::vector<engines::nats_subscription> consumers;
    for (std::uint64_t p = 0; p != partitions; ++p) {
        consumers.emplace_back(nullptr, engines::nats_end{&client});
        const std::string subject = "LOG." + std::to_string(p);
        jsSubOptions o{};
        jsSubOptions_Init(&o);
        o.Stream = "LOG";
        o.Config.AckPolicy = js_AckNone;
        o.Config.MemoryStorage = true;
        check(js_PullSubscribe(engines::out(consumers[p]), client.jetstream(), subject.c_str(),
                               nullptr, nullptr, &o, nullptr),
              "js_PullSubscribe");
    }
    return to.by_hand(events, [&](std::uint64_t p, auto take) {
        engines::nats_messages batch;
        check(natsSubscription_Fetch(batch.list(), consumers[p].get(), max_events, 1'000, nullptr),
              "natsSubscription_Fetch");
        for (natsMsg* const m : batch) {
            engines::nats_metadata data;
            check(natsMsg_GetMetaData(engines::out(data), m), "natsMsg_GetMetaData");
            take(data->Sequence.Stream,
                 {natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m))});
        }
    });
}

}  // namespace

row nats(const std::string& folder)
{
    const engines::nats_server own(folder);
    const std::string url = "nats://127.0.0.1:" + own.at().port;
    engines::nats_client by_hand(url);
    check(by_hand.ready(std::chrono::seconds(5)), "connect");
    jsCtx* const js = by_hand.jetstream();

    engines::nats_publisher publisher(url, "ORDERS");
    expect(publisher.open().ok(), "nats_publisher: no stream");
    peers send;
    const auto ours = [&](const std::vector<message>& all) {
        return by_send_all(
            all, limit, [](std::uint64_t size) { return size; },
            [&](auto batch) { return publisher.publish(batch); });
    };
    send.add("ours", [&](std::uint64_t n) { return ours(messages(n)); });
    send.add("unordered", [&](std::uint64_t n) { return ours(without_keys(n)); });
    send.add("single", [&](std::uint64_t n) { return one_at_a_time(js, publisher, n); });
    send.add("library", [&](std::uint64_t n) { return by_nats_c(js, publisher, n); });
    send.take_turns();

    constexpr std::uint64_t events = 16'000;
    engines::nats_log log(url, "LOG", partitions);
    std::vector<engines::nats_log::new_event> all;
    for (std::uint64_t n = 0; n != events + events / 4; ++n)
        all.push_back({std::to_string(n % partitions), std::to_string(n), body(n)});
    expect(bool(log.append_all(all)), "nats_log: append_all");
    engines::database db(folder + "/consumer.sqlite");
    sink to(db);
    peers consume;
    consume.add("ours", [&](std::uint64_t n) { return to.by_run_partitions(log, n); }, events);
    consume.add("by hand", [&](std::uint64_t n) { return by_fetch(by_hand, to, n); }, events);
    consume.take_turns();

    return {.engine = "NATS JetStream " + printed_by("nats-server --version"),
            .adapters = "nats_publisher.hpp nats_log.hpp",
            .ours = send.at("ours"),
            .single = send.at("single"),
            .library = send.at("library"),
            .unordered = send.at("unordered"),
            .consumer = consume.at("ours"),
            .by_hand = consume.at("by hand")};
}

}  // namespace engines_bench

// SPDX-License-Identifier: MIT
//
// Faults of RabbitMQ with a quorum queue: kill -9, a memory alarm, cut connections, and a consumer
// that acknowledges late and loses its connection. The count is made by a plain consumer.
//
//     rabbitmq FOLDER

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <engines/rabbitmq.hpp>
#include <engines/rabbitmq_server.hpp>

#include "cutting_proxy.hpp"
#include "support.hpp"

namespace {

using namespace engines_test;
using connection = engines::rabbitmq_connection;

/// rabbitmqctl ARGUMENTS for a server of this program.
void control(const engines::rabbitmq_server& s, const std::string& arguments)
{
    std::string command = "env";
    for (const std::string& word : s.environment()) command += " '" + word + '\'';
    const std::string debian = "/usr/lib/rabbitmq/bin/rabbitmqctl";
    command += ' ' + (::access(debian.c_str(), X_OK) == 0 ? debian : "rabbitmqctl") + " -q " +
               arguments + " >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) throw engines::server_error("rabbitmqctl " + arguments);
}

struct consumer_counts {
    std::uint64_t redelivered = 0;
    std::uint64_t dropped = 0;  ///< Messages with an id that was there before.
    std::uint64_t connections = 0;
    std::uint64_t left = 0;  ///< The server's count at the end.
};

/// Consumes the queue until it is empty. Acknowledges `late` messages at a time, and with `breaks`
/// closes each third connection before an acknowledgement. A message that is redelivered, or whose
/// message-id was there before, is not counted again: a reader drops such duplicates.
consumer_counts consume(const engines::rabbitmq_address& a, std::uint64_t late, bool breaks,
                        arrivals& found)
{
    consumer_counts n;
    std::set<std::string> ids;
    for (bool empty = false; !empty;) {
        const connection c(a);
        ++n.connections;
        amqp_basic_qos(c.get(), c.channel, 0, static_cast<std::uint16_t>(late), false);
        c.expect("basic.qos", amqp_get_rpc_reply(c.get()));
        amqp_basic_consume(c.get(), c.channel, c.bytes_of(a.queue), amqp_empty_bytes, false, false,
                           false, amqp_empty_table);
        c.expect("basic.consume", amqp_get_rpc_reply(c.get()));
        std::uint64_t unacknowledged = 0;
        std::uint64_t of_connection = 0;
        for (;;) {
            amqp_maybe_release_buffers(c.get());
            amqp_envelope_t e{};
            const timeval wait{.tv_sec = 1, .tv_usec = 500'000};
            const amqp_rpc_reply_t r = amqp_consume_message(c.get(), &e, &wait, 0);
            const bool timeout = r.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
                                 r.library_error == AMQP_STATUS_TIMEOUT;
            if (!timeout) c.expect("basic.deliver", r);
            if (!timeout) {
                ++unacknowledged;
                ++of_connection;
                if (e.redelivered) ++n.redelivered;
                const auto id = connection::text_of(e.message.properties.message_id);
                if (ids.insert(id).second)
                    found.add({static_cast<const char*>(e.message.body.bytes), e.message.body.len});
                else
                    ++n.dropped;
                if (unacknowledged == late) {
                    // Some connections end with a full window of messages that are handled.
                    if (breaks && n.connections % 3 != 0 && of_connection >= 15 * late) {
                        amqp_destroy_envelope(&e);
                        break;
                    }
                    amqp_basic_ack(c.get(), c.channel, e.delivery_tag, true);
                    unacknowledged = 0;
                }
                amqp_destroy_envelope(&e);
                continue;
            }
            // The rest is acknowledged: delivery tag 0 with multiple is all of them.
            if (unacknowledged != 0) amqp_basic_ack(c.get(), c.channel, 0, true);
            empty = true;
            break;
        }
    }
    std::this_thread::sleep_for(milliseconds(300));
    const connection c(a);
    const auto* const declared = amqp_queue_declare(c.get(), c.channel, c.bytes_of(a.queue), true,
                                                    true, false, false, amqp_empty_table);
    c.expect("queue.declare", amqp_get_rpc_reply(c.get()));
    n.left = declared->message_count;
    return n;
}

sending_totals send(const std::vector<std::string>& events, engines::rabbitmq& queue)
{
    return send_everything(
        events,
        {.limit = {.items = engines::rabbitmq::max_messages},
         .ordered = true,
         .retry = {.max_attempts = 10,
                   .pauses = {.base = milliseconds(20), .cap = milliseconds(1'000)}}},
        [](std::size_t body) { return engines::rabbitmq::size_of(body); },
        [&](auto bodies, std::uint64_t attempt) { return queue.send(bodies, attempt); },
        seconds(200));
}

void result(const std::string& fault, const std::vector<std::string>& events,
            const engines::rabbitmq_address& a, clock::time_point begin, const sending_totals& t,
            bool happened, const std::string& detail, bool late)
{
    arrivals found(events);
    const consumer_counts n = consume(a, late ? 200 : 2'000, late, found);
    report(
        fault, found, begin,
        // The repetition of an unknown attempt has the same ids. Another attempt has others.
        {.max_repeated = t.maybe_twice,
         .ordered = !late,
         .fault_happened = happened && n.left == 0 && t.complete && (!late || n.redelivered != 0)},
        detail + std::to_string(t.faults) + " batches failed, " + std::to_string(t.maybe_twice) +
            " maybe twice, " + std::to_string(n.dropped) + " dropped by id, " +
            std::to_string(n.redelivered) + " redelivered, " + std::to_string(n.left) + " left");
}

void killed(const std::vector<std::string>& events, engines::rabbitmq_server& s)
{
    const auto begin = clock::now();
    const engines::rabbitmq_address a{.at = s.at(), .queue = "killed"};
    std::atomic<bool> sent = false;
    sending_totals t;
    std::thread sends([&] {
        engines::rabbitmq queue(a, "run");
        t = send(events, queue);
        sent = true;
    });
    int kills = 0;
    for (; !sent && kills != 4; ++kills) {
        std::this_thread::sleep_for(milliseconds(1'200));
        if (sent) break;
        s.kill();
        s.restart();
    }
    sends.join();
    result("kill -9, restart", events, a, begin, t, kills >= 2 && t.faults != 0,
           std::to_string(kills) + " kills, ", false);
}

void alarm(const std::vector<std::string>& events, engines::rabbitmq_server& s)
{
    const auto begin = clock::now();
    const engines::rabbitmq_address a{.at = s.at(), .queue = "alarm"};
    std::atomic<bool> sent = false;
    sending_totals t;
    std::thread sends([&] {
        engines::rabbitmq queue(a, "run");
        t = send(events, queue);
        sent = true;
    });
    std::this_thread::sleep_for(milliseconds(800));
    const bool early = !sent;
    control(s, "set_vm_memory_high_watermark 0.0001");
    // Longer than the adapter waits for a confirmation.
    std::this_thread::sleep_for(seconds(14));
    const bool blocked = early && !sent;
    control(s, "set_vm_memory_high_watermark 0.6");
    sends.join();
    result("memory alarm for 14 s, then lifted", events, a, begin, t, blocked && t.faults != 0, "",
           false);
}

void cut(const std::vector<std::string>& events, engines::rabbitmq_server& s)
{
    const auto begin = clock::now();
    const auto port = static_cast<std::uint16_t>(std::stoi(s.at().port));
    cutting_proxy proxy(port, {milliseconds(100), milliseconds(500)});
    engines::rabbitmq_address a{.at = s.at(), .queue = "cut"};
    a.at.port = std::to_string(proxy.port());
    engines::rabbitmq queue(a, "run");
    const sending_totals t = send(events, queue);
    a.at.port = s.at().port;
    result("cut connections; late acks, lost consumers", events, a, begin, t, proxy.cuts() >= 3,
           std::to_string(proxy.cuts()) + " cuts, ", true);
}

}  // namespace

int main(int, char** argv)
{
    try {
        const auto events = make_events(event_count());
        engines::rabbitmq_server server(std::string(argv[1]) + "/rabbitmq");
        killed(events, server);
        alarm(events, server);
        cut(events, server);
        server.kill();
    } catch (const std::exception& e) {
        std::printf("rabbitmq: %s\n", e.what());
        return 1;
    }
    return failures == 0 ? 0 : 1;
}

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

/// The number of messages that the server has ready in the queue.
std::uint64_t count_of(const engines::rabbitmq_address& a)
{
    const connection c(a);
    const auto* const declared = amqp_queue_declare(c.get(), c.channel, c.bytes_of(a.queue), true,
                                                    true, false, false, amqp_empty_table);
    c.expect("queue.declare", amqp_get_rpc_reply(c.get()));
    return declared->message_count;
}

/// A plain consumer that drops a message if its message-id was there before.
class consumer {
public:
    /// Acknowledges `window` messages at a time. With `breaks`, two of three connections end before
    /// an acknowledgement, with a full window of messages that were handled.
    consumer(engines::rabbitmq_address a, std::uint64_t window, bool breaks, arrivals& found)
        : at_(std::move(a)), window_(window), breaks_(breaks), found_(found)
    {
    }

    /// Consumes until no message has come for 1.5 s.
    void run()
    {
        for (std::uint64_t number = 1;; ++number)
            if (consume(breaks_ && number % 3 != 0)) return;
    }

    /// Messages that the server has sent again, because they were not acknowledged.
    [[nodiscard]] std::uint64_t redelivered() const { return redelivered_; }
    /// Other messages with an id that was there before: the queue has two of them.
    [[nodiscard]] std::uint64_t doubled() const { return doubled_; }

private:
    /// On a connection of its own. True if the queue is empty.
    bool consume(bool breaks)
    {
        const connection c(at_);
        amqp_basic_qos(c.get(), c.channel, 0, static_cast<std::uint16_t>(window_), false);
        c.expect("basic.qos", amqp_get_rpc_reply(c.get()));
        amqp_basic_consume(c.get(), c.channel, c.bytes_of(at_.queue), amqp_empty_bytes, false,
                           false, false, amqp_empty_table);
        c.expect("basic.consume", amqp_get_rpc_reply(c.get()));
        for (std::uint64_t count = 1;; ++count) {
            amqp_maybe_release_buffers(c.get());
            amqp_envelope_t e{};
            const timeval wait{.tv_sec = 1, .tv_usec = 500'000};
            const amqp_rpc_reply_t r = amqp_consume_message(c.get(), &e, &wait, 0);
            if (r.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
                r.library_error == AMQP_STATUS_TIMEOUT) {
                // Delivery tag 0 with `multiple` acknowledges all messages.
                if (count % window_ != 1) amqp_basic_ack(c.get(), c.channel, 0, true);
                return true;
            }
            c.expect("basic.deliver", r);
            add(e);
            const std::uint64_t tag = e.delivery_tag;
            amqp_destroy_envelope(&e);
            if (count % window_ != 0) continue;
            if (breaks && count >= 15 * window_) return false;
            amqp_basic_ack(c.get(), c.channel, tag, true);
        }
    }

    void add(const amqp_envelope_t& e)
    {
        if (e.redelivered) ++redelivered_;
        if (ids_.insert(connection::text_of(e.message.properties.message_id)).second)
            found_.add({static_cast<const char*>(e.message.body.bytes), e.message.body.len});
        else if (!e.redelivered) ++doubled_;
    }

    engines::rabbitmq_address at_;
    std::uint64_t window_;
    bool breaks_;
    arrivals& found_;
    std::set<std::string> ids_{};
    std::uint64_t redelivered_ = 0;
    std::uint64_t doubled_ = 0;
};

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

/// Consumes the queue and reports. With `late`, acknowledgements come late and connections end.
void result(const std::string& fault, const std::vector<std::string>& events,
            const engines::rabbitmq_address& a, clock::time_point begin, const sending_totals& t,
            const std::string& missing, const std::string& detail, bool late)
{
    arrivals found(events);
    consumer reader(a, late ? 200 : 2'000, late, found);
    reader.run();
    std::this_thread::sleep_for(milliseconds(300));
    // The repetition of an unknown attempt has the same ids. Another attempt has others.
    const std::uint64_t copies = reader.doubled() + found.repeated();
    report(fault, found, begin,
           {.max_repeated = t.maybe_twice,
            .ordered = !late,
            .missing = missing + at_least(t.faults, 1, "failed batches") +
                       (late ? at_least(reader.redelivered(), 1, "redelivered messages") : "") +
                       none(count_of(a), "messages left in the queue") +
                       none(copies > t.unknown ? copies - t.unknown : 0, "copies not reported")},
           detail + std::to_string(t.faults) + " batches failed, " + std::to_string(t.maybe_twice) +
               " maybe twice, " + std::to_string(reader.doubled()) + " dropped by id, " +
               std::to_string(reader.redelivered()) + " redelivered");
}

/// Sends all events in a thread, which the destructor joins.
class sending {
public:
    sending(const std::vector<std::string>& events, const engines::rabbitmq_address& a)
        : thread_([this, &events, a] {
              engines::rabbitmq queue(a, "run");
              totals_ = send(events, queue);
              ended_ = true;
          })
    {
    }
    sending(const sending&) = delete;
    sending& operator=(const sending&) = delete;
    ~sending()
    {
        if (thread_.joinable()) thread_.join();
    }

    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] const sending_totals& result()
    {
        thread_.join();
        return totals_;
    }

private:
    std::atomic<bool> ended_ = false;
    sending_totals totals_{};
    std::thread thread_;
};

void killed(const std::vector<std::string>& events, engines::rabbitmq_server& s)
{
    const auto begin = clock::now();
    const engines::rabbitmq_address a{.at = s.at(), .queue = "killed"};
    sending sends(events, a);
    std::uint64_t kills = 0;
    for (; kills != 4; ++kills) {
        std::this_thread::sleep_for(milliseconds(1'200));
        if (sends.ended()) break;
        s.kill();
        s.restart();
    }
    result("kill -9, restart", events, a, begin, sends.result(), at_least(kills, 2, "kills"),
           std::to_string(kills) + " kills, ", false);
}

void alarm(const std::vector<std::string>& events, engines::rabbitmq_server& s)
{
    const auto begin = clock::now();
    const engines::rabbitmq_address a{.at = s.at(), .queue = "alarm"};
    sending sends(events, a);
    std::this_thread::sleep_for(milliseconds(800));
    control(s, "set_vm_memory_high_watermark 0.0001");
    const std::uint64_t early = sends.ended() ? 0 : 1;
    // Longer than the adapter waits for a confirmation.
    std::this_thread::sleep_for(seconds(14));
    const std::uint64_t blocked = sends.ended() ? 0 : early;
    control(s, "set_vm_memory_high_watermark 0.6");
    result("memory alarm for 14 s, then lifted", events, a, begin, sends.result(),
           at_least(blocked, 1, "senders blocked"), "", false);
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
    result("cut connections; late acks, lost consumers", events, a, begin, t, proxy.missing(3),
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

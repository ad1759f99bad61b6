// SPDX-License-Identifier: MIT
//
// RabbitMQ: a quorum queue of one node, persistent messages, publisher confirms. There is no
// adapter for a consumer.

#include "../../examples/engines/rabbitmq.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "../../examples/engines/rabbitmq_server.hpp"
#include "frame.hpp"

namespace engines_bench {

namespace {

using connection = engines::rabbitmq_connection;

constexpr std::uint64_t batch_items = engines::rabbitmq::max_messages;

/// Publishes with at most `window` messages without a confirmation.
double by_rabbitmq_c(connection& c, std::uint64_t& next_tag, std::uint64_t count,
                     std::uint64_t window)
{
    const std::vector<message> all = messages(count);
    return events_in(count, [&] {
        const std::uint64_t end = next_tag + count;
        std::uint64_t confirmed = next_tag - 1;
        std::uint64_t singly = 0;  // confirmations out of order
        const auto wait = [&](std::uint64_t most) {
            while (next_tag - 1 - confirmed - singly > most) {
                amqp_frame_t f;
                amqp_maybe_release_buffers(c.get());
                expect(amqp_simple_wait_frame(c.get(), &f) == AMQP_STATUS_OK, "rabbitmq: wait");
                if (f.frame_type != AMQP_FRAME_METHOD) continue;
                expect(f.payload.method.id == AMQP_BASIC_ACK_METHOD, "rabbitmq: no basic.ack");
                const auto* const a =
                    static_cast<const amqp_basic_ack_t*>(f.payload.method.decoded);
                // A multiple confirmation includes the single ones before it.
                if (!a->multiple) ++singly;
                else confirmed = a->delivery_tag, singly = 0;
            }
        };
        for (const message& m : all) {
            wait(window - 1);
            amqp_basic_properties_t p{};
            p._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
            p.delivery_mode = AMQP_DELIVERY_PERSISTENT;
            p.message_id = connection::bytes_of(m.id);
            expect(amqp_basic_publish(c.get(), connection::channel, amqp_empty_bytes,
                                      connection::bytes_of("orders"), true, false, &p,
                                      connection::bytes_of(m.body)) == AMQP_STATUS_OK,
                   "amqp_basic_publish");
            ++next_tag;
        }
        expect(next_tag == end, "rabbitmq: a tag is missing");
        wait(0);
    });
}

void purge(connection& c)
{
    amqp_queue_purge(c.get(), connection::channel, connection::bytes_of("orders"));
    c.expect("queue.purge", amqp_get_rpc_reply(c.get()));
}

std::string version_of(connection& c)
{
    const amqp_table_t* const all = amqp_get_server_properties(c.get());
    for (int i = 0; i != all->num_entries; ++i) {
        if (connection::text_of(all->entries[i].key) == "version")
            return connection::text_of(all->entries[i].value.value.bytes);
    }
    return {};
}

}  // namespace

row rabbitmq(const std::string& folder)
{
    engines::rabbitmq_server own(folder);
    const engines::rabbitmq_address at{.at = own.at(), .queue = "orders"};
    engines::rabbitmq queue(at, "bench");
    const auto about = queue.about();  // creates the queue
    connection c(at);
    amqp_confirm_select(c.get(), connection::channel);
    c.expect("confirm.select", amqp_get_rpc_reply(c.get()));
    connection purger(at);
    std::uint64_t next_tag = 1;

    peers send;
    std::uint64_t attempt = 0;
    send.add("ours", [&](std::uint64_t n) {
        purge(purger);
        return by_send_all(messages(n), about.limit, &engines::rabbitmq::size_of,
                           [&](auto batch) { return queue.send(bodies_of(batch), ++attempt); });
    });
    send.add("single", [&](std::uint64_t n) {
        purge(purger);
        return by_rabbitmq_c(c, next_tag, n, 1);
    });
    send.add("library", [&](std::uint64_t n) {
        purge(purger);
        return by_rabbitmq_c(c, next_tag, n, batch_items);
    });
    send.take_turns();
    row r{.engine = "RabbitMQ " + version_of(c) + ", quorum queue",
          .adapters = "rabbitmq.hpp",
          .ours = send.at("ours"),
          .single = send.at("single"),
          .library = send.at("library")};
    own.kill();
    return r;
}

}  // namespace engines_bench

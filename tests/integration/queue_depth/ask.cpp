// SPDX-License-Identifier: MIT
//
// ask: the depth of the queue at an address, in one line.
//
//     ask depth WHERE     "3 ready, 1 in flight, age 7", or "unknown: " and the reason
//     ask sqlite          creates work.sqlite, plain.sqlite and other.sqlite in this folder
//     ask forms           the accepted and the refused addresses
//     ask strange         replies of servers that are not a depth
//     ask port            a free port

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "../engines/free_port.hpp"
#include "../engines/scripted.hpp"
#include "engines/depth_any.hpp"
#include "engines/sqlite_queue.hpp"
#include "engines/sqlite_work_queue.hpp"

namespace {

int tell_depth(std::string_view where)
{
    const auto q = engines::depth_from(where);
    if (!q) {
        std::puts(q.error().c_str());
        return 2;
    }
    const engines::depth_reading r = q->read();
    if (!r) {
        std::printf("unknown: %s\n", r.error().c_str());
        return 1;
    }
    std::printf("%llu ready, %llu in flight", static_cast<unsigned long long>(r->ready),
                static_cast<unsigned long long>(r->in_flight));
    if (r->age) std::printf(", age %llu", static_cast<unsigned long long>(*r->age));
    std::puts("");
    return 0;
}

int make_queues()
{
    using namespace std::chrono_literals;
    int wrong = 0;
    const auto expect = [&](bool holds, const char* what) {
        if (holds) return;
        std::fprintf(stderr, "does not hold: %s\n", what);
        ++wrong;
    };
    engines::database db("work.sqlite");
    engines::sqlite_work_queue queue(db);
    expect(queue.depth() == engines::depth{.age = 0}, "it is empty at first");
    const auto take = [&](waybill::duration lock) { return *queue.receive(lock); };
    expect(!take(10s), "there is nothing to take");
    for (const char* body : {"a", "b", "c", "d"}) queue.put(body);
    const auto a = take(60s);
    expect(a && a->body == "a" && a->deliveries == 1, "the first comes first");
    expect(queue.complete(*a).ok() && !queue.complete(*a).ok(), "it is done once");
    const auto b = take(0s);  // its lock expires at once
    const auto again = take(60s);
    expect(b && again && again->number == b->number && again->deliveries == 2, "it is taken again");
    expect(!queue.complete(*b).ok(), "a completion after the deadline is refused");
    expect(queue.sent() == 4 && queue.finished() == 1, "what was sent and what is finished");

    engines::database plain_db("plain.sqlite");
    engines::sqlite_queue plain(plain_db, 1'000);
    const auto o = plain.enqueue({{"", "a"}, {"", "b"}, {"", "c"}}, [] {});
    expect(waybill::holds_alternative<waybill::batch_sender::accepted>(o), "a batch is taken");
    engines::database other("other.sqlite");
    other.exec("CREATE TABLE other (n)");
    // A file of another program stays unchanged.
    const auto mode = [] {
        engines::database at(":memory:");
        at.exec("ATTACH 'old.sqlite' AS old");
        engines::statement s(at, "PRAGMA old.journal_mode");
        s.query();
        return s.step() ? std::string(s.text(0)) : std::string();
    };
    engines::database(":memory:").exec("ATTACH 'old.sqlite' AS old; CREATE TABLE old.queue (n)");
    expect(mode() == "delete", "an old file");
    expect(!engines::sqlite_depth("old.sqlite").read(), "an old file is no queue");
    expect(mode() == "delete", "an old file stays in its mode");
    return wrong;
}

int look_at_forms()
{
    int wrong = 0;
#ifndef WAYBILL_ENGINES_NATS
    const auto without = engines::depth_from("nats://h/S/c");
    wrong += without || without.error().find("libnats-dev") == std::string::npos;
#endif
    for (const std::string_view good :
         {"sqlite:orders.sqlite",
#ifdef WAYBILL_ENGINES_NATS
          "nats://h/S/c", "nats://[::1]/S/c", "nats://u:p@[::1]:1/S/c",
#endif
          "rabbitmq://h/orders", "rabbitmq://h:1/v/orders", "rabbitmq://u:p%2F@h/%2F/a%2Fb",
          "rabbitmq+https://h/orders", "rabbitmq+https://u:p@h:1/v/orders",
          "sqs:https://h/1/orders", "sqs:http://h:1/queue/orders"}) {
        const auto q = engines::depth_from(good);
        if (!q) std::fprintf(stderr, "not understood: %s\n", std::string(good).c_str());
        wrong += !q;
    }
    for (const std::string_view bad : {"",
                                       "orders",
                                       "sqlite:",
                                       "redis://h/orders",
                                       "rabbitmq://",
                                       "rabbitmq://h",
                                       "rabbitmq://h/",
                                       "rabbitmq://h/v/a/b",
                                       "rabbitmq://h/a%0D%0Aquit",
                                       "rabbitmq://h/a b",
                                       "rabbitmq:///a",
                                       "rabbitmq://h:/a",
                                       "rabbitmq://h:x/a",
                                       "nats://h/S",
                                       "nats://h/S/",
                                       "nats://@h/S/c",
                                       "nats://h/S/c/d",
                                       "rabbitmq://h/a%2",
                                       "rabbitmq://h/a%zz",
                                       "rabbitmq://h//a",
                                       "rabbitmq://h:-1/a",
                                       "rabbitmq+https://h",
                                       "sqs:h/1/orders",
                                       "sqs:https://h",
                                       "sqs:https://u:p@h/1/orders",
                                       "servicebus:"}) {
        const auto q = engines::depth_from(bad);
        if (q) std::fprintf(stderr, "understood: %s\n", std::string(bad).c_str());
        wrong += q.has_value();
    }
    return wrong;
}

/// `from` must not return a depth for this reply.
template <class From>
int must_be_unknown(std::string_view what, std::string_view said, const From& from,
                    const std::function<void(int)>& talk)
{
    scripted::peer peer(talk);
    const engines::depth_reading r = from(peer.port());
    if (r) {
        std::fprintf(stderr, "%s, %s: taken for a depth\n", std::string(what).c_str(),
                     std::string(said).c_str());
    }
    return r.has_value();
}

int hear_strange_things()
{
    using scripted::read_until;
    using scripted::say;
    const auto at = [](const std::string& port) {
        using namespace std::chrono_literals;
        return engines::server{.host = "127.0.0.1", .port = port, .patience = 2s};
    };
    int wrong = 0;
    for (const std::string_view body :
         {"", "no JSON", "[]", "{}", "0", R"({"messages_ready":0})",
          R"({"messages_ready":0,"messages_unacknowledged":null})",
          R"({"messages_ready":"0","messages_unacknowledged":0})",
          R"({"messages_ready":-1,"messages_unacknowledged":0})",
          R"({"messages_ready":0.5,"messages_unacknowledged":0})",
          R"({"state":"down","messages_ready":0,"messages_unacknowledged":0})"}) {
        const auto from = [&](const std::string& port) {
            return engines::rabbitmq_depth(at(port), "/", "orders").read();
        };
        for (const std::string_view head : {"HTTP/1.1 200 OK", "HTTP/1.1 500 Oops", "SMTP"}) {
            wrong += must_be_unknown("RabbitMQ", body, from, [&](int fd) {
                if (!read_until(fd, "\r\n\r\n")) return;
                say(fd, std::string(head) + "\r\nContent-Length: " + std::to_string(body.size()) +
                            "\r\n\r\n" + std::string(body));
            });
        }
        wrong += must_be_unknown("RabbitMQ, no length", body, from, [&](int fd) {
            if (read_until(fd, "\r\n\r\n")) say(fd, "HTTP/1.1 200 OK\r\n\r\n" + std::string(body));
        });
    }
#ifdef WAYBILL_ENGINES_NATS
    for (const std::string_view answer :
         {"", "no JSON", "[]", "{}", R"({"error":7})", R"({"error":{"code":404}})",
          R"({"num_pending":0})", R"({"num_pending":0,"num_ack_pending":-1})",
          R"({"num_pending":"0","num_ack_pending":0})",
          R"({"stream_name":"OTHER","name":"workers","config":{"durable_name":"workers"}})",
          R"({"stream_name":"ORDERS","name":"others","config":{"durable_name":"others"}})"}) {
        const auto from = [&](const std::string& port) {
            return engines::nats_depth(at(port), "ORDERS", "workers").read();
        };
        for (const std::string_view kind : {"MSG", "HMSG", "-ERR"}) {
            wrong += must_be_unknown("NATS", answer, from, [&](int fd) {
                say(fd, "INFO {\"headers\":true,\"max_payload\":1024}\r\n");
                if (!read_until(fd, "PING\r\n")) return;
                say(fd, "PONG\r\n");
                const std::string inbox = scripted::nats_inbox(fd);
                if (inbox.empty()) return;
                say(fd, std::string(kind) + ' ' + inbox + " 1 " + std::to_string(answer.size()) +
                            "\r\n" + std::string(answer) + "\r\n");
            });
        }
        wrong += must_be_unknown("no NATS", answer, from,
                                 [&](int fd) { say(fd, std::string(answer) + "\r\n"); });
    }
#endif
    return wrong;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string_view what = argc > 1 ? argv[1] : "";
    if (what == "depth" && argc == 3) return tell_depth(argv[2]);
    if (what == "sqlite") return make_queues();
    if (what == "forms") return look_at_forms();
    if (what == "strange") return hear_strange_things();
    if (what == "port") return integration::print_free_port();
    return 2;
}

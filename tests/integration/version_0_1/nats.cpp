// SPDX-License-Identifier: MIT
//
// A work queue in NATS JetStream. Version 0.1 and the current version run the same source:
//
//     nats PORT write STATE       puts eight messages, finishes three, and leaves one in flight
//     nats PORT continue STATE    restores stream and consumer, and finishes the rest
//
// STATE is JSON lines: the configurations of stream and consumer, and the messages that are left.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <engines/nats_work_queue.hpp>
#include <nlohmann/json.hpp>

#include "names.hpp"

namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

const std::string name = "ORDERS";
constexpr auto lease = 20s;

int wrong = 0;

void expect(bool holds, const char* rule)
{
    if (holds) return;
    ++wrong;
    std::printf("wrong: %s\n", rule);
}

#if __has_include(<engines/jetstream.hpp>)
using engines::jetstream;  // of version 0.1
#else
/// Requests to the API of JetStream with their JSON, as in the fixture.
class jetstream {
public:
    explicit jetstream(const engines::server& at) : client_(engines::nats_settings_of(at)), at_(at)
    {
        check(client_.ready(at.patience));
    }

    [[nodiscard]] json ask(const std::string& subject, const std::string& body)
    {
        engines::nats_message m;
        check(natsConnection_RequestString(engines::out(m), client_.connection(), subject.c_str(),
                                           body.c_str(), at_.patience.count()));
        json reply = json::parse(std::string(
            natsMsg_GetData(m.get()), static_cast<std::size_t>(natsMsg_GetDataLength(m.get()))));
        if (reply.contains("error")) throw std::runtime_error(reply.at("error").dump());
        return reply;
    }

private:
    static void check(natsStatus s)
    {
        if (s != NATS_OK) throw engines::nats_error(engines::nats_text(s));
    }

    engines::nats_client client_;
    engines::server at_;
};
#endif

// Version 0.1 has take() and done(), and no lease of a queue.
template <class Queue>
Queue open(const engines::server& at)
{
    if constexpr (std::is_constructible_v<Queue, engines::server, std::string, decltype(lease)>)
        return Queue(at, name, lease);
    else
        return Queue(at, name);
}
template <class Queue>
auto take(Queue& queue)
{
    if constexpr (requires { queue.take(lease); }) return queue.take(lease);
    else return *queue.receive(lease);
}
template <class Queue, class Message>
bool done(Queue& queue, Message& m)
{
    if constexpr (requires { queue.done(m); }) return queue.done(m);
    else return queue.complete(m).ok();
}
template <class Message>
bool is_first(const Message& m)
{
    if constexpr (requires { m.turn; }) return m.turn == 1;
    else return m.deliveries == 1;
}

int write(const engines::server& at, const std::string& path)
{
    engines::nats_work_queue queue(at, name);
    for (int n = 1; n != 8; ++n) queue.put("order " + std::to_string(n) + " of 7");
    queue.put("a \r\n longer one");
    for (int n = 0; n != 3; ++n) {
        auto w = take(queue);
        if (!w || !done(queue, *w)) return 1;
    }
    if (!take(queue)) return 1;
    jetstream js(at);
    const json stream = js.ask("$JS.API.STREAM.INFO." + name, {});
    const json consumer = js.ask("$JS.API.CONSUMER.INFO." + name + ".workers", {});
    std::ofstream out(path);
    out << json{{"stream", stream.at("config")}}.dump() << '\n';
    out << json{{"consumer", consumer.at("config")}}.dump() << '\n';
    const auto last = stream.at("state").at("last_seq").get<std::uint64_t>();
    for (auto n = stream.at("state").at("first_seq").get<std::uint64_t>(); n <= last; ++n) {
        const json asked{{"seq", n}};
        json message = js.ask("$JS.API.STREAM.MSG.GET." + name, asked.dump()).at("message");
        message.erase("time");
        out << json{{"message", message}}.dump() << '\n';
    }
    return out ? 0 : 1;
}

/// Without the padding of base64.
std::string body_in(const json& message)
{
    std::string text = message.at("data").get<std::string>();
    while (!text.empty() && text.back() == '=') text.pop_back();
    const auto body = version_0_1::from_base64(text);
    if (!body) throw std::runtime_error("a message is not base64");
    return *body;
}

/// The fields that the library sets. The others depend on the version of the server.
bool same(const json& a, const json& b, const std::vector<std::string>& fields)
{
    bool equal = true;
    for (const std::string& f : fields) equal = equal && a.at(f) == b.at(f);
    return equal;
}

int go_on(const engines::server& at, const std::string& path)
{
    jetstream js(at);
    std::vector<json> messages;
    json stream;
    json consumer;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const json j = json::parse(line);
        if (j.contains("stream")) stream = j.at("stream");
        if (j.contains("consumer")) consumer = j.at("consumer");
        if (j.contains("message")) messages.push_back(j.at("message"));
    }
    const auto tell = [&](const std::string& subject, const std::string& text) {
        static_cast<void>(js.ask(subject, text));
    };
    tell("$JS.API.STREAM.CREATE." + name, stream.dump());
    tell("$JS.API.CONSUMER.DURABLE.CREATE." + name + ".workers",
         json{{"stream_name", name}, {"config", consumer}}.dump());
    for (const json& m : messages) {
        tell(m.at("subject").get<std::string>(), body_in(m));
        expect(!m.contains("hdrs"), "a message has no headers");
    }

    engines::nats_work_queue queue(at, name);
    expect(queue.sent() == messages.size() && queue.depth().ready == messages.size(),
           "the messages are counted");
    for (const json& m : messages) {
        auto w = take(queue);
        expect(w && w->body == body_in(m) && is_first(*w),
               "a message comes with its body, in order");
        expect(w && done(queue, *w), "a message is finished");
    }
    expect(!take(queue) && queue.finished() == messages.size(), "nothing is left");
    // The configurations are those that this version creates.
    expect(queue.remove_if_empty(), "the empty queue is removed");
    auto again = open<engines::nats_work_queue>(at);
    static_cast<void>(take(again));
    expect(same(js.ask("$JS.API.STREAM.INFO." + name, {}).at("config"), stream,
                {"name", "subjects", "retention", "storage"}),
           "the stream is as before");
    expect(same(js.ask("$JS.API.CONSUMER.INFO." + name + ".workers", {}).at("config"), consumer,
                {"durable_name", "ack_policy", "ack_wait", "deliver_policy", "max_deliver",
                 "replay_policy"}),
           "the consumer is as before");
    expect(again.remove_if_empty(), "the empty queue is removed again");
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** argv)
{
    if (count != 4) return 2;
    const engines::server at{.host = "127.0.0.1", .port = argv[1]};
    try {
        return std::string_view(argv[2]) == "write" ? write(at, argv[3]) : go_on(at, argv[3]);
    } catch (const std::exception& e) {
        std::printf("wrong: %s\n", e.what());
        return 1;
    }
}

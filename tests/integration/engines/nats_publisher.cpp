// SPDX-License-Identifier: MIT
//
// The outcomes of a batch for a stream of NATS JetStream: refused messages, repetitions, a server
// that is stopped, a stream that is removed; the messages in flight; and a relay on top of it.
//
//     nats_publisher FOLDER

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <engines/nats_client.hpp>
#include <engines/nats_publisher.hpp>
#include <engines/nats_server.hpp>
#include <support/environment.hpp>
#include <sys/wait.h>

#include <waybill/batch.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/memory_outbox.hpp>

namespace {

using engines::out;
using std::chrono::seconds;
using waybill::fault_kind;
using message = waybill::testing::memory_outbox::message;
using sender = waybill::batch_sender;

int failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("%s\n", what.c_str());
}

std::string url_of(const engines::nats_server& s)
{
    return "nats://127.0.0.1:" + s.at().port;
}

/// The stream as a reader sees it.
class witness {
public:
    explicit witness(const std::string& url) : client_(url)
    {
        check(client_.ready(seconds(2)) == NATS_OK, "the server accepts a connection");
    }

    /// "subject id, subject id ..." in the order of the stream.
    [[nodiscard]] std::string content(const char* stream)
    {
        engines::nats_stream_info info;
        if (js_GetStreamInfo(out(info), client_.jetstream(), stream, nullptr, nullptr) != NATS_OK)
            return "no stream";
        std::string all;
        for (std::uint64_t n = info->State.FirstSeq; n <= info->State.LastSeq; ++n) {
            engines::nats_message m;
            if (js_GetMsg(out(m), client_.jetstream(), stream, n, nullptr, nullptr) != NATS_OK)
                continue;
            const char* id = "";
            natsMsgHeader_Get(m.get(), "Nats-Msg-Id", &id);
            all += (all.empty() ? "" : ", ") + std::string(natsMsg_GetSubject(m.get())) + ' ' + id;
        }
        return all;
    }

    void make(const char* stream, const char* subject, std::int32_t max_message)
    {
        jsStreamConfig c{};
        jsStreamConfig_Init(&c);
        c.Name = stream;
        c.Subjects = &subject;
        c.SubjectsLen = 1;
        c.MaxMsgSize = max_message;
        check(js_AddStream(nullptr, client_.jetstream(), &c, nullptr, nullptr) == NATS_OK,
              "a stream is created");
    }
    void remove(const char* stream)
    {
        check(js_DeleteStream(client_.jetstream(), stream, nullptr, nullptr) == NATS_OK,
              "a stream is removed");
    }

private:
    engines::nats_client client_;
};

/// "accepted", "unknown", "failed permanent", "partial 1 permanent, 2 transient"
std::string text_of(const waybill::send_outcome& o)
{
    if (waybill::holds_alternative<sender::accepted>(o)) return "accepted";
    if (waybill::holds_alternative<sender::outcome_unknown>(o)) return "unknown";
    if (const auto* f = waybill::get_if<sender::failed>(&o))
        return "failed " + std::string(name(f->kind));
    const auto* p = waybill::get_if<sender::partial>(&o);
    if (p == nullptr) return "another outcome";
    std::string text = "partial";
    for (const sender::entry_fault& e : p->failed)
        text += ' ' + std::to_string(e.index) + ' ' +
                std::string(name(waybill::get_if<sender::failed>(&e.answer)->kind));
    return text;
}

void expect(engines::nats_publisher& broker, const std::vector<message>& batch,
            const std::string& outcome, const std::string& problem = {})
{
    const std::string found = text_of(broker.publish(batch));
    check(found == outcome,
          "found \"" + found + "\" instead of \"" + outcome + "\"; " + broker.problem());
    check(problem.empty() ? broker.problem().empty() || outcome != "accepted"
                          : broker.problem().find(problem) != std::string::npos,
          "the problem is \"" + broker.problem() + "\" instead of \"" + problem + '"');
}

/// Of the calls while the server was stopped. Other work on the machine can delay each of them.
std::chrono::steady_clock::duration shortest_call = std::chrono::hours(1);

/// Publishes until each message is stored. A call publishes for 0.5 s, and the rest is left to the
/// next call.
void publish_all(engines::nats_publisher& broker, std::vector<message> batch)
{
    for (int tries = 0; tries != 1'000 && !batch.empty(); ++tries) {
        const waybill::send_outcome o = broker.publish(batch);
        if (waybill::holds_alternative<sender::accepted>(o)) return;
        const auto* p = waybill::get_if<sender::partial>(&o);
        if (p == nullptr) continue;
        std::vector<message> rest;
        for (const sender::entry_fault& f : p->failed) rest.push_back(batch[f.index]);
        batch = rest;
    }
    check(batch.empty(), "the messages are not accepted: " + broker.problem());
}

void expect_content(witness& w, const char* stream, const std::string& content)
{
    const std::string found = w.content(stream);
    check(found == content,
          std::string(stream) + " has \"" + found + "\" instead of \"" + content + '"');
}

void outcomes(const std::string& url, witness& w)
{
    engines::nats_publisher broker(url, "FEW");
    const std::string large(2'000'000, 'x');
    const std::vector<message> two{{"a", "1", "one"}, {"b c.*", "2", "two"}};
    expect(broker, {}, "accepted");
    expect(broker, two, "accepted");
    check(broker.duplicates() == 0, "no message is a repetition");
    expect(broker, two, "accepted");
    check(broker.duplicates() == 2, "both messages are repetitions");
    expect_content(w, "FEW", "FEW.a 1, FEW.b%20c%2E%2A 2");
    expect(broker, {{"a", "3", large}}, "failed permanent",
           "NATS, stream FEW: message 3: 2000000 bytes are more than the server accepts");
    expect(broker, {{"a", "", "x"}}, "failed permanent", "the id is empty");
    expect(broker, {{"a", "x\ny", "x"}}, "failed permanent", "control characters");
    // The later messages of the key are not published. Those without a key have no order.
    expect(broker,
           {{"a", "4", ""},
            {"a", "5", large},
            {"b", "6", ""},
            {"a", "7", ""},
            {"a", "8", ""},
            {"", "9", large},
            {"", "10", ""}},
           "partial 1 permanent 3 transient 4 transient 5 permanent");
    expect_content(w, "FEW", "FEW.a 1, FEW.b%20c%2E%2A 2, FEW.a 4, FEW.b 6, FEW.% 10");

    // Many messages of few keys: the order in the stream is that of each key.
    engines::nats_publisher many(url, "MANY");
    std::vector<message> batch;
    for (int n = 0; n != 1'000; ++n)
        batch.push_back({n % 3 == 0 ? "a" : "b", std::to_string(n), std::string(100, 'x')});
    publish_all(many, batch);
    std::string all = w.content("MANY") + ", ";
    std::uint64_t last[2]{};
    std::uint64_t count = 0;
    for (std::size_t at = 0; at != all.size(); ++count) {
        const std::size_t end = all.find(", ", at);
        const std::string subject = all.substr(at, 6);
        const std::uint64_t id = std::stoull(all.substr(at + 7, end - at - 7));
        check(id >= last[subject == "MANY.a"],
              "message " + std::to_string(id) + " is out of order");
        last[subject == "MANY.a"] = id;
        at = end + 2;
    }
    check(count == 1'000, std::to_string(count) + " messages instead of 1000");

    w.make("SMALL", "SMALL.>", 100);
    engines::nats_publisher small(url, "SMALL");
    expect(small, {{"a", "1", std::string(200, 'x')}, {"b", "2", ""}}, "partial 0 permanent",
           "message 1: message size exceeds maximum allowed");
    w.make("OTHER", "TAKEN", -1);
    engines::nats_publisher other(url, "OTHER");
    expect(other, two, "failed infrastructure", "other subjects than OTHER.>");
    engines::nats_publisher window(url, "SMALL", 1, seconds(300));
    expect(window, two, "failed infrastructure", "a duplicate window below 300 s");
}

void faults(std::optional<engines::nats_server>& server, const std::string& folder)
{
    const std::string url = url_of(*server);
    engines::nats_publisher broker(url, "FAULTS");
    const std::vector<message> first{{"a", "1", ""}, {"a", "2", ""}, {"b", "3", ""}};
    expect(broker, first, "accepted");

    // The server stops. It may store the messages that it has received, or lose them.
    const std::vector<message> second{{"a", "4", ""}, {"a", "5", ""}, {"b", "6", ""}};
    ::kill(server->pid(), SIGSTOP);
    int status = 0;
    check(::waitpid(server->pid(), &status, WUNTRACED) == server->pid() && WIFSTOPPED(status),
          "the server has stopped");
    const auto begin = std::chrono::steady_clock::now();
    expect(broker, second, "unknown", "2 of 3 messages are not acknowledged");
    check(std::chrono::steady_clock::now() - begin < seconds(30),
          "a call ends although the server has stopped");
    ::kill(server->pid(), SIGCONT);
    for (int tries = 0; tries != 20 && text_of(broker.publish(second)) != "accepted"; ++tries) {
    }
    {
        witness w(url);
        expect(broker, second, "accepted");
        std::string found = w.content("FAULTS");
        check(found == "FAULTS.a 1, FAULTS.b 3, FAULTS.a 2, FAULTS.a 4, FAULTS.b 6, FAULTS.a 5" ||
                  found == "FAULTS.a 1, FAULTS.b 3, FAULTS.a 2, FAULTS.b 6, FAULTS.a 4, FAULTS.a 5",
              "the stream has " + found);
        w.remove("FAULTS");
    }
    expect(broker, {{"a", "7", ""}}, "failed infrastructure", "message 7: no responders");
    expect(broker, first, "failed infrastructure", "no responders");

    server.reset();
    expect(broker, first, "failed infrastructure", "NATS, stream FAULTS: not connected to nats://");
    engines::nats_publisher never(url, "FAULTS");
    expect(never, first, "failed infrastructure", "not connected to nats://127.0.0.1");
    server.emplace(folder);
}

/// Stops the server and publishes these messages. The server continues after `pause`. Returns the
/// number of messages that were in flight at the end; 0 if all have an outcome.
std::size_t in_flight_after(std::chrono::milliseconds pause, const engines::nats_server& server,
                            engines::nats_publisher& broker, const std::vector<message>& batch)
{
    ::kill(server.pid(), SIGSTOP);
    int status = 0;
    check(::waitpid(server.pid(), &status, WUNTRACED) == server.pid() && WIFSTOPPED(status),
          "the server has stopped");
    const auto begin = std::chrono::steady_clock::now();
    std::jthread wakes([&] {
        std::this_thread::sleep_for(pause);
        ::kill(server.pid(), SIGCONT);
    });
    const std::string outcome = text_of(broker.publish(batch));
    const auto took = std::chrono::steady_clock::now() - begin;
    check(took < seconds(30), "a call ends although the server has stopped");
    shortest_call = std::min(shortest_call, took);
    wakes.join();
    const std::string before = "stream WINDOW: ";
    const std::size_t at = broker.problem().find(before);
    if (outcome != "unknown" || at == std::string::npos) return 0;
    return std::stoul(broker.problem().substr(at + before.size()));
}

/// The window grows with quick acknowledgements, and shrinks with slow ones. A stopped server
/// acknowledges nothing, so the messages in flight are the window.
void window(const engines::nats_server& server)
{
    engines::nats_publisher broker(url_of(server), "WINDOW");
    int ids = 0;
    const auto batch = [&](int messages, std::size_t bytes = 0) {
        std::vector<message> all;  // each with a key of its own, so all may be in flight
        for (int n = 0; n != messages; ++n) {
            const std::string id = std::to_string(ids++);
            all.push_back({id, id, std::string(bytes, 'x')});
        }
        return all;
    };
    const auto publish = [&](int messages) { publish_all(broker, batch(messages)); };
    const auto measured = [&] {
        const std::size_t n = in_flight_after(seconds(2), server, broker, batch(5'000));
        publish(1);
        return n;
    };
    publish(1);
    const std::size_t first = measured();
    check(first >= 256 && first <= 257, "at first, " + std::to_string(first) + " are in flight");
    // The window is not enlarged by the late acknowledgements of the messages that were in flight.
    const std::size_t second = measured();
    check(second >= first && second <= first + 1,
          "then, " + std::to_string(second) + " are in flight");
    std::size_t grown = 0;
    for (int tries = 0; tries != 100 && (grown <= second || (tries < 5 && grown < 4'096));
         ++tries) {
        for (int n = 0; n != 5; ++n) publish(5'000);
        grown = measured();
        check(grown <= 4'096, std::to_string(grown) + " are in flight");
    }
    check(grown > second,
          "with quick acknowledgements, " + std::to_string(grown) + " are in flight");
    (void)in_flight_after(std::chrono::milliseconds(400), server, broker, batch(1'000));
    const std::size_t reduced = measured();
    check(reduced >= 256 && reduced < grown,
          "after slow acknowledgements, " + std::to_string(reduced) + " are in flight");
    // Bodies that do not fit into the buffers of the connection.
    check(in_flight_after(seconds(4), server, broker, batch(256, 100'000)) != 0,
          "a server that hangs acknowledges nothing");
    check(shortest_call < seconds(3), "a call takes at most 3 s");
}

/// A row that the server refuses is dead, the others arrive in the order of their key.
void relay(const std::string& url, witness& w)
{
    waybill::testing::memory_outbox outbox;
    auto tx = *outbox.begin();
    for (int n = 1; n <= 9; ++n) {
        const std::string body(n == 5 ? 2'000'000 : 10, 'x');
        check(outbox.add(tx, {n % 2 == 1 ? "odd" : "even", std::to_string(n), body}).has_value(),
              "a row is added");
    }
    check(tx.commit().has_value(), "the rows are stored");
    engines::nats_publisher broker(url, "ROWS");
    support::standard_environment env;
    sender s{{.limit = {.answers_per_entry = false}, .ordered = true}};
    const auto report =
        waybill::relay(outbox, s, [&](auto batch) { return broker.publish(batch); }, env,
                       {.lease = std::chrono::seconds(10),
                        .poll_interval = std::chrono::milliseconds(10),
                        .drain = true});
    check(report.outcome == waybill::relay_report::ending::drained, describe(report));
    check(report.sent == 8 && report.dead == 1, describe(report));
    check(outbox.rows().size() == 1 && outbox.rows().begin()->second.content.id == "5",
          "row 5 is dead");
    std::string odd;
    std::string even;
    std::string all = w.content("ROWS");
    for (std::size_t at = 0; (at = all.find("ROWS.", at)) != std::string::npos; at += 5) {
        const bool is_odd = all.compare(at + 5, 3, "odd") == 0;
        (is_odd ? odd : even) += all[at + (is_odd ? 9 : 10)];
    }
    check(odd == "1379" && even == "2468", "the rows arrived as " + all);
}

}  // namespace

int main(int, char** argv)
{
    const std::string folder = std::string(argv[1]) + "/nats";
    std::optional<engines::nats_server> server(folder);
    {
        witness w(url_of(*server));
        outcomes(url_of(*server), w);
        relay(url_of(*server), w);
    }
    window(*server);
    faults(server, folder);
    if (failures == 0) std::printf("nats_publisher: all outcomes are right\n");
    return failures == 0 ? 0 : 1;
}

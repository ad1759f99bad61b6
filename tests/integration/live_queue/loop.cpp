// SPDX-License-Identifier: MIT
//
// loop: the guarantees of a queue with workers, on each engine, while processes are killed.
//
//     loop forms               the accepted and the refused addresses
//     loop sqlite FOLDER       the queue, and then producer and workers
//     loop nats FOLDER         producer and workers, with a server of our own
//     loop address FOLDER      the same with a running server
//     loop others FOLDER       the queue there, its remaining messages, and an outage of the server
//     loop absent FOLDER       without an installed nats-server
//     loop on WHERE FOLDER     producer and workers until it is killed
//
// Prints each rule that does not hold. The exit code is the number of these rules.

#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engines/scripted.hpp"
#include "autoscaler/live_queue.hpp"
#ifdef WAYBILL_ENGINES_NATS
#include "engines/nats_client.hpp"
#endif

namespace {

using namespace std::chrono_literals;
using autoscaler::live_queue;
using autoscaler::live_worker;
using steady = std::chrono::steady_clock;

int wrong = 0;
void expect(bool holds, const std::string& what)
{
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what.c_str());
    ++wrong;
}

/// Repeats the check until it holds or `patience` is over.
template <class F>
bool soon(F holds, steady::duration patience = 60s)
{
    for (const auto deadline = steady::now() + patience; !holds();) {
        if (steady::now() > deadline) return false;
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

bool nobody_left()
{
    return waitpid(-1, nullptr, WNOHANG) == -1;
}

constexpr auto lease = 2s;
constexpr auto late = 1s;  // the delay until a server checks its clock

/// Returns nothing if the queue is empty or cannot be reached.
template <class Queue>
std::optional<typename Queue::message> take(Queue& queue)
{
    return queue.receive(lease).value_or(std::nullopt);
}

/// Takes a message, prints it, and never finishes it.
int hold(const std::string& address)
{
    auto queue = autoscaler::live_work(address);
    const auto take_one = [](auto& q) {
        const auto w = take(*q);
        std::puts(w ? w->body.c_str() : "nothing");
    };
    std::visit(take_one, queue);
    std::fflush(stdout);
    pause();
    return 1;
}

/// A process takes a message and is killed. Returns its output.
std::string taken_and_killed(const std::string& address)
{
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
    std::string words[] = {"loop", "hold", address};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    close(ends[1]);
    std::string said;
    for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) said += c;
    close(ends[0]);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return said;
}

template <class Queue>
void look_at(Queue& queue, const std::string& address)
{
    expect(queue.depth() == engines::depth{.age = 0}, "it is empty at first");
    expect(!take(queue), "there is nothing to take");
    expect(queue.sent() == 0 && queue.finished() == 0, "nothing was sent");
    for (const char* body : {"a", "b", "c", "a \r\n longer one"}) queue.put(body);
    expect(queue.depth().ready == 4 && queue.sent() == 4, "it has four");

    auto a = take(queue);
    expect(a && a->body == "a" && a->deliveries == 1, "the first comes first");
    const auto d = queue.depth();
    expect(d.ready == 3 && d.in_flight == 1 && d.age && *d.age < 5,
           "a message in flight is counted");
    expect(a && queue.complete(*a).ok() && queue.finished() == 1, "it is done");

    auto b = take(queue);
    std::this_thread::sleep_for(lease + late);
    auto again = b;
    expect(soon([&] { return (again = take(queue)).has_value(); }), "its time is up");
    expect(b && again && again->number == b->number && again->deliveries == 2 && again->body == "b",
           "it is handed out again, before what came later");
    expect(b && !queue.complete(*b).ok() && queue.finished() == 1,
           "a completion after the deadline is refused");
    expect(again && queue.complete(*again).ok() && queue.finished() == 2, "the other one has");

    expect(taken_and_killed(address) == "c", "another process takes the next message");
    expect(queue.depth().ready == 1 && queue.depth().in_flight == 1, "and is killed");
    std::this_thread::sleep_for(lease + late);
    std::optional<typename Queue::message> c;
    expect(soon([&] { return (c = take(queue)).has_value(); }), "nothing is lost");
    expect(c && c->body == "c" && c->deliveries == 2 && queue.complete(*c).ok(),
           "another one gets it");
    auto last = take(queue);
    expect(last && last->body == "a \r\n longer one" && queue.complete(*last).ok(),
           "bytes are bytes");
    expect(queue.depth() == engines::depth{.age = 0} && queue.finished() == 4, "all is done");
}

std::string refusal(const std::string& folder, const std::string& where)
{
    try {
        live_queue queue(folder, where);
        return {};
    } catch (const autoscaler::complaint& e) {
        return e.what();
    }
}
void expect_refusal(const std::string& folder, const std::string& where, std::string_view words)
{
    const std::string said = refusal(folder, where);
    expect(said.find(words) != said.npos,
           where + ": \"" + said + "\" instead of " + std::string(words));
}

constexpr autoscaler::live_traffic traffic{
    .quiet_rate = 20, .burst_rate = 120, .quiet = 400ms, .burst = 600ms};

/// Bursts; one worker and then three, one of which is killed.
void run(const std::string& folder, const std::string& where)
{
    std::uint64_t sent = 0;
    std::uint64_t processed = 0;
    {
        live_queue queue(folder, where, 20ms);
        const std::uint64_t before = queue.sent();
        const auto first = queue.depth();
        // Messages of killed workers stay in flight until their lock expires.
        const std::uint64_t dead = 1 + (first ? first->in_flight : 0);
        queue.start_producer(3s, 7, traffic);
        queue.start_worker();
        expect(soon([&] { return queue.processed() > before + 5; }), "one worker works");
        std::vector<live_worker> team{queue.start_worker(), queue.start_worker()};
        expect(queue.workers().size() == 3, "three workers");
        if (where == "nats") expect_refusal(folder, where, "another nats-server works in");
        std::this_thread::sleep_for(500ms);
        kill(team[0].pid, SIGKILL);
        expect(soon([&] { return queue.workers().size() == 2; }), "two workers are left");
        expect(queue.died() == 1, "a kill is seen");
        queue.stop_worker(team[1]);
        expect(queue.workers().size() == 1 && queue.died() == 1,
               "a worker that was stopped is not counted as dead");
        queue.start_worker();
        expect(soon([&] { return !queue.producing(); }), "the producer ends");
        expect(soon([&] {
                   const auto d = queue.depth();
                   return d && d->ready == 0 && d->in_flight <= dead;
               }),
               "two workers manage what is left");
        while (!queue.workers().empty()) queue.stop_worker(queue.workers().back());
        const auto d = queue.depth();
        sent = queue.sent();
        processed = queue.processed();
        expect(sent > before + 100, "it was a lot");
        expect(d && sent == processed + d->ready + d->in_flight, "what was sent is done or there");
        // Messages in flight stay so until their lock expires, which may be just now.
        expect(d && d->ready + d->in_flight <= dead, "only the dead have left something");
        std::printf("%s: %llu sent, %llu processed\n", std::string(queue.engine()).c_str(),
                    static_cast<unsigned long long>(sent),
                    static_cast<unsigned long long>(processed));
    }
    if (where.starts_with("nats://")) return;  // the server is a child of this process
    expect(nobody_left(), "no process is left");
    {
        live_queue queue(folder, where);
        expect(queue.sent() == sent && queue.processed() == processed, "it is all there later");
        queue.start_producer(60s, 8, traffic);
        queue.start_worker();
        expect(soon([&] { return queue.sent() > sent; }), "the queue continues");
    }
    expect(nobody_left(), "no process is left after an early end");
}

#ifdef WAYBILL_ENGINES_NATS
/// Throws nats_error if the server cannot be reached.
void connect(engines::nats_client& client)
{
    const natsStatus s = client.ready(5s);
    if (s != NATS_OK) throw engines::nats_error(engines::nats_text(s));
}

bool has_stream(const engines::server& at, const std::string& stream)
{
    engines::nats_client client(engines::nats_settings_of(at));
    connect(client);
    engines::nats_stream_info info;
    return js_GetStreamInfo(engines::out(info), client.jetstream(), stream.c_str(), nullptr,
                            nullptr) == NATS_OK;
}

void run_on_others(const std::string& folder)
{
    std::string where;
    {
        engines::nats_server others(folder + "/others");
        where = "nats://127.0.0.1:" + others.at().port;
        const auto there = [&](const std::string& stream) {
            return has_stream(others.at(), stream);
        };
        {
            engines::nats_work_queue queue(others.at(), "ORDERS", lease);
            look_at(queue, where + "/ORDERS");
            expect(!there("WAYBILL_LIVE"), "nothing but that was made");
            queue.put("left");
        }
        {
            live_queue queue(folder, where + "/ORDERS");
        }
        expect(there("ORDERS"), "what is left stays there");
        {
            live_queue queue(folder, where);
        }
        expect(!there("WAYBILL_LIVE"), "what is empty is removed");
        struct form {
            const char* subject = nullptr;
            jsRetentionPolicy retention{};
        };
        engines::nats_client client(engines::nats_settings_of(others.at()));
        connect(client);
        for (const form& f :
             {form{"OTHER.work", js_LimitsPolicy}, form{"other", js_WorkQueuePolicy}}) {
            const char* subjects[] = {f.subject};
            jsStreamConfig c{};
            jsStreamConfig_Init(&c);
            c.Name = "OTHER";
            c.Subjects = subjects;
            c.SubjectsLen = 1;
            c.Storage = js_MemoryStorage;
            c.Retention = f.retention;
            expect(js_AddStream(nullptr, client.jetstream(), &c, nullptr, nullptr) == NATS_OK,
                   "another stream is created");
            expect_refusal(folder, where + "/OTHER", "no work queue of subject OTHER.work");
            expect(there("OTHER"), "it is left alone");
            js_DeleteStream(client.jetstream(), "OTHER", nullptr, nullptr);
        }
        expect_refusal(folder, where + "/a.b", "letters, digits");
    }
    expect(nobody_left(), "the server is gone");
    expect_refusal(folder, where, "No server available for connection");
}
#endif

void look_at_forms()
{
    for (const std::string_view good :
         {"", "sqlite",
#ifdef WAYBILL_ENGINES_NATS
          "nats", "nats://h", "nats://h:1", "nats://h/S", "nats://u:p%40@[::1]:4222/S"
#endif
         }) {
        expect(!autoscaler::live_flaw(good), "it understands " + std::string(good));
    }
    for (const std::string_view bad :
         {"x", "nats:", "nats:/h", "nats://", "nats:///S", "nats://h:x", "nats://h/",
          "nats://h/S/c", "nats://h/a%0D%0AQUIT", "sqlite:x", "trace.csv"}) {
        expect(autoscaler::live_flaw(bad).has_value(), "it refuses " + std::string(bad));
    }
}

#ifdef WAYBILL_ENGINES_NATS
/// A server with any other reply about the stream is never taken for a queue.
void hear_strange_things()
{
    // INBOX is replaced by that of the request.
    std::vector<std::string> all{"MSG\r\n",
                                 "MSG \r\n",
                                 "MSG INBOX 1 -1\r\n",
                                 "-ERR 'no'\r\n",
                                 "HMSG INBOX 1 9 4\r\nNATS\r\n",
                                 "HMSG INBOX 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"};
    for (const std::string body :
         {"", "{}", "[]", "7", R"({"config":7})", R"({"config":{"retention":"limits"}})",
          R"({"error":7})", R"({"error":{"code":"404"}})", R"({"error":{"code":500}})"}) {
        all.push_back("MSG INBOX 1 " + std::to_string(body.size()) + "\r\n" + body + "\r\n");
    }
    for (const std::string& said : all) {
        scripted::peer peer([&said](int fd) {
            scripted::say(fd, "INFO {\"headers\":true,\"max_payload\":1024}\r\n");
            if (!scripted::read_until(fd, "PING\r\n")) return;
            scripted::say(fd, "PONG\r\n");
            const std::string inbox = scripted::nats_inbox(fd);
            std::string reply = said;
            if (const std::size_t at = reply.find("INBOX"); at != reply.npos)
                reply.replace(at, 5, inbox);
            if (!inbox.empty()) scripted::say(fd, reply);
        });
        try {
            engines::nats_work_queue({.host = "127.0.0.1", .port = peer.port()}, "ORDERS");
            expect(false, "no queue answers so: " + said);
        } catch (const engines::nats_error& e) {
            expect(std::string_view(e.what()).starts_with("NATS, stream ORDERS: "), e.what());
        }
    }
}
#endif

int keep_on(const std::string& where, const std::string& folder)
{
    live_queue queue(folder, where, 20ms);
    queue.start_producer(60s, 9, traffic);
    queue.start_worker();
    queue.start_worker();
    for (;;) {
        std::this_thread::sleep_for(100ms);
        if (queue.processed() > 10) std::puts("it works");
        std::fflush(stdout);
    }
}

void do_it(const std::string& what, const std::string& folder)
{
    if (what == "forms") {
        look_at_forms();
#ifdef WAYBILL_ENGINES_NATS
        hear_strange_things();
    } else if (what == "others") {
        run_on_others(folder);
#else
        const auto flaw = autoscaler::live_flaw("nats");
        expect(flaw && flaw->find("libnats-dev") != flaw->npos, "the missing library is named");
#endif
    } else if (what == "absent") {
        expect_refusal(folder, "nats", "there is no nats-server");
        expect(nobody_left(), "no process is left");
    } else if (what == "sqlite") {
        autoscaler::sqlite_file queue(folder + "/queue.sqlite");
        look_at(queue, "sqlite:" + folder + "/queue.sqlite");
        run(folder, "");
    } else if (what == "nats") {
        run(folder, "nats");
    } else if (what == "address") {
        engines::nats_server others(folder + "/others");
        run(folder, "nats://127.0.0.1:" + others.at().port);
    } else {
        expect(false, "there is no test of this name: " + what);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    if (const auto code = autoscaler::live_child(argc, argv)) return *code;
    const std::string what = argc > 1 ? argv[1] : "";
    const std::string where = argc > 2 ? argv[2] : "";
    try {
        if (what == "hold") return hold(where);
        if (what == "on" && argc == 4) return keep_on(where, argv[3]);
        do_it(what, where);
    } catch (const std::exception& e) {
        expect(false, e.what());
    }
    return wrong;
}

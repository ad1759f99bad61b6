// SPDX-License-Identifier: MIT
//
// run_queue on a stream of Redis, on real servers.
//
//     redis_queue conform FOLDER          conformance suites, locks of two workers, full memory
//     redis_queue server FOLDER           prints the address; SIGUSR1 kills and restarts the server
//     redis_queue put URL N               adds N messages
//     redis_queue work URL FILE NAME      handles all messages; FILE gets a line for each handled and
//                                         for each completed one: "NAME job 5", "NAME completed job 5"
//     redis_queue end URL                 prints the reasons of the dead letters, and expects that
//                                         nothing else is left

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <engines/redis_server.hpp>
#include <engines/redis_work_queue.hpp>
#include <signal.h>
#include <support/environment.hpp>

#include <waybill/ext/chrono.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

namespace {

using namespace std::chrono_literals;
using engines::redis_work_queue;
using waybill::fault_kind;

int wrong = 0;
void expect(bool holds, const std::string& rule)
{
    if (holds) return;
    std::printf("wrong: %s\n", rule.c_str());
    ++wrong;
}

void expect_none(const waybill::testing::conformance_report& report)
{
    for (const std::string& rule : report.broken) expect(false, rule);
    // The clock of the server cannot be moved.
    for (const std::string& rule : report.untested)
        expect(rule.ends_with("manual_environment)"), "untested: " + rule);
}

engines::redis_client admin(const std::string& url)
{
    return engines::redis_client(engines::redis_address_in(url));
}

struct named_queue : redis_work_queue {
    named_queue(const std::string& url, const std::string& stream)
        : redis_work_queue(url, stream, 2s), name(stream)
    {
    }
    std::string name;
};

void test_rules(const std::string& url)
{
    int number = 0;
    support::standard_environment env;
    expect_none(waybill::testing::queue_conformance(
        [&] { return named_queue(url, "q" + std::to_string(++number)); },
        [](named_queue& q, const std::string& body) { q.put(body); }, env,
        [](named_queue& q) { return q.reasons(); },
        [&](named_queue& q) { return named_queue(url, q.name); }, waybill::duration(2s)));
}

/// A worker that is slower than its lock, beside another one.
void test_two_workers(const std::string& url)
{
    redis_work_queue slow(url, "two");
    redis_work_queue quick(url, "two");
    const waybill::duration lock = 1s;
    const waybill::duration long_lock = waybill::duration::seconds(3'600);
    slow.put("a");
    slow.put("b");
    auto late = slow.receive(long_lock);
    auto other = quick.receive(long_lock);
    expect(late && *late && other && *other && (**late).id != (**other).id, "two messages");
    const auto nothing = quick.receive(lock);
    expect(nothing && !*nothing, "both messages are locked");
    expect(slow.renew(**late, lock).ok(), "a shorter lock");
    std::this_thread::sleep_for(1500ms);
    // The other lock still holds, for the time that its worker has chosen.
    auto taken = quick.receive(long_lock);
    expect(taken && *taken && (**taken).id == (**late).id, "the message of the slow worker");
    expect((**taken).deliveries == 2, "its deliveries");
    auto none = slow.receive(lock);
    expect(none && !*none, "a lock of an hour is not that of the receiver");
    const auto lost = [](const waybill::fault& f) { return f.kind == fault_kind::ownership_lost; };
    expect(lost(slow.renew(**late, lock)), "renew without the lock");
    expect(lost(slow.complete(**late)), "complete without the lock");
    expect(lost(slow.abandon(**late, true)), "abandon without the lock");
    expect(lost(slow.dead_letter(**late, "late")), "dead_letter without the lock");
    expect(slow.reasons().empty(), "no dead letter without the lock");
    expect(quick.complete(**taken).ok() && quick.complete(**other).ok(), "complete with the lock");
    expect(quick.empty().value_or(false), "the queue is empty");

    // After the end of the lock, without another worker.
    slow.put("c");
    late = slow.receive(lock);
    std::this_thread::sleep_for(1500ms);
    expect(late && *late && slow.complete(**late).ok(), "complete after the lock");

    // Another program reads a message and ends.
    quick.put("d");
    auto a = admin(url);
    (void)a.ask({"XREADGROUP", "GROUP", "workers", "stranger", "STREAMS", "two", ">"});
    (void)a.ask({"XPENDING", "two", "workers", "-", "+", "1"});
    const auto ids = a.ask({"XRANGE", "two", "-", "+"});
    const std::string id(
        engines::redis_reply::text(*engines::redis_reply::array(*ids.array()[0])[0]));
    (void)a.ask({"XCLAIM", "two", "workers", "stranger", "0", id, "IDLE", "60000", "JUSTID"});
    redis_work_queue next(url, "two");
    auto m = next.receive(lock);
    expect(m && *m && (**m).body == "d" && (**m).deliveries == 2, "the message of a stranger");

    // Removed from the stream while it is locked.
    (void)a.ask({"XDEL", "two", id});
    std::this_thread::sleep_for(1500ms);
    none = next.receive(lock);
    expect(none && !*none, "a removed message");

    // The stream is removed, and created again.
    (void)a.ask({"DEL", "two"});
    const auto gone = next.receive(lock);
    expect(!gone && gone.error().kind == fault_kind::infrastructure, "no stream");
    next.put("e");
    m = next.receive(lock);
    expect(m && *m && (**m).body == "e", "a new stream");
}

void test_refusals(const std::string& url)
{
    auto a = admin(url);
    redis_work_queue q(url, "full");
    const waybill::duration lock = waybill::duration::seconds(3'600);
    for (int n = 0; n != 6; ++n) q.put("m" + std::to_string(n));
    auto first = q.receive(lock);
    (void)a.ask({"CONFIG", "SET", "maxmemory", "1"});
    try {
        q.put("x");
        expect(false, "put with a full memory");
    } catch (const engines::redis_error& e) {
        expect(e.meaning == engines::answer::throttled, e.what());
    }
    expect(q.renew(**first, lock).ok(), "renew with a full memory");
    expect(q.dead_letter(**first, "r").kind == fault_kind::infrastructure,
           "dead_letter with a full memory");
    expect(q.abandon(**first, false).ok(), "abandon with a full memory");
    int completed = 0;
    for (auto m = q.receive(lock); m && *m; m = q.receive(lock))
        completed += q.complete(**m).ok() ? 1 : 0;
    expect(completed == 6, "receive and complete with a full memory");
    (void)a.ask({"CONFIG", "SET", "maxmemory", "0"});

    (void)a.ask({"SET", "text", "no stream"});
    redis_work_queue text(url, "text");
    const auto r = text.receive(lock);
    expect(!r && r.error().kind == fault_kind::permanent, "the key is no stream");
    // The connection is cut.
    (void)a.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    const auto cut = q.receive(lock);
    expect(!cut && cut.error().kind == fault_kind::infrastructure, "the connection is cut");
    const auto again = q.receive(lock);
    expect(again && !*again, "a new connection");
}

void conform(const std::string& folder)
{
    engines::redis_server server(folder);
    std::thread rules([&] { test_rules(server.url()); });
    {
        engines::redis_server other(folder + "2");
        test_two_workers(other.url());
        test_refusals(other.url());
    }
    rules.join();
    named_queue q(server.url(), "away");
    q.put("x");
    server.kill();
    expect_none(waybill::testing::queue_outage_conformance(q));
}

// --- kills --------------------------------------------------------------------------------------

volatile std::sig_atomic_t kills = 0;

void serve(const std::string& folder)
{
    std::signal(SIGUSR1, [](int) { kills = kills + 1; });
    engines::redis_server server(folder);
    std::puts(server.url().c_str());
    std::fflush(stdout);
    for (std::sig_atomic_t done = 0;; std::this_thread::sleep_for(1ms)) {
        if (done == kills) continue;
        ++done;
        server.kill();
        server.restart();
    }
}

void put(const std::string& url, int count)
{
    redis_work_queue queue(url, "jobs");
    for (int n = 0; n != count; ++n) queue.put("job " + std::to_string(n));
}

class worker : public redis_work_queue {
public:
    worker(const std::string& url, const std::string& path, std::string name)
        : redis_work_queue(url, "jobs", 2s), file_(path, std::ios::app), name_(std::move(name))
    {
    }

    void add(const std::string& text) { file_ << name_ + ' ' + text + '\n' << std::flush; }
    waybill::fault complete(const message& m)
    {
        waybill::fault f = redis_work_queue::complete(m);
        if (f.ok()) add("completed " + m.body);
        return f;
    }

private:
    std::ofstream file_;
    std::string name_;
};

void work(const std::string& url, const std::string& path, const std::string& name)
{
    worker queue(url, path, name);
    support::standard_environment env;
    const auto handle = [&](const auto& m) -> waybill::fault {
        const int n = std::atoi(m.body.c_str() + 4);
        if (n % 50 == 7) return waybill::permanent(m.body);
        if (n % 10 == 3 && m.deliveries == 1) return waybill::transient("busy");
        queue.add(m.body);
        // Some are slower than the lock.
        std::this_thread::sleep_for(n % 100 == 11 && m.deliveries < 3 ? 600ms : 2ms);
        return {};
    };
    const waybill::queue_policy policy{
        .lock = 500ms,
        .pauses = {.base = 100ms, .cap = 500ms, .spread = waybill::backoff::jitter::around},
        .to_settle = 100ms,
        .poll_interval = 10ms,
        .stop_when_empty = true};
    const waybill::queue_report report = waybill::run_queue(queue, handle, policy, env);
    expect(report.end == waybill::queue_report::end_reason::empty, waybill::describe(report));
    std::printf("%s; %llu failed calls to receive, %llu to settle\n",
                waybill::describe(report).c_str(),
                static_cast<unsigned long long>(report.failed_receives),
                static_cast<unsigned long long>(report.failed_settlements));
}

void print_end(const std::string& url)
{
    auto a = admin(url);
    expect(a.ask({"XLEN", "jobs"}).number() == 0, "the stream is empty");
    expect(a.ask({"EXISTS", "jobs:locks", "jobs:uncounted"}).number() == 0, "no locks are left");
    expect(a.ask({"XPENDING", "jobs", "workers"}).array()[0]->integer == 0, "nothing is pending");
    for (const std::string& reason : redis_work_queue(url, "jobs").reasons())
        std::puts(reason.c_str());
}

}  // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> words(argv, argv + argc);
    try {
        if (argc == 3 && words[1] == "conform") conform(words[2]);
        else if (argc == 3 && words[1] == "server") serve(words[2]);
        else if (argc == 4 && words[1] == "put") put(words[2], std::stoi(words[3]));
        else if (argc == 5 && words[1] == "work") work(words[2], words[3], words[4]);
        else if (argc == 3 && words[1] == "end") print_end(words[2]);
        else return 2;
    } catch (const std::exception& e) {
        expect(false, e.what());
    }
    return wrong == 0 ? 0 : 1;
}

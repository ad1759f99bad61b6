// SPDX-License-Identifier: MIT
//
// queues: run_queue on a real broker, beanstalkd or nats.
//
//     queues conform BROKER PORT PID       the conformance suites; ends the server, which is PID
//     queues put BROKER PORT FILE N        adds N messages, and each accepted one to the file
//     queues work BROKER PORT FILE DONE    handles messages until the file DONE exists and no message
//                                          has come for a while; adds each handled one to the file
//     queues dead BROKER PORT              removes the dead letters and prints their reasons
//     queues port                          a free port

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/socket.h>

#include <engines/beanstalkd_work_queue.hpp>
#if __has_include(<nats/nats.h>)
#include <engines/nats_work_queue.hpp>
#endif
#include <support/environment.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

#include "../engines/free_port.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds lock = 1s;
const std::string jobs = "JOBS";

int wrong = 0;
void expect(bool holds, const std::string& rule)
{
    if (holds) return;
    std::printf("wrong: %s\n", rule.c_str());
    ++wrong;
}

struct beanstalkd : engines::beanstalkd_work_queue {
    beanstalkd(const engines::server& where, const std::string& tube)
        : beanstalkd_work_queue(where, tube, 0s), at(where), name(tube)
    {
    }
    void put(const std::string& body) { beanstalkd_work_queue::put(body, lock); }

    /// Removes them.
    [[nodiscard]] std::vector<std::string> dead_letters() const
    {
        std::vector<std::string> all;
        beanstalkd dead(at, name + ".dead");
        for (auto m = dead.receive(lock); m && *m; m = dead.receive(lock)) {
            all.push_back((**m).body);
            if (!dead.complete(**m).ok()) break;
        }
        return all;
    }

    engines::server at;
    std::string name;
};

#if __has_include(<nats/nats.h>)
struct nats : engines::nats_work_queue {
    nats(const engines::server& where, const std::string& stream)
        : nats_work_queue(where, stream, lock), at(where), name(stream)
    {
    }

    [[nodiscard]] std::vector<std::string> dead_letters() const
    {
        std::vector<std::string> all;
        const std::string dead = name + "_DEAD";
        const auto check = [](natsStatus s) {
            if (s != NATS_OK) throw engines::nats_error(engines::nats_text(s));
        };
        engines::nats_client client(engines::nats_settings_of(at));
        check(client.ready(at.patience));
        engines::nats_stream_info info;
        check(js_GetStreamInfo(engines::out(info), client.jetstream(), dead.c_str(), nullptr,
                               nullptr));
        for (std::uint64_t n = 1; n <= info->State.LastSeq; ++n) {
            engines::nats_message m;
            check(js_GetMsg(engines::out(m), client.jetstream(), dead.c_str(), n, nullptr,
                            nullptr));
            all.emplace_back(natsMsg_GetData(m.get()),
                             static_cast<std::size_t>(natsMsg_GetDataLength(m.get())));
        }
        return all;
    }

    engines::server at;
    std::string name;
};
#endif

std::string reason_of(const std::string& dead_letter)
{
    return dead_letter.substr(0, dead_letter.find('\n'));
}

void expect_none(const waybill::testing::conformance_report& report)
{
    for (const std::string& rule : report.broken) expect(false, rule);
    for (const std::string& rule : report.untested) expect(false, "untested: " + rule);
}

template <class Queue>
void conform(const engines::server& at, pid_t server)
{
    int number = 0;
    support::standard_environment env;
    expect_none(waybill::testing::queue_conformance(
        [&] { return Queue(at, "Q" + std::to_string(++number)); },
        [](Queue& q, const std::string& body) { q.put(body); }, env,
        [](Queue& q) {
            std::vector<std::string> all = q.dead_letters();
            for (std::string& letter : all) letter = reason_of(letter);
            return all;
        },
        [](Queue& q) { return Queue(q.at, q.name); }, lock));

    Queue q(at, "ORDER");
    q.put("old");
    auto old = q.receive(lock);
    q.put("new");
    expect(q.defer(**old, env.wall_now() + waybill::duration(100ms)).ok(), "it is deferred");
    std::this_thread::sleep_for(1200ms);
    const auto first = q.receive(lock);
    expect(first && *first && (**first).body == "old",
           "a deferred message that is due comes before newer ones");

    kill(server, SIGKILL);
    expect_none(waybill::testing::queue_outage_conformance(q));
}

void expect_large_dead_letters(const engines::server& at)
{
    beanstalkd q(at, "LARGE");
    q.put(std::string(65'535, 'x'));
    auto m = q.receive(lock);
    expect(m && *m && q.dead_letter(**m, "reason").ok(), "a dead letter without room for a reason");
    expect(q.empty().value_or(false) && q.dead_letters().empty(), "it is buried");
}

/// `complete` reserves the next job.
void expect_next_reserved(const engines::server& at)
{
    const auto body_of = [](const auto& m) { return m && *m ? (**m).body : std::string(); };
    auto q = std::make_unique<beanstalkd>(at, "NEXT");
    beanstalkd other(at, "NEXT");
    // Only the lock of "6" ends in the test.
    const auto put = [&](const std::string& tube, const char* body, std::chrono::seconds locked) {
        engines::beanstalkd_work_queue(at, tube).put(body, locked);
    };
    for (const char* body : {"1", "2", "3", "4", "5"}) put("NEXT", body, 60s);
    put("NEXT", "6", lock);
    auto m = q->receive(lock);
    auto kept = q->receive(lock);
    expect(m && *m && q->complete(**m).ok(), "the first job is completed");
    expect(kept && *kept && q->complete(**kept).ok(), "and one received before it");
    expect(body_of(other.receive(lock)) == "4", "only one job is reserved ahead");
    m = q->receive(lock);
    expect(body_of(m) == "3" && (**m).deliveries == 1, "it is received");
    expect(q->complete(**m).ok() && !q->complete(**m).ok(), "a job is completed once");

    m = q->receive(lock);
    expect(body_of(m) == "5" && q->complete(**m).ok(), "a further job");
    std::this_thread::sleep_for(lock + 200ms);
    m = other.receive(lock);
    const auto late = q->receive(lock);
    if (body_of(m).empty()) m = late;
    else expect(body_of(late).empty(), "then it is not received");
    expect(body_of(m) == "6" && (**m).deliveries == 2, "its lock ends");

    q = std::make_unique<beanstalkd>(at, "CLOSED");
    beanstalkd next(at, "CLOSED");
    for (const char* body : {"7", "8"}) put("CLOSED", body, 60s);
    m = q->receive(lock);
    expect(body_of(m) == "7" && q->complete(**m).ok(), "the last job of a connection");
    q.reset();
    for (int tries = 0; tries != 100 && body_of(m) != "8"; ++tries) {
        m = next.receive(lock);
        std::this_thread::sleep_for(5ms);
    }
    expect(body_of(m) == "8", "the end of the connection releases the next job");
}

// --- kills --------------------------------------------------------------------------------------

void add_line(std::ofstream& file, const std::string& line)
{
    file << line + "\n" << std::flush;
}

/// A queue of `jobs`, as soon as the server can be reached.
template <class Queue>
std::unique_ptr<Queue> queue_of_jobs(const engines::server& at)
{
    for (int tries = 0;; ++tries) {
        try {
            return std::make_unique<Queue>(at, jobs);
        } catch (const std::runtime_error&) {  // socket_error, nats_error: the server is killed now
            if (tries == 1'000) throw;
            std::this_thread::sleep_for(20ms);
        }
    }
}

template <class Queue>
void put(const engines::server& at, const std::string& path, int count)
{
    std::ofstream file(path, std::ios::app);
    const auto queue = queue_of_jobs<Queue>(at);
    for (int n = 0; n != count; ++n) {
        const std::string body = "job " + std::to_string(n);
        for (bool accepted = false; !accepted;) {
            try {
                queue->put(body);
                accepted = true;
            } catch (const std::runtime_error&) {  // socket_error, nats_error
                // Without a reply the message may be in the queue. It is put again.
                std::this_thread::sleep_for(20ms);
            }
        }
        add_line(file, body);
        std::this_thread::sleep_for(4ms);
    }
}

template <class Queue>
void work(const engines::server& at, const std::string& path, const std::string& done)
{
    std::ofstream file(path, std::ios::app);
    const auto queue = queue_of_jobs<Queue>(at);
    support::standard_environment env;
    const auto handle = [&](const auto& m) -> waybill::fault {
        const int n = std::atoi(m.body.c_str() + 4);
        if (n % 50 == 7) return waybill::permanent(m.body);
        if (n % 10 == 3 && m.deliveries == 1) return waybill::transient("busy");
        add_line(file, m.body);
        std::this_thread::sleep_for(2ms);
        return {};
    };
    const waybill::queue_policy policy{.lock = lock, .to_settle = 100ms, .poll_interval = 10ms,
                                       .stop_when_empty = true};
    waybill::queue_report report;
    const auto idle = 4s;  // longer than a lock, and than the pause of a deferred message
    const auto now = [] { return std::chrono::steady_clock::now(); };
    for (auto active = now(); now() < active + idle || !std::filesystem::exists(done);) {
        const std::uint64_t before = report.received;
        waybill::run_queue(*queue, handle, policy, env, report);
        expect(report.end == waybill::queue_report::end_reason::empty, waybill::describe(report));
        if (report.end != waybill::queue_report::end_reason::empty) return;
        if (report.received != before) active = now();
        std::this_thread::sleep_for(20ms);
    }
    std::printf("%s; %llu failed calls to receive, %llu to settle\n",
                waybill::describe(report).c_str(),
                static_cast<unsigned long long>(report.failed_receives),
                static_cast<unsigned long long>(report.failed_settlements));
}

template <class Queue>
void print_dead(const engines::server& at)
{
    for (const std::string& d : Queue(at, jobs).dead_letters()) std::puts(reason_of(d).c_str());
}

// ------------------------------------------------------------------------------------------------

template <class Queue>
int run(const engines::server& at, const std::vector<std::string>& words)
{
    const std::string& what = words[1];
    if (what == "conform" && words.size() == 5) conform<Queue>(at, std::stoi(words[4]));
    else if (what == "put" && words.size() == 6) put<Queue>(at, words[4], std::stoi(words[5]));
    else if (what == "work" && words.size() == 6) work<Queue>(at, words[4], words[5]);
    else if (what == "dead") print_dead<Queue>(at);
    else return 2;
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> words(argv, argv + argc);
    if (argc == 2 && words[1] == "port") return integration::print_free_port();
    if (argc < 4) return 2;
    const engines::server at{.host = "127.0.0.1", .port = words[3], .patience = 1s};
    try {
        if (words[1] == "conform" && words[2] == "beanstalkd") {
            expect_large_dead_letters(at);
            expect_next_reserved(at);
        }
#if __has_include(<nats/nats.h>)
        if (words[2] == "nats") return run<nats>(at, words);
#endif
        return run<beanstalkd>(at, words);
    } catch (const std::exception& e) {
        std::printf("wrong: %s\n", e.what());
        return 1;
    }
}

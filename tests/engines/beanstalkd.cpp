// SPDX-License-Identifier: MIT
//
// Faults of beanstalkd with a binlog: kill -9, cut connections, and a time-to-run that is shorter
// than the handler. The count is made with plain reservations, or by the handler.
//
//     beanstalkd FOLDER

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <engines/beanstalkd.hpp>
#include <engines/beanstalkd_work_queue.hpp>
#include <engines/server_process.hpp>
#include <engines/socket.hpp>

#include "cutting_proxy.hpp"
#include "slow_workers.hpp"
#include "support.hpp"

namespace {

using namespace engines_test;

/// A server whose binlog is in the folder. Each start has the same port.
///
/// A server (1.12) that is killed while it compacts its binlog can lose one job: it removes the
/// oldest file before it has written the last job of that file to the current one. Small files make
/// the compaction rare.
class server {
public:
    explicit server(const std::string& folder)
        : folder_(folder), lock_(folder, "beanstalkd"), port_(engines::free_ports(1).at(0))
    {
        start();
    }
    void start()
    {
        process_.start({"beanstalkd", "-l", "127.0.0.1", "-p", std::to_string(port_), "-b", folder_,
                        "-s", "1048576"},
                       SIGKILL, lock_.descriptor());
        if (wait_for([&] { return process_.ended() || listens(); }, seconds(20)) && listens())
            return;
        throw engines::server_error(process_.ended() ? process_.reason()
                                                     : "beanstalkd does not listen");
    }
    void kill_9() { process_.kill(); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] engines::server at() const
    {
        return {.host = "127.0.0.1", .port = std::to_string(port_)};
    }

private:
    [[nodiscard]] bool listens() const
    {
        try {
            const engines::socket s("127.0.0.1", std::to_string(port_), seconds(1));
            return true;
        } catch (const engines::socket_error&) {
            return false;
        }
    }

    std::string folder_;
    engines::folder_lock lock_;
    std::uint16_t port_;
    engines::server_process process_{};
};

/// Reserves and deletes all jobs of a tube. A job has one event a line.
void take_all(const server& from, const std::string& tube, arrivals& found)
{
    engines::socket s("127.0.0.1", std::to_string(from.port()), seconds(5));
    const auto ask = [&](const std::string& command) {
        s.write(command + "\r\n");
        return s.line();
    };
    (void)ask("watch " + tube);
    for (;;) {
        const std::string said = ask("reserve-with-timeout 0");
        if (!said.starts_with("RESERVED ")) return;
        const std::size_t blank = said.find(' ', 9);
        const std::string body = s.bytes(std::stoull(said.substr(blank + 1)) + 2);
        for (std::size_t at = 0, end = 0; (end = body.find('\n', at)) + 1 < body.size();
             at = end + 1) {
            const std::string line = body.substr(at, end - at);
            if (line != "\r") found.add(line);
        }
        (void)ask("delete " + said.substr(9, blank - 9));
    }
}

/// The events of jobs that the server has acknowledged and lost, as events of whole jobs. A job of
/// which some events are missing was damaged by the adapter.
struct lost_jobs {
    std::uint64_t jobs = 0;
    std::uint64_t events = 0;
};
lost_jobs lost_of(const std::vector<std::vector<std::size_t>>& accepted, const arrivals& found)
{
    lost_jobs lost;
    for (const auto& job : accepted) {
        const auto is_missing = [&](std::size_t n) { return found.count_of(n) == 0; };
        if (!std::all_of(job.begin(), job.end(), is_missing)) continue;
        ++lost.jobs;
        lost.events += job.size();
    }
    return lost;
}

/// Batches are sent through a proxy that cuts connections, while the server is killed.
void sender(const std::vector<std::string>& events, server& s)
{
    const auto begin = clock::now();
    constexpr std::uint64_t batch = 50;
    cutting_proxy proxy(s.port(), {milliseconds(20), milliseconds(100)});
    engines::beanstalkd tube("127.0.0.1", std::to_string(proxy.port()), "batches");
    std::uint64_t kills = 0;
    std::atomic<bool> sent = false;
    sending_totals totals;
    std::vector<std::vector<std::size_t>> accepted;
    // The server ends with the thread that started it, so this one starts it.
    std::thread sends([&] {
        totals = send_everything(
            events,
            {.limit = {.bytes = 60'000, .items = batch},
             .ordered = true,
             .retry = {.max_attempts = 20,
                       .pauses = {.base = milliseconds(10), .cap = milliseconds(300)}}},
            [](std::size_t body) { return engines::beanstalkd::size_of(body); },
            [&](auto bodies, std::uint64_t) {
                // So that the sending takes a few seconds.
                std::this_thread::sleep_for(milliseconds(2));
                auto outcome = tube.send(bodies);
                if (waybill::holds_alternative<waybill::batch_sender::accepted>(outcome)) {
                    auto& job = accepted.emplace_back();
                    for (const std::string_view body : bodies)
                        job.push_back(std::strtoull(body.data(), nullptr, 10));
                }
                return outcome;
            },
            seconds(100));
        sent = true;
    });
    while (!sent) {
        std::this_thread::sleep_for(milliseconds(1'000));
        s.kill_9();
        std::this_thread::sleep_for(milliseconds(100));
        s.start();
        ++kills;
    }
    sends.join();
    arrivals found(events);
    take_all(s, "batches", found);
    const lost_jobs lost = lost_of(accepted, found);
    report("batches: kill -9 and cut connections", found, begin,
           {.max_repeated = totals.maybe_twice,
            .missing = at_least(kills, 2, "kills") + proxy.missing(5) +
                       at_least(totals.faults, 1, "failed batches") +
                       none(lost.jobs > kills ? lost.jobs : 0, "jobs lost"),
            .max_lost = lost.events},
           std::to_string(kills) + " kills, " + std::to_string(proxy.cuts()) + " cuts, " +
               std::to_string(totals.faults) + " faults");
}

void fill(const std::vector<std::string>& events, const server& s, const std::string& tube,
          seconds time_to_run)
{
    slow_workers::in_threads([&](std::size_t w) {
        engines::beanstalkd_work_queue queue(s.at(), tube);
        for (std::size_t n = w; n < events.size(); n += slow_workers::workers)
            queue.put(events[n], time_to_run);
    });
}

void workers(const std::vector<std::string>& events, server& s, bool kills)
{
    const auto begin = clock::now();
    const std::string tube = kills ? "killed" : "slow";
    const seconds time_to_run(kills ? 5 : 1);
    fill(events, s, tube, time_to_run);
    slow_workers all(events, time_to_run, kills ? milliseconds(0) : milliseconds(1'600), 4'000);
    std::atomic<int> killed = 0;
    std::atomic<bool> ended = false;
    std::thread work([&] {
        engines::beanstalkd_work_queue look(s.at(), tube);
        all.run(
            kills ? "workers: kill -9, restart with the binlog" : "time-to-run below the handler",
            begin,
            [&](std::size_t) { return engines::beanstalkd_work_queue(s.at(), tube, seconds(0)); },
            [&] {
                const auto none = look.empty();
                return std::uint64_t{none && *none ? 0U : 1U};
            },
            seconds(200), kills ? &killed : nullptr);
        ended = true;
    });
    for (auto next = clock::now() + seconds(2); !ended;) {
        std::this_thread::sleep_for(milliseconds(20));
        if (!kills || clock::now() < next || killed == 5) continue;
        s.kill_9();
        s.start();
        ++killed;
        next = clock::now() + seconds(2);
    }
    work.join();
}

}  // namespace

int main(int, char** argv)
{
    try {
        const auto events = make_events(event_count());
        server s(std::string(argv[1]) + "/beanstalkd");
        sender(events, s);
        workers(events, s, true);
        workers(events, s, false);
    } catch (const std::exception& e) {
        std::printf("beanstalkd: %s\n", e.what());
        return 1;
    }
    return failures == 0 ? 0 : 1;
}

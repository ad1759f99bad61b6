// SPDX-License-Identifier: MIT
//
// beanstalkd: a tube with the binlog. A put takes one job, so there are no batches. A worker that
// makes a dead letter of a job after a number of deliveries asks for this number (stats-job).

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "../../examples/engines/beanstalkd_work_queue.hpp"
#include "../../examples/engines/server_process.hpp"
#include "frame.hpp"
#include <waybill/queue.hpp>

namespace engines_bench {

namespace {

using namespace std::chrono_literals;

/// Many puts are written before their replies are read.
void put_all(engines::socket& s, std::uint64_t jobs)
{
    s.write("use orders\r\n");
    (void)s.line();
    for (std::uint64_t n = 0; n != jobs;) {
        std::string puts;
        const std::uint64_t first = n;
        for (; n != jobs && n - first != 100; ++n)
            puts += "put 1 0 60 " + std::to_string(body(n).size()) + "\r\n" + body(n) + "\r\n";
        s.write(puts);
        for (std::uint64_t m = first; m != n; ++m)
            expect(s.line().starts_with("INSERTED"), "beanstalkd: put");
    }
}

double by_run_queue(engines::socket& producer, engines::beanstalkd_work_queue& queue,
                    std::uint64_t jobs)
{
    put_all(producer, jobs);
    return events_in(jobs, [&] {
        struct : support::standard_environment {
            std::uint64_t left = 0;
            [[nodiscard]] bool stop_requested() const { return left == 0; }
        } env;
        env.left = jobs;
        const auto handle = [&](const auto& m) {
            expect(!m.body.empty(), "beanstalkd: no body");
            --env.left;
            return waybill::fault{};
        };
        const auto report =
            waybill::run_queue(queue, handle, {.lock = waybill::duration::seconds(60)}, env);
        expect(report.completed == jobs, "run_queue: a job was not completed");
    });
}

double by_hand(engines::socket& producer, engines::socket& s, bool counts_deliveries,
               std::uint64_t jobs)
{
    constexpr std::uint64_t max_deliveries = 10;
    put_all(producer, jobs);
    return events_in(jobs, [&] {
        for (std::uint64_t n = 0; n != jobs; ++n) {
            s.write("reserve-with-timeout 1\r\n");
            const std::string line = s.line();  // RESERVED 7 120
            const std::size_t size = line.rfind(' ') + 1;
            expect(line.starts_with("RESERVED "), "beanstalkd: reserve");
            const std::string job = s.bytes(engines::number_in(line.substr(size)).value_or(0) + 2);
            const std::string number = line.substr(9, size - 10);
            if (counts_deliveries) {
                s.write("stats-job " + number + "\r\n");
                const std::string reply = s.line();  // OK 142
                const auto length = engines::number_in(reply.substr(reply.rfind(' ') + 1));
                const std::string known = s.bytes(length.value_or(0) + 2);
                const auto deliveries = engines::number_in(known, "\nreserves: ", "\n");
                expect(deliveries && *deliveries <= max_deliveries, "beanstalkd: stats-job");
            }
            s.write("delete " + number + "\r\n");
            expect(s.line() == "DELETED" && !job.empty(), "beanstalkd: delete");
        }
    });
}

}  // namespace

row beanstalkd(const std::string& folder)
{
    const engines::folder_lock lock(folder, "beanstalkd");
    const std::string port = std::to_string(engines::free_ports(1)[0]);
    engines::server_process own;
    own.start({"beanstalkd", "-l", "127.0.0.1", "-p", port, "-b", folder}, SIGKILL,
              lock.descriptor());
    for (int tries = 0; tries != 500; ++tries) {
        if (own.ended()) throw missing(own.reason());
        try {
            const engines::socket probe("127.0.0.1", port, 1s);
            break;
        } catch (const engines::socket_error&) {
            std::this_thread::sleep_for(10ms);
        }
    }
    engines::socket producer("127.0.0.1", port, 10s);
    engines::socket consumer("127.0.0.1", port, 10s);
    consumer.write("watch orders\r\nignore default\r\n");
    expect(consumer.line() == "WATCHING 2" && consumer.line() == "WATCHING 1", "beanstalkd: watch");
    engines::beanstalkd_work_queue queue({.host = "127.0.0.1", .port = port}, "orders");
    peers consume;
    consume.add("ours", [&](std::uint64_t n) { return by_run_queue(producer, queue, n); });
    consume.add("by hand", [&](std::uint64_t n) { return by_hand(producer, consumer, true, n); });
    consume.add("uncounted",
                [&](std::uint64_t n) { return by_hand(producer, consumer, false, n); });
    consume.take_turns();
    std::printf("beanstalkd: by hand without the number of deliveries %.0f events per second\n",
                consume.at("uncounted").highest);
    return {.engine = printed_by("beanstalkd -v"),
            .adapters = "beanstalkd_work_queue.hpp",
            .consumer = consume.at("ours"),
            .by_hand = consume.at("by hand")};
}

}  // namespace engines_bench

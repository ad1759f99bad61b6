// SPDX-License-Identifier: MIT
//
// deferral: mails wait in a queue while the mail server is down.
//
//     deferral mails.sqlite server 90 "ada@example.org hello"
//
// adds the mails to the queue in the file, then delivers until the queue is empty. The mail server
// is a folder: each mail becomes a file in it. Without the folder the server is down: the mails are
// deferred, the circuit breaker opens, and nothing is received until a probe succeeds. A mail
// without an address becomes a dead letter. A message is locked for the given number of seconds.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "../engines/sqlite_work_queue.hpp"
#include "../support/environment.hpp"
#include <waybill/ext/chrono.hpp>
#include <waybill/queue.hpp>

using namespace std::chrono_literals;
using mail = engines::sqlite_work_queue::message;

int main(int argc, char** argv)
{
    if (argc < 4) return std::puts("deferral QUEUE SERVER SECONDS [MAIL...]"), 2;
    const std::filesystem::path server = argv[2];
    engines::database db(argv[1]);
    engines::sqlite_work_queue queue(db);
    for (int i = 4; i < argc; ++i) queue.put(argv[i]);

    const auto lock = std::chrono::seconds(std::atoi(argv[3]));

    //! [deferral]
    const auto deliver = [&](const mail& m) -> waybill::fault {
        if (m.body.find('@') == std::string::npos) return waybill::permanent("no address");
        if (!exists(server)) return waybill::infrastructure("the mail server is down");
        std::ofstream file(server / std::to_string(m.number));
        file << m.body << std::flush;
        return file ? waybill::fault{} : waybill::transient("the mail server is busy");
    };
    support::standard_environment env;
    waybill::circuit_breaker breaker({.consecutive_failures = 5});
    const auto report = waybill::run_queue(
        queue, deliver,
        {.lock = lock, .retry_for = 24h, .breaker = &breaker, .stop_when_empty = true}, env);
    for (const auto& d : report.listed) std::puts(waybill::describe(d).c_str());
    std::puts(waybill::describe(report).c_str());  // "27 received, 2 completed, 24 deferred, ..."
    //! [deferral]
    return report.end == waybill::queue_report::end_reason::empty ? 0 : 1;
}

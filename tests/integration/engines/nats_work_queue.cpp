// SPDX-License-Identifier: MIT
//
// run_queue on NATS JetStream, on real servers.
//
//     nats_work_queue conform PORT PID      the conformance suites; ends the server, which is PID
//     nats_work_queue put PORT FILE N       adds N messages, and each accepted one to the file
//     nats_work_queue work PORT FILE DONE   handles messages until the file DONE exists; adds each
//                                           handled one to the file
//     nats_work_queue dead PORT             prints the reasons of the dead letters
//     nats_work_queue port                  a free port

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <engines/nats_work_queue.hpp>
#include <signal.h>
#include <support/environment.hpp>

#include "free_port.hpp"
#include <waybill/ext/chrono.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

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

struct named_queue : engines::nats_work_queue {
    named_queue(const engines::server& where, const std::string& stream)
        : nats_work_queue(where, stream, lock), at(where), name(stream)
    {
    }

    /// A dead letter is the size of the reason, a line feed, the reason and the body.
    [[nodiscard]] std::vector<std::string> reasons() const
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
            check(
                js_GetMsg(engines::out(m), client.jetstream(), dead.c_str(), n, nullptr, nullptr));
            const std::string_view letter(natsMsg_GetData(m.get()),
                                          static_cast<std::size_t>(natsMsg_GetDataLength(m.get())));
            const auto line = letter.find('\n');
            const std::size_t size = std::stoul(std::string(letter.substr(0, line)));
            all.emplace_back(letter.substr(line + 1, size));
        }
        return all;
    }

    engines::server at;
    std::string name;
};

void expect_none(const waybill::testing::conformance_report& report)
{
    for (const std::string& rule : report.broken) expect(false, rule);
    // The clock of the server cannot be moved.
    for (const std::string& rule : report.untested)
        expect(rule.ends_with("manual_environment)"), "untested: " + rule);
}

void conform(const engines::server& at, pid_t server)
{
    int number = 0;
    support::standard_environment env;
    expect_none(waybill::testing::queue_conformance(
        [&] { return named_queue(at, "Q" + std::to_string(++number)); },
        [](named_queue& q, const std::string& body) { q.put(body); }, env,
        [](named_queue& q) { return q.reasons(); },
        [](named_queue& q) { return named_queue(q.at, q.name); }, lock));

    named_queue q(at, "ORDER");
    q.put("old");
    auto old = q.receive(lock);
    q.put("new");
    expect(q.defer(**old, 100ms).ok(), "it is deferred");
    std::this_thread::sleep_for(1200ms);
    const auto first = q.receive(lock);
    expect(first && *first && (**first).body == "old",
           "a deferred message that is due comes before newer ones");

    kill(server, SIGKILL);
    expect_none(waybill::testing::queue_outage_conformance(q));
}

// --- kills --------------------------------------------------------------------------------------

void add_line(std::ofstream& file, const std::string& line)
{
    file << line + "\n" << std::flush;
}

/// A queue of `jobs`, as soon as the server can be reached.
std::unique_ptr<engines::nats_work_queue> queue_of_jobs(const engines::server& at)
{
    for (int tries = 0;; ++tries) {
        try {
            return std::make_unique<engines::nats_work_queue>(at, jobs, lock);
        } catch (const engines::nats_error&) {  // the server is killed now
            if (tries == 1'000) throw;
            std::this_thread::sleep_for(20ms);
        }
    }
}

void put(const engines::server& at, const std::string& path, int count)
{
    std::ofstream file(path, std::ios::app);
    const auto queue = queue_of_jobs(at);
    for (int n = 0; n != count; ++n) {
        const std::string body = "job " + std::to_string(n);
        for (bool accepted = false; !accepted;) {
            try {
                queue->put(body);
                accepted = true;
            } catch (const engines::nats_error&) {
                // Without a reply the message may be in the queue. It is put again.
                std::this_thread::sleep_for(20ms);
            }
        }
        add_line(file, body);
        std::this_thread::sleep_for(4ms);
    }
}

void work(const engines::server& at, const std::string& path, const std::string& done)
{
    std::ofstream file(path, std::ios::app);
    const auto queue = queue_of_jobs(at);
    support::standard_environment env;
    const auto handle = [&](const auto& m) -> waybill::fault {
        const int n = std::atoi(m.body.c_str() + 4);
        if (n % 50 == 7) return waybill::permanent(m.body);
        if (n % 10 == 3 && m.deliveries == 1) return waybill::transient("busy");
        add_line(file, m.body);
        std::this_thread::sleep_for(2ms);
        return {};
    };
    const waybill::queue_policy policy{
        .lock = lock, .to_settle = 100ms, .poll_interval = 10ms, .stop_when_empty = true};
    waybill::queue_report report;
    while (!std::filesystem::exists(done)) {
        waybill::run_queue(*queue, handle, policy, env, report);
        expect(report.end == waybill::queue_report::end_reason::empty, waybill::describe(report));
        if (report.end != waybill::queue_report::end_reason::empty) return;
        std::this_thread::sleep_for(20ms);
    }
    std::printf("%s; %llu failed calls to receive, %llu to settle\n",
                waybill::describe(report).c_str(),
                static_cast<unsigned long long>(report.failed_receives),
                static_cast<unsigned long long>(report.failed_settlements));
}

void print_dead(const engines::server& at)
{
    for (const std::string& reason : named_queue(at, jobs).reasons()) std::puts(reason.c_str());
}

}  // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> words(argv, argv + argc);
    if (argc == 2 && words[1] == "port") return integration::print_free_port();
    if (argc < 3) return 2;
    const std::string& what = words[1];
    const engines::server at{.host = "127.0.0.1", .port = words[2], .patience = 1s};
    try {
        if (what == "conform" && argc == 4) conform(at, std::stoi(words[3]));
        else if (what == "put" && argc == 5) put(at, words[3], std::stoi(words[4]));
        else if (what == "work" && argc == 5) work(at, words[3], words[4]);
        else if (what == "dead") print_dead(at);
        else return 2;
    } catch (const std::exception& e) {
        expect(false, e.what());
    }
    return wrong == 0 ? 0 : 1;
}

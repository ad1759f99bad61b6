// SPDX-License-Identifier: MIT
//
// sqlite_work_queue as a message_queue: the conformance suite, with the clocks of the process.

#include <cstdio>
#include <string>

#include <engines/sqlite_work_queue.hpp>
#include <support/environment.hpp>

#include <waybill/ext/chrono.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

namespace {

using namespace std::chrono_literals;

// A queue with its connection.
struct connected {
    explicit connected(const std::string& path) : path(path), db(path), queue(db) {}

    using message = engines::sqlite_work_queue::message;
    auto receive(waybill::duration lock) { return queue.receive(lock); }
    auto complete(message& m) { return queue.complete(m); }
    auto abandon(message& m, bool failed) { return queue.abandon(m, failed); }
    auto dead_letter(message& m, std::string_view reason) { return queue.dead_letter(m, reason); }
    auto renew(message& m, waybill::duration lock) { return queue.renew(m, lock); }
    auto defer(message& m, waybill::duration t, bool failed) { return queue.defer(m, t, failed); }
    auto empty() { return queue.empty(); }

    std::string path;
    engines::database db;
    engines::sqlite_work_queue queue;
};

/// Moves the times in the database of the last queue, instead of waiting for them. Other clocks than
/// that of the process would not agree with the queue.
struct moved_rows : support::standard_environment {
    waybill::steady_time now() { return standard_environment::now() + moved; }
    void sleep_until(waybill::steady_time t) { advance(t - now()); }
    void advance(waybill::duration d)
    {
        if (d <= waybill::duration{}) return;
        moved += d;
        engines::database db(path);
        engines::statement(db, "UPDATE work SET until = until - ?").run(d.count() / 1'000'000);
    }

    std::string path{};
    waybill::duration moved{};
};

int complaints(const waybill::testing::conformance_report& r)
{
    for (const std::string& rule : r.broken) std::printf("broken: %s\n", rule.c_str());
    for (const std::string& rule : r.untested) std::printf("untested: %s\n", rule.c_str());
    return static_cast<int>(r.broken.size() + r.untested.size());
}

}  // namespace

int main(int argc, char** argv)
{
    static_assert(waybill::message_queue<engines::sqlite_work_queue>);
    if (argc != 2) return 2;
    const std::string folder = argv[1];
    int number = 0;
    moved_rows env;
    int wrong = complaints(waybill::testing::queue_conformance(
        [&] {
            env.path = folder + "/work" + std::to_string(++number);
            return connected(env.path);
        },
        [](connected& q, std::string body) { q.queue.put(body); }, env,
        [](connected& q) { return q.queue.reasons(); },
        [](connected& q) { return connected(q.path); }, 60s));

    // A file that is no database any more.
    connected broken(folder + "/broken");
    broken.db.exec("DROP TABLE work");
    wrong += complaints(waybill::testing::queue_outage_conformance(broken));

    // A deferred message that is due comes before newer ones.
    connected q(folder + "/order");
    q.queue.put("old");
    auto old = q.receive(10s);
    q.queue.put("new");
    (void)q.defer(**old, waybill::duration{}, true);
    const auto first = q.receive(10s);
    if ((**first).body != "old") ++wrong, std::puts("a new message comes before a deferred one");
    return wrong == 0 ? 0 : 1;
}

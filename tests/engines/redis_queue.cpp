// SPDX-License-Identifier: MIT
//
// run_queue on a stream of Redis, while the server is killed with -9 and started again.
//
//     redis_queue FOLDER

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <engines/redis_server.hpp>
#include <engines/redis_work_queue.hpp>

#include "slow_workers.hpp"
#include "support.hpp"

namespace {

using namespace engines_test;
using engines::redis_work_queue;

const std::string stream = "jobs";

/// The number of messages in the stream, or `otherwise` if the server does not reply.
std::size_t left_in(const std::string& url, std::size_t otherwise)
{
    try {
        engines::redis_client c(engines::redis_address_in(url));
        return static_cast<std::size_t>(c.ask({"XLEN", stream}).number());
    } catch (const engines::redis_error&) {
        return otherwise;
    }
}

void kills(const std::vector<std::string>& events, engines::redis_server& server)
{
    const auto begin = clock::now();
    const std::string url = server.url();
    constexpr seconds limit(1'000);
    slow_workers::in_threads([&](std::size_t w) {
        redis_work_queue queue(url, stream);
        for (std::size_t n = w; n < events.size(); n += slow_workers::workers) queue.put(events[n]);
    });
    slow_workers workers(events, seconds(5), milliseconds(0));
    std::atomic<int> killed = 0;
    std::atomic<bool> ended = false;
    // The server ends with the thread that starts it, so the workers are in another one.
    std::thread work([&] {
        workers.run(
            "workers: kill -9 and restart of the server", begin,
            [&](std::size_t) { return redis_work_queue(url, stream); },
            [&] { return left_in(url, 1); }, limit, &killed);
        ended = true;
    });
    for (std::size_t sixths = 5; sixths != 0; --sixths) {
        const std::size_t next = events.size() * sixths / 6;
        wait_for([&] { return ended || left_in(url, events.size()) <= next; }, limit);
        server.kill();
        server.restart();
        ++killed;
    }
    work.join();
}

}  // namespace

int main(int, char** argv)
{
    try {
        engines::redis_server server(std::string(argv[1]) + "/queue");
        kills(make_events(event_count()), server);
    } catch (const std::exception& e) {
        std::printf("redis_queue: %s\n", e.what());
        return 1;
    }
    return failures == 0 ? 0 : 1;
}

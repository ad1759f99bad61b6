// SPDX-License-Identifier: MIT
//
// live_queue: a real queue, a real producer in bursts, and workers that are started and stopped.
//
//     int main(int argc, char** argv)
//     {
//         if (const auto code = autoscaler::live_child(argc, argv)) return *code;  // first call
//         autoscaler::live_queue queue(folder, "nats");      // or SQLite, see live_engine.hpp
//         queue.start_producer(60s, 7);                      // bursts for a minute, from seed 7
//         std::vector<autoscaler::live_worker> team{queue.start_worker()};
//         while (queue.producing() || queue.depth()->ready > 0) {
//             ...                                            // decide, by depth() and workers()
//             team.push_back(queue.start_worker());          // up
//             queue.stop_worker(team.back());                // down, when its message is finished
//         }
//     }
//
// Producer and workers are separate processes: the same program with arguments that live_child()
// parses. They share only the queue and its folder with it. A worker takes one message at a time,
// writes its bytes to disk, syncs and reads them back. Then it sleeps until the configured time of
// a message has passed, as a stand-in for a slow dependency.
//
// The children never outlive their parent: the system kills them when the thread that started them
// ends. All must be started by one thread that lives as long as the object.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_LIVE_QUEUE_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_LIVE_QUEUE_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "../engines/depth.hpp"
#include "../support/program.hpp"
#include "live_engine.hpp"

namespace autoscaler {

using support::complaint;

/// Runs the child if live_queue has started this process, and returns the exit code. Otherwise
/// returns nothing.
[[nodiscard]] std::optional<int> live_child(int argc, char** argv);

/// Quiet and burst alternate; each lasts 0.5 to 1.5 times its configured duration.
struct live_traffic {
    double quiet_rate = 2;  ///< Messages a second, at random times.
    double burst_rate = 40;
    std::chrono::milliseconds quiet{9'000};
    std::chrono::milliseconds burst{6'000};
};

/// A worker that has not been stopped.
struct live_worker {
    pid_t pid = -1;
    friend bool operator==(const live_worker&, const live_worker&) = default;
};

class live_queue {
public:
    /// Opens the queue in that folder, or at an address of live_engine.hpp. Creates both if they do
    /// not exist. Messages of an earlier run are processed, too. `work` is the time per message.
    /// Throws a complaint if the queue is not available.
    explicit live_queue(const std::string& folder, const std::string& where = {},
                        std::chrono::milliseconds work = usual_work);
    live_queue(const live_queue&) = delete;
    live_queue& operator=(const live_queue&) = delete;
    /// Stops the processes of this object.
    ~live_queue();

    /// One seed gives the same traffic in each run, unless the machine is too slow.
    void start_producer(std::chrono::seconds lasting, std::uint64_t seed,
                        const live_traffic& traffic = {});
    /// True while the producer runs. Throws a complaint if it has failed.
    [[nodiscard]] bool producing();

    live_worker start_worker();
    /// Lets the worker finish its message and waits until it has ended. After `patience` it is
    /// killed, and another worker gets its message later. No effect if it has ended already.
    void stop_worker(live_worker w);
    /// The running workers. Workers that died on their own are counted in died().
    [[nodiscard]] std::vector<live_worker> workers();
    [[nodiscard]] std::uint64_t died() const noexcept { return died_; }

    /// The product name of the engine: SQLite or NATS JetStream.
    [[nodiscard]] std::string_view engine() const noexcept { return live_name(engine_.address()); }
    [[nodiscard]] engines::depth_reading depth() { return engine_.depth(); }
    /// Totals of all runs with this queue. They throw the engine's exceptions if it has failed.
    [[nodiscard]] std::uint64_t sent() { return engine_.sent(); }
    [[nodiscard]] std::uint64_t processed() { return engine_.finished(); }

    static constexpr std::chrono::milliseconds usual_work{100};
    static constexpr std::chrono::milliseconds patience{10'000};

private:
    [[nodiscard]] pid_t start(std::vector<std::string> words) const;
    void reap();

    std::string folder_;
    std::chrono::milliseconds work_;
    live_engine engine_;  // outlives the processes, which use it until they end
    pid_t producer_ = -1;
    bool producer_failed_ = false;
    std::vector<live_worker> workers_{};
    std::uint64_t died_ = 0;
};

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_LIVE_QUEUE_HPP

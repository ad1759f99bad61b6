// SPDX-License-Identifier: MIT
//
// live_queue: a real queue, a real producer in bursts, and workers that are started and stopped.
//
//     int main(int argc, char** argv)
//     {
//         if (const auto code = autoscaler::live_child(argc, argv)) return *code;  // before all
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
// Producer and workers are processes of their own: the same program, started again with arguments
// that only live_child() knows. They share nothing with us but the queue. A worker takes one
// message at a time, writes its bytes to disk, syncs and reads them back, and then waits until as
// long has passed as the message is to take, as somebody would who hands it on to something slow.
//
// Whatever happens to us, they do not outlive us: the system kills them when the thread that has
// started them ends. That must be one thread, and it must live as long as the object.

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

/// Does what live_queue has started this process for, and says what to exit with. Nothing if it was
/// started by anybody else.
[[nodiscard]] std::optional<int> live_child(int argc, char** argv);

/// Quiet and burst take turns; each lasts between half and one and a half times as long as told.
struct live_traffic {
    double quiet_rate = 2;  ///< Messages a second, at random times.
    double burst_rate = 40;
    std::chrono::milliseconds quiet{9'000};
    std::chrono::milliseconds burst{6'000};
};

/// A worker, as long as it is not stopped.
struct live_worker {
    pid_t pid = -1;
    friend bool operator==(const live_worker&, const live_worker&) = default;
};

class live_queue {
public:
    /// Opens the queue in that folder, or where live_engine.hpp says, and makes both if need be;
    /// what an earlier run has left there is still to be done. `work` is how long a message takes.
    /// Throws a complaint if it cannot.
    explicit live_queue(const std::string& folder, const std::string& where = {},
                        std::chrono::milliseconds work = usual_work);
    live_queue(const live_queue&) = delete;
    live_queue& operator=(const live_queue&) = delete;
    /// Stops the processes that were started here, and no others.
    ~live_queue();

    /// The traffic of one seed is the same in each run, as far as the machine keeps up.
    void start_producer(std::chrono::seconds lasting, std::uint64_t seed,
                        const live_traffic& traffic = {});
    /// Whether it still sends. Throws a complaint if it has failed.
    [[nodiscard]] bool producing();

    live_worker start_worker();
    /// Lets it finish its message and waits until it is gone; after `time_until_dead_letter` it is
    /// killed, and its message goes to another one later. No matter if it is gone already.
    void stop_worker(live_worker w);
    /// Those that run now. Who has died by itself is no longer among them, and is counted.
    [[nodiscard]] std::vector<live_worker> workers();
    [[nodiscard]] std::uint64_t died() const noexcept { return died_; }

    /// What it is kept in: SQLite, NATS JetStream.
    [[nodiscard]] std::string_view engine() const noexcept { return live_name(engine_.address()); }
    [[nodiscard]] engines::depth_reading depth() { return engine_.depth(); }
    /// Of all runs with this queue together. They throw what the engine throws if it has gone.
    [[nodiscard]] std::uint64_t sent() { return engine_.sent(); }
    [[nodiscard]] std::uint64_t processed() { return engine_.finished(); }

    static constexpr std::chrono::milliseconds usual_work{100};
    static constexpr std::chrono::milliseconds patience{10'000};

private:
    [[nodiscard]] pid_t start(std::vector<std::string> words) const;
    void reap();

    std::string folder_;
    std::chrono::milliseconds work_;
    live_engine engine_;  // behind the processes, who still need it when they are told to end
    pid_t producer_ = -1;
    bool producer_failed_ = false;
    std::vector<live_worker> workers_{};
    std::uint64_t died_ = 0;
};

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_LIVE_QUEUE_HPP

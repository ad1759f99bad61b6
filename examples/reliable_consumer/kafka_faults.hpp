// SPDX-License-Identifier: MIT
//
// kafka_faults: the brokers of a mock cluster in a separate process.
//
//     kafka_faults brokers(topic, partitions, seed);   // forks; to be made before any thread
//     connect(brokers.address());
//     brokers.step(true);                              // faults are allowed until step(false)
//
// A broker does not respond for a second, the partitions get other leaders, or requests are
// refused.
//
// The process starts no other one. A process that starts has, until its exec, a copy of each
// listening socket, and a broker that comes back cannot bind its port meanwhile; librdkafka aborts
// then.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_FAULTS_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_FAULTS_HPP

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <random>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engines/kafka.hpp"
#include "../support/program.hpp"

namespace reliable_consumer {

class kafka_faults {
public:
    kafka_faults(const std::string& topic, std::uint32_t partitions, std::uint64_t seed)
    {
        void* const memory = mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw failed("no memory for two processes");
        shared_ = new (memory) shared;
        std::fflush(nullptr);
        const pid_t parent = getpid();
        pid_ = fork();
        if (pid_ < 0) throw failed("no process for the brokers of Kafka");
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            // Signals of the terminal are for the parent.
            setpgid(0, 0);
            for (const int s : {SIGHUP, SIGINT, SIGPIPE, SIGTERM}) std::signal(s, SIG_DFL);
            if (getppid() == parent) run(*shared_, topic, static_cast<int>(partitions), seed);
            _exit(1);
        }
        while (!shared_->started) {
            if (waitpid(pid_, nullptr, WNOHANG) == pid_)
                throw support::complaint(std::string("the brokers of Kafka: ") + shared_->text);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    kafka_faults(const kafka_faults&) = delete;
    kafka_faults& operator=(const kafka_faults&) = delete;
    ~kafka_faults()
    {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        munmap(shared_, sizeof(shared));
    }

    /// HOST:PORT of each broker, with commas.
    [[nodiscard]] std::string address() const { return shared_->text; }

    void step(bool may_harm) { shared_->may_harm = may_harm; }

    /// All brokers respond.
    [[nodiscard]] bool whole() const noexcept { return !shared_->down; }

    /// A broker has had an outage.
    [[nodiscard]] bool failed() const noexcept { return shared_->outages != 0; }

    [[nodiscard]] std::string summary() const
    {
        return fmt::format(
            "Kafka: {} of a broker for a second, the leaders moved {} times, {} "
            "requests refused",
            support::counted(shared_->outages, "outage"), shared_->moves.load(),
            shared_->refusals.load());
    }

private:
    static constexpr int brokers = 3;

    struct shared {
        std::atomic<bool> started = false;
        std::atomic<bool> may_harm = false;
        std::atomic<bool> down = false;
        std::atomic<std::uint64_t> outages = 0;
        std::atomic<std::uint64_t> moves = 0;
        std::atomic<std::uint64_t> refusals = 0;
        char text[256] = {};  // the address, or the failure of a process that has ended
    };
    static_assert(std::atomic<bool>::is_always_lock_free &&
                  std::atomic<std::uint64_t>::is_always_lock_free);

    static support::complaint failed(const char* text)
    {
        return support::complaint(fmt::format("{}: {}", text, std::strerror(errno)));
    }

    static void run(shared& s, const std::string& topic, int partitions,
                    std::uint64_t seed) noexcept
    try {
        engines::kafka_mock cluster(brokers);
        cluster.topic(topic, partitions);
        cluster.address().copy(s.text, sizeof s.text - 1);
        s.started = true;
        std::mt19937_64 dice(seed);
        for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            if (s.may_harm) harm(s, cluster, topic, partitions, dice);
        }
    } catch (const std::exception& e) {
        std::string(e.what()).copy(s.text, sizeof s.text - 1);
    }

    static void harm(shared& s, engines::kafka_mock& cluster, const std::string& topic,
                     int partitions, std::mt19937_64& dice)
    {
        const auto below = [&](int n) {
            return std::uniform_int_distribution<int>(0, n - 1)(dice);
        };
        const int broker = 1 + below(brokers);
        switch (below(3)) {
            case 0:
                s.down = true;
                cluster.set_down(broker);
                std::this_thread::sleep_for(std::chrono::seconds(1));
                cluster.set_up(broker);
                s.down = false;
                ++s.outages;
                break;
            case 1:
                for (int p = 0; p != partitions; ++p)
                    cluster.set_leader({topic, p}, 1 + below(brokers));
                ++s.moves;
                break;
            default:
                // Of Fetch, by its number in the protocol.
                cluster.refuse(1, {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                   RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
                                   RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT});
                s.refusals += 3;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(300 + below(1'000)));
    }

    shared* shared_ = nullptr;
    pid_t pid_ = -1;
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_FAULTS_HPP

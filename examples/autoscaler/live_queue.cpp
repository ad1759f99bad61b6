// SPDX-License-Identifier: MIT

#include "live_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/cleanup.hpp"
#include "../support/environment.hpp"
#include <waybill/queue.hpp>

namespace autoscaler {

using std::chrono::milliseconds;
using steady = std::chrono::steady_clock;

/// The code of the child processes. Its names are private to this file.
namespace live {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view as_producer = "--live-producer";
constexpr std::string_view as_worker = "--live-worker";

/// Creates the folder and returns its name.
std::string made(const std::string& folder)
{
    std::error_code e;
    std::filesystem::create_directories(folder, e);
    if (e) throw complaint(fmt::format("the folder {} cannot be made: {}", folder, e.message()));
    return folder;
}

volatile std::sig_atomic_t over = 0;

void end_on_request()
{
    struct sigaction end = {};
    end.sa_handler = [](int) { over = 1; };
    sigaction(SIGTERM, &end, nullptr);
    // Ctrl-C signals all processes of a terminal; the main program decides when a child ends.
    std::signal(SIGINT, SIG_IGN);
}

/// Sleeps in pieces: a signal just before a sleep does not interrupt it.
void sleep_until(steady::time_point due)
{
    while (!over && steady::now() < due) {
        std::this_thread::sleep_for(std::min<steady::duration>(due - steady::now(), 50ms));
    }
}

// --- the producer --------------------------------------------------------------------------------

/// In (0, 1], with the same bits on every platform.
double draw(std::mt19937_64& dice)
{
    return static_cast<double>((dice() >> 11) + 1) * 0x1p-53;
}

steady::duration seconds_of(double s)
{
    return std::chrono::duration_cast<steady::duration>(std::chrono::duration<double>(s));
}

template <class Queue>
void produce(Queue& queue, milliseconds lasting, std::uint64_t seed, const live_traffic& t)
{
    std::mt19937_64 dice(seed);
    const auto start = steady::now();
    const auto end = start + lasting;
    std::uint64_t number = 0;
    bool burst = false;
    for (auto turn = start; turn < end && !over; burst = !burst) {
        const std::chrono::duration<double> usual = burst ? t.burst : t.quiet;
        const auto next_turn = std::min(turn + seconds_of((0.5 + draw(dice)) * usual.count()), end);
        const double rate = burst ? t.burst_rate : t.quiet_rate;
        for (auto due = turn; rate > 0;) {
            due += seconds_of(-std::log(draw(dice)) / rate);
            if (due >= next_turn) break;
            sleep_until(due);
            if (over) return;
            queue.put(fmt::format("order {} of {}", ++number, seed));
        }
        sleep_until(next_turn);
        turn = next_turn;
    }
}

// --- a worker ------------------------------------------------------------------------------------

/// An unlinked file: the system removes it, even if the process is killed.
class scratch {
public:
    explicit scratch(std::string path)
        : path_(std::move(path)),
          fd_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600))
    {
        if (fd_ < 0) {
            throw complaint(
                fmt::format("the file {} cannot be made: {}", path_, std::strerror(errno)));
        }
        unlink(path_.c_str());
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() { close(fd_); }

    /// Fills a block of at least 64 KiB with the text, writes it, syncs, and compares the file.
    void keep(std::string_view text)
    {
        std::string block;
        while (block.size() < 65'536) block.append(text) += '\n';
        std::string back(block.size(), '\0');
        const auto size = static_cast<ssize_t>(block.size());
        if (pwrite(fd_, block.data(), block.size(), 0) != size || fdatasync(fd_) != 0 ||
            pread(fd_, back.data(), back.size(), 0) != size || back != block) {
            throw complaint(fmt::format(
                "{}: 64 KiB could not be written and read back; is the disk full?", path_));
        }
    }

private:
    std::string path_;
    int fd_;
};

struct environment : support::standard_environment {
    [[nodiscard]] bool stop_requested() const { return over != 0; }
};

template <class Queue>
void work(Queue& queue, const std::string& folder, milliseconds each)
{
    scratch file(fmt::format("{}/worker.{}", folder, getpid()));
    const auto handle = [&](const auto& m) {
        const auto start = steady::now();
        file.keep(m.body);
        std::this_thread::sleep_until(start + each);  // finishes even after a stop request
    };
    static_cast<void>(waybill::run_queue(
        queue, handle, {.lock = 10s + 10 * each, .poll_interval = 20ms}, environment()));
}

std::uint64_t number(const char* text)
{
    const auto n = support::number_in(text);
    if (!n) throw complaint(fmt::format("{} is no number", text));
    return *n;
}
milliseconds time(const char* text)
{
    return milliseconds(number(text));
}
double rate(const char* text)
{
    return static_cast<double>(number(text)) / 1e3;
}
std::string text(double rate)
{
    return fmt::format("{:.0f}", rate * 1e3);
}
std::string text(milliseconds time)
{
    return std::to_string(time.count());
}

/// Waits for a process that was asked to end, and kills it after the deadline.
int ended(pid_t p, steady::time_point deadline)
{
    int status = 0;
    while (support::wait_for(p, &status, WNOHANG) == 0) {
        if (steady::now() > deadline) kill(p, SIGKILL);
        std::this_thread::sleep_for(5ms);
    }
    return status;
}

/// True if the process has ended; its status is in `status`.
bool gone(pid_t p, int& status)
{
    return support::wait_for(p, &status, WNOHANG) != 0;
}

}  // namespace

}  // namespace live

std::optional<int> live_child(int argc, char** argv)
{
    const std::string_view role = argc > 1 ? argv[1] : "";
    const bool producer = role == live::as_producer && argc == 9;
    if (!producer && !(role == live::as_worker && argc == 5)) return {};
    live::end_on_request();
    try {
        live_work_queue queue = live_work(argv[2]);
        const auto do_it = [&](auto& q) {
            if (!producer) return live::work(*q, argv[3], live::time(argv[4]));
            live::produce(*q, live::time(argv[3]), live::number(argv[4]),
                          {.quiet_rate = live::rate(argv[5]),
                           .burst_rate = live::rate(argv[6]),
                           .quiet = live::time(argv[7]),
                           .burst = live::time(argv[8])});
        };
        std::visit(do_it, queue);
        return 0;
    } catch (const std::exception& e) {
        support::say(fmt::format("a {}: {}\n", producer ? "producer" : "worker", e.what()));
        return 1;
    }
}

live_queue::live_queue(const std::string& folder, const std::string& where, milliseconds work)
    : folder_(live::made(folder)), work_(work), engine_(folder_, where)
{
}

live_queue::~live_queue()
{
    std::vector<pid_t> all;
    reap();
    if (producer_ > 0) all.push_back(producer_);
    for (const live_worker w : workers_) all.push_back(w.pid);
    for (const pid_t p : all) kill(p, SIGTERM);
    const auto deadline = steady::now() + patience;
    for (const pid_t p : all) live::ended(p, deadline);
}

pid_t live_queue::start(std::vector<std::string> words) const
{
    words.insert(words.begin(), "autoscaler");
    return support::start_process(std::move(words));
}

void live_queue::start_producer(std::chrono::seconds lasting, std::uint64_t seed,
                                const live_traffic& t)
{
    if (producing()) throw complaint("the producer runs already: start it once");
    producer_ = start({std::string(live::as_producer), engine_.address(), live::text(lasting),
                       std::to_string(seed), live::text(t.quiet_rate), live::text(t.burst_rate),
                       live::text(t.quiet), live::text(t.burst)});
}

bool live_queue::producing()
{
    reap();
    if (producer_failed_) throw complaint("the producer has failed; its error is above");
    return producer_ > 0;
}

live_worker live_queue::start_worker()
{
    workers_.push_back(
        {start({std::string(live::as_worker), engine_.address(), folder_, live::text(work_)})});
    return workers_.back();
}

void live_queue::stop_worker(live_worker w)
{
    reap();
    const auto found = std::find(workers_.begin(), workers_.end(), w);
    if (found == workers_.end()) return;
    workers_.erase(found);
    kill(w.pid, SIGTERM);
    const int status = live::ended(w.pid, steady::now() + patience);
    // SIGTERM before the handler was installed ends a worker that has not taken a message.
    const bool was_stopped = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    if (!was_stopped && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) ++died_;
}

std::vector<live_worker> live_queue::workers()
{
    reap();
    return workers_;
}

/// Removes the processes that have ended on their own.
void live_queue::reap()
{
    int status = 0;
    if (producer_ > 0 && live::gone(producer_, status)) {
        producer_ = -1;
        producer_failed_ = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    const auto gone = [&](const live_worker& w) { return live::gone(w.pid, status); };
    died_ += std::erase_if(workers_, gone);
}

}  // namespace autoscaler

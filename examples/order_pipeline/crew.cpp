// SPDX-License-Identifier: MIT

#include "crew.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/program.hpp"
#include "phases.hpp"
#include "sweeping.hpp"

namespace order_pipeline {

namespace {

using clock = std::chrono::steady_clock;

pid_t start(const options& o, std::uint64_t number)
{
    std::vector<std::string> words{"order_pipeline", "--worker", std::to_string(number), "--db",
                                   o.db};
    if (!o.dead_letters.empty()) words.insert(words.end(), {"--dead-letters", o.dead_letters});
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // it must not outlive us
        if (getppid() != parent) _exit(1);
        execv("/proc/self/exe", argv.data());
        _exit(127);
    }
    if (pid > 0) return pid;
    throw support::complaint(fmt::format("no further process: {}", std::strerror(errno)));
}

class crew {
public:
    crew(const options& o, const std::string& page) : o_(o), phases_(page)
    {
        for (std::uint64_t n = 0; n != o.workers; ++n) workers_.push_back({start(o, n)});
    }
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;
    ~crew()
    {
        for (const worker& w : workers_) {
            if (w.pid > 0) kill(w.pid, SIGKILL);
        }
        for (const worker& w : workers_) {
            if (w.pid > 0) waitpid(w.pid, nullptr, 0);
        }
    }

    /// One that has a step in hand, if one is found: asleep nobody can lose anything. What a worker
    /// is about is looked at while it stands still.
    void kill_one(std::mt19937_64& dice)
    {
        std::uniform_int_distribution<std::size_t> any(0, workers_.size() - 1);
        for (int looks = 20; looks != 0; --looks) {
            const std::size_t n = any(dice);
            worker& w = workers_[n];
            if (w.killed) continue;
            kill(w.pid, SIGSTOP);
            int status = 0;
            waitpid(w.pid, &status, WUNTRACED);
            if (!WIFSTOPPED(status)) give_up(n);
            w.killed = phases_.of(n) == phase::at_work;
            kill(w.pid, w.killed ? SIGKILL : SIGCONT);
            if (w.killed) return;
        }
    }

    /// Takes note of who is gone, and starts another one.
    void look(casualties& c)
    {
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            worker& w = workers_[n];
            if (waitpid(w.pid, nullptr, WNOHANG) != w.pid) continue;
            if (!w.killed) give_up(n);
            ++c.kills;
            if (phases_.of(n) == phase::at_work) ++c.at_work;
            phases_.of(n) = phase::asleep;
            w = {start(o_, n)};
        }
    }

    /// Asks all to end, and waits for it.
    void dismiss()
    {
        for (const worker& w : workers_) kill(w.pid, SIGTERM);
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            int status = 0;
            waitpid(workers_[n].pid, &status, 0);
            workers_[n].pid = -1;
            const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            const bool too_soon = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
            if (!well && !too_soon && !workers_[n].killed) {
                throw support::complaint(fmt::format("worker {} did not end well", n));
            }
        }
    }

private:
    [[noreturn]] void give_up(std::size_t n)
    {
        workers_[n].pid = -1;
        throw support::complaint(fmt::format("worker {} has given up", n));
    }

    struct worker {
        pid_t pid = -1;
        bool killed = false;  // by us, and not yet seen to be gone
    };

    const options& o_;
    phases phases_;
    std::vector<worker> workers_;
};

}  // namespace

casualties work_off(world& w, const options& o, const std::function<void()>& look)
{
    casualties c;
    const auto begun = clock::now();
    crew all(o, w.phases);
    std::mt19937_64 dice(o.seed);
    std::uniform_int_distribution<int> pause(1'000, 20'000);
    auto next_kill = begun + 20ms;
    // The lock of a step has to run out after each death, so none dies so often that it is parked.
    const auto last_kill = begun + 6 * queue_options.lock;
    while (w.queue.depth() != 0) {
        all.look(c);
        look();
        const auto now = clock::now();
        if (o.kill && now >= next_kill && now < last_kill) {
            all.kill_one(dice);
            next_kill = now + std::chrono::microseconds(pause(dice));
        }
        std::this_thread::sleep_for(3ms);
    }
    all.dismiss();
    c.seconds = std::chrono::duration<double>(clock::now() - begun).count();
    c.swept = sweep(w);
    return c;
}

}  // namespace order_pipeline

// SPDX-License-Identifier: MIT

#include "worker_pool.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>

#include "../support/cleanup.hpp"
#include "../support/program.hpp"
#include "../support/worker_page.hpp"
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
    if (!o.sessions.empty()) words.insert(words.end(), {"--sessions", "postgres:"});
    return support::start_process(std::move(words));
}

/// Whether the worker was ended from outside, for example by the system for lack of memory.
bool ended_from_outside(int status)
{
    if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

class worker_pool {
public:
    worker_pool(const options& o, const std::string& page) : o_(o), phases_(page)
    {
        for (std::uint64_t n = 0; n != o.workers; ++n) {
            phases_.of(n).clear();
            workers_.push_back({start(o, n)});
        }
    }
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;
    ~worker_pool()
    {
        for (const worker& w : workers_) {
            if (w.pid > 0) kill(w.pid, SIGKILL);
        }
        int status = 0;
        for (const worker& w : workers_) {
            if (w.pid > 0) support::wait_for(w.pid, &status);
        }
    }

    /// Kills a random worker that has a message, if one is found: others have nothing to lose. Each
    /// worker is stopped while its phase is read.
    void kill_one(std::mt19937_64& dice)
    {
        std::uniform_int_distribution<std::size_t> any(0, workers_.size() - 1);
        for (int looks = 20; looks != 0; --looks) {
            const std::size_t n = any(dice);
            worker& w = workers_[n];
            if (w.killed) continue;
            kill(w.pid, SIGSTOP);
            int status = 0;
            support::wait_for(w.pid, &status, WUNTRACED);
            if (!WIFSTOPPED(status)) {
                replace(n, status);
                continue;
            }
            w.killed = phases_.of(n).at == phase::at_work;
            kill(w.pid, w.killed ? SIGKILL : SIGCONT);
            if (w.killed) return;
        }
    }

    /// Counts the workers that have ended, and starts others.
    void look(casualties& c)
    {
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            worker& w = workers_[n];
            int status = 0;
            if (support::wait_for(w.pid, &status, WNOHANG) != w.pid) continue;
            if (w.killed) {
                ++c.kills;
                if (phases_.of(n).at == phase::at_work) ++c.at_work;
            }
            replace(n, status);
        }
    }

    /// The last fault of a worker since `forget`. Throws if the fault is permanent.
    [[nodiscard]] std::string reported()
    {
        std::string last;
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            const std::string text = phases_.of(n).reported();
            if (text.empty()) continue;
            last = fmt::format("worker {}: {}", n, text);
            if (phases_.of(n).hopeless) {
                throw support::complaint("a step can never be dead-lettered; " + last);
            }
        }
        return last;
    }

    void forget()
    {
        for (std::size_t n = 0; n != workers_.size(); ++n) phases_.of(n).size = 0;
    }

    /// Asks all workers to end, and waits for that.
    void dismiss()
    {
        for (const worker& w : workers_) kill(w.pid, SIGTERM);
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            int status = 0;
            support::wait_for(workers_[n].pid, &status);
            workers_[n].pid = -1;
            if (!ended_from_outside(status)) {
                throw support::complaint(
                    fmt::format("worker {} failed after the stop request; its error is above", n));
            }
        }
    }

private:
    /// Starts another worker instead, unless the worker has failed on its own.
    void replace(std::size_t n, int status)
    {
        worker& w = workers_[n];
        w.pid = -1;
        if (!ended_from_outside(status)) {
            throw support::complaint(fmt::format("worker {} failed; its error is above", n));
        }
        if (!w.killed) {
            support::say(fmt::format("worker {} was ended from outside: another one starts\n", n));
        }
        phases_.of(n).clear();
        w = {start(o_, n)};
    }

    struct worker {
        pid_t pid = -1;
        bool killed = false;  // by this program; its end was not observed yet
    };

    const options& o_;
    phases phases_;
    std::vector<worker> workers_;
};

constexpr auto longest_standstill = 15s;
constexpr auto worth_a_word = 3s;

[[noreturn]] void end_of(std::uint64_t left, const std::string& why)
{
    const std::string steps = left == 1 ? "1 step is" : support::grouped(left) + " steps are";
    throw support::complaint(fmt::format("no progress for {} s, and {} left; {}",
                                         longest_standstill.count(), steps,
                                         why.empty() ? "no worker has reported a reason" : why));
}

}  // namespace

casualties work_off(shop_services& w, const options& o, sessions_server& server,
                    const look_at& look)
{
    casualties c;
    const auto begun = clock::now();
    worker_pool all(o, w.phases);
    std::mt19937_64 dice(o.seed);
    std::uniform_int_distribution<int> pause(1'000, 20'000);
    auto next_kill = begun + 20ms;
    // After each kill the session's lock must expire, so no step reaches its delivery limit.
    const auto last_kill = begun + 3s;
    support::standstill nothing;
    for (std::uint64_t left = w.queue.depth(); left != 0; left = w.queue.depth()) {
        server.step();
        all.look(c);
        const std::string why = all.reported();
        nothing.look(left);
        if (nothing.moved()) all.forget();
        if (nothing.stood() >= longest_standstill) end_of(left, why);
        look(nothing.stood() < worth_a_word ? "" : why);
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

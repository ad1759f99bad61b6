// SPDX-License-Identifier: MIT

#include "supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>

#include <fmt/format.h>

#include "../engines/sqlite_store.hpp"
#include "../support/cleanup.hpp"
#include "../support/program.hpp"
#include "../support/worker_page.hpp"
#include "event_log.hpp"
#include "files.hpp"
#include "ledger.hpp"
#include "phases.hpp"

namespace reliable_consumer {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::vector<std::string> lines_of(const options& o)
{
    std::ifstream in(o.input, std::ios::binary);
    if (!in) throw support::complaint(fmt::format("{}: {}", o.input, std::strerror(errno)));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(std::move(line));
    }
    if (lines.empty()) throw support::complaint(o.input + ": there is no line in it");
    return lines;
}

pid_t start(const options& o, std::uint64_t number)
{
    std::vector<std::string> words{"reliable_consumer", "--worker", std::to_string(number),
                                   "--db", o.db, "--partitions", std::to_string(o.partitions),
                                   "--batch", std::to_string(o.batch)};
    // SIGTERM may come before the process handles it: work() unblocks the signal.
    return support::start_process(std::move(words), {.blocks_sigterm = true});
}

/// Longer than any step of a run without kills.
constexpr auto longest_standstill = 10s;

struct worker {
    pid_t pid = -1;
    bool killed = false;  // by us, and not yet seen to be gone
};

class worker_group {
public:
    explicit worker_group(const options& o) : o_(o), phases_(phases_in(o))
    {
        for (std::uint64_t n = 0; n != o.workers; ++n) workers_.push_back(started(n));
    }
    worker_group(const worker_group&) = delete;
    worker_group& operator=(const worker_group&) = delete;
    ~worker_group()
    {
        for (const worker& w : workers_) {
            if (w.pid > 0) kill(w.pid, SIGKILL);
        }
        int status = 0;
        for (const worker& w : workers_) {
            if (w.pid > 0) support::wait_for(w.pid, &status);
        }
    }

    /// Kills somebody at random, of those who are in the middle of a batch if there are any. Asleep
    /// nobody can lose anything.
    void kill_one(std::mt19937_64& dice)
    {
        std::vector<std::size_t> busy;
        std::vector<std::size_t> alive;
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            if (workers_[n].killed) continue;
            alive.push_back(n);
            if (in_a_batch(n)) busy.push_back(n);
        }
        const auto& from = busy.empty() ? alive : busy;
        if (from.empty()) return;
        worker& w = workers_[from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(dice)]];
        kill(w.pid, SIGKILL);
        w.killed = true;
    }

    /// Takes note of who is gone, and starts another one.
    void look(casualties& c)
    {
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            worker& w = workers_[n];
            int status = 0;
            if (support::wait_for(w.pid, &status, WNOHANG) != w.pid) continue;
            const phase at = phases_.of(n).at;
            if (w.killed) {
                ++c.kills;
                if (in_a_batch(n)) ++c.in_a_batch;
            } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && at == phase::handler) {
                ++c.by_poison;
            } else {
                w.pid = -1;
                throw support::complaint(fmt::format("worker {} has given up", n));
            }
            w = started(n);
        }
    }

    /// The last failure of the first worker that has reported one since `forget`.
    [[nodiscard]] std::string reported() const
    {
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            const std::string text = phases_.of(n).reported();
            if (!text.empty()) return fmt::format("worker {}: {}", n, text);
        }
        return "no worker says why";
    }

    void forget()
    {
        for (std::size_t n = 0; n != workers_.size(); ++n) phases_.of(n).size = 0;
    }

    /// Asks all to give back what they have, and waits for it.
    void dismiss()
    {
        for (const worker& w : workers_) kill(w.pid, SIGTERM);
        const auto until = clock::now() + longest_standstill;
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            int status = 0;
            while (support::wait_for(workers_[n].pid, &status, WNOHANG) == 0) {
                if (clock::now() > until) {
                    throw support::complaint(
                        fmt::format("worker {} has not ended {} s after it was told to; {}", n,
                                    longest_standstill.count(), reported()));
                }
                std::this_thread::sleep_for(1ms);
            }
            workers_[n].pid = -1;
            if (workers_[n].killed) continue;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                throw support::complaint(fmt::format("worker {} did not end well", n));
            }
        }
    }

private:
    [[nodiscard]] worker started(std::size_t n)
    {
        phases_.of(n).clear();
        return {start(o_, n)};
    }

    [[nodiscard]] bool in_a_batch(std::size_t n) const
    {
        const phase at = phases_.of(n).at;
        return at == phase::batch || at == phase::handler;
    }

    const options& o_;
    phases phases_;
    std::vector<worker> workers_;
};

/// How much of the log is not done yet.
class backlog {
public:
    backlog(const options& o, event_log& log, engines::sqlite_store& store)
        : partitions_(o.partitions), log_(log), store_(store)
    {
    }

    [[nodiscard]] std::uint64_t left()
    {
        std::uint64_t behind = 0;
        for (std::uint64_t p = 0; p != partitions_; ++p) {
            const auto stored = store_.load(key_of(p));
            if (!stored) throw support::complaint("a checkpoint cannot be read: " + stored.error().text);
            const std::uint64_t at = *stored ? (*stored)->at.sequence : 0;
            behind += log_.extent_of(p).last - at;
        }
        return behind;
    }

private:
    std::uint64_t partitions_;
    event_log& log_;
    engines::sqlite_store& store_;
};

/// The version of each lease, which changes when it is renewed or taken.
std::map<std::string, std::uint64_t> leases_in(engines::database& sink)
{
    std::map<std::string, std::uint64_t> versions;
    engines::statement all(sink, "SELECT part, version FROM leases");
    all.each([&] { versions[all.bytes(0)] = all.size(1); });
    return versions;
}

/// Who is dead gives nothing back: what he has left is waited for until somebody else has taken it.
void wait_for_living_owners(engines::database& sink, worker_group& workers, casualties& c)
{
    const auto before = leases_in(sink);
    const auto until = clock::now() + 20s;
    const auto left_alone = [&] {
        const auto now = leases_in(sink);
        return std::any_of(before.begin(), before.end(), [&](const auto& lease) {
            const auto found = now.find(lease.first);
            return found != now.end() && found->second == lease.second;
        });
    };
    while (left_alone() && clock::now() < until) {
        workers.look(c);
        std::this_thread::sleep_for(5ms);
    }
}

/// Throws a failure of the workers if nothing moves any more.
void expect_progress(support::standstill& nothing, std::uint64_t left, worker_group& workers)
{
    nothing.look(left);
    if (nothing.moved()) workers.forget();
    if (nothing.stood() < longest_standstill) return;
    throw support::complaint(
        fmt::format("nothing has moved for {} s, and {} sequence numbers of the log are left; {}",
                    longest_standstill.count(), support::grouped(left), workers.reported()));
}

}  // namespace

casualties supervise(const options& o)
{
    std::vector<std::string> lines = lines_of(o);
    if (o.poison) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2), std::string(poison));
    event_log log(log_in(o));
    engines::database sink(sink_in(o));
    engines::sqlite_store store(sink);
    const ledger tables(sink);
    const auto feed = [&] {
        log.append(lines, [&](const std::string& line) { return partition_of(line, o.partitions); });
        if (o.poison) std::erase(lines, poison);  // once is enough
    };

    const auto begun = clock::now();
    const auto kill_until = begun + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(o.kill_for));
    backlog behind(o, log, store);
    if (behind.left() == 0) feed();
    casualties c;
    worker_group all(o);
    std::mt19937_64 dice(o.seed);
    auto next_kill = begun + 300ms;
    auto next_look = begun;
    support::standstill nothing;
    for (;;) {
        all.look(c);
        const auto now = clock::now();
        if (now < kill_until && now >= next_kill) {
            all.kill_one(dice);
            next_kill = now + std::chrono::microseconds(std::uniform_int_distribution<int>(10'000, 120'000)(dice));
        }
        if (now >= next_look) {
            const std::uint64_t left = behind.left();
            if (now < kill_until && left < 2 * lines.size()) feed();
            else if (left == 0) break;
            if (now < kill_until) nothing = {};
            expect_progress(nothing, left, all);
            next_look = now + 20ms;
        }
        std::this_thread::sleep_for(2ms);
    }
    c.seconds = std::chrono::duration<double>(clock::now() - begun).count();
    wait_for_living_owners(sink, all, c);
    all.dismiss();
    return c;
}

}  // namespace reliable_consumer

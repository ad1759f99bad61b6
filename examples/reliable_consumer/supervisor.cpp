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
#include <optional>
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
    if (lines.empty()) throw support::complaint(o.input + " has no line: name another file");
    return lines;
}

pid_t start(const options& o, std::uint64_t number)
{
    std::vector<std::string> words{"reliable_consumer",
                                   "--worker",
                                   std::to_string(number),
                                   "--db",
                                   o.db,
                                   "--partitions",
                                   std::to_string(o.partitions),
                                   "--batch",
                                   std::to_string(o.batch)};
    if (!o.log.empty()) words.emplace_back("--servers");
    if (o.cluster) words.emplace_back("--cluster");
    // SIGTERM may come before the process handles it: work() unblocks the signal.
    return support::start_process(std::move(words), {.blocks_sigterm = true});
}

/// The times of a run. Servers need some seconds to elect a leader, or to connect again.
struct pace {
    std::chrono::seconds longest_standstill;  // longer than any step takes on a busy machine
    std::chrono::milliseconds first_kill;
    std::chrono::milliseconds least_pause;  // between two kills of workers
    std::chrono::milliseconds most_pause;
    std::chrono::milliseconds look;
};
constexpr pace of_files{100s, 300ms, 10ms, 120ms, 20ms};
constexpr pace of_servers{600s, 2s, 500ms, 3s, 100ms};

struct worker {
    pid_t pid = -1;
    bool killed = false;  // by this program; its end was not observed yet
};

class worker_group {
public:
    worker_group(const options& o, const pace& times)
        : o_(o), longest_standstill_(times.longest_standstill), phases_(phases_in(o))
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

    /// Kills a random worker, in the middle of a batch if there is one. A worker that sleeps has
    /// nothing to lose.
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
        worker& w =
            workers_[from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(dice)]];
        kill(w.pid, SIGKILL);
        w.killed = true;
    }

    /// Counts the workers that have ended, and starts others.
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
                throw support::complaint(fmt::format(
                    "worker {} ended without a kill or a stop request; {}", n, reported()));
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
        return "no worker has reported a reason";
    }

    void forget()
    {
        for (std::size_t n = 0; n != workers_.size(); ++n) phases_.of(n).size = 0;
    }

    /// Asks all workers to release their leases and end, and waits for that.
    void dismiss()
    {
        for (const worker& w : workers_) kill(w.pid, SIGTERM);
        const auto until = clock::now() + longest_standstill_;
        for (std::size_t n = 0; n != workers_.size(); ++n) {
            int status = 0;
            while (support::wait_for(workers_[n].pid, &status, WNOHANG) == 0) {
                if (clock::now() > until) {
                    throw support::complaint(
                        fmt::format("worker {} has not ended {} s after the stop request; {}", n,
                                    longest_standstill_.count(), reported()));
                }
                std::this_thread::sleep_for(1ms);
            }
            workers_[n].pid = -1;
            if (workers_[n].killed) continue;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                throw support::complaint(
                    fmt::format("worker {} failed after the stop request; {}", n, reported()));
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
    std::chrono::seconds longest_standstill_;
    phases phases_;
    std::vector<worker> workers_;
};

/// The versions of each lease that has an owner: of its row, and of the row of its owner. One of
/// them changes when the lease is renewed or taken.
using lease_versions = std::map<waybill::partition_key, std::pair<std::uint64_t, std::uint64_t>>;

std::optional<lease_versions> versions_in(tables& all)
{
    const auto rows = all.leases();
    if (!rows) return {};
    lease_versions versions;
    for (const waybill::lease& l : rows->leases) {
        if (l.owner.none()) continue;
        auto& [row, heartbeat] = versions[l.key];
        row = l.version;
        for (const auto& o : rows->owners) {
            if (o.owner == l.owner) heartbeat = o.version;
        }
    }
    return versions;
}

/// A killed worker releases nothing: waits until other workers have taken its leases. Throws if one
/// stays without a living owner.
void wait_for_living_owners(tables& all, worker_group& workers, server_faults* servers,
                            const pace& times, casualties& c)
{
    std::optional<lease_versions> before;
    const auto until = clock::now() + times.longest_standstill;
    for (;;) {
        if (servers != nullptr) servers->step(false);
        workers.look(c);
        const auto now = versions_in(all);
        if (now && before) {
            std::erase_if(*before, [&](const auto& lease) {
                const auto found = now->find(lease.first);
                return found == now->end() || found->second != lease.second;
            });
            if (before->empty()) return;
        }
        if (!before) before = now;
        if (clock::now() > until) {
            throw support::complaint(fmt::format(
                "{} s after the last event, {}; {}", times.longest_standstill.count(),
                before ? "partition " + before->begin()->first.partition + " has no living owner"
                       : "the leases cannot be read",
                workers.reported()));
        }
        std::this_thread::sleep_for(times.look / 4);
    }
}

/// Throws the last failure of the workers if there is no progress.
void expect_progress(support::standstill& nothing, std::uint64_t left, worker_group& workers,
                     server_faults* servers, const pace& times)
{
    nothing.look(left, 2s);  // a call to servers that do not answer takes that long
    if (nothing.moved()) workers.forget();
    if (nothing.stood() < times.longest_standstill) return;
    const std::string missing = servers == nullptr ? "" : servers->missing();
    throw support::complaint(fmt::format(
        "no checkpoint has moved for {} s, and {} sequence numbers of the log are left; {}{}{}",
        times.longest_standstill.count(), support::grouped(left), missing,
        missing.empty() ? "" : "; ", workers.reported()));
}

}  // namespace

casualties supervise(const options& o, tables& all, server_faults* servers)
{
    const pace& times = o.log.empty() ? of_files : of_servers;
    std::vector<std::string> lines = lines_of(o);
    if (o.poison)
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2),
                     std::string(poison));
    const auto feed = [&] {
        // The poison message is sent once.
        if (all.append(lines) && o.poison) std::erase(lines, poison);
    };

    const auto begun = clock::now();
    const std::chrono::duration<double> kill_for(o.kill_for);
    auto kill_until = begun + std::chrono::duration_cast<clock::duration>(kill_for);
    // On a slow machine the standby may be in sync only after this time. So each kind of server is
    // awaited, but not for ever.
    const auto longest = o.kill_for == 0 ? kill_until : kill_until + times.longest_standstill;
    if (all.left() == std::uint64_t{0}) feed();
    casualties c;
    worker_group workers(o, times);
    std::mt19937_64 dice(o.seed);
    const auto random_pause = [&] {
        const auto us = [](auto t) { return std::chrono::microseconds(t).count(); };
        return std::chrono::microseconds(std::uniform_int_distribution<std::int64_t>(
            us(times.least_pause), us(times.most_pause))(dice));
    };
    auto next_kill = begun + times.first_kill;
    auto next_look = begun;
    support::standstill nothing;
    std::uint64_t last_left = 0;
    for (;;) {
        workers.look(c);
        const auto now = clock::now();
        if (servers != nullptr && servers->one_is_spared() && now >= kill_until && now < longest)
            kill_until = std::min(longest, now + 1s);
        if (servers != nullptr) servers->step(now < kill_until && now >= begun + times.first_kill);
        if (now < kill_until && now >= next_kill) {
            workers.kill_one(dice);
            next_kill = now + random_pause();
        }
        if (now >= next_look) {
            const std::optional<std::uint64_t> left = all.left();
            if (left && now < kill_until && *left < 2 * lines.size()) feed();
            else if (left == std::uint64_t{0} && (servers == nullptr || servers->missing().empty()))
                break;
            if (now < kill_until) nothing = {};
            last_left = left.value_or(last_left);
            expect_progress(nothing, last_left, workers, servers, times);
            // The cost of a look grows with the number of partitions.
            next_look = now + times.look * (1 + o.partitions / 64);
        }
        std::this_thread::sleep_for(2ms);
    }
    c.seconds = std::chrono::duration<double>(clock::now() - begun).count();
    wait_for_living_owners(all, workers, servers, times, c);
    workers.dismiss();
    return c;
}

}  // namespace reliable_consumer

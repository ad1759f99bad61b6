// SPDX-License-Identifier: MIT

#include "supervisor.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/cleanup.hpp"
#include "job.hpp"

namespace mailroom {

namespace {

using support::complaint;

void work(const options& o, phases& at, const progress_sink& progress)
{
    o.naive ? run_naive_job(o, at, progress) : run_job(o, at, progress);
    progress(fmt::format("memory {}", peak_rss_kib()));
}

/// Prints the phase and the process id of the waiting worker, for a kill by another process.
void announce(std::string_view phase, pid_t pid)
{
    fmt::print("holding {} {}\n", phase, pid);
    std::fflush(stdout);
}

struct worker {
    pid_t pid = -1;
    int from = -1;  // the reading end of its pipe
};

worker start(const options& o, const std::optional<hold>& stop)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw complaint(fmt::format("no pipe to the worker: {}", std::strerror(errno)));
    std::vector<std::string> words{"mailroom", "--worker", std::to_string(ends[1]),
                                   "--input",  o.input,    "--db",
                                   o.db,       "--limit",  std::to_string(o.limit)};
    if (o.naive) words.emplace_back("--naive");
    if (stop) words.insert(words.end(), {"--hold", text(*stop)});
    const pid_t pid = support::start_process(std::move(words), {.inherited = ends[1]});
    close(ends[1]);
    return {pid, ends[0]};
}

/// Passes each line of the worker to `hear`, until the worker has ended.
void listen(int from, const std::function<void(std::string_view)>& hear)
{
    std::string unread;
    char buffer[4'096];
    for (;;) {
        const ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        unread.append(buffer, static_cast<std::size_t>(n));
        std::size_t at = 0;
        for (std::size_t end; (end = unread.find('\n', at)) != std::string::npos; at = end + 1) {
            hear(std::string_view(unread).substr(at, end - at));
        }
        unread.erase(0, at);
    }
}

}  // namespace

outcome supervise(const options& o, std::vector<hold> plan,
                  const std::function<void(const tally&)>& show)
{
    outcome result;
    std::optional<hold> stop = o.stop;  // for a kill by another process, once
    std::uint64_t before = 0;  // the progress at the last death, and the deaths without progress
    int in_vain = 0;
    for (;;) {
        const bool ours = !stop && !plan.empty();
        if (ours) {
            stop = plan.front();
            plan.erase(plan.begin());
        }
        bool killed = false;
        const worker w = start(o, std::exchange(stop, std::nullopt));
        listen(w.from, [&](std::string_view line) {
            result.counts.take(line);
            show(result.counts);
            if (result.counts.holding.empty()) return;
            const std::string phase = std::exchange(result.counts.holding, {});
            if (!ours) return announce(phase, w.pid);
            kill(w.pid, SIGKILL);
            result.kills.push_back(phase);
            killed = true;
        });
        close(w.from);
        int status = 0;
        support::wait_for(w.pid, &status);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return result;
        if (WIFEXITED(status)) {
            throw complaint(fmt::format("the worker ended with code {}; its error is above",
                                        WEXITSTATUS(status)));
        }
        if (WTERMSIG(status) != SIGKILL)
            throw complaint(fmt::format("the worker was ended by signal {}", WTERMSIG(status)));

        const std::uint64_t done =
            result.counts.enqueued + result.counts.applied + result.kills.size();
        in_vain = done == before ? in_vain + 1 : 0;
        before = done;
        if (in_vain == 100)
            throw complaint(
                "the worker was killed 100 times in a row without progress: find the process that "
                "sends SIGKILL");
        if (!killed) ++result.deaths;
    }
}

outcome work_here(const options& o, const std::function<void(const tally&)>& show)
{
    outcome result;
    phases at(o.stop, [](std::string_view phase) { announce(phase, getpid()); });
    work(o, at, [&](const std::string& line) {
        result.counts.take(line);
        show(result.counts);
    });
    return result;
}

void work_for_parent(const options& o)
{
    const progress_sink progress = [&](const std::string& line) {
        const std::string whole = line + '\n';  // one write, so that a kill leaves no partial line
        if (write(*o.worker, whole.data(), whole.size()) < 0) _exit(1);
    };
    phases at(o.stop, [&](std::string_view phase) { progress(fmt::format("holding {}", phase)); });
    work(o, at, progress);
}

}  // namespace mailroom

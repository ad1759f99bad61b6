// SPDX-License-Identifier: MIT

#include "child.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/cleanup.hpp"
#include "../support/program.hpp"

namespace outbox {

namespace {

std::vector<std::string> words_for(const options& o, int progress)
{
    return {"outbox",
            "--as",
            std::string(name(o.as)),
            "--db",
            o.db,
            "--seed",
            std::to_string(o.seed),
            "--tell",
            std::to_string(progress),
            "--port",
            std::to_string(o.port),
            "--busy",
            std::to_string(o.busy),
            "--begun",
            std::to_string(o.begun)};
}

}  // namespace

child::child(const options& o)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        throw support::complaint(
            fmt::format("no pipe to a child process: {}", std::strerror(errno)));
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::vector<std::string> words = words_for(o, ends[1]);
    from_ = ends[0];
    try {
        pid_ = support::start_process(std::move(words), {.inherited = ends[1]});
    } catch (...) {
        close(from_);
        close(ends[1]);
        throw;
    }
    close(ends[1]);
}

child::~child()
{
    kill();
    close(from_);
}

void child::hear(const std::function<void(std::string_view)>& line)
{
    char buffer[16'384];
    for (;;) {
        const ssize_t n = read(from_, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        unread_.append(buffer, static_cast<std::size_t>(n));
    }
    std::size_t at = 0;
    for (std::size_t end; (end = unread_.find('\n', at)) != std::string::npos; at = end + 1) {
        line(std::string_view(unread_).substr(at, end - at));
    }
    unread_.erase(0, at);
}

std::optional<int> child::ended()
{
    int status = 0;
    if (!code_ && support::wait_for(pid_, &status, WNOHANG) == pid_) take_status(status);
    return code_;
}

void child::kill()
{
    if (ended()) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    support::wait_for(pid_, &status);
    take_status(status);
}

void child::take_status(int status)
{
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace outbox

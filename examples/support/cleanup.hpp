// SPDX-License-Identifier: MIT
//
// cleanup: a program that a signal ends kills its processes and removes its temporary folder first.
//
//     support::end_on_signals();                            // at the beginning of the work
//     const support::temporary_folder here("mailroom");     // removed at the end, or by a signal
//     const pid_t worker = support::start_process({"mailroom", "--worker", "3"}, {.inherited = 3});
//     support::wait_for(worker, &status, WNOHANG);          // in the place of waitpid
//
// The handler uses async-signal-safe calls only and does not return: the program stops where it is,
// so nothing is started or written while the handler cleans up. The exit code is 128 + the signal.

#ifndef WAYBILL_EXAMPLES_SUPPORT_CLEANUP_HPP
#define WAYBILL_EXAMPLES_SUPPORT_CLEANUP_HPP

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.hpp"

namespace support {

namespace cleaning {

inline constexpr int signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};

/// The data that the handler reads. It is written only while the signals are blocked.
struct registry {
    pid_t processes[128] = {};  // 0 is a free place; the kernel ends a process without a place
    char folder[4'096] = {};    // empty: none
};
inline registry registered;

/// Removes what is in an open folder. Several passes: a file system may leave out entries of a
/// folder that changes while it is read.
inline void remove_entries(int folder, int levels) noexcept
{
    alignas(dirent64) char entries[2'048];
    for (int passes = 0; passes != 100; ++passes) {
        bool any = false;
        lseek(folder, 0, SEEK_SET);
        for (ssize_t n = 0; (n = getdents64(folder, entries, sizeof entries)) > 0;) {
            for (ssize_t at = 0; at < n;) {
                const auto* const e = reinterpret_cast<const dirent64*>(entries + at);
                at += e->d_reclen;
                if (std::strcmp(e->d_name, ".") == 0 || std::strcmp(e->d_name, "..") == 0) continue;
                any = true;
                if (unlinkat(folder, e->d_name, 0) == 0 || levels == 0) continue;
                const int inner =
                    openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (inner < 0) continue;
                remove_entries(inner, levels - 1);
                close(inner);
                unlinkat(folder, e->d_name, AT_REMOVEDIR);
            }
        }
        if (!any) return;
    }
}

/// Kills the processes that the main thread has started without `start_process`, such as servers,
/// and waits for them. The kernel lists them.
inline void end_other_processes() noexcept
{
    char path[64] = "/proc/self/task/";
    std::size_t size = std::strlen(path);
    char digits[20];
    std::size_t count = 0;
    for (pid_t rest = getpid(); rest != 0; rest /= 10)
        digits[count++] = static_cast<char>('0' + rest % 10);
    while (count != 0) path[size++] = digits[--count];
    std::memcpy(path + size, "/children", sizeof "/children");
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    char text[4'096];
    const ssize_t n = read(file, text, sizeof text);
    close(file);
    pid_t p = 0;
    for (ssize_t i = 0; i < n; ++i) {
        if (text[i] >= '0' && text[i] <= '9') {
            p = p * 10 + (text[i] - '0');
        } else if (p > 0) {
            kill(p, SIGKILL);
            waitpid(p, nullptr, 0);
            p = 0;
        }
    }
}

[[noreturn]] inline void end_by(int signal) noexcept
{
    for (const pid_t p : registered.processes) {
        if (p > 0) kill(p, SIGKILL);
    }
    for (const pid_t p : registered.processes) {
        if (p > 0) waitpid(p, nullptr, 0);
    }
    end_other_processes();
    if (registered.folder[0] != '\0') {
        const int folder = open(registered.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0) remove_entries(folder, 8);
        rmdir(registered.folder);
    }
    _exit(128 + signal);
}

inline void replace(pid_t from, pid_t to) noexcept
{
    for (pid_t& p : registered.processes) {
        if (p != from) continue;
        p = to;
        return;
    }
}

/// While it lives, no signal calls the handler.
class signals_held {
public:
    signals_held() noexcept
    {
        sigset_t all;
        sigemptyset(&all);
        for (const int s : signals) sigaddset(&all, s);
        sigprocmask(SIG_BLOCK, &all, &before_);
    }
    signals_held(const signals_held&) = delete;
    signals_held& operator=(const signals_held&) = delete;
    ~signals_held() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

    [[nodiscard]] const sigset_t& before() const noexcept { return before_; }

private:
    sigset_t before_;
};

}  // namespace cleaning

/// From now on signals end this program as described above. An ignored SIGHUP stays ignored, as
/// with nohup. SIGINT is always handled, as shells ignore it for background programs.
inline void end_on_signals() noexcept
{
    struct sigaction end = {};
    end.sa_handler = &cleaning::end_by;
    sigfillset(&end.sa_mask);
    for (const int s : cleaning::signals) {
        struct sigaction before = {};
        sigaction(s, nullptr, &before);
        const bool stays = before.sa_handler == SIG_IGN && (s == SIGHUP || s == SIGPIPE);
        if (!stays) sigaction(s, &end, nullptr);
    }
}

/// A temporary folder in $TMPDIR or /tmp, removed at the end. There is at most one at a time.
class temporary_folder {
public:
    explicit temporary_folder(std::string_view program)
    {
        const char* const configured = std::getenv("TMPDIR");
        const std::string in = configured != nullptr && *configured != '\0' ? configured : "/tmp";
        path_ = fmt::format("{}/{}-XXXXXX", in, program);
        const cleaning::signals_held held;
        if (mkdtemp(path_.data()) == nullptr) {
            const std::string why = std::strerror(errno);
            throw complaint(
                fmt::format("no temporary folder can be made in {}: {}; set TMPDIR to a folder "
                            "that can be written",
                            in, why));
        }
        path_.copy(cleaning::registered.folder, sizeof cleaning::registered.folder - 1);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
        const cleaning::signals_held held;
        std::memset(cleaning::registered.folder, 0, sizeof cleaning::registered.folder);
    }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

struct process_options {
    int inherited = -1;           ///< A descriptor that the process keeps; -1: none.
    bool blocks_sigterm = false;  ///< Until it unblocks SIGTERM itself, so that none is too early.
};

/// Starts this program again with other words, of which the first is its name. The process never
/// outlives its parent. The caller waits for it with `wait_for`.
inline pid_t start_process(std::vector<std::string> words, const process_options& o = {})
{
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    const pid_t parent = getpid();
    const cleaning::signals_held held;
    const pid_t pid = fork();
    if (pid < 0) throw complaint(fmt::format("no further process: {}", std::strerror(errno)));
    if (pid > 0) {
        cleaning::replace(0, pid);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (const int s : cleaning::signals) {
        struct sigaction now = {};
        sigaction(s, nullptr, &now);
        if (now.sa_handler == &cleaning::end_by) std::signal(s, SIG_DFL);
    }
    // An inherited listening socket of a library would keep its port.
    for (int fd = 3; fd != 1'024; ++fd) {
        struct stat is = {};
        if (fd != o.inherited && fstat(fd, &is) == 0 && S_ISSOCK(is.st_mode)) close(fd);
    }
    if (o.inherited >= 0) fcntl(o.inherited, F_SETFD, 0);
    sigset_t mask = held.before();
    if (o.blocks_sigterm) sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execv("/proc/self/exe", argv.data());
    _exit(127);
}

/// waitpid for one process: 0 if WNOHANG is among the options and nothing has changed.
inline pid_t wait_for(pid_t pid, int* status, int options = 0)
{
    for (;;) {
        {
            // After waitpid the process number may be reused: the handler must not kill it.
            const cleaning::signals_held held;
            const pid_t got = waitpid(pid, status, options | WNOHANG);
            const bool over = got == pid && (WIFEXITED(*status) || WIFSIGNALED(*status));
            if (over) cleaning::replace(pid, 0);
            if (got != 0 || (options & WNOHANG) != 0) return got;
        }
        usleep(500);
    }
}

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_CLEANUP_HPP

// SPDX-License-Identifier: MIT
//
// server_process: a server that this program starts, and the lock of its folder.
//
//     engines::folder_lock lock("/var/lib/orders", "nats-server");
//     engines::server_process server;
//     server.start({"nats-server", "-p", "4222"}, SIGTERM, lock.descriptor());
//     if (server.ended()) throw engines::server_error(server.reason());
//     server.stop(std::chrono::seconds(15));          // SIGTERM, and SIGKILL after 15 s
//
//   1. The system sends the given signal to the server when the thread that called `start` ends,
//      also after kill -9. So that thread lives at least as long as the server.
//   2. One folder is used by one program and its servers at a time. The servers inherit the lock.
//   3. Ctrl-C in a terminal does not reach the server.

#ifndef WAYBILL_EXAMPLES_ENGINES_SERVER_PROCESS_HPP
#define WAYBILL_EXAMPLES_ENGINES_SERVER_PROCESS_HPP

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server_error.hpp"

namespace engines {

/// Different free ports on 127.0.0.1. They are below those that the system assigns, so no client
/// gets one while its server is down.
[[nodiscard]] inline std::vector<std::uint16_t> free_ports(std::size_t count)
{
    std::random_device dice;
    std::vector<std::uint16_t> ports;
    std::vector<int> sockets;  // open until all ports are known
    for (int tries = 0; tries != 1'000 && ports.size() != count; ++tries) {
        const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        at.sin_port = htons(static_cast<std::uint16_t>(20'000 + dice() % 12'000));
        sockets.push_back(s);
        if (::bind(s, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0)
            ports.push_back(ntohs(at.sin_port));
    }
    for (const int s : sockets) ::close(s);
    if (ports.size() != count) throw server_error("no free ports on 127.0.0.1");
    return ports;
}

/// Creates the folder if it is missing, and locks it.
class folder_lock {
public:
    /// Throws server_error if another program holds the lock. Waits 2 s for the servers of a
    /// program that was killed.
    folder_lock(const std::string& folder, const std::string& server)
    {
        std::error_code e;
        std::filesystem::create_directories(folder, e);
        if (e) throw server_error("the folder " + folder + " cannot be made: " + e.message());
        const std::string path = folder + "/lock";
        descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (descriptor_ < 0)
            throw server_error("the file " + path + " cannot be opened: " + std::strerror(errno));
        using clock = std::chrono::steady_clock;
        for (const auto deadline = clock::now() + std::chrono::seconds(2);;) {
            if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
            if (clock::now() > deadline) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        close(descriptor_);
        throw server_error("another " + server + " works in " + folder +
                           ": wait for its end, or name another folder");
    }
    folder_lock(const folder_lock&) = delete;
    folder_lock& operator=(const folder_lock&) = delete;
    ~folder_lock() { close(descriptor_); }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_ = -1;
};

class server_process {
public:
    server_process() = default;
    server_process(server_process&& other) noexcept
        : program_(std::move(other.program_)),
          pid_(std::exchange(other.pid_, -1)),
          status_(other.status_)
    {
    }
    server_process& operator=(server_process&&) = delete;
    ~server_process() { stop(std::chrono::seconds(15)); }

    /// Starts words[0], which is searched in PATH and the folders for administrators. It inherits
    /// the descriptor. `on_end` is the signal when this thread ends.
    void start(std::vector<std::string> words, int on_end, int inherited)
    {
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        const std::string sbin[] = {"/usr/sbin/" + words[0], "/usr/local/sbin/" + words[0]};
        program_ = words[0];
        const pid_t parent = getpid();
        pid_ = fork();
        if (pid_ < 0)
            throw server_error(std::string("no process can be started: ") + std::strerror(errno));
        if (pid_ != 0) return;
        prctl(PR_SET_PDEATHSIG, on_end);
        if (getppid() != parent) _exit(1);
        setpgid(0, 0);
#ifdef CLOSE_RANGE_CLOEXEC
        // Connections of client libraries are not inherited.
        close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
#endif
        fcntl(inherited, F_SETFD, 0);
        const int nothing = open("/dev/null", O_RDWR);
        for (int stream = 0; stream != 3; ++stream) dup2(nothing, stream);
        execvp(argv[0], argv.data());
        for (const std::string& path : sbin) execv(path.c_str(), argv.data());
        _exit(no_program);
    }

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// True if the process does not run. It is then removed from the process table.
    [[nodiscard]] bool ended() noexcept
    {
        if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) != 0) pid_ = -1;
        return pid_ <= 0;
    }

    /// The text of an error, after `ended` has returned true.
    [[nodiscard]] std::string reason() const
    {
        if (WIFEXITED(status_) && WEXITSTATUS(status_) == no_program)
            return "there is no " + program_ + " on this machine: install it";
        return program_ + " ended immediately after its start";
    }

    /// After `ended` has returned true. -1 after a signal.
    [[nodiscard]] int exit_code() const noexcept
    {
        return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
    }

    /// SIGKILL, and returns after the end of the process.
    void kill() noexcept { stop(std::chrono::seconds(0)); }

    /// SIGTERM, so that the server writes its data. SIGKILL after `patience`.
    void stop(std::chrono::seconds patience) noexcept
    {
        if (ended()) return;
        ::kill(pid_, patience.count() == 0 ? SIGKILL : SIGTERM);
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!ended()) {
            if (std::chrono::steady_clock::now() > deadline) ::kill(pid_, SIGKILL);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }

private:
    static constexpr int no_program = 127;

    std::string program_{};
    pid_t pid_ = -1;
    int status_ = 0;
};

/// The content of a file; empty if there is none.
[[nodiscard]] inline std::string file_content(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// ": " and the last line of a log file; empty if there is none.
[[nodiscard]] inline std::string last_line(const std::string& path)
{
    std::string text = file_content(path);
    while (text.ends_with('\n')) text.pop_back();
    const std::size_t line = text.rfind('\n');
    if (line != text.npos) text.erase(0, line + 1);
    return text.empty() ? text : ": " + text;
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SERVER_PROCESS_HPP

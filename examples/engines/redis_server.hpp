// SPDX-License-Identifier: MIT
//
// redis_server: a Redis server of this program, on a free port of 127.0.0.1.
//
//     engines::redis_server own("/tmp/folder", {"--maxmemory", "64mb"});
//     engines::redis_stream stream(own.url(), "mails");
//
//   1. Each write is in the append-only file, on the disk, before the server sends its reply
//      (appendfsync always). All files are in the folder. No configuration of this machine is read.
//   2. The constructor and `restart` return when the data of the folder is loaded.
//   3. A transaction of which a killed server has written only a part is removed before the next
//      start, by redis-check-aof. With its default `aof-load-truncated yes`, Redis 7.0 removes the
//      last command only. The next start of the server would then apply the other commands of the
//      transaction.
//   4. The system sends SIGTERM to the server when the thread that started it ends. So this thread
//      lives at least as long as the object.
//
// Throws server_error if there is no redis-server, the folder is in use, redis-check-aof cannot
// repair the file, or the server does not start within 30 s, as with an option that it does not know.

#ifndef WAYBILL_EXAMPLES_ENGINES_REDIS_SERVER_HPP
#define WAYBILL_EXAMPLES_ENGINES_REDIS_SERVER_HPP

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "depth.hpp"
#include "server_process.hpp"

namespace engines {

class redis_server {
public:
    /// Creates the folder if it is missing. `options` are further options of redis-server.
    explicit redis_server(const std::string& folder, std::vector<std::string> options = {})
        : folder_(std::filesystem::absolute(folder)),  // the server changes into it
          options_(std::move(options)),
          lock_(folder_, "redis-server")
    {
        at_ = {.host = "127.0.0.1", .port = std::to_string(free_ports(1).front())};
        restart();
    }
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    [[nodiscard]] const server& at() const noexcept { return at_; }
    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + at_.port; }
    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

    /// SIGKILL.
    void kill() noexcept { process_.kill(); }
    /// SIGTERM. The server closes its files.
    void stop() noexcept { process_.stop(std::chrono::seconds(15)); }

    /// Starts a server that was killed or stopped, on the same port.
    void restart()
    {
        if (!process_.ended()) return;
        start();
        if (listens()) return;
        if (file_content(log()).find("Unexpected end of file") != std::string::npos) {
            repair();
            start();
            if (listens()) return;
        }
        throw server_error(process_.reason() + last_line(log()));
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds patience{30};

    [[nodiscard]] std::string log() const { return folder_ + "/log"; }

    void start()
    {
        std::error_code e;
        std::filesystem::remove(log(), e);
        std::vector<std::string> words{"redis-server",
                                       "--port",
                                       at_.port,
                                       "--bind",
                                       at_.host,
                                       "--dir",
                                       folder_,
                                       "--appendonly",
                                       "yes",
                                       "--save",
                                       "",
                                       "--appendfsync",
                                       "always",
                                       "--logfile",
                                       log(),
                                       "--daemonize",
                                       "no",
                                       "--aof-load-truncated",
                                       "no"};
        words.insert(words.end(), options_.begin(), options_.end());
        process_.start(std::move(words), SIGTERM, lock_.descriptor());
    }

    /// Removes the incomplete transaction at the end of the append-only file.
    void repair() const
    {
        const std::string manifest = folder_ + "/appendonlydir/appendonly.aof.manifest";
        const std::string command =
            "echo y | redis-check-aof --fix '" + manifest + "' >'" + folder_ + "/repair' 2>&1";
        if (std::system(command.c_str()) != 0)
            throw server_error("redis-check-aof --fix " + manifest +
                               last_line(folder_ + "/repair"));
    }

    /// Waits until it listens. False if it has ended.
    [[nodiscard]] bool listens()
    {
        for (const auto deadline = clock::now() + patience;;) {
            if (process_.ended()) return false;
            if (file_content(log()).find("Ready to accept connections") != std::string::npos)
                return true;
            if (clock::now() > deadline)
                throw server_error("redis-server does not start within 30 s" + last_line(log()));
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    std::string folder_;
    std::vector<std::string> options_;
    folder_lock lock_;
    server_process process_{};
    server at_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_REDIS_SERVER_HPP

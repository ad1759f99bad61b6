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
//   3. The system sends SIGTERM to the server when the thread that started it ends. So this thread
//      lives at least as long as the object.
//
// Throws server_error if there is no redis-server, the folder is in use, or the server does not
// start within 30 s, as with an option that it does not know.

#ifndef WAYBILL_EXAMPLES_ENGINES_REDIS_SERVER_HPP
#define WAYBILL_EXAMPLES_ENGINES_REDIS_SERVER_HPP

#include <chrono>
#include <csignal>
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
        std::error_code e;
        std::filesystem::remove(log(), e);
        std::vector<std::string> words{
            "redis-server", "--port",       at_.port, "--bind",      at_.host, "--dir",
            folder_,        "--appendonly", "yes",    "--save",      "",       "--appendfsync",
            "always",       "--logfile",    log(),    "--daemonize", "no"};
        words.insert(words.end(), options_.begin(), options_.end());
        process_.start(std::move(words), SIGTERM, lock_.descriptor());
        wait_until_it_listens();
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds patience{30};

    [[nodiscard]] std::string log() const { return folder_ + "/log"; }

    void wait_until_it_listens()
    {
        for (const auto deadline = clock::now() + patience;;) {
            if (process_.ended()) throw server_error(process_.reason() + last_line(log()));
            if (file_content(log()).find("Ready to accept connections") != std::string::npos)
                return;
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

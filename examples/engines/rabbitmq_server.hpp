// SPDX-License-Identifier: MIT
//
// rabbitmq_server: a RabbitMQ server of this program, on free ports of 127.0.0.1.
//
//     engines::rabbitmq_server own("/tmp/folder");
//     engines::rabbitmq queue({.at = own.at(), .queue = "mails"}, "run-17");
//
//   1. All files are in the folder: data, logs, configuration and the cookie of Erlang. The server
//      has a node name and an epmd of its own, so that it meets no other server on this machine.
//   2. The system ends the server and its epmd when the thread that created the object ends.
//   3. The constructor returns when the server accepts connections. That takes about 5 s.
//
// Throws server_error if there is no rabbitmq-server or epmd, or it does not start within 90 s.

#ifndef WAYBILL_EXAMPLES_ENGINES_RABBITMQ_SERVER_HPP
#define WAYBILL_EXAMPLES_ENGINES_RABBITMQ_SERVER_HPP

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "depth.hpp"
#include "server_process.hpp"

namespace engines {

class rabbitmq_server {
public:
    /// Creates the folder if it is missing. `max_message_size` in bytes; empty: the default of
    /// RabbitMQ.
    explicit rabbitmq_server(const std::string& folder,
                             std::optional<std::uint64_t> max_message_size = {})
        : folder_(folder), lock_(folder, "rabbitmq-server")
    {
        for (const std::uint16_t port : free_ports(3)) ports_.push_back(std::to_string(port));
        at_ = {.host = "127.0.0.1", .port = ports_[0], .user = "guest", .password = "guest"};
        configure(max_message_size);
        epmd_.start({"epmd", "-address", "127.0.0.1", "-port", ports_[1]}, SIGKILL,
                    lock_.descriptor());
        run(script());
    }
    rabbitmq_server(const rabbitmq_server&) = delete;
    rabbitmq_server& operator=(const rabbitmq_server&) = delete;

    /// The user is guest.
    [[nodiscard]] const server& at() const noexcept { return at_; }
    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }
    [[nodiscard]] pid_t epmd_pid() const noexcept { return epmd_.pid(); }

    /// SIGKILL. For a folder that is removed, or before `restart`.
    void kill() noexcept { process_.kill(); }
    /// After `kill` or `stop`: starts the server again, with its data and on the same ports. The
    /// same thread calls it that created the object.
    void restart() { run(script()); }

    /// The variables that rabbitmqctl needs to find the server: words for env.
    [[nodiscard]] std::vector<std::string> environment() const
    {
        return {"HOME=" + folder_, "RABBITMQ_NODENAME=waybill" + ports_[0] + "@localhost",
                "ERL_EPMD_ADDRESS=127.0.0.1", "ERL_EPMD_PORT=" + ports_[1], "LC_ALL=C.UTF-8"};
    }
    /// The server stops accepting connections, and writes its data.
    void stop() noexcept { process_.stop(std::chrono::seconds(30)); }

private:
    using clock = std::chrono::steady_clock;

    /// The script in PATH of Debian changes the user.
    [[nodiscard]] static std::string script()
    {
        const std::string debian = "/usr/lib/rabbitmq/bin/rabbitmq-server";
        return access(debian.c_str(), X_OK) == 0 ? debian : "rabbitmq-server";
    }

    void run(const std::string& program)
    {
        // The log has the line that `wait_until_it_listens` reads.
        std::filesystem::remove_all(folder_ + "/log");
        std::vector<std::string> words = environment();
        words.insert(words.begin(), "env");
        for (const std::string& word :
             {"RABBITMQ_DIST_PORT=" + ports_[2], "RABBITMQ_MNESIA_BASE=" + folder_ + "/data",
              "RABBITMQ_LOG_BASE=" + folder_ + "/log",
              "RABBITMQ_CONFIG_FILE=" + folder_ + "/rabbitmq.conf",
              std::string("RABBITMQ_CONF_ENV_FILE=/dev/null"),
              "RABBITMQ_ENABLED_PLUGINS_FILE=" + folder_ + "/enabled_plugins",
              "RABBITMQ_PID_FILE=" + folder_ + "/pid",
              // The script becomes the server, so that signals reach the server.
              std::string("RUNNING_UNDER_SYSTEMD=true"),
              std::string("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="
                          "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none"),
              program}) {
            words.push_back(word);
        }
        process_.start(std::move(words), SIGKILL, lock_.descriptor());
        wait_until_it_listens();
    }

    void configure(std::optional<std::uint64_t> max_message_size) const
    {
        std::ofstream conf(folder_ + "/rabbitmq.conf");
        conf << "listeners.tcp.1 = 127.0.0.1:" << at_.port << '\n'
             << "log.console = false\n"
             << "disk_free_limit.absolute = 10MB\n";
        if (max_message_size) conf << "max_message_size = " << *max_message_size << '\n';
        std::ofstream(folder_ + "/enabled_plugins") << "[].\n";
    }

    void wait_until_it_listens()
    {
        const std::string log = folder_ + "/log/waybill" + at_.port + "@localhost.log";
        for (const auto deadline = clock::now() + std::chrono::seconds(90);;) {
            if (process_.ended()) {
                const std::string why =
                    process_.exit_code() == 127
                        ? "there is no rabbitmq-server on this machine: install it"
                        : process_.reason();
                throw server_error(why + last_line(log));
            }
            if (epmd_.ended()) throw server_error(epmd_.reason());
            // The server listens on the port before it accepts logins.
            if (file_content(log).find("Server startup complete") != std::string::npos) return;
            if (clock::now() > deadline)
                throw server_error("rabbitmq-server does not start within 90 s" + last_line(log));
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }

    std::string folder_;
    folder_lock lock_;
    server_process epmd_{};
    server_process process_{};
    std::vector<std::string> ports_{};  ///< Of AMQP, of epmd, and of Erlang.
    server at_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_RABBITMQ_SERVER_HPP

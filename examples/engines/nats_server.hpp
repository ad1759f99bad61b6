// SPDX-License-Identifier: MIT
//
// nats_server: a nats-server with JetStream that this program starts and ends.
//
//     engines::nats_server own(folder);          // the folder keeps the streams
//     engines::nats_work_queue queue(own.at(), "ORDERS");
//
//   1. It listens on a free port of 127.0.0.1.
//   2. The system sends SIGTERM to the server when the thread that started it ends. So this thread
//      lives at least as long as the object. With SIGKILL a server loses its last acknowledged
//      messages.
//   3. One folder is used by one server at a time, because servers do not check this themselves.
//
// Throws server_error if the program is missing, the folder is in use, or the server does not
// start.

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_SERVER_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_SERVER_HPP

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "depth.hpp"
#include "number.hpp"
#include "server_process.hpp"

namespace engines {

class nats_server {
public:
    /// Creates the folder if it is missing. Throws server_error if the program is missing or does
    /// not run in this folder.
    explicit nats_server(const std::string& folder) : folder_(folder), lock_(folder, "nats-server")
    {
        forget_ports();
        process_.start({"nats-server", "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder_,
                        "--ports_file_dir", folder_, "-l", log()},
                       SIGTERM, lock_.descriptor());
        wait_until_it_listens();
    }
    nats_server(const nats_server&) = delete;
    nats_server& operator=(const nats_server&) = delete;

    [[nodiscard]] const server& at() const noexcept { return at_; }
    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds patience{15};
    static constexpr std::chrono::milliseconds moment{10};

    [[nodiscard]] std::string log() const { return folder_ + "/log"; }

    /// Removes the files of killed servers.
    void forget_ports() const
    {
        namespace fs = std::filesystem;
        std::error_code e;
        for (const auto& f : fs::directory_iterator(folder_, e)) {
            if (f.path().extension() == ".ports") fs::remove(f.path(), e);
        }
        fs::remove(log(), e);
    }

    /// Waits for the file with the server's port.
    void wait_until_it_listens()
    {
        const std::string path = folder_ + "/nats-server_" + std::to_string(pid()) + ".ports";
        for (const auto deadline = clock::now() + patience; clock::now() < deadline;) {
            if (process_.ended()) throw server_error(process_.reason() + last_line(log()));
            if (knows_port(path)) return;
            std::this_thread::sleep_for(moment);
        }
        throw server_error("nats-server has not reported its port" + last_line(log()));
    }

    /// Reads {"nats":["nats://127.0.0.1:4222"]}. The file may be incomplete.
    [[nodiscard]] bool knows_port(const std::string& path)
    {
        const auto ports = nlohmann::json::parse(file_content(path), nullptr, false);
        if (!ports.is_object()) return false;
        const auto urls = ports.find("nats");
        if (urls == ports.end() || !urls->is_array() || urls->empty() ||
            !urls->front().is_string()) {
            return false;
        }
        const auto url = urls->front().get<std::string>();
        at_ = {.host = "127.0.0.1", .port = url.substr(url.rfind(':') + 1)};
        return number_in(at_.port).has_value();
    }

    std::string folder_;
    folder_lock lock_;
    server_process process_{};
    server at_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_SERVER_HPP

// SPDX-License-Identifier: MIT
//
// nats_server: a nats-server of our own, with JetStream, that is gone when we are.
//
//     engines::nats_server own(folder);          // what is in its streams is in there, and stays
//     engines::nats_work_queue queue(own.at(), "ORDERS");
//
// It listens on a free port of this machine only. The system tells it to end when the thread that
// has started it ends, so that must be one that lives as long as the object. It is told and not
// killed, since a server that is killed forgets some of what was acknowledged last. One folder is
// used by one server at a time; the second is refused, as servers do not look themselves.

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_SERVER_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_SERVER_HPP

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "depth.hpp"
#include "number.hpp"

namespace engines {

struct server_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class nats_server {
public:
    /// Makes the folder if need be. Throws server_error if there is no such program, or it does not
    /// run, or not in this folder.
    explicit nats_server(const std::string& folder) : folder_(folder)
    {
        std::error_code e;
        std::filesystem::create_directories(folder, e);
        if (e) throw server_error("no folder " + folder + ": " + e.message());
        lock();
        try {
            forget_ports();
            start();
            wait_until_it_listens();
        } catch (...) {
            stop();
            throw;
        }
    }
    nats_server(const nats_server&) = delete;
    nats_server& operator=(const nats_server&) = delete;
    ~nats_server() { stop(); }

    [[nodiscard]] const server& at() const noexcept { return at_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds patience{15};
    static constexpr std::chrono::milliseconds moment{10};

    [[nodiscard]] std::string log() const { return folder_ + "/log"; }

    /// The server inherits it: it is free again when both of us are gone.
    void lock()
    {
        const std::string path = folder_ + "/lock";
        lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock_ < 0) throw server_error("no file " + path + ": " + std::strerror(errno));
        // That of a program that was killed may be about to end.
        for (const auto deadline = clock::now() + std::chrono::seconds(2);;) {
            if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
            if (clock::now() > deadline) break;
            std::this_thread::sleep_for(moment);
        }
        close(lock_);
        throw server_error("another nats-server works in " + folder_);
    }

    /// What servers that were killed have left there.
    void forget_ports() const
    {
        namespace fs = std::filesystem;
        std::error_code e;
        for (const auto& f : fs::directory_iterator(folder_, e)) {
            if (f.path().extension() == ".ports") fs::remove(f.path(), e);
        }
        fs::remove(log(), e);
    }

    void start()
    {
        std::string words[] = {"nats-server", "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder_,
                               "--ports_file_dir", folder_, "-l", log()};
        char* argv[std::size(words) + 1] = {};
        for (std::size_t i = 0; i != std::size(words); ++i) argv[i] = words[i].data();
        const pid_t parent = getpid();
        pid_ = fork();
        if (pid_ < 0) throw server_error(std::string("no process: ") + std::strerror(errno));
        if (pid_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(1);
        // Ctrl-C is for us, who still need it.
        setpgid(0, 0);
        fcntl(lock_, F_SETFD, 0);
        const int nothing = open("/dev/null", O_RDWR);
        for (int stream = 0; stream != 3; ++stream) dup2(nothing, stream);
        execvp(argv[0], argv);
        // Where it is installed may be on nobody's path but the administrator's.
        for (const char* path : {"/usr/sbin/nats-server", "/usr/local/sbin/nats-server"}) {
            execv(path, argv);
        }
        _exit(no_program);
    }

    /// It writes down which port it has got.
    void wait_until_it_listens()
    {
        const std::string path = folder_ + "/nats-server_" + std::to_string(pid_) + ".ports";
        for (const auto deadline = clock::now() + patience; clock::now() < deadline;) {
            int status = 0;
            if (waitpid(pid_, &status, WNOHANG) != 0) {
                pid_ = -1;
                if (WIFEXITED(status) && WEXITSTATUS(status) == no_program) {
                    throw server_error("there is no nats-server on this machine");
                }
                throw server_error("nats-server has ended at once" + last_words());
            }
            if (knows_port(path)) return;
            std::this_thread::sleep_for(moment);
        }
        throw server_error("nats-server does not say where it listens" + last_words());
    }

    /// {"nats":["nats://127.0.0.1:4222"]}; it may be half there.
    [[nodiscard]] bool knows_port(const std::string& path)
    {
        const auto ports = nlohmann::json::parse(content(path), nullptr, false);
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

    [[nodiscard]] static std::string content(const std::string& path)
    {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }

    /// The end of what it has written, in a line of our own.
    [[nodiscard]] std::string last_words() const
    {
        std::string said = content(log());
        while (said.ends_with('\n')) said.pop_back();
        const std::size_t line = said.rfind('\n');
        if (line != said.npos) said.erase(0, line + 1);
        return said.empty() ? said : ": " + said;
    }

    /// Asked to end, it writes what it has not yet; after its patience it is killed.
    void stop() noexcept
    {
        if (pid_ > 0) {
            kill(pid_, SIGTERM);
            const auto deadline = clock::now() + patience;
            while (waitpid(pid_, nullptr, WNOHANG) == 0) {
                if (clock::now() > deadline) kill(pid_, SIGKILL);
                std::this_thread::sleep_for(moment);
            }
        }
        pid_ = -1;
        if (lock_ >= 0) close(lock_);
        lock_ = -1;
    }

    static constexpr int no_program = 127;

    std::string folder_;
    int lock_ = -1;
    pid_t pid_ = -1;
    server at_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_SERVER_HPP

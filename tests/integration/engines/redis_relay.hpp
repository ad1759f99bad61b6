// SPDX-License-Identifier: MIT
//
// redis_relay: passes connections on to a Redis server, and breaks one transaction.
//
//     redis_test::relay r(port);                  // connect to r.port()
//     r.break_next(redis_test::relay::fault::reply);
//
//   request   the connection is closed before the server has the EXEC
//   reply     the server executes it, and the connection is closed instead of the reply
//   late      the whole request reaches the server at `release`, or not at all

#ifndef WAYBILL_TESTS_REDIS_RELAY_HPP
#define WAYBILL_TESTS_REDIS_RELAY_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redis_test {

class relay {
public:
    enum class fault { none, request, reply, late };

    explicit relay(const std::string& port) : server_(std::stoi(port))
    {
        listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at = loopback(0);
        socklen_t size = sizeof at;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
            ::listen(listener_, 5) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
            throw std::runtime_error("the relay has no port");
        }
        port_ = std::to_string(ntohs(at.sin_port));
        threads_.emplace_back([this] { accept_all(); });
    }
    relay(const relay&) = delete;
    relay& operator=(const relay&) = delete;
    ~relay()
    {
        over_ = true;
        threads_.front().join();  // no thread is added after it
        for (std::size_t i = 1; i != threads_.size(); ++i) threads_[i].join();
        ::close(listener_);
    }

    [[nodiscard]] const std::string& port() const { return port_; }
    void break_next(fault f)
    {
        released_ = false;
        next_ = f;
    }
    /// Sends the late request, and returns the server's reply to it.
    [[nodiscard]] std::string release()
    {
        late_done_ = false;
        released_ = true;
        while (!late_done_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return late_reply_;
    }

private:
    static constexpr int tick = 20;  // milliseconds

    static sockaddr_in loopback(int port)
    {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(static_cast<std::uint16_t>(port));
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return at;
    }

    void accept_all()
    {
        while (!over_) {
            pollfd p{.fd = listener_, .events = POLLIN, .revents = 0};
            if (::poll(&p, 1, tick) != 1) continue;
            const int client = ::accept(listener_, nullptr, nullptr);
            threads_.emplace_back([this, client] { pass(client); });
        }
    }

    static bool write_all(int to, std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t n = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
        return true;
    }

    /// All bytes until no more arrive for some time.
    static std::string read_rest(int from)
    {
        std::string all;
        char buffer[4'096];
        for (pollfd p{.fd = from, .events = POLLIN, .revents = 0}; ::poll(&p, 1, 5 * tick) == 1;) {
            const ssize_t n = ::recv(from, buffer, sizeof buffer, 0);
            if (n <= 0) break;
            all.append(buffer, static_cast<std::size_t>(n));
        }
        return all;
    }

    void pass(int client)
    {
        const int server = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at = loopback(server_);
        if (::connect(server, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0)
            pass_between(client, server);
        ::close(client);
        ::close(server);
    }

    void pass_between(int client, int server)
    {
        std::string held;  // the request until its EXEC, if it is to be broken
        while (!over_) {
            pollfd p[]{{.fd = client, .events = POLLIN, .revents = 0},
                       {.fd = server, .events = POLLIN, .revents = 0}};
            if (::poll(p, 2, tick) <= 0) continue;
            char buffer[65'536];
            if (p[1].revents != 0) {
                const ssize_t n = ::recv(server, buffer, sizeof buffer, 0);
                if (n <= 0 || !write_all(client, {buffer, static_cast<std::size_t>(n)})) return;
            }
            if (p[0].revents == 0) continue;
            const ssize_t n = ::recv(client, buffer, sizeof buffer, 0);
            if (n <= 0) return;
            const std::string_view bytes(buffer, static_cast<std::size_t>(n));
            // The first commands of a connection have an empty transaction.
            const bool batch = held.empty() && bytes.find("XADD") != bytes.npos;
            if (next_ == fault::none || (held.empty() && !batch)) {
                if (!write_all(server, bytes)) return;
                continue;
            }
            held += bytes;
            const std::size_t end = held.find("EXEC\r\n");
            if (end == held.npos) continue;
            return broken(next_.exchange(fault::none), server, held, end);
        }
    }

    void broken(fault f, int server, const std::string& held, std::size_t exec)
    {
        if (f == fault::request) (void)write_all(server, held.substr(0, exec));
        if (f == fault::reply) {
            (void)write_all(server, held);
            (void)read_rest(server);
        }
        if (f != fault::late) return;
        while (!released_ && !over_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        (void)write_all(server, held);
        late_reply_ = read_rest(server);
        late_done_ = true;
    }

    int server_;
    int listener_ = -1;
    std::string port_{};
    std::atomic<fault> next_ = fault::none;
    std::atomic<bool> over_ = false;
    std::atomic<bool> released_ = false;
    std::atomic<bool> late_done_ = false;
    std::string late_reply_{};
    std::vector<std::thread> threads_{};
};

}  // namespace redis_test

#endif  // WAYBILL_TESTS_REDIS_RELAY_HPP

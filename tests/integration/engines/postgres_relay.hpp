// SPDX-License-Identifier: MIT
//
// postgres_relay: forwards a connection until its first COMMIT, and cuts it there.

#ifndef WAYBILL_TESTS_POSTGRES_RELAY_HPP
#define WAYBILL_TESTS_POSTGRES_RELAY_HPP

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace postgres_test {

class relay {
public:
    enum class cut { request, answer };

    /// Forwards to the server at this address, one connection at a time. Connections after the one
    /// that was cut are forwarded without a cut.
    relay(std::string where, cut side) : where_(std::move(where)), side_(side)
    {
        listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at = loopback(0);
        socklen_t size = sizeof at;
        if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
            ::listen(listener_, 5) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
            throw std::runtime_error("the relay has no port");
        }
        port_ = ntohs(at.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    relay(const relay&) = delete;
    relay& operator=(const relay&) = delete;
    ~relay()
    {
        over_ = true;
        thread_.join();
        ::close(listener_);
    }

    [[nodiscard]] std::string where() const
    {
        return where_ + " sslmode=disable gssencmode=disable port=" + std::to_string(port_);
    }

private:
    static sockaddr_in loopback(std::uint16_t port)
    {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        at.sin_port = htons(port);
        return at;
    }

    void serve()
    {
        while (!over_) {
            pollfd waiting{listener_, POLLIN, 0};
            if (::poll(&waiting, 1, 20) != 1) continue;
            const int client = ::accept(listener_, nullptr, nullptr);
            const int server = ::socket(AF_INET, SOCK_STREAM, 0);
            const std::size_t number = where_.find("port=") + 5;
            const sockaddr_in at =
                loopback(static_cast<std::uint16_t>(std::stoi(where_.substr(number))));
            if (::connect(server, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) {
                pass(client, server);
            }
            ::close(client);
            ::close(server);
        }
    }

    void pass(int client, int server)
    {
        constexpr std::string_view commit("COMMIT", 7);  // with its NUL: a BEGIN contains COMMITTED
        bool commit_seen = false;
        while (!over_) {
            std::array<pollfd, 2> ends{{{client, POLLIN, 0}, {server, POLLIN, 0}}};
            if (::poll(ends.data(), ends.size(), 20) < 1) continue;
            for (const bool from_server : {false, true}) {
                if (ends[from_server].revents == 0) continue;
                std::array<char, 65'536> some;
                const ssize_t n =
                    ::recv(from_server ? server : client, some.data(), some.size(), 0);
                if (n <= 0) return;
                const std::string_view bytes(some.data(), static_cast<std::size_t>(n));
                if (!from_server && !done_ && bytes.find(commit) != bytes.npos) {
                    done_ = true;
                    commit_seen = true;
                    if (side_ == cut::request) return;
                } else if (from_server && commit_seen) {
                    return;
                }
                ::send(from_server ? client : server, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            }
        }
    }

    std::string where_;
    cut side_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    bool done_ = false;
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace postgres_test

#endif  // WAYBILL_TESTS_POSTGRES_RELAY_HPP

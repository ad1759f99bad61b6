// SPDX-License-Identifier: MIT
//
// cutting_proxy: a TCP proxy on 127.0.0.1 that closes connections at random.
//
//     engines_test::cutting_proxy proxy(4222, {.shortest = 100ms, .longest = 600ms});
//     connect_to("127.0.0.1", proxy.port());
//     proxy.cuts();                                     // of a connection that was open
//
// At each cut it closes both ends of one connection with RST. Bytes that it has received and not
// forwarded yet are lost, so a request can arrive in part, and a response can be lost.

#ifndef WAYBILL_TESTS_ENGINES_CUTTING_PROXY_HPP
#define WAYBILL_TESTS_ENGINES_CUTTING_PROXY_HPP

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <list>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.hpp"

namespace engines_test {

class cutting_proxy {
public:
    struct pauses {
        std::chrono::milliseconds shortest{100};
        std::chrono::milliseconds longest{600};
    };

    cutting_proxy(std::uint16_t to, pauses p) : to_(to), pauses_(p)
    {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_in at = loopback(0);
        socklen_t size = sizeof at;
        if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
            ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
            throw std::runtime_error("the proxy has no port");
        }
        port_ = ntohs(at.sin_port);
        thread_ = std::thread([this] { run(); });
    }
    cutting_proxy(const cutting_proxy&) = delete;
    cutting_proxy& operator=(const cutting_proxy&) = delete;
    ~cutting_proxy()
    {
        ends_ = true;
        thread_.join();
        while (!pairs_.empty()) close_pair(pairs_.begin());
        ::close(listener_);
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::uint64_t cuts() const noexcept { return cuts_; }
    /// Empty, or the text that there were fewer cuts.
    [[nodiscard]] std::string missing(std::uint64_t least) const
    {
        return at_least(cuts(), least, "cuts");
    }

private:
    /// Two connections, and the bytes on the way from each to the other one.
    struct pair {
        int end[2]{-1, -1};
        std::string buffer[2]{};
        bool closed = false;
    };

    static constexpr std::size_t most_bytes = 1U << 18U;

    [[nodiscard]] static sockaddr_in loopback(std::uint16_t port)
    {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return at;
    }

    void close_pair(std::list<pair>::iterator p)
    {
        for (const int each : p->end) {
            const linger reset{.l_onoff = 1, .l_linger = 0};
            if (p->closed) ::setsockopt(each, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
            ::close(each);
        }
        pairs_.erase(p);
    }

    void accept_all()
    {
        for (;;) {
            const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (client < 0) return;
            const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            sockaddr_in at = loopback(to_);
            if (::connect(server, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) {
                ::close(client);
                ::close(server);
                continue;
            }
            const int on = 1;
            ::fcntl(server, F_SETFL, O_NONBLOCK);
            ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            pairs_.emplace_back();
            pairs_.back().end[0] = client;
            pairs_.back().end[1] = server;
        }
    }

    /// False if a connection has ended.
    [[nodiscard]] static bool forward(pair& p)
    {
        char bytes[65'536];
        for (int from = 0; from != 2; ++from) {
            std::string& buffer = p.buffer[from];
            while (buffer.size() < most_bytes) {
                const ssize_t n = ::recv(p.end[from], bytes, sizeof bytes, 0);
                if (n > 0) buffer.append(bytes, static_cast<std::size_t>(n));
                if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
                    (void)::send(p.end[1 - from], buffer.data(), buffer.size(), MSG_NOSIGNAL);
                    return false;
                }
                if (n < 0) break;
            }
            if (buffer.empty()) continue;
            const ssize_t n = ::send(p.end[1 - from], buffer.data(), buffer.size(), MSG_NOSIGNAL);
            if (n > 0) buffer.erase(0, static_cast<std::size_t>(n));
            if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
        }
        return true;
    }

    void run()
    {
        std::mt19937 dice(11);
        const auto pause = [&] {
            const auto span =
                static_cast<std::uint32_t>((pauses_.longest - pauses_.shortest).count() + 1);
            return pauses_.shortest + std::chrono::milliseconds(dice() % span);
        };
        auto next = clock::now() + pause();
        while (!ends_) {
            std::vector<pollfd> all{{listener_, POLLIN, 0}};
            for (const pair& p : pairs_) {
                for (int n = 0; n != 2; ++n) {
                    short events = 0;
                    if (p.buffer[n].size() < most_bytes) events |= POLLIN;
                    if (!p.buffer[1 - n].empty()) events |= POLLOUT;
                    all.push_back({p.end[n], events, 0});
                }
            }
            ::poll(all.data(), all.size(), 10);
            accept_all();
            for (auto p = pairs_.begin(); p != pairs_.end();) {
                const auto each = p++;
                if (!forward(*each)) close_pair(each);
            }
            if (clock::now() < next) continue;
            next = clock::now() + pause();
            if (pairs_.empty()) continue;
            auto victim = pairs_.begin();
            std::advance(victim, dice() % pairs_.size());
            victim->closed = true;
            close_pair(victim);
            ++cuts_;
        }
    }

    std::uint16_t to_;
    pauses pauses_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<bool> ends_ = false;
    std::atomic<std::uint64_t> cuts_ = 0;
    std::list<pair> pairs_{};
    std::thread thread_{};
};

}  // namespace engines_test

#endif  // WAYBILL_TESTS_ENGINES_CUTTING_PROXY_HPP

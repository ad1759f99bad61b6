// SPDX-License-Identifier: MIT
//
// socket: a TCP connection whose calls have a time limit.
//
//     engines::socket s("127.0.0.1", "25", 5s);
//     s.write("NOOP\r\n");
//     std::string reply = s.line();      // without \r\n
//
// Failures throw socket_error: no such host, no connection, no reply in time, or the other end has
// closed the connection. After that it is unknown how much of the written data has arrived.

#ifndef WAYBILL_EXAMPLES_ENGINES_SOCKET_HPP
#define WAYBILL_EXAMPLES_ENGINES_SOCKET_HPP

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace engines {

struct socket_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class socket {
public:
    using clock = std::chrono::steady_clock;

    socket(const std::string& host, const std::string& port, clock::duration patience)
        : patience_(patience)
    {
        addrinfo hints{};
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = SOCK_STREAM;
        addrinfo* found = nullptr;
        if (const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); code != 0) {
            throw socket_error(host + ": " + gai_strerror(code));
        }
        std::string why = "no address";
        for (const addrinfo* a = found; a && fd_ < 0; a = a->ai_next) why = try_connect(*a);
        freeaddrinfo(found);
        if (fd_ < 0) throw socket_error(host + ":" + port + ": " + why);
        const int on = 1;
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    socket(const socket&) = delete;
    socket& operator=(const socket&) = delete;
    ~socket() { drop(); }

    /// Writes the whole text.
    void write(std::string_view all)
    {
        const auto deadline = clock::now() + patience_;
        while (!all.empty()) all.remove_prefix(write_some(all, deadline));
    }

    /// Writes a part of the text, and returns its size. Waits until the socket is writable.
    std::size_t write_some(std::string_view all, clock::time_point deadline)
    {
        for (;;) {
            const ssize_t n = ::send(fd_, all.data(), all.size(), MSG_NOSIGNAL);
            if (n >= 0) return static_cast<std::size_t>(n);
            if (errno != EAGAIN && errno != EINTR) fail("cannot write");
            wait(POLLOUT, deadline);
        }
    }

    /// The next line, without \r\n.
    [[nodiscard]] std::string line()
    {
        const auto deadline = clock::now() + patience_;
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n")) == std::string::npos) fill(deadline);
        std::string taken = buffer_.substr(0, end);
        buffer_.erase(0, end + 2);
        return taken;
    }

    /// Reads at most `n` bytes, and waits for the first. Returns 0 at the end of the connection.
    [[nodiscard]] std::size_t read_some(char* to, std::size_t n, clock::time_point deadline)
    {
        for (;;) {
            const ssize_t got = ::recv(fd_, to, n, 0);
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno != EAGAIN && errno != EINTR) fail("cannot read");
            wait(POLLIN, deadline);
        }
    }

    [[nodiscard]] clock::duration patience() const noexcept { return patience_; }

private:
    std::string try_connect(const addrinfo& a)
    {
        fd_ = ::socket(a.ai_family, a.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a.ai_protocol);
        if (fd_ < 0) return std::strerror(errno);
        int error = ::connect(fd_, a.ai_addr, a.ai_addrlen) == 0 ? 0 : errno;
        if (error == EINPROGRESS) {
            socklen_t size = sizeof error;
            if (!ready(POLLOUT, clock::now() + patience_)) error = ETIMEDOUT;
            else getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
        }
        if (error == 0) return {};
        drop();
        return std::strerror(error);
    }

    void drop() noexcept
    {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

    [[nodiscard]] bool ready(short what, clock::time_point deadline) const
    {
        using std::chrono::milliseconds;
        for (;;) {
            const auto left = std::chrono::ceil<milliseconds>(deadline - clock::now()).count();
            pollfd p{.fd = fd_, .events = what, .revents = 0};
            const int n = ::poll(&p, 1, left > 0 ? static_cast<int>(left) : 0);
            if (n > 0) return true;
            if (n == 0 && left <= 0) return false;
        }
    }
    void wait(short what, clock::time_point deadline) const
    {
        if (!ready(what, deadline)) throw socket_error("no response before the deadline");
    }

    void fill(clock::time_point deadline)
    {
        char more[16'384];
        const std::size_t n = read_some(more, sizeof more, deadline);
        if (n == 0) throw socket_error("the other end has closed the connection");
        buffer_.append(more, n);
    }

    [[noreturn]] static void fail(const char* what)
    {
        throw socket_error(std::string(what) + ": " + std::strerror(errno));
    }

    int fd_ = -1;
    clock::duration patience_;
    std::string buffer_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SOCKET_HPP

// SPDX-License-Identifier: MIT
//
// wire_line: the server's end of a connection: reads lines and writes replies, with a time limit.

#ifndef WAYBILL_EXAMPLES_OUTBOX_WIRE_LINE_HPP
#define WAYBILL_EXAMPLES_OUTBOX_WIRE_LINE_HPP

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace outbox {

class wire_line {
public:
    explicit wire_line(int fd) : fd_(fd) {}
    wire_line(const wire_line&) = delete;
    wire_line& operator=(const wire_line&) = delete;
    ~wire_line() { close(fd_); }

    /// The next line without \r\n. Nothing if the connection is closed or silent for a minute, or
    /// if the line is longer than `longest` bytes.
    [[nodiscard]] std::optional<std::string> line()
    {
        constexpr std::size_t longest = 65'536;
        std::size_t end = 0;
        while ((end = unread_.find("\r\n")) == std::string::npos) {
            if (unread_.size() > longest || !read_more()) return {};
        }
        std::string found = unread_.substr(0, end);
        unread_.erase(0, end + 2);
        return found;
    }

    /// Returns false if the connection is closed.
    bool say(std::string_view text) const
    {
        const std::string all = std::string(text) + "\r\n";
        const ssize_t n = send(fd_, all.data(), all.size(), MSG_NOSIGNAL);
        return n == static_cast<ssize_t>(all.size());
    }

private:
    [[nodiscard]] bool read_more()
    {
        constexpr int minute = 60'000;
        pollfd p{.fd = fd_, .events = POLLIN, .revents = 0};
        if (poll(&p, 1, minute) <= 0) return false;
        char more[16'384];
        const ssize_t n = recv(fd_, more, sizeof more, 0);
        if (n <= 0) return n < 0 && errno == EINTR;
        unread_.append(more, static_cast<std::size_t>(n));
        return true;
    }

    int fd_;
    std::string unread_{};
};

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_WIRE_LINE_HPP

// SPDX-License-Identifier: MIT
//
// http_client: requests and their answers by HTTP/1.1, over one connection that is kept.
//
//     engines::http_client http("127.0.0.1", "10002");
//     engines::http_answer a = http.ask("GET", "/path?query", {{"Accept", "text/plain"}}, "");
//     a.status          // 200
//     a.header("etag")  // names in small letters
//
// A server closes connections that lie still, and nobody is told before the next request. So a
// request whose connection is gone, and was there before it, is sent once more over a new one. All
// requests must be such that twice is as good as once. Whatever else fails throws `socket_error`;
// nobody knows then whether the request was carried out.
//
// There is one deadline for all of it, the second try included, and a bound on all that is read. So
// a server that says its answer letter by letter, or never comes to an end, is one that fails.

#ifndef WAYBILL_EXAMPLES_ENGINES_HTTP_CLIENT_HPP
#define WAYBILL_EXAMPLES_ENGINES_HTTP_CLIENT_HPP

#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "number.hpp"
#include "socket.hpp"

namespace engines {

struct http_answer {
    std::uint64_t status = 0;
    std::map<std::string, std::string, std::less<>> headers{};
    std::string body{};

    [[nodiscard]] bool ok() const noexcept { return status / 100 == 2; }
    [[nodiscard]] std::string header(std::string_view name) const
    {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
};

using http_headers = std::vector<std::pair<std::string_view, std::string>>;

class http_client {
public:
    http_client(std::string host, std::string port) : host_(std::move(host)), port_(std::move(port))
    {
    }

    [[nodiscard]] http_answer ask(std::string_view method, std::string_view target,
                                  const http_headers& headers, std::string_view body)
    {
        deadline_ = clock::now() + patience;
        const bool kept = connection_.has_value();
        try {
            return try_once(method, target, headers, body);
        } catch (const socket_error&) {
            drop();
            if (!kept) throw;
        }
        try {
            return try_once(method, target, headers, body);
        } catch (const socket_error&) {
            drop();
            throw;
        }
    }

private:
    using clock = socket::clock;

    static constexpr auto patience = std::chrono::seconds(10);
    static constexpr std::uint64_t most_bytes = 64 * 1'048'576;
    static constexpr std::uint64_t most_in_line = 65'536;
    static constexpr std::uint64_t most_headers = 200;

    void drop()
    {
        connection_.reset();
        read_.clear();
    }

    http_answer try_once(std::string_view method, std::string_view target,
                         const http_headers& headers, std::string_view body)
    {
        if (!connection_) connection_.emplace(host_, port_, patience);
        std::string head;
        head.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: ");
        head.append(host_).append(":").append(port_);
        for (const auto& [name, value] : headers) {
            head.append("\r\n").append(name).append(": ").append(value);
        }
        head.append("\r\nContent-Length: ").append(std::to_string(body.size()));
        write(head.append("\r\n\r\n"));
        write(body);
        http_answer a = read_head();
        a.body = read_body(a);
        if (a.header("connection") == "close") drop();
        return a;
    }

    void write(std::string_view all)
    {
        while (!all.empty()) all.remove_prefix(connection_->write_some(all, deadline_));
    }

    void read_more()
    {
        char more[16'384];
        const std::size_t n = connection_->read_some(more, sizeof more, deadline_);
        if (n == 0) throw socket_error("the other end has closed the connection");
        // Who never lets us wait is not stopped by a wait.
        if (clock::now() > deadline_) throw socket_error("no answer in time");
        read_.append(more, n);
    }

    std::string taken(std::size_t n, std::size_t behind)
    {
        std::string t = read_.substr(0, n);
        read_.erase(0, n + behind);
        return t;
    }

    /// The next line, without \r\n.
    std::string line()
    {
        std::size_t end = 0;
        while ((end = read_.find("\r\n")) == read_.npos) {
            if (read_.size() > most_in_line) throw socket_error("a line without an end");
            read_more();
        }
        return taken(end, 2);
    }

    std::string bytes(std::size_t n)
    {
        while (read_.size() < n) read_more();
        return taken(n, 0);
    }

    http_answer read_head()
    {
        const std::string first = line();
        const auto status = number_in(first, "HTTP/1.1 ", " ");
        if (!first.starts_with("HTTP/1.1 ") || !status) {
            throw socket_error("no answer by HTTP: " + first.substr(0, 100));
        }
        http_answer a{.status = *status};
        std::uint64_t count = 0;
        for (std::string h = line(); !h.empty(); h = line()) {
            if (++count > most_headers) throw socket_error("headers without an end");
            const std::size_t colon = h.find(':');
            if (colon == h.npos) throw socket_error("no header: " + h.substr(0, 100));
            const std::size_t value = h.find_first_not_of(" \t", colon + 1);
            std::string name = h.substr(0, colon);
            for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
            a.headers[name] = value == h.npos ? std::string() : h.substr(value);
        }
        return a;
    }

    std::string read_body(const http_answer& a)
    {
        if (a.status == 204 || a.status == 304) return {};
        if (a.header("transfer-encoding") == "chunked") return read_chunks();
        const auto size = number_in(a.header("content-length"));
        if (!size || *size > most_bytes) throw socket_error("an answer of unknown length");
        return bytes(*size);
    }

    std::string read_chunks()
    {
        std::string all;
        for (;;) {
            const std::string head = line();
            std::uint64_t size = 0;
            const auto read = std::from_chars(head.data(), head.data() + head.size(), size, 16);
            const bool large = size > most_bytes || all.size() + size > most_bytes;
            if (read.ptr == head.data() || large) throw socket_error("a chunk of no length");
            if (size == 0) break;
            all += bytes(size);
            if (!line().empty()) throw socket_error("a chunk that does not end");
        }
        while (!line().empty()) continue;  // headers that come behind
        return all;
    }

    std::string host_;
    std::string port_;
    std::optional<socket> connection_{};
    std::string read_{};  ///< And not yet asked for.
    clock::time_point deadline_{};
};

/// Everything but letters, digits and -._~ as %XX, as a part of a path or a query.
[[nodiscard]] inline std::string url_part(std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string out;
    for (const char c : text) {
        if (plain.find(c) != plain.npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    }
    return out;
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_HTTP_CLIENT_HPP

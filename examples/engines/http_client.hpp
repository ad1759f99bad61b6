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
        const bool kept = connection_.has_value();
        try {
            return try_once(method, target, headers, body);
        } catch (const socket_error&) {
            connection_.reset();
            if (!kept) throw;
        }
        try {
            return try_once(method, target, headers, body);
        } catch (const socket_error&) {
            connection_.reset();
            throw;
        }
    }

private:
    static constexpr std::uint64_t most_bytes = 64 * 1'048'576;

    http_answer try_once(std::string_view method, std::string_view target,
                         const http_headers& headers, std::string_view body)
    {
        if (!connection_) connection_.emplace(host_, port_, std::chrono::seconds(10));
        std::string head;
        head.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: ");
        head.append(host_).append(":").append(port_);
        for (const auto& [name, value] : headers) {
            head.append("\r\n").append(name).append(": ").append(value);
        }
        head.append("\r\nContent-Length: ").append(std::to_string(body.size()));
        connection_->write(head.append("\r\n\r\n"));
        connection_->write(body);
        http_answer a = read_head();
        a.body = read_body(a);
        if (a.header("connection") == "close") connection_.reset();
        return a;
    }

    http_answer read_head()
    {
        const std::string first = connection_->line();
        const auto status = number_in(first, "HTTP/1.1 ", " ");
        if (!first.starts_with("HTTP/1.1 ") || !status) {
            throw socket_error("no answer by HTTP: " + first.substr(0, 100));
        }
        http_answer a{.status = *status};
        for (std::string h = connection_->line(); !h.empty(); h = connection_->line()) {
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
        return connection_->bytes(*size);
    }

    std::string read_chunks()
    {
        std::string all;
        for (;;) {
            const std::string line = connection_->line();
            std::uint64_t size = 0;
            const auto read = std::from_chars(line.data(), line.data() + line.size(), size, 16);
            const bool large = size > most_bytes || all.size() + size > most_bytes;
            if (read.ptr == line.data() || large) throw socket_error("a chunk of no length");
            if (size == 0) break;
            all += connection_->bytes(size);
            if (!connection_->line().empty()) throw socket_error("a chunk that does not end");
        }
        while (!connection_->line().empty()) continue;  // headers that come behind
        return all;
    }

    std::string host_;
    std::string port_;
    std::optional<socket> connection_{};
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

// SPDX-License-Identifier: MIT
//
// depth_rabbitmq: what waits in a queue of RabbitMQ, by the HTTP API of its management plugin.
//
//     engines::rabbitmq_depth queue({.host = "127.0.0.1", .port = "15672", .user = "guest",
//                                    .password = "guest"}, "/", "orders");
//     engines::depth_reading r = queue.read();
//
// The figures are the broker's statistics, which it refreshes every five seconds unless it is told
// otherwise (collect_statistics_interval). A queue that has just been made has none yet and is
// unknown until then. The age is that of the message at the head, in whole seconds, if its sender
// gave it a timestamp.

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_RABBITMQ_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_RABBITMQ_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "depth.hpp"
#include "number.hpp"
#include "socket.hpp"
#include <waybill/core/result.hpp>

namespace engines {

class rabbitmq_depth {
public:
    rabbitmq_depth(server at, std::string vhost, std::string queue)
        : at_(std::move(at)), vhost_(std::move(vhost)), queue_(std::move(queue))
    {
    }

    [[nodiscard]] std::string name() const { return queue_; }

    [[nodiscard]] depth_reading read() const
    {
        try {
            socket s(at_.host, at_.port, at_.patience);
            return taken(ask(s));
        } catch (const socket_error& e) {
            return unknown(e.what());
        }
    }

private:
    struct reply {
        std::uint64_t status = 0;
        std::string body{};
    };

    /// HTTP/1.0: the answer comes in one piece, and nothing is expected of the connection after it.
    [[nodiscard]] reply ask(socket& s) const
    {
        std::string head = "GET /api/queues/" + escaped(vhost_) + "/" + escaped(queue_) +
                           " HTTP/1.0\r\nHost: " + at_.host + ":" + at_.port + "\r\n";
        if (!at_.user.empty()) {
            head += "Authorization: Basic " + base64(at_.user + ":" + at_.password) + "\r\n";
        }
        s.write(head + "\r\n");
        const std::string first = s.line();
        if (!first.starts_with("HTTP/1.")) throw socket_error("no answer by HTTP: " + first);
        reply r{.status = number_in(first, " ", " ").value_or(0)};
        std::optional<std::uint64_t> size;
        for (std::string h = s.line(); !h.empty(); h = s.line()) {
            for (char& c : h) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
            if (h.starts_with("content-length: ")) size = number_in(std::string_view(h).substr(16));
        }
        if (!size) throw socket_error("an answer of unknown length: " + first);
        r.body = s.bytes(*size);
        return r;
    }

    [[nodiscard]] depth_reading taken(const reply& r) const
    {
        if (r.status == 401) return unknown("the user or the password is not accepted");
        if (r.status == 404) return unknown("there is no such queue in virtual host " + vhost_);
        if (r.status != 200) return unknown("status " + std::to_string(r.status));
        const auto statistics = nlohmann::json::parse(r.body, nullptr, false);
        const auto number = [&statistics](const char* field) {
            std::optional<std::uint64_t> n;
            if (!statistics.is_object()) return n;
            const auto found = statistics.find(field);
            if (found != statistics.end() && found->is_number_unsigned())
                n = found->get<std::uint64_t>();
            return n;
        };
        const auto ready = number("messages_ready");
        const auto unacked = number("messages_unacknowledged");
        if (!ready || !unacked) return unknown("the broker has no figures of it");
        // The figures of a queue whose node is away are those of its last moment.
        for (const char* state : {"down", "crashed", "stopped"}) {
            if (statistics.contains("state") && statistics["state"] == state) return unknown(state);
        }
        depth d{.ready = *ready, .in_flight = *unacked};
        const auto head = number("head_message_timestamp");
        if (d.ready == 0) d.age = 0;
        else if (head) d.age = age_at(static_cast<std::int64_t>(*head));
        return d;
    }

    [[nodiscard]] waybill::unexpected<std::string> unknown(const std::string& why) const
    {
        return waybill::unexpected("RabbitMQ, queue " + queue_ + ": " + why);
    }

    /// As a part of a path: %2F for the slash that is the usual virtual host.
    [[nodiscard]] static std::string escaped(std::string_view text)
    {
        constexpr char digits[] = "0123456789ABCDEF";
        std::string out;
        for (const char c : text) {
            const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                               (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
            const auto byte = static_cast<unsigned char>(c);
            if (plain) out += c;
            else ((out += '%') += digits[byte / 16]) += digits[byte % 16];
        }
        return out;
    }

    [[nodiscard]] static std::string base64(std::string_view text)
    {
        constexpr char digits[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::string out;
        for (std::size_t at = 0; at < text.size(); at += 3) {
            const std::string_view three = text.substr(at, 3);
            std::uint32_t bits = 0;
            for (std::size_t i = 0; i != 3; ++i) {
                bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
            }
            for (std::size_t i = 0; i != 4; ++i) {
                out += i <= three.size() ? digits[bits >> (18 - 6 * i) & 63] : '=';
            }
        }
        return out;
    }

    server at_;
    std::string vhost_;
    std::string queue_;
};

static_assert(depth_source<rabbitmq_depth>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_RABBITMQ_HPP

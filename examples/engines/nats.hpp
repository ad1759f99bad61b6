// SPDX-License-Identifier: MIT
//
// nats: batches as messages on a subject, each of them NDJSON lines in one payload.
//
// It speaks the client protocol over a plain socket, so there is nothing to install:
//
//     engines::nats subject("127.0.0.1", "4222", "mails");
//     engines::manual m = subject.about();            // max_payload, from the server's INFO
//     waybill::send_outcome o = subject.send(lines);  // a span of string_views
//
// A payload counts as its bytes, each line with its newline. A publish has no answer of its own;
// the PING behind it has, and when its PONG is there the server has dealt with the publish. What
// the server then does with it is plain NATS: whoever listens gets it. A stream needs JetStream.

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "socket.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>

namespace engines {

/// What a publish and the ping behind it can be answered with: the first words of an -ERR, in
/// whatever case.
inline constexpr std::array nats_answers{
    answer{"pong", verdict::accepted},
    answer{"maximum payload violation", verdict::too_large},
    answer{"maximum connections exceeded", verdict::throttled},
    answer{"maximum account active connections exceeded", verdict::throttled},
    answer{"unknown protocol operation", verdict::permanent},
    answer{"maximum control line exceeded", verdict::stop},
    answer{"invalid publish subject", verdict::stop},
    answer{"invalid subject", verdict::stop},
    answer{"permissions violation", verdict::stop},
    answer{"authorization violation", verdict::stop},
    answer{"authorization timeout", verdict::stop},
    answer{"authentication timeout", verdict::stop},
    answer{"authentication revoked", verdict::stop},
    answer{"user authentication expired", verdict::stop},
    answer{"account authentication expired", verdict::stop},
    answer{"secure connection - tls required", verdict::stop},
    answer{"attempted to connect to", verdict::stop},  // a route, gateway or leaf node port
    answer{"slow consumer", verdict::unknown},         // these may come behind a publish
    answer{"stale connection", verdict::unknown},      // that has been dealt with already
    answer{"server shutdown", verdict::unknown},
    // No PONG in time, or a connection that broke once the publish was on its way: unknown.
};

class nats {
public:
    nats(std::string host, std::string port, std::string subject)
        : host_(std::move(host)), port_(std::move(port)), subject_(std::move(subject))
    {
    }

    /// Throws socket_error if nobody is there.
    [[nodiscard]] manual about()
    {
        connect();
        return {{.bytes = payload_}, true};
    }

    /// What a body takes of the limit.
    [[nodiscard]] static std::uint64_t size_of(std::uint64_t body) { return body + 1; }

    [[nodiscard]] waybill::send_outcome send(std::span<const std::string_view> bodies,
                                              std::uint64_t = 0)
    {
        try {
            connect();
        } catch (const socket_error& e) {
            said_ = e.what();
            connection_.reset();
            const verdict v = verdict_of(said_);
            const bool answered = v == verdict::stop || v == verdict::throttled;
            return answered ? outcome_of(v, said_) : not_connected(said_);
        }
        publish_.clear();
        for (const std::string_view b : bodies) publish_.append(b) += '\n';
        const std::uint64_t bytes = publish_.size();
        const bool within = bytes <= payload_;
        verdict v = verdict::unknown;
        try {
            connection_->write("PUB " + subject_ + " " + std::to_string(bytes) + "\r\n");
            // A server that refuses does so at that line and hangs up. Were the payload on its way
            // then, the answer could be lost in the reset of the connection.
            if (within) connection_->write(publish_ += "\r\nPING\r\n");
            v = verdict_of(answered());
        } catch (const socket_error& e) {
            said_ = e.what();
            connection_.reset();
            // Without its payload a publish is nothing.
            return within ? waybill::send_outcome(waybill::unknown{}) : not_connected(said_);
        }
        const waybill::send_outcome o = outcome_of(v, said_, {.actual = bytes, .limit = payload_});
        if (v != verdict::accepted) connection_.reset();  // after most errors the server hangs up
        return o;
    }

    /// The last answer in the server's words, or why there was none.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

private:
    void connect()
    {
        if (connection_) return;
        connection_.emplace(host_, port_, std::chrono::seconds(10));
        const std::string info = connection_->line();
        if (!info.starts_with("INFO ")) throw socket_error("no NATS server: " + info);
        learn(info);
        connection_->write(
            "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":false,"
            "\"name\":\"waybill\",\"lang\":\"c++\",\"version\":\"0\",\"protocol\":1}\r\nPING\r\n");
        if (answered() != "PONG") throw socket_error(said_);
    }

    /// What comes next that is an answer to us.
    [[nodiscard]] const std::string& answered()
    {
        for (;;) {
            said_ = connection_->line();
            if (said_.starts_with("INFO ")) learn(said_);
            else if (said_ == "PING") connection_->write("PONG\r\n");
            else if (said_ != "+OK") return said_;
        }
    }

    /// -ERR 'Permissions Violation for Publish to "mails"'
    [[nodiscard]] static verdict verdict_of(std::string_view said)
    {
        constexpr std::string_view error = "-ERR '";
        if (said.starts_with(error)) said.remove_prefix(error.size());
        const auto same = [](char known, char c) {
            return known == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
        };
        for (const answer& a : nats_answers) {
            const std::string_view first = said.substr(0, a.code.size());
            if (std::equal(a.code.begin(), a.code.end(), first.begin(), first.end(), same)) {
                return a.means;
            }
        }
        return verdict::unknown;
    }

    void learn(std::string_view info)
    {
        payload_ = number_behind(info, "\"max_payload\":").value_or(payload_);
    }

    std::string host_;
    std::string port_;
    std::string subject_;
    std::optional<socket> connection_{};
    std::uint64_t payload_ = waybill::unlimited;
    std::string publish_{};
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_HPP

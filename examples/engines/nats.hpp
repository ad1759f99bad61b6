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
// the server then does with it is core NATS: whoever listens gets it, a stream of JetStream among
// them, and nothing is kept for anybody else. Each publish names an inbox for answers, so a server
// of 2.2 or later says it when nobody listens at all: 503, and the sender stops.

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "number.hpp"
#include "socket.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>
#include <waybill/wire/error_codes_brokers.hpp>

namespace engines {

/// What goes before waybill::wire::nats_errors: answers to a publish and the ping behind it, what
/// stands between the quotes of an -ERR, and that without the name of a subject at its end.
inline constexpr error_code nats_own[]{
    {"PONG", answer::accepted},
    // Nobody listens: what is published then is gone.
    {"503", answer::infrastructure},
    // They name the subject, so no table has them.
    {"Permissions Violation for Publish to", answer::infrastructure},
    {"Permissions Violation for Publish with Reply of", answer::infrastructure},
    // A line is not parked for its subject here, as all lines have the same. A server that was
    // asked to be pedantic, which we do not, says the first of a publish that it then passes on.
    {"Invalid Publish Subject", answer::infrastructure},
    {"Invalid Subject", answer::infrastructure},
    // Told to whoever connects: somebody may hang up, so it is worth a few more tries.
    {"Maximum Connections Exceeded", answer::transient},
    {"maximum connections exceeded", answer::transient},
    {"maximum account active connections exceeded", answer::transient},
    // These may come behind a publish that has been dealt with already. Whoever has lost the right
    // to it hears that when we connect again.
    {"Slow Consumer", answer::outcome_unknown},
    {"Stale Connection", answer::outcome_unknown},
    {"Server Shutdown", answer::outcome_unknown},
    {"User Authentication Expired", answer::outcome_unknown},
    {"User Authentication Revoked", answer::outcome_unknown},
    {"Account Authentication Expired", answer::outcome_unknown},
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
            return not_connected(said_, answer_of(said_));
        }
        heard_ = true;
        publish_.clear();
        for (const std::string_view b : bodies) publish_.append(b) += '\n';
        const std::uint64_t bytes = publish_.size();
        const bool within = bytes <= payload_;
        answer a = answer::outcome_unknown;
        try {
            connection_->write("PUB " + subject_ + inbox_ + ' ' + std::to_string(bytes) + "\r\n");
            // A server that refuses does so at that line and hangs up. Were the payload on its way
            // then, the answer could be lost in the reset of the connection.
            if (within) connection_->write(publish_ += "\r\nPING\r\n");
            if (answered() == "PONG" && !heard_) {
                said_ = "503 no responders: nobody listens to " + subject_;
            }
            a = answer_of(said_);
        } catch (const socket_error& e) {
            said_ = e.what();
            connection_.reset();
            // Without its payload a publish is nothing.
            return within ? waybill::send_outcome(waybill::batch_sender::outcome_unknown{})
                          : not_connected(said_);
        }
        const waybill::send_outcome o = outcome_of(a, said_, {.actual = bytes, .limit = payload_});
        if (a != answer::accepted) connection_.reset();  // after most errors the server hangs up
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
            "\"name\":\"waybill\",\"lang\":\"c++\",\"version\":\"0\",\"protocol\":1,"
            "\"headers\":true,\"no_responders\":true}\r\nPING\r\n");
        if (answered() != "PONG") throw socket_error(said_);
        open_inbox(info);
    }

    /// Where the server says that nobody listens. Without one, as an old server has none and not
    /// everybody may have one, it cannot be known.
    void open_inbox(std::string_view info)
    {
        inbox_.clear();
        if (info.find("\"headers\":true") == info.npos) return;
        std::random_device dice;
        std::string name = " _INBOX.waybill.";
        name += std::to_string(dice()) + std::to_string(dice());
        connection_->write("SUB" + name + " 1\r\nPING\r\n");
        if (answered().starts_with("-ERR 'Permissions Violation for Subscription")) {
            name.clear();
            std::ignore = answered();
        }
        if (said_ != "PONG") throw socket_error(said_);
        inbox_ = name;
    }

    /// What comes next that is an answer to us.
    [[nodiscard]] const std::string& answered()
    {
        for (;;) {
            said_ = connection_->line();
            if (said_.starts_with("INFO ")) learn(said_);
            else if (said_ == "PING") connection_->write("PONG\r\n");
            else if (said_.starts_with("MSG ") || said_.starts_with("HMSG ")) take_reply();
            else if (said_ != "+OK") return said_;
        }
    }

    /// HMSG _INBOX.waybill.7 1 16 16, then the headers, and whatever a stream or a subscriber says.
    void take_reply()
    {
        const auto size = number_in(std::string_view(said_).substr(said_.rfind(' ') + 1));
        if (!size) throw socket_error("no NATS server: " + said_);
        if (connection_->bytes(*size + 2).starts_with("NATS/1.0 503")) heard_ = false;
    }

    /// PONG, or -ERR 'Permissions Violation for Publish to "mails"'
    [[nodiscard]] static answer answer_of(std::string_view said)
    {
        constexpr std::string_view error = "-ERR '";
        std::string_view code = said.substr(0, said.find(' '));
        if (said.starts_with(error) && said.ends_with('\'')) {
            code = said.substr(error.size(), said.size() - error.size() - 1);
            code = code.substr(0, code.find(" \""));
        }
        using waybill::wire::nats_errors;
        return waybill::wire::find(nats_own, nats_errors, code).value_or(answer::outcome_unknown);
    }

    void learn(std::string_view info)
    {
        payload_ = number_in(info, "\"max_payload\":", ",}").value_or(payload_);
    }

    std::string host_;
    std::string port_;
    std::string subject_;
    std::optional<socket> connection_{};
    std::uint64_t payload_ = waybill::unlimited;
    std::string inbox_{};  // with a space before it, or empty
    bool heard_ = true;    // as far as the server says
    std::string publish_{};
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_HPP

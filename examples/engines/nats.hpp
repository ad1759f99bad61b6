// SPDX-License-Identifier: MIT
//
// nats: publishes batches on a subject of core NATS, on nats.c. A batch is one message of NDJSON
// lines.
//
//     engines::nats subject("127.0.0.1", "4222", "mails");
//     engines::manual m = subject.about();            // max_payload, from the server's INFO
//     waybill::send_outcome o = subject.send(lines);  // a span of string_views
//
//   1. `accepted`: the server has processed the message, because it has replied to a PING that
//      follows it. Core NATS does not store it; its subscribers and JetStream streams receive it.
//   2. A server of version 2.2 or later reports a message without subscribers. It is not
//      `accepted`. If the user may not subscribe to an inbox, there is no such report.
//   3. A message above max_payload is refused by nats.c and not sent. A payload has the bytes of
//      its lines, each with its newline.
//   4. A message is sent at most once in a call: nats.c does not reconnect and does not send later.
//   5. A call takes at most about 20 s: 10 s to connect, 10 s for the reply to the PING.
//
// Status of nats.c             Meaning                                     Outcome
//  NATS_OK                       the server has replied to the PING          accepted
//  NATS_NO_RESPONDERS            503: the subject has no subscribers         failed, cancelled
//  NATS_MAX_PAYLOAD              more bytes than max_payload                 too_large
//  another one, not connected    as the text below; if it is in no table     failed, infrastructure
//  another one, after publish    as the text below; if it is in no table     outcome_unknown
//
// The text of the server's error is looked up in `nats_own`, then in waybill::wire::nats_errors:
//  Permissions Violation, Invalid Subject, Authorization Violation ...       failed, cancelled
//  Maximum Payload Violation (the server has reduced it)                     too_large
//  maximum connections exceeded (when connecting)                            failed, infrastructure
//  Stale Connection, Server Shutdown, Authentication Expired, Slow Consumer  outcome_unknown

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_HPP

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <nats/nats.h>

#include "nats_client.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>
#include <waybill/wire/error_codes_brokers.hpp>

namespace engines {

/// Rows that precede waybill::wire::nats_errors. The texts are those of nats.c: without quotes, and
/// here without the name of a subject at the end.
inline constexpr error_code nats_own[]{
    // The message is lost: it has no subscribers.
    {"503", answer::infrastructure},
    // These texts end with the subject, so the library's table does not have them.
    {"Permissions Violation for Publish to", answer::infrastructure},
    {"Permissions Violation for Publish with Reply of", answer::infrastructure},
    // The subject is the same for all lines, so no single line is the cause.
    {"Invalid Publish Subject", answer::infrastructure},
    {"Invalid Subject", answer::infrastructure},
    // When connecting: another client may disconnect, so a retry is useful.
    {"Maximum Connections Exceeded", answer::transient},
    {"maximum connections exceeded", answer::transient},
    {"maximum account active connections exceeded", answer::transient},
    // The server may have processed the message before it sends these errors. If the user has lost
    // the permission, the next connection fails with another error.
    {"Slow Consumer", answer::outcome_unknown},
    {"Stale Connection", answer::outcome_unknown},
    {"Server Shutdown", answer::outcome_unknown},
    {"User Authentication Expired", answer::outcome_unknown},
    {"User Authentication Revoked", answer::outcome_unknown},
    {"Account Authentication Expired", answer::outcome_unknown},
};

class nats {
public:
    nats(const std::string& host, const std::string& port, std::string subject)
        : subject_(std::move(subject)),
          client_({.urls = nats_url(host, port), .connect_wait = wait, .reconnect = false})
    {
    }

    /// Throws nats_error if there is no connection.
    [[nodiscard]] manual about()
    {
        if (connect() != NATS_OK) throw nats_error(said_);
        return {{.bytes = max_payload()}, true};
    }

    /// The bytes of a body in the payload.
    [[nodiscard]] static std::uint64_t size_of(std::uint64_t body) { return body + 1; }

    [[nodiscard]] waybill::send_outcome send(std::span<const std::string_view> bodies,
                                             std::uint64_t = 0)
    {
        if (connect() != NATS_OK) return not_connected(said_, answer_of(error_));
        payload_.clear();
        for (const std::string_view b : bodies) payload_.append(b) += '\n';
        const counted sizes{.actual = payload_.size(), .limit = max_payload()};
        const natsStatus s = publish();
        said_ = nats_text(s);
        if (s == NATS_MAX_PAYLOAD) return outcome_of(answer::too_large, said_, sizes);
        error_ = client_.last_error();
        // Only the inbox for the report of guarantee 2 is missing.
        if (error_.starts_with("Permissions Violation for Subscription")) error_.clear();
        answer a = answer::accepted;
        if (!error_.empty()) {
            said_ = error_;
            a = answer_of(error_);
        } else if (s == NATS_NO_RESPONDERS) {
            said_ = "503 no responders: there is no subscriber of " + subject_;
            a = answer_of(said_.substr(0, 3));
        } else if (s != NATS_OK) {
            a = answer::outcome_unknown;
        }
        // nats.c keeps the error of a connection, so the next call uses another connection.
        if (a != answer::accepted) close();
        return outcome_of(a, said_, sizes);
    }

    /// The text of the last error, or of the status.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

private:
    static constexpr std::chrono::seconds wait{10};

    [[nodiscard]] std::uint64_t max_payload() const
    {
        const std::int64_t bytes = natsConnection_GetMaxPayload(client_.connection());
        return bytes > 0 ? static_cast<std::uint64_t>(bytes) : waybill::unlimited;
    }

    void close()
    {
        subscription_.reset();
        client_.close();
    }

    /// Connects if there is no connection, and subscribes to an inbox.
    [[nodiscard]] natsStatus connect()
    {
        natsConnection* const before = client_.connection();
        if (before != nullptr && natsConnection_Status(before) == NATS_CONN_STATUS_CONNECTED)
            return NATS_OK;
        close();
        natsStatus s = client_.ready(wait);
        natsInbox* inbox = nullptr;
        if (s == NATS_OK) s = natsInbox_Create(&inbox);
        if (s == NATS_OK) {
            inbox_ = inbox;
            natsInbox_Destroy(inbox);
            s = natsConnection_SubscribeSync(out(subscription_), client_.connection(),
                                             inbox_.c_str());
        }
        if (s == NATS_OK) return s;
        error_ = nats_detail(s);
        said_ = client_.urls() + ": " + nats_text(s);
        close();
        return s;
    }

    /// NATS_NO_RESPONDERS if the server has reported it before its reply to the PING.
    [[nodiscard]] natsStatus publish()
    {
        if (payload_.size() > INT32_MAX) return NATS_MAX_PAYLOAD;
        natsStatus s =
            natsConnection_PublishRequest(client_.connection(), subject_.c_str(), inbox_.c_str(),
                                          payload_.data(), static_cast<int>(payload_.size()));
        if (s == NATS_OK)
            s = natsConnection_FlushTimeout(client_.connection(),
                                            std::chrono::milliseconds(wait).count());
        std::uint64_t replies = 0;
        if (s == NATS_OK) s = natsSubscription_QueuedMsgs(subscription_.get(), &replies);
        // Subscribers may reply, too. Such replies are discarded.
        for (; s == NATS_OK && replies != 0; --replies) {
            nats_message m;
            s = natsSubscription_NextMsg(out(m), subscription_.get(), 1);
        }
        return s;
    }

    /// Permissions Violation for Publish to "mails"
    [[nodiscard]] static answer answer_of(std::string_view error)
    {
        error = error.substr(0, error.find(" \""));
        using waybill::wire::nats_errors;
        return waybill::wire::find(nats_own, nats_errors, error).value_or(answer::outcome_unknown);
    }

    std::string subject_;
    nats_client client_;
    nats_subscription subscription_{nullptr, {&client_}};
    std::string inbox_{};
    std::string payload_{};
    std::string error_{};  // the server's own text
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_HPP

// SPDX-License-Identifier: MIT
//
// beanstalkd: batches for a tube. Each batch is one job, whose body is NDJSON lines. The text
// protocol is spoken over a socket, because no client library is needed for it.
//
//     engines::beanstalkd tube("127.0.0.1", "11300", "mails");
//     engines::manual m = tube.about();            // max-job-size of the server
//     waybill::send_outcome o = tube.send(lines);  // a span of string_views
//
//   1. A batch is stored as a whole or not at all.
//   2. The size of a job is exact: each line and its newline. The limit is the option -z of the
//      server, 65,535 by default.
//   3. Jobs of one priority leave the tube in the order of their arrival.
//   4. Without the binlog (-b), the server loses all jobs when it ends. With it, a server (1.12)
//      that is killed while it compacts the binlog can lose one accepted job.
//
// Reply                             Outcome
// INSERTED, BURIED                  accepted; a buried job waits for a kick
// JOB_TOO_BIG                       too large
// DRAINING, OUT_OF_MEMORY           throttled
// EXPECTED_CRLF, BAD_FORMAT, UNKNOWN_COMMAND
//                                   the sender stops: the server speaks another protocol
// INTERNAL_ERROR, no reply          unknown: stored or not
// no connection                     infrastructure; nothing was sent

#ifndef WAYBILL_EXAMPLES_ENGINES_BEANSTALKD_HPP
#define WAYBILL_EXAMPLES_ENGINES_BEANSTALKD_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "number.hpp"
#include "socket.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>

namespace engines {

/// All replies to a put, from the server's doc/protocol.txt. The library has no table of them.
inline constexpr error_code beanstalkd_own[]{
    {"INSERTED", answer::accepted},
    {"BURIED", answer::accepted},  // stored; it waits for a kick
    {"JOB_TOO_BIG", answer::too_large},
    {"DRAINING", answer::throttled},
    {"OUT_OF_MEMORY", answer::throttled},
    {"EXPECTED_CRLF", answer::infrastructure},  // the server speaks another protocol: each batch
    {"BAD_FORMAT", answer::infrastructure},     // would fail
    {"UNKNOWN_COMMAND", answer::infrastructure},
    {"INTERNAL_ERROR", answer::outcome_unknown},
    // No reply in time, or a connection that broke after the put was sent: unknown.
};

class beanstalkd {
public:
    beanstalkd(std::string host, std::string port, std::string tube)
        : host_(std::move(host)), port_(std::move(port)), tube_(std::move(tube))
    {
    }

    /// Throws socket_error if there is no connection.
    [[nodiscard]] manual about()
    {
        connect();
        connection_->write("stats\r\n");
        const std::string answered = connection_->line();
        const bool ok = answered.starts_with("OK ");
        const auto size = ok ? number_in(std::string_view(answered).substr(3)) : std::nullopt;
        if (!size) throw socket_error("stats: " + answered);
        const std::string stats = connection_->bytes(*size + 2);
        const auto most = number_in(stats, "\nmax-job-size: ", "\n");
        return {{.bytes = most.value_or(waybill::unlimited)}, true};
    }

    /// The bytes of a body that count against the limit.
    [[nodiscard]] static std::uint64_t size_of(std::uint64_t body) { return body + 1; }

    [[nodiscard]] waybill::send_outcome send(std::span<const std::string_view> bodies,
                                              std::uint64_t = 0)
    {
        try {
            connect();
        } catch (const socket_error& e) {
            said_ = e.what();
            connection_.reset();
            return not_connected(said_);
        }
        job_.clear();
        for (const std::string_view b : bodies) job_.append(b) += '\n';
        const std::uint64_t bytes = job_.size();
        job_ += "\r\n";
        try {
            constexpr int seconds_to_run = 60;
            connection_->write("put 0 0 " + std::to_string(seconds_to_run) + " " +
                               std::to_string(bytes) + "\r\n");
            connection_->write(job_);
            said_ = connection_->line();
        } catch (const socket_error& e) {
            said_ = e.what();
            connection_.reset();
            return waybill::batch_sender::outcome_unknown{};
        }
        const std::string_view code = std::string_view(said_).substr(0, said_.find(' '));
        const answer a =
            waybill::wire::find(beanstalkd_own, code).value_or(answer::outcome_unknown);
        if (a == answer::outcome_unknown) connection_.reset();
        return outcome_of(a, said_, {.actual = bytes});
    }

    /// The last reply of the server, or the reason why there was none.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

private:
    void connect()
    {
        if (connection_) return;
        connection_.emplace(host_, port_, std::chrono::seconds(10));
        connection_->write("use " + tube_ + "\r\n");
        const std::string answered = connection_->line();
        if (answered != "USING " + tube_) throw socket_error("use " + tube_ + ": " + answered);
    }

    std::string host_;
    std::string port_;
    std::string tube_;
    std::optional<socket> connection_{};
    std::string job_{};
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_BEANSTALKD_HPP

// SPDX-License-Identifier: MIT
//
// rabbitmq: batches of lines for a queue of RabbitMQ, with publisher confirms, on rabbitmq-c.
//
//     engines::rabbitmq queue({.at = {.host = "127.0.0.1", .port = "5672", .user = "guest",
//                              .password = "guest"}, .queue = "mails"}, "run-17");
//     engines::manual m = queue.about();            // at most 1,000 unconfirmed messages
//     waybill::send_outcome o = queue.send(lines, batch.attempt());     // lines: string_views
//
//   1. Each line is a persistent message. A line is accepted after basic.ack. For a quorum queue,
//      the message is then on the disks of a majority of its nodes.
//   2. A queue that is missing is declared as a durable quorum queue. A message without a queue
//      is returned (basic.return, mandatory) and is not accepted.
//   3. A message larger than all confirmed ones is published alone: no other message is in flight
//      when the server closes the channel because of its size.
//   4. `message-id` is "RUN-ATTEMPT-INDEX". A repetition of an attempt publishes only the messages
//      without a confirmation, under the same ids, so that readers can drop duplicates. Without
//      the number of an attempt, each call is an attempt of its own.
//   5. The server is waited for at most 10 s. A message without a confirmation is then unknown.
//
// Code                           Outcome
// basic.ack                      accepted
// basic.nack                     throttled: the queue is full (overflow=reject-publish), or has no
//                                leader. Nothing of the message is in the queue.
// 312 NO_ROUTE                   the sender stops: the queue was deleted
// 406 PRECONDITION_FAILED        permanent: the body exceeds max_message_size
// 403, 404, 530 ...              the sender stops: no permission, no virtual host
// 320 CONNECTION_FORCED          unknown, and the next connection decides: the server is stopping
// any other                      waybill::wire::rabbitmq_errors
// A code that closes the channel or the connection with several messages in flight is unknown.

#ifndef WAYBILL_EXAMPLES_ENGINES_RABBITMQ_HPP
#define WAYBILL_EXAMPLES_ENGINES_RABBITMQ_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <sys/time.h>

#include "depth.hpp"
#include "number.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>
#include <waybill/wire/error_codes_brokers.hpp>

namespace engines {

/// Codes that waybill::wire::rabbitmq_errors does not contain, or that have another meaning here.
inline constexpr error_code rabbitmq_own[]{
    {"basic.ack", answer::accepted},
    {"basic.nack", answer::throttled},
    // All lines have the same queue.
    {"NO_ROUTE", answer::infrastructure, 312},
    // Of a publication, this code has one cause: the size of the body.
    {"PRECONDITION_FAILED", answer::permanent, 406},
    // The message may have arrived before it.
    {"CONNECTION_FORCED", answer::outcome_unknown, 320},
};

/// A failed step of a connection. `code` is 0 if the server has not sent one.
struct rabbitmq_error : std::runtime_error {
    rabbitmq_error(const std::string& text, int code_) : std::runtime_error(text), code(code_) {}
    int code;
};

struct rabbitmq_address {
    server at{};
    std::string vhost = "/";
    std::string queue{};
};

/// A connection with one open channel.
class rabbitmq_connection {
public:
    static constexpr amqp_channel_t channel = 1;
    static constexpr std::chrono::seconds patience{10};

    /// Throws rabbitmq_error.
    explicit rabbitmq_connection(const rabbitmq_address& a) : c_(amqp_new_connection())
    {
        const timeval wait{.tv_sec = patience.count(), .tv_usec = 0};
        amqp_socket_t* const socket = c_ ? amqp_tcp_socket_new(c_.get()) : nullptr;
        if (!socket) throw rabbitmq_error("no memory for a connection", 0);
        const auto port = number_in(a.at.port);
        if (!port || *port > 65'535) {
            throw rabbitmq_error("the port is not a number from 1 to 65535: " + a.at.port, 0);
        }
        const int e =
            amqp_socket_open_noblock(socket, a.at.host.c_str(), static_cast<int>(*port), &wait);
        if (e != AMQP_STATUS_OK)
            throw rabbitmq_error(a.at.host + ':' + a.at.port + ": " + amqp_error_string2(e), 0);
        amqp_set_handshake_timeout(c_.get(), &wait);
        amqp_set_rpc_timeout(c_.get(), &wait);
        constexpr int heartbeat = 10;
        expect("login",
               amqp_login(c_.get(), a.vhost.c_str(), 0, AMQP_DEFAULT_FRAME_SIZE, heartbeat,
                          AMQP_SASL_METHOD_PLAIN, a.at.user.c_str(), a.at.password.c_str()));
        open_channel();
    }

    void open_channel()
    {
        amqp_channel_open(c_.get(), channel);
        expect("channel.open", amqp_get_rpc_reply(c_.get()));
    }

    [[nodiscard]] amqp_connection_state_t get() const noexcept { return c_.get(); }

    /// Throws rabbitmq_error if the reply is an error.
    void expect(std::string_view step, const amqp_rpc_reply_t& r) const
    {
        if (r.reply_type == AMQP_RESPONSE_NORMAL) return;
        const std::string text(step);
        if (r.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) throw closed(text, r.reply);
        const int e =
            r.reply_type == AMQP_RESPONSE_NONE ? AMQP_STATUS_SOCKET_ERROR : r.library_error;
        throw rabbitmq_error(text + ": " + amqp_error_string2(e), 0);
    }

    /// channel.close or connection.close.
    [[nodiscard]] static rabbitmq_error closed(const std::string& step, const amqp_method_t& m)
    {
        const std::string before = step.empty() ? step : step + ": ";
        if (m.id == AMQP_CHANNEL_CLOSE_METHOD) {
            const auto* const c = static_cast<const amqp_channel_close_t*>(m.decoded);
            return {before + std::to_string(c->reply_code) + ' ' + text_of(c->reply_text),
                    c->reply_code};
        }
        if (m.id == AMQP_CONNECTION_CLOSE_METHOD) {
            const auto* const c = static_cast<const amqp_connection_close_t*>(m.decoded);
            return {before + std::to_string(c->reply_code) + ' ' + text_of(c->reply_text),
                    c->reply_code};
        }
        return {before + "an unexpected method", 0};
    }

    [[nodiscard]] static std::string text_of(const amqp_bytes_t& b)
    {
        return {static_cast<const char*>(b.bytes), b.len};
    }

    /// Valid as long as the text.
    [[nodiscard]] static amqp_bytes_t bytes_of(std::string_view text)
    {
        return {text.size(), const_cast<char*>(text.data())};
    }

private:
    struct destroy {
        void operator()(amqp_connection_state_t c) const noexcept { amqp_destroy_connection(c); }
    };

    std::unique_ptr<amqp_connection_state_t_, destroy> c_;
};

class rabbitmq {
public:
    /// Bytes of a batch, and max_message_size of a server that is not configured otherwise.
    static constexpr std::uint64_t max_bytes = 134'217'728;
    /// Messages without a confirmation at one time.
    static constexpr std::uint64_t max_messages = 1'000;

    /// `run` begins each message-id.
    rabbitmq(rabbitmq_address a, std::string run) : at_(std::move(a)), run_(std::move(run)) {}

    /// Throws rabbitmq_error if there is no connection.
    [[nodiscard]] manual about()
    {
        connect();
        return {{.bytes = max_bytes, .items = max_messages}, true};
    }

    /// RabbitMQ's limit counts the body.
    [[nodiscard]] static std::uint64_t size_of(std::uint64_t body) { return body; }

    [[nodiscard]] waybill::send_outcome send(std::span<const std::string_view> bodies,
                                             std::optional<std::uint64_t> number = {})
    {
        // The sender's attempts count from 0.
        const std::uint64_t attempt = number.value_or(unnumbered_ - 1);
        if (!number) --unnumbered_;
        // Of an attempt that is repeated, the confirmed messages are not published again.
        if (attempt != attempt_ || found_.size() != bodies.size()) found_.assign(bodies.size(), {});
        for (std::optional<answer>& f : found_)
            if (f != answer::accepted) f.reset();
        attempt_ = attempt;
        try {
            connect();
        } catch (const rabbitmq_error& e) {
            said_ = e.what();
            connection_.reset();
            return not_connected(said_, answer_of(e.code));
        }
        for (std::size_t i = 0; i != bodies.size();) {
            try {
                for (; i != bodies.size(); ++i) publish(bodies[i], i);
                confirm(0);
            } catch (const rabbitmq_error& e) {
                if (!closed_by_one(e)) break;
                i = last_ + 1;
            }
        }
        return outcome();
    }

    /// The text of the last error, of the server.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

    /// Removes all messages from the queue and passes their bodies on, in order. Throws
    /// rabbitmq_error.
    void take_all(const std::function<void(std::string_view)>& take)
    {
        connect();
        for (;;) {
            amqp_maybe_release_buffers(connection_->get());
            const amqp_rpc_reply_t r = amqp_basic_get(connection_->get(), connection_->channel,
                                                      connection_->bytes_of(at_.queue), true);
            connection_->expect("basic.get", r);
            if (r.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) return;
            const message m(*connection_);
            take(m.body());
        }
    }

private:
    using clock = std::chrono::steady_clock;

    /// The content after basic.return or basic.get-ok.
    class message {
    public:
        explicit message(const rabbitmq_connection& c)
        {
            c.expect("a message", amqp_read_message(c.get(), c.channel, &m_, 0));
        }
        message(const message&) = delete;
        message& operator=(const message&) = delete;
        ~message() { amqp_destroy_message(&m_); }

        [[nodiscard]] std::string_view body() const
        {
            return {static_cast<const char*>(m_.body.bytes), m_.body.len};
        }
        [[nodiscard]] std::string id() const
        {
            return rabbitmq_connection::text_of(m_.properties.message_id);
        }

    private:
        amqp_message_t m_{};
    };

    void connect()
    {
        if (connection_) return;
        auto c = std::make_unique<rabbitmq_connection>(at_);
        declare(*c);
        amqp_confirm_select(c->get(), c->channel);
        c->expect("confirm.select", amqp_get_rpc_reply(c->get()));
        connection_ = std::move(c);
        in_flight_.clear();
        next_tag_ = 1;
    }

    /// A queue that exists is used as it is.
    void declare(rabbitmq_connection& c) const
    {
        const amqp_bytes_t queue = c.bytes_of(at_.queue);
        amqp_queue_declare(c.get(), c.channel, queue, true, false, false, false, amqp_empty_table);
        try {
            c.expect("queue.declare", amqp_get_rpc_reply(c.get()));
            return;
        } catch (const rabbitmq_error& e) {
            if (e.code != AMQP_NOT_FOUND) throw;
        }
        amqp_channel_close_ok_t reply{};
        amqp_send_method(c.get(), c.channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &reply);
        c.open_channel();
        amqp_table_entry_t type{};
        type.key = c.bytes_of("x-queue-type");
        type.value.kind = AMQP_FIELD_KIND_UTF8;
        type.value.value.bytes = c.bytes_of("quorum");
        amqp_queue_declare(c.get(), c.channel, queue, false, true, false, false, {1, &type});
        c.expect("queue.declare", amqp_get_rpc_reply(c.get()));
    }

    [[nodiscard]] std::string id_of(std::size_t index) const
    {
        return run_ + '-' + std::to_string(attempt_) + '-' + std::to_string(index);
    }

    void publish(std::string_view body, std::size_t index)
    {
        if (found_[index]) return;
        if (body.size() > max_size_) {
            found_[index] = answer::permanent;
            said_ = "a message of " + std::to_string(body.size()) +
                    " bytes exceeds max_message_size of " + std::to_string(max_size_);
            return;
        }
        if (!connection_) connect();
        const bool alone = body.size() > confirmed_size_;
        if (alone) confirm(0);
        const std::string id = id_of(index);
        amqp_basic_properties_t p{};
        p._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
        p.delivery_mode = AMQP_DELIVERY_PERSISTENT;
        p.message_id = connection_->bytes_of(id);
        in_flight_.emplace(next_tag_++, index);
        last_ = index;
        const int e = amqp_basic_publish(connection_->get(), connection_->channel, amqp_empty_bytes,
                                         connection_->bytes_of(at_.queue), true, false, &p,
                                         connection_->bytes_of(body));
        // The server may have sent the reason before it closed the connection.
        if (e != AMQP_STATUS_OK) confirm(0);
        if (alone) {
            confirm(0);
            if (found_[index] == answer::accepted) confirmed_size_ = body.size();
        } else {
            confirm(max_messages);
        }
    }

    /// Waits until at most `most` messages are in flight. Also reads frames that have arrived.
    void confirm(std::size_t most)
    {
        const auto until = clock::now() + rabbitmq_connection::patience;
        while (!in_flight_.empty()) {
            const auto left =
                in_flight_.size() > most
                    ? std::chrono::ceil<std::chrono::microseconds>(until - clock::now())
                    : std::chrono::microseconds(0);
            if (left.count() < 0) throw rabbitmq_error("no confirmation within 10 s", 0);
            const timeval wait{.tv_sec = left.count() / 1'000'000,
                               .tv_usec = left.count() % 1'000'000};
            amqp_frame_t frame;
            amqp_maybe_release_buffers(connection_->get());
            const int e = amqp_simple_wait_frame_noblock(connection_->get(), &frame, &wait);
            if (e == AMQP_STATUS_TIMEOUT && in_flight_.size() <= most) return;
            if (e == AMQP_STATUS_TIMEOUT) continue;
            if (e != AMQP_STATUS_OK) throw rabbitmq_error(amqp_error_string2(e), 0);
            if (frame.frame_type == AMQP_FRAME_METHOD) note(frame.payload.method);
        }
    }

    void note(const amqp_method_t& m)
    {
        if (m.id == AMQP_BASIC_ACK_METHOD) {
            const auto* const a = static_cast<const amqp_basic_ack_t*>(m.decoded);
            settle(a->delivery_tag, a->multiple, "basic.ack");
        } else if (m.id == AMQP_BASIC_NACK_METHOD) {
            const auto* const n = static_cast<const amqp_basic_nack_t*>(m.decoded);
            said_ = "basic.nack: the queue " + at_.queue + " takes no message at present";
            settle(n->delivery_tag, n->multiple, "basic.nack");
        } else if (m.id == AMQP_BASIC_RETURN_METHOD) {
            const auto* const r = static_cast<const amqp_basic_return_t*>(m.decoded);
            const int code = r->reply_code;
            said_ = std::to_string(code) + ' ' + rabbitmq_connection::text_of(r->reply_text) +
                    ": there is no queue " + at_.queue;
            const message returned(*connection_);
            for (const auto& [tag, index] : in_flight_)
                if (returned.id() == id_of(index)) found_[index] = answer_of(code);
        } else if (m.id == AMQP_CHANNEL_CLOSE_METHOD || m.id == AMQP_CONNECTION_CLOSE_METHOD) {
            throw rabbitmq_connection::closed({}, m);
        }
    }

    /// A returned message is acknowledged, too.
    void settle(std::uint64_t tag, bool multiple, std::string_view code)
    {
        const auto end = in_flight_.upper_bound(tag);
        auto first = multiple ? in_flight_.begin() : in_flight_.find(tag);
        if (first == in_flight_.end()) return;
        const answer a = *waybill::wire::find(rabbitmq_own, code);
        for (; first != end; first = in_flight_.erase(first))
            if (!found_[first->second]) found_[first->second] = a;
    }

    /// After an error: true if it is the outcome of one message, and the others can be published.
    [[nodiscard]] bool closed_by_one(const rabbitmq_error& e)
    {
        said_ = e.what();
        connection_.reset();
        const std::size_t in_flight = std::exchange(in_flight_, {}).size();
        if (in_flight != 1 || e.code == 0) return false;
        const answer a = answer_of(e.code);
        found_[last_] = a;
        const auto limit = number_in(said_ + '\n', "configured max size ", "\n");
        if (e.code == AMQP_PRECONDITION_FAILED && limit) max_size_ = *limit;
        return a == answer::permanent;
    }

    [[nodiscard]] static answer answer_of(int code)
    {
        using waybill::wire::rabbitmq_errors;
        return waybill::wire::find(rabbitmq_own, rabbitmq_errors, std::int64_t{code})
            .value_or(answer::outcome_unknown);
    }

    [[nodiscard]] waybill::send_outcome outcome()
    {
        faults_.clear();
        bool unknown = false;
        bool stops = false;
        bool differ = false;
        for (std::size_t i = 0; i != found_.size(); ++i) {
            unknown = unknown || !found_[i] || found_[i] == answer::outcome_unknown;
            stops = stops || found_[i] == answer::infrastructure;
            differ = differ || found_[i] != found_[0];
            if (found_[i] != answer::accepted)
                faults_.push_back(
                    {i, outcome_of(found_[i].value_or(answer::outcome_unknown), said_)});
        }
        if (unknown && !stops) return waybill::batch_sender::outcome_unknown{};
        if (differ) return waybill::batch_sender::partial{.failed = faults_};
        return outcome_of(*found_[0], said_);
    }

    rabbitmq_address at_;
    std::string run_;
    std::unique_ptr<rabbitmq_connection> connection_{};
    std::map<std::uint64_t, std::size_t> in_flight_{};  // from delivery tags to lines
    std::uint64_t next_tag_ = 1;
    std::uint64_t attempt_ = 0;
    std::uint64_t unnumbered_ = 0;                 // the last number of an attempt that had none
    std::size_t last_ = 0;                         // the line that was published last
    std::uint64_t confirmed_size_ = 0;             // of the largest accepted message
    std::uint64_t max_size_ = waybill::unlimited;  // max_message_size, after a refusal
    std::vector<std::optional<answer>> found_{};   // of each line of the attempt
    std::vector<waybill::batch_sender::entry_fault> faults_{};
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_RABBITMQ_HPP

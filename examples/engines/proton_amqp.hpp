// SPDX-License-Identifier: MIT
//
// proton_amqp: batches over one AMQP 1.0 link on Qpid Proton, in the format of Service Bus and
// Event Hubs.
//
//     engines::proton_amqp queue({.host = "127.0.0.1", .port = "5672", .queue = "mails"});
//     engines::manual m = queue.about();            // max-message-size, from the peer's attach
//     waybill::send_outcome o = queue.send(lines);  // a span of string_views
//
//   1. A batch is one transfer of message-format 0x80013700, with one data section for each
//      message. It has one outcome: the peer stores all of it or nothing.
//   2. With `plain` each line is a message with an outcome of its own, for peers that do not know
//      this format. A batch can then be accepted in part.
//   3. `size_of` is the exact size of a message in a batch.
//
// Outcome or condition                              Outcome of the batch
// accepted                                          accepted
// released, modified                                transient
// rejected, without a condition                     permanent
// amqp:not-allowed, amqp:not-implemented            the sender stops: so would the next batch
// amqp:connection:forced, amqp:link:detach-forced   unknown; the next connection decides
// no outcome in time, the connection breaks         unknown
// any other condition                               waybill::wire::azure_amqp_errors
// A transfer without an outcome on a closed link is unknown, also with a condition. Exceptions: the
// condition is "too large", or another receiver has taken the link.

#ifndef WAYBILL_EXAMPLES_ENGINES_PROTON_AMQP_HPP
#define WAYBILL_EXAMPLES_ENGINES_PROTON_AMQP_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proton/codec.h>
#include <proton/message.h>

#include "amqp_link.hpp"
#include "socket.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>
#include <waybill/wire/error_codes_azure.hpp>

namespace engines {

/// Rows that precede waybill::wire::azure_amqp_errors: outcomes of a delivery, and conditions of a
/// rejection or of a closed link, session or connection.
inline constexpr error_code amqp_own[]{
    // These are no errors, so no table of errors contains them.
    {"accepted", answer::accepted},
    {"released", answer::transient},
    {"modified", answer::transient},
    {"rejected", answer::permanent},  // without a condition
    // Service Bus Premium, for a batch above 1 MiB.
    {"amqp:not-allowed", answer::too_large, {}, "received a batch message with no data in it"},
    // No single line is the cause: the next one is not allowed, either. For example, the peer does
    // not know batches, or the user has no permission.
    {"amqp:not-allowed", answer::infrastructure},
    {"amqp:not-implemented", answer::infrastructure},
    // Sent by a broker that shuts down. A later connection can succeed.
    {"amqp:connection:forced", answer::outcome_unknown},
    {"amqp:link:detach-forced", answer::outcome_unknown},
    // No outcome in time, or a connection that broke after the transfer was sent: unknown. The same
    // holds for a transfer without an outcome on a closed link, with any condition.
    // Exceptions: the condition is "too large", or another receiver has taken the link.
};

class proton_amqp {
public:
    enum class style { batched, plain };

    explicit proton_amqp(amqp_address a, style s = style::batched)
        : at_(std::move(a)), style_(s), message_(pn_message())
    {
    }

    /// Throws socket_error if there is no connection or no such queue.
    [[nodiscard]] manual about()
    {
        connect();
        const std::uint64_t most = link_->largest() == 0 ? waybill::unlimited : link_->largest();
        if (style_ == style::plain) return {{.single = most}, true};
        return {{.bytes = most}, true};
    }

    /// The bytes of a body that count against the limit: a message with an empty header and empty
    /// properties, as encoded by Proton, in a data section.
    [[nodiscard]] static std::uint64_t size_of(std::uint64_t body)
    {
        const auto section = [](std::uint64_t n) { return n + (n < 256 ? 5U : 8U); };
        return section(8 + section(body));
    }

    [[nodiscard]] waybill::send_outcome send(std::span<const std::string_view> bodies,
                                             std::uint64_t = 0)
    {
        try {
            connect();
        } catch (const socket_error& e) {
            const answer a = meaning(why_);
            disconnect(e.what());
            return not_connected(said_, a);
        }
        try {
            return style_ == style::batched ? send_as_one(bodies) : send_each(bodies);
        } catch (const socket_error& e) {
            disconnect(e.what());
            return waybill::batch_sender::outcome_unknown{};
        }
    }

    /// The last outcome with the peer's text, or the reason why there was none.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

private:
    struct no_message {
        void operator()(pn_message_t* m) const { pn_message_free(m); }
    };

    waybill::send_outcome send_as_one(std::span<const std::string_view> bodies)
    {
        transfer_.clear();
        for (const std::string_view b : bodies) put_section(encoded(b));
        if (bodies.size() == 1) transfer_ = encoded(bodies.front());  // one message is no batch
        pn_delivery_t* const d = link_->put(
            transfer_, bodies.size() == 1 ? amqp_link::format::message : amqp_link::format::batch);
        const answer a = answer_to(d);
        pn_delivery_settle(d);
        counted c{.actual = transfer_.size(), .limit = {}};
        if (link_->largest() != 0) c.limit = link_->largest();
        return outcome_of(a, said_, reported(waybill::wire::dialect::azure_amqp, said_, c));
    }

    waybill::send_outcome send_each(std::span<const std::string_view> bodies)
    {
        std::vector<pn_delivery_t*> sent;
        for (const std::string_view b : bodies) {
            sent.push_back(link_->put(encoded(b), amqp_link::format::message));
        }
        faults_.clear();
        bool missing = false;
        std::string worst = "accepted";
        for (std::size_t i = 0; i != sent.size(); ++i) {
            const answer a = answer_to(sent[i]);
            missing = missing || a == answer::outcome_unknown || !link_->is_open();
            if (a != answer::accepted) {
                faults_.push_back({i, outcome_of(a, said_)});
                worst = said_;
            }
        }
        said_ = worst;
        for (pn_delivery_t* d : sent) pn_delivery_settle(d);
        if (missing) return waybill::batch_sender::outcome_unknown{};
        if (faults_.empty()) return waybill::batch_sender::accepted{};
        return waybill::batch_sender::partial{.failed = faults_};
    }

    /// The body as an encoded message. Valid until the next call.
    std::string_view encoded(std::string_view body)
    {
        pn_message_t* const m = message_.get();
        pn_message_clear(m);
        pn_message_set_inferred(m, true);
        pn_data_put_binary(pn_message_body(m), pn_bytes(body.size(), body.data()));
        if (scratch_.size() < body.size() + 64) scratch_.resize(body.size() + 64);
        std::size_t n = scratch_.size();
        if (pn_message_encode(m, scratch_.data(), &n) != 0) throw socket_error("cannot encode");
        return {scratch_.data(), n};
    }

    void put_section(std::string_view m)
    {
        const bool small = m.size() < 256;
        transfer_ += std::string_view("\0\x53\x75", 3);
        transfer_ += small ? '\xA0' : '\xB0';
        for (unsigned shift = small ? 8 : 32; shift != 0; shift -= 8) {
            transfer_ += static_cast<char>(m.size() >> (shift - 8) & 0xFFU);
        }
        transfer_ += m;
    }

    void connect()
    {
        if (link_ && link_->is_open()) return;
        link_.reset();
        link_.emplace(at_, std::chrono::seconds(10), why_);
    }

    void disconnect(std::string why)
    {
        said_ = std::move(why);
        link_.reset();
    }

    /// The outcome of a delivery.
    [[nodiscard]] answer answer_to(pn_delivery_t* d)
    {
        said_ = link_->outcome_from(d);
        const answer a = meaning(said_);
        const bool clear = a == answer::too_large || a == answer::ownership_lost;
        return clear || amqp_link::has_outcome(d) ? a : answer::outcome_unknown;
    }

    /// The meaning of an outcome or condition, with its text if there is one.
    [[nodiscard]] static answer meaning(std::string_view said)
    {
        using waybill::wire::azure_amqp_errors;
        const std::string_view code = said.substr(0, said.find(": "));
        return waybill::wire::find(amqp_own, azure_amqp_errors, code, said)
            .value_or(answer::outcome_unknown);
    }

    amqp_address at_;
    style style_;
    std::unique_ptr<pn_message_t, no_message> message_;
    std::string why_{};
    std::optional<amqp_link> link_{};
    std::string said_{};
    std::string transfer_{};
    std::string scratch_{};
    std::vector<waybill::batch_sender::entry_fault> faults_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_PROTON_AMQP_HPP

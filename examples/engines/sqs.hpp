// SPDX-License-Identifier: MIT
//
// sqs: batches by SendMessageBatch of Amazon SQS, in its JSON protocol over plain HTTP/1.1.
//
// Requests are not signed and not encrypted: this is for a stand-in on the same machine. To the
// real service the same body goes through its SDK, and the table below is good for that as well.
//
//     engines::sqs queue("127.0.0.1", "9324", "queue/mails", "run-7");
//     engines::manual m = queue.about();                  // MaximumMessageSize of the queue
//     waybill::send_outcome o = queue.send(lines, attempt);
//
// Ten entries at most; what counts is the sum of their bodies and attributes, of which there are
// none here, and not what JSON makes of them. A batch may be taken in part: entries fail by their
// Id. To a queue whose name ends in .fifo each entry has an id by which it is dropped if it comes
// twice.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQS_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQS_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "number.hpp"
#include "socket.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>
#include <waybill/wire/error_codes_aws.hpp>

namespace engines {

/// What goes before waybill::wire::sqs_errors and aws_common_errors, of a whole request.
inline constexpr error_code sqs_own[]{
    // Too large by itself, or something that the queue has no use for; so no table has it. The text
    // tells the first from the second, and is asked before.
    {"InvalidParameterValue", answer::permanent},
    // All requests here have the same parameters: no line is to blame.
    {"MissingParameter", answer::infrastructure},
    // No answer in time, a connection that broke, or an answer that is none of these: unknown.
};

/// The same of an entry under "Failed". Those cannot be enqueued, as the description of
/// SendMessageBatchResult says: so what may have arrived as a whole request has not as an entry.
/// Of a code that nobody knows, SenderFault tells whether there is any use in sending it again.
inline constexpr error_code sqs_entry_own[]{
    {"InternalError", answer::transient},
    {"InternalFailure", answer::transient},
    {"InvalidParameterValue", answer::permanent},
};

class sqs {
public:
    /// `item_range` tells this run's entries from those of any other, for queues that drop
    /// duplicates.
    sqs(std::string host, std::string port, std::string queue, std::string run)
        : host_(std::move(host)),
          port_(std::move(port)),
          queue_(std::move(queue)),
          run_(std::move(run))
    {
    }

    /// Throws socket_error if nobody is there, or there is no such queue.
    [[nodiscard]] manual about()
    {
        nlohmann::json ask{{"QueueUrl", url()}, {"AttributeNames", {"MaximumMessageSize"}}};
        connect();
        const reply r = request("GetQueueAttributes", ask.dump());
        if (r.status != 200) throw socket_error(said_);
        const std::string size = text_at(r.body.value("Attributes", nlohmann::json::object()),
                                         "MaximumMessageSize");
        return {{.bytes = number_in(size).value_or(1'048'576), .items = 10}, true};
    }

    /// What a body takes of the limit.
    [[nodiscard]] static std::uint64_t size_of(std::uint64_t body) { return body; }

    [[nodiscard]] waybill::send_outcome send(std::span<const std::string_view> bodies,
                                             std::uint64_t attempt)
    {
        faults_.clear();
        counted c{.actual = 0, .limit = {}};
        const std::string entries = written(bodies, attempt, *c.actual);
        if (faults_.size() == bodies.size())
            return waybill::batch_sender::partial{.failed = faults_};
        try {
            connect();
        } catch (const socket_error& e) {
            said_ = e.what();
            return not_connected(said_);
        }
        try {
            const reply r = request("SendMessageBatch", entries);
            if (r.status == 200) return entry_by_entry(r.body, bodies.size(), *c.actual);
            // Numbers of one entry: without it, the others would have been taken.
            const auto n = waybill::wire::read_refusal(dialect::sqs, said_);
            if (n && n->of == waybill::wire::extent::item)
                return waybill::batch_sender::too_large{};
            const answer a = meaning(sqs_own, r.error).value_or(answer::outcome_unknown);
            return outcome_of(a, said_, reported(dialect::sqs, said_, c));
        } catch (const socket_error& e) {
            said_ = e.what();
            connection_.reset();
            return waybill::batch_sender::outcome_unknown{};
        }
    }

    /// The last answer in the service's words, or why there was none.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

private:
    using dialect = waybill::wire::dialect;

    struct reply {
        std::uint64_t status = 0;
        std::string error{};
        nlohmann::json body{};
    };

    /// The request's JSON. A body that is no UTF-8 cannot be in it, and is a fault by itself.
    std::string written(std::span<const std::string_view> bodies, std::uint64_t attempt,
                        std::uint64_t& bytes)
    {
        auto all = nlohmann::json::array();
        for (std::size_t i = 0; i != bodies.size(); ++i) {
            nlohmann::json e{{"Id", std::to_string(i)}, {"MessageBody", bodies[i]}};
            try {
                static_cast<void>(e.dump());
            } catch (const nlohmann::json::type_error&) {
                faults_.push_back({i, waybill::fault_kind::permanent});
                said_ = "a line is not UTF-8";
                continue;
            }
            if (queue_.ends_with(".fifo")) {
                e["MessageGroupId"] = "waybill";
                e["MessageDeduplicationId"] =
                    run_ + "-" + std::to_string(attempt) + "-" + std::to_string(i);
            }
            bytes += bodies[i].size();
            all.push_back(std::move(e));
        }
        return nlohmann::json{{"QueueUrl", url()}, {"Entries", std::move(all)}}.dump();
    }

    waybill::send_outcome entry_by_entry(const nlohmann::json& body, std::size_t items,
                                         std::uint64_t bytes)
    {
        std::vector<bool> settled(items, false);
        for (const waybill::batch_sender::entry_fault& f : faults_)
            settled[f.index] = true;  // they were not sent
        const auto each = [&](const char* list, auto&& take) {
            const auto entries = body.find(list);
            if (entries == body.end() || !entries->is_array()) return;
            for (const nlohmann::json& e : *entries) {
                const auto i = number_in(text_at(e, "Id"));
                if (!i || *i >= items) continue;
                settled[*i] = true;
                take(*i, e);
            }
        };
        each("Successful", [](std::uint64_t, const nlohmann::json&) {});
        each("Failed", [&](std::uint64_t i, const nlohmann::json& e) {
            const std::string code = text_at(e, "Code");
            const bool ours = e.value("SenderFault", false);
            const answer otherwise = ours ? answer::permanent : answer::transient;
            const answer a = meaning(sqs_entry_own, code).value_or(otherwise);
            faults_.push_back({i, failure_of(a)});
            said_ = code + ": " + text_at(e, "Message");
        });
        for (const bool t : settled) {
            if (!t) return waybill::batch_sender::outcome_unknown{};
        }
        if (faults_.empty()) return waybill::batch_sender::accepted{.actual = bytes};
        return waybill::batch_sender::partial{.failed = faults_};
    }

    reply request(std::string_view action, const std::string& body)
    {
        connection_->write("POST /" + queue_ + " HTTP/1.1\r\nHost: " + host_ + ":" + port_ +
                           "\r\nContent-Type: application/x-amz-json-1.0"
                           "\r\nX-Amz-Target: AmazonSQS." + std::string(action) +
                           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
        connection_->write(body);
        const std::string first = connection_->line();
        if (!first.starts_with("HTTP/1.1 ")) throw socket_error("no answer by HTTP: " + first);
        reply r{.status = number_in(first, "HTTP/1.1 ", " ").value_or(0)};
        std::optional<std::uint64_t> size;
        bool closes = false;
        for (std::string h = connection_->line(); !h.empty(); h = connection_->line()) {
            for (char& c : h) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
            if (h.starts_with("content-length: ")) size = number_in(std::string_view(h).substr(16));
            closes = closes || h == "connection: close";
        }
        if (!size) throw socket_error("an answer of unknown length: " + first);
        r.body = nlohmann::json::parse(connection_->bytes(*size), nullptr, false);
        if (closes) connection_.reset();
        if (!r.body.is_object()) throw socket_error("an answer that is no JSON: " + first);
        const std::string type = text_at(r.body, "__type");
        r.error = type.substr(type.find('#') + 1);
        if (r.status != 200) said_ = r.error + ": " + text_at(r.body, "message");
        return r;
    }

    void connect()
    {
        if (!connection_) connection_.emplace(host_, port_, std::chrono::seconds(10));
    }

    [[nodiscard]] std::string url() const { return "http://" + host_ + ":" + port_ + "/" + queue_; }

    /// Codes have two names, of which the table has both.
    [[nodiscard]] static std::optional<answer> meaning(std::span<const error_code> own,
                                                       std::string_view code)
    {
        const auto a = waybill::wire::find(own, waybill::wire::sqs_errors, code);
        return a ? a : waybill::wire::find(waybill::wire::aws_common_errors, code);
    }

    [[nodiscard]] static std::string text_at(const nlohmann::json& j, const char* name)
    {
        if (!j.is_object()) return {};
        const auto found = j.find(name);
        return found != j.end() && found->is_string() ? found->get<std::string>() : std::string();
    }

    std::string host_;
    std::string port_;
    std::string queue_;
    std::string run_;
    std::optional<socket> connection_{};
    std::vector<waybill::batch_sender::entry_fault> faults_{};
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQS_HPP

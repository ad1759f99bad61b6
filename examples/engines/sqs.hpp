// SPDX-License-Identifier: MIT
//
// sqs: batches by SendMessageBatch of Amazon SQS, in its JSON protocol, by libcurl.
//
//     engines::sqs queue({.endpoint = "http://127.0.0.1:9324", .path = "queue/mails"}, "run-7");
//     engines::manual m = queue.about();                  // MaximumMessageSize of the queue
//     waybill::send_outcome o = queue.send(lines, attempt);
//
//  1. A batch is sent once by each call. A batch that may have arrived is `outcome_unknown`.
//  2. A batch may be accepted in part: entries fail by their index.
//  3. An entry to a queue whose name ends in .fifo has a deduplication id of its run, attempt and
//     index. The queue drops a second entry with the same id.
//  4. With `region` and keys, libcurl signs each request (Signature Version 4). Without keys,
//     requests are not signed: for a stand-in.
//  5. At most 10 entries. The size of a batch is the sum of its bodies; there are no attributes.
//
//     code, failure                              of a batch             of an entry
//     in sqs_own, sqs_entry_own                  that row               that row
//     in wire::sqs_errors, aws_common_errors     that row               that row
//     another code                               outcome_unknown        permanent if SenderFault,
//                                                                       otherwise transient
//     not in the response                        -                      outcome_unknown (the batch)
//     http_error, not sent                       failed, infrastructure
//     http_error, sent; no JSON                  outcome_unknown

#ifndef WAYBILL_EXAMPLES_ENGINES_SQS_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQS_HPP

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "http_client.hpp"
#include "number.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>
#include <waybill/core/result.hpp>
#include <waybill/wire/error_codes_aws.hpp>

namespace engines {

/// Rows of a whole batch that precede waybill::wire::sqs_errors and aws_common_errors.
inline constexpr error_code sqs_own[]{
    // An entry is too large, or is not valid for this queue. The text is read before this row.
    {"InvalidParameterValue", answer::permanent},
    // All requests have the same parameters: no entry is the cause.
    {"MissingParameter", answer::infrastructure},
};

/// Rows of an entry under "Failed". Such an entry was not enqueued (SendMessageBatchResult), also
/// with a code that leaves the outcome of a whole batch unknown.
inline constexpr error_code sqs_entry_own[]{
    {"InternalError", answer::transient},
    {"InternalFailure", answer::transient},
    {"InvalidParameterValue", answer::too_large, {}, "Message must be shorter than"},
    {"InvalidParameterValue", answer::permanent},
};

/// A queue: its URL is `endpoint`/`path`.
struct sqs_place {
    std::string endpoint{};  ///< http://HOST:PORT or https://HOST:PORT
    std::string path{};      ///< "123456789012/mails"
    std::string region{};    ///< For signed requests: "eu-west-1".
    std::string key_id{};    ///< AWS_ACCESS_KEY_ID. Empty: requests are not signed.
    std::string secret{};    ///< AWS_SECRET_ACCESS_KEY
    std::string token{};     ///< AWS_SESSION_TOKEN, of temporary keys.
    std::string ca_file{};   ///< See http_options.
};

/// The place with the region and the keys of the environment: AWS_REGION, AWS_ACCESS_KEY_ID,
/// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. The error names a variable that is missing.
[[nodiscard]] inline waybill::result<sqs_place, std::string> signed_by_environment(sqs_place at)
{
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    at.region = variable("AWS_REGION");
    at.key_id = variable("AWS_ACCESS_KEY_ID");
    at.secret = variable("AWS_SECRET_ACCESS_KEY");
    at.token = variable("AWS_SESSION_TOKEN");
    if (!at.key_id.empty() && (at.region.empty() || at.secret.empty())) {
        return waybill::unexpected(
            std::string("AWS_ACCESS_KEY_ID needs AWS_SECRET_ACCESS_KEY and AWS_REGION"));
    }
    return at;
}

class sqs {
public:
    /// `run` distinguishes deduplication ids of this run from those of other runs.
    sqs(sqs_place at, std::string run)
        : at_(std::move(at)), run_(std::move(run)), http_(at_.endpoint, options_of(at_))
    {
    }

    /// Throws http_error if there is no response, or the queue does not exist.
    [[nodiscard]] manual about()
    {
        const auto size = attributes({"MaximumMessageSize"})[0];
        return {{.bytes = size.value_or(1'048'576), .items = 10}, true};
    }

    /// The attributes of the queue with these names that are numbers; empty for another one. Throws
    /// as `about`.
    [[nodiscard]] std::vector<std::optional<std::uint64_t>> attributes(
        const std::vector<std::string>& names)
    {
        const nlohmann::json ask{{"QueueUrl", url()}, {"AttributeNames", names}};
        const reply r = request("GetQueueAttributes", ask.dump());
        if (r.status != 200) throw http_error(said_, true);
        const auto found = r.body.find("Attributes");
        std::vector<std::optional<std::uint64_t>> all;
        for (const std::string& n : names) {
            all.push_back(found == r.body.end() ? std::nullopt
                                                : number_in(text_at(*found, n.c_str())));
        }
        return all;
    }

    /// The bytes of a body that count against the limit.
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
            const reply r = request("SendMessageBatch", entries);
            if (r.status == 200) return entry_by_entry(r.body, bodies.size(), *c.actual);
            // The numbers of one entry: the other entries would be accepted without it.
            const auto n = waybill::wire::read_refusal(dialect::sqs, said_);
            if (n && n->of == waybill::wire::extent::item)
                return waybill::batch_sender::too_large{};
            const answer a = meaning(sqs_own, r.error, said_).value_or(answer::outcome_unknown);
            return outcome_of(a, said_, reported(dialect::sqs, said_, c));
        } catch (const http_error& e) {
            said_ = e.what();
            if (!e.sent) return not_connected(said_);
            return waybill::batch_sender::outcome_unknown{};
        }
    }

    /// The text of the last failure: of the service, or of the connection.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

private:
    using dialect = waybill::wire::dialect;

    struct reply {
        std::uint64_t status = 0;
        std::string error{};
        nlohmann::json body{};
    };

    [[nodiscard]] static http_options options_of(const sqs_place& at)
    {
        http_options o{.ca_file = at.ca_file};
        if (at.key_id.empty()) return o;
        o.user = at.key_id;
        o.password = at.secret;
        o.aws_sigv4 = "aws:amz:" + at.region + ":sqs";
        return o;
    }

    /// The request's JSON. A body that is not UTF-8 is left out, and fails alone.
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
                said_ = "a line is not UTF-8, which SQS requires";
                continue;
            }
            if (at_.path.ends_with(".fifo")) {
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
            said_ = code + ": " + text_at(e, "Message");
            const answer a = meaning(sqs_entry_own, code, said_).value_or(otherwise);
            faults_.push_back({i, outcome_of(a, said_)});
        });
        for (const bool t : settled) {
            if (!t) return waybill::batch_sender::outcome_unknown{};
        }
        if (faults_.empty()) return waybill::batch_sender::accepted{.actual = bytes};
        return waybill::batch_sender::partial{.failed = faults_};
    }

    reply request(std::string_view action, const std::string& body)
    {
        http_headers headers{{"Content-Type", "application/x-amz-json-1.0"},
                             {"X-Amz-Target", "AmazonSQS." + std::string(action)}};
        if (!at_.token.empty()) headers.emplace_back("X-Amz-Security-Token", at_.token);
        const http_answer a = http_.ask("POST", "/", headers, body);
        reply r{.status = a.status};
        r.body = nlohmann::json::parse(a.body, nullptr, false);
        if (!r.body.is_object()) {
            throw http_error(
                "status " + std::to_string(a.status) + " without JSON: " + a.body.substr(0, 100),
                true);
        }
        const std::string type = text_at(r.body, "__type");
        r.error = type.substr(type.find('#') + 1);
        if (r.status != 200) said_ = r.error + ": " + text_at(r.body, "message");
        return r;
    }

    [[nodiscard]] std::string url() const { return at_.endpoint + "/" + at_.path; }

    /// A code has two names. The table contains both.
    [[nodiscard]] static std::optional<answer> meaning(std::span<const error_code> own,
                                                       std::string_view code, std::string_view text)
    {
        const auto a = waybill::wire::find(own, waybill::wire::sqs_errors, code, text);
        return a ? a : waybill::wire::find(waybill::wire::aws_common_errors, code, text);
    }

    [[nodiscard]] static std::string text_at(const nlohmann::json& j, const char* name)
    {
        if (!j.is_object()) return {};
        const auto found = j.find(name);
        return found != j.end() && found->is_string() ? found->get<std::string>() : std::string();
    }

    sqs_place at_;
    std::string run_;
    http_client http_;
    std::vector<waybill::batch_sender::entry_fault> faults_{};
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQS_HPP

// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/fault.hpp>
#include <waybill/wire/error_codes.hpp>
#include <waybill/wire/error_codes_aws.hpp>
#include <waybill/wire/error_codes_azure.hpp>
#include <waybill/wire/error_codes_brokers.hpp>
#include <waybill/wire/error_codes_http.hpp>

namespace error_codes_test {

using waybill::fault_kind;
using waybill::wire::answer;
using waybill::wire::error_code;
using waybill::wire::error_table;
using waybill::wire::find;

namespace wire = waybill::wire;

namespace {

constexpr error_table tables[] = {
    wire::azure_amqp_errors,  wire::aws_common_errors,
    wire::sqs_errors,         wire::sns_errors,
    wire::kinesis_errors,     wire::firehose_errors,
    wire::eventbridge_errors, wire::cloudwatch_logs_errors,
    wire::kafka_errors,       wire::nats_errors,
    wire::jetstream_errors,   wire::rabbitmq_errors,
    wire::mqtt5_errors,       wire::http_errors,
    wire::grpc_errors,        wire::pubsub_errors,
};

constexpr answer answers[] = {
    answer::accepted,       answer::too_large,      answer::too_many,
    answer::throttled,      answer::transient,      answer::permanent,
    answer::infrastructure, answer::ownership_lost, answer::outcome_unknown,
};

constexpr bool whole(const error_table& t)
{
    if (t.service.empty() || t.as_of.size() != 7 || !t.source.starts_with("https://")) return false;
    if (t.codes.empty()) return false;
    for (const error_code& c : t.codes) {
        if (c.code.empty() || name(c.means) == "?") return false;
    }
    return true;
}

// Each row has an effect: no earlier row of its code or number has the same phrase, a part of it, or
// none.
constexpr bool no_twins(const error_table& t)
{
    for (std::size_t i = 0; i != t.codes.size(); ++i) {
        const error_code& b = t.codes[i];
        for (const error_code& a : t.codes.first(i)) {
            const bool same = a.code == b.code || (a.number && a.number == b.number);
            if (same && b.phrase.find(a.phrase) != std::string_view::npos) return false;
        }
    }
    return true;
}

constexpr bool all_are(bool (*what)(const error_table&))
{
    for (const error_table& each : tables) {
        if (!what(each)) return false;
    }
    return true;
}

}  // namespace

static_assert(all_are(whole));
static_assert(all_are(no_twins));

// The most frequent lookups, and the most frequent mistakes.
static_assert(find(wire::kafka_errors, 10) == answer::too_large);
static_assert(find(wire::kafka_errors, 18) == answer::too_large);
static_assert(find(wire::kafka_errors, 7) == answer::outcome_unknown, "a timeout is no refusal");
static_assert(find(wire::kafka_errors, 20) == answer::outcome_unknown, "written, but to too few");
static_assert(find(wire::kafka_errors, 19) == answer::transient, "not written");
static_assert(find(wire::kafka_errors, 46) == answer::accepted, "a duplicate is there already");
static_assert(find(wire::kafka_errors, -1) == answer::outcome_unknown);
static_assert(find(wire::kafka_errors, "MESSAGE_TOO_LARGE") == answer::too_large);
static_assert(find(wire::azure_amqp_errors, "amqp:link:message-size-exceeded") ==
              answer::too_large);
static_assert(find(wire::azure_amqp_errors, "com.microsoft:server-busy") == answer::throttled);
static_assert(find(wire::azure_amqp_errors, "com.microsoft:timeout") == answer::outcome_unknown);
static_assert(find(wire::azure_amqp_errors, "amqp:link:stolen") == answer::ownership_lost);
static_assert(find(wire::sqs_errors, "AWS.SimpleQueueService.BatchRequestTooLong") ==
              answer::too_large);
static_assert(find(wire::sqs_errors, "TooManyEntriesInBatchRequest") == answer::too_many);
static_assert(find(wire::sqs_errors, "QueueDoesNotExist") == answer::infrastructure,
              "no message is to blame for a queue that is missing");
static_assert(find(wire::sqs_errors, "InternalError") == answer::outcome_unknown);
static_assert(find(wire::sns_errors, "InternalError") == answer::outcome_unknown);
static_assert(find(wire::eventbridge_errors, "InternalException") == answer::outcome_unknown);
static_assert(find(wire::eventbridge_errors, "InternalFailure") == answer::transient);
static_assert(find(wire::kinesis_errors, "ProvisionedThroughputExceededException") ==
              answer::throttled);
static_assert(find(wire::cloudwatch_logs_errors, "DataAlreadyAcceptedException") ==
              answer::accepted);
static_assert(find(wire::pubsub_errors, "DEADLINE_EXCEEDED") == answer::outcome_unknown);
static_assert(find(wire::pubsub_errors, 8) == answer::throttled);
static_assert(find(wire::nats_errors, "Maximum Payload Violation") == answer::too_large);
static_assert(find(wire::jetstream_errors, 10054) == answer::too_large);
static_assert(find(wire::jetstream_errors, 10071) == answer::ownership_lost);
static_assert(find(wire::rabbitmq_errors, 311) == answer::too_large);
static_assert(find(wire::mqtt5_errors, 0x95) == answer::too_large);
static_assert(find(wire::mqtt5_errors, 0x10) == answer::accepted);
static_assert(find(wire::http_errors, 413) == answer::too_large);
static_assert(find(wire::http_errors, "429") == answer::throttled);
static_assert(find(wire::http_errors, 504) == answer::outcome_unknown);

// A status is ambiguous if a proxy can send it for a request that was carried out.
static_assert(find(wire::http_errors, 500) == answer::outcome_unknown);
static_assert(find(wire::http_errors, 502) == answer::outcome_unknown);
static_assert(find(wire::http_errors, 503) == answer::outcome_unknown,
              "Envoy returns it if the answer is lost");
static_assert(find(wire::http_errors, 408) == answer::transient, "it was not read to its end");
static_assert(find(wire::pubsub_errors, "UNAVAILABLE") == find(wire::http_errors, 503));
// An error that concerns every message is no fault of one message, so none may be dead-lettered.
static_assert(find(wire::http_errors, 405) == answer::infrastructure);
static_assert(find(wire::http_errors, 411) == answer::infrastructure);
static_assert(find(wire::http_errors, 501) == answer::infrastructure);
static_assert(find(wire::http_errors, 505) == answer::infrastructure);
static_assert(find(wire::http_errors, 415) == answer::permanent);

// Both names of SQS's errors, as in its own service description.
struct name_pair {
    std::string_view now{};
    std::string_view before{};
};
constexpr name_pair sqs_names[] = {
    {"BatchEntryIdsNotDistinct", "AWS.SimpleQueueService.BatchEntryIdsNotDistinct"},
    {"BatchRequestTooLong", "AWS.SimpleQueueService.BatchRequestTooLong"},
    {"EmptyBatchRequest", "AWS.SimpleQueueService.EmptyBatchRequest"},
    {"InvalidBatchEntryId", "AWS.SimpleQueueService.InvalidBatchEntryId"},
    {"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"},
    {"TooManyEntriesInBatchRequest", "AWS.SimpleQueueService.TooManyEntriesInBatchRequest"},
    {"UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation"},
    {"KmsAccessDenied", "KMS.AccessDeniedException"},
    {"KmsDisabled", "KMS.DisabledException"},
    {"KmsInvalidKeyUsage", "KMS.InvalidKeyUsageException"},
    {"KmsInvalidState", "KMS.InvalidStateException"},
    {"KmsNotFound", "KMS.NotFoundException"},
    {"KmsOptInRequired", "KMS.OptInRequired"},
    {"KmsThrottled", "KMS.ThrottlingException"},
};
static_assert([] {
    for (const name_pair& each : sqs_names) {
        const auto now = find(wire::sqs_errors, each.now);
        if (!now || now != find(wire::sqs_errors, each.before)) return false;
    }
    return true;
}());

// RabbitMQ's own list of codes. 200 is no error, and 406 has many meanings. The name at the
// beginning of a reply text has the same meaning as the number.
struct reply {
    std::int64_t code{};
    std::string_view constant{};
    std::string_view text{};
};
constexpr reply replies[] = {
    {311, "content-too-large", "CONTENT_TOO_LARGE"},
    {312, "no-route", "NO_ROUTE"},
    {313, "no-consumers", "NO_CONSUMERS"},
    {320, "connection-forced", "CONNECTION_FORCED"},
    {402, "invalid-path", "INVALID_PATH"},
    {403, "access-refused", "ACCESS_REFUSED"},
    {404, "not-found", "NOT_FOUND"},
    {405, "resource-locked", "RESOURCE_LOCKED"},
    {501, "frame-error", "FRAME_ERROR"},
    {502, "syntax-error", "SYNTAX_ERROR"},
    {503, "command-invalid", "COMMAND_INVALID"},
    {504, "channel-error", "CHANNEL_ERROR"},
    {505, "unexpected-frame", "UNEXPECTED_FRAME"},
    {506, "resource-error", "RESOURCE_ERROR"},
    {530, "not-allowed", "NOT_ALLOWED"},
    {540, "not-implemented", "NOT_IMPLEMENTED"},
    {541, "internal-error", "INTERNAL_ERROR"},
};
static_assert([] {
    for (const reply& each : replies) {
        const auto means = find(wire::rabbitmq_errors, each.code);
        if (!means || means != find(wire::rabbitmq_errors, each.constant)) return false;
        if (means != find(wire::rabbitmq_errors, each.text)) return false;
    }
    return wire::rabbitmq_errors.codes.size() == 2 * std::size(replies);
}());
static_assert(find(wire::rabbitmq_errors, "PRECONDITION_FAILED") == std::nullopt,
              "only the text identifies the error");
static_assert(find(wire::rabbitmq_errors, 200) == std::nullopt);

// Every reason code of MQTT 5 for a publication or for the end of the connection. Exceptions: those
// without information (0x80, 0x83), the identifier in use (0x91), and those of subscriptions.
static_assert([] {
    for (int reason = 0x80; reason <= 0xA2; ++reason) {
        const bool left_out = reason == 0x80 || reason == 0x83 || reason == 0x8F ||
                              reason == 0x91 || reason == 0x92 || reason == 0x9E ||
                              reason == 0xA1 || reason == 0xA2;
        if (find(wire::mqtt5_errors, reason).has_value() == left_out) return false;
    }
    return true;
}());
static_assert(find(wire::mqtt5_errors, 0x97) == answer::throttled, "though it may not pass");
static_assert(find(wire::mqtt5_errors, 0x8B) == answer::infrastructure);

static_assert(find(wire::jetstream_errors, 10199) == answer::too_many, "messages, not bytes");
static_assert(find(wire::jetstream_errors, 10174) == answer::infrastructure);
static_assert(find(wire::kafka_errors, 76) == answer::permanent);
static_assert(find(wire::kafka_errors, 49) == answer::ownership_lost);
static_assert(find(wire::kafka_errors, "INVALID_PRODUCER_ID_MAPPING") == answer::ownership_lost);

// A code that is in no table has no row, even if it looks similar.
static_assert(find(wire::kafka_errors, 0) == std::nullopt);
static_assert(find(wire::kafka_errors, 45) == std::nullopt, "it has two meanings");
static_assert(find(wire::kafka_errors, 10'000'000'000) == std::nullopt);
static_assert(find(wire::kafka_errors, (std::int64_t{1} << 32) + 10) == std::nullopt);
static_assert(find(wire::kafka_errors, "message_too_large") == std::nullopt);
static_assert(find(wire::sqs_errors, "BatchRequestTooLongException") == std::nullopt);
static_assert(find(wire::sqs_errors, "") == std::nullopt);
static_assert(find(wire::sqs_errors, 0) == std::nullopt, "codes without a number have none");
static_assert(find(wire::rabbitmq_errors, 406) == std::nullopt,
              "only the text identifies the error");
static_assert(find(wire::pubsub_errors, "INVALID_ARGUMENT") == std::nullopt,
              "only the text identifies the error");
static_assert(find(wire::cloudwatch_logs_errors, "InvalidParameterException") == std::nullopt);
static_assert(find(wire::sqs_errors, "InvalidParameterValue") == std::nullopt,
              "only the text identifies the error");
static_assert(find(wire::eventbridge_errors, "ValidationException") == std::nullopt);
static_assert(find(wire::sns_errors, "InvalidParameter") == std::nullopt,
              "only the text identifies the error");
static_assert(find(wire::kinesis_errors, "InvalidArgumentException") == std::nullopt,
              "also: Records size exceeds 5 MB limit");
static_assert(find(wire::firehose_errors, "InvalidArgumentException") == std::nullopt,
              "also: Records size exceeds 4 MB limit");
static_assert(find(wire::kinesis_errors, "ValidationException") == std::nullopt);
static_assert(find(wire::firehose_errors, "ValidationException") == std::nullopt);
// The common table of all services, which is the next one, has no row for them either.
static_assert(find(wire::aws_common_errors, "InvalidArgumentException") == std::nullopt);
static_assert(find(wire::aws_common_errors, "InvalidParameterException") == std::nullopt);
static_assert(find(wire::aws_common_errors, "InvalidParameterValue") == std::nullopt);
static_assert(find(wire::aws_common_errors, "InvalidParameter") == std::nullopt);
static_assert(find(wire::aws_common_errors, "ValidationException") == std::nullopt);
static_assert(find(wire::kafka_errors, 59) == std::nullopt, "what came before may be lost");
static_assert(find(wire::mqtt5_errors, 0x91) == std::nullopt, "perhaps by an earlier attempt");
static_assert(find(wire::kafka_errors, "TRANSACTION_ABORTABLE") == std::nullopt);
static_assert(find(wire::http_errors, 200) == std::nullopt);
static_assert(find(error_table{}, "x") == std::nullopt);

// A user's list takes precedence. The other rows do not change.
constexpr error_code mine[] = {{"amqp:internal-error", answer::permanent},
                               {"my:own", answer::throttled},
                               {"", answer::too_large, 503}};
static_assert(find(mine, wire::azure_amqp_errors, "amqp:internal-error") == answer::permanent);
static_assert(find(mine, wire::azure_amqp_errors, "my:own") == answer::throttled);
static_assert(find(mine, wire::azure_amqp_errors, "com.microsoft:timeout") ==
              answer::outcome_unknown);
static_assert(find(mine, wire::azure_amqp_errors, "nobody:knows") == std::nullopt);
static_assert(find(mine, wire::http_errors, 503) == answer::too_large);
static_assert(find(mine, wire::http_errors, 504) == answer::outcome_unknown);
static_assert(find(mine, wire::http_errors, 599) == std::nullopt);

// The same code has one meaning for an entry and another for the whole request.
static_assert(find(wire::kinesis_errors.codes, wire::aws_common_errors, "InternalFailure") ==
              answer::transient);
static_assert(find(wire::aws_common_errors, "InternalFailure") == answer::outcome_unknown);
static_assert(find(wire::kinesis_errors.codes, wire::aws_common_errors, "RequestExpired") ==
              answer::infrastructure);

// Codes with several meanings: the text decides.
static_assert(find(wire::sqs_errors, "InvalidParameterValue") == std::nullopt);
static_assert(
    find(wire::sqs_errors, "InvalidParameterValue",
         "One or more parameters are invalid. Reason: Message must be shorter than 262144 "
         "bytes.") == answer::too_large);
static_assert(find(wire::sqs_errors, "InvalidParameterValue",
                   "Value x for parameter ReceiptHandle is invalid. Reason: The receipt handle has "
                   "expired.") == answer::ownership_lost);
static_assert(find(wire::sqs_errors, "ReceiptHandleIsInvalid") == answer::ownership_lost);
static_assert(find(wire::kinesis_errors, "InvalidArgumentException",
                   "Records size exceeds 5 MB limit") == answer::too_large);
static_assert(find(wire::kinesis_errors, "InvalidArgumentException", "Stream name is not valid") ==
              std::nullopt);
static_assert(
    find(wire::kinesis_errors, "ValidationException",
         "1 validation error detected: Value at 'records.1.member.data' failed to satisfy "
         "constraint: Member must have length less than or equal to 1048576.") ==
    answer::too_large);
static_assert(
    find(wire::kinesis_errors, "ValidationException",
         "1 validation error detected: Value at 'records.1.member.partitionKey' failed to "
         "satisfy constraint: Member must have length less than or equal to 256") == std::nullopt);
static_assert(
    find(wire::eventbridge_errors, "ValidationException",
         "1 validation error detected: Value '[PutEventsRequestEntry]' at 'entries' failed "
         "to satisfy constraint: Member must have length less than or equal to 10") ==
    answer::too_many);
static_assert(find(wire::azure_amqp_errors, "amqp:not-allowed") == answer::permanent);
static_assert(find(wire::grpc_errors, 8, "grpc: received message larger than max (5 vs. 4)") ==
              answer::too_large);
static_assert(find(wire::grpc_errors, 8, "quota exceeded") == answer::throttled);
static_assert(find(wire::grpc_errors, 8) == answer::throttled);
static_assert(find(wire::grpc_errors, "OUT_OF_RANGE",
                   "Error, message length too large: found 4194593 bytes, the limit is: 4194304 "
                   "bytes") == answer::too_large);
static_assert(find(wire::aws_common_errors, "SignatureDoesNotMatch") == answer::infrastructure,
              "a clock that is wrong, and nothing was executed");

static_assert(fault_of(answer::accepted) == fault_kind::none);
static_assert(fault_of(answer::too_large) == fault_kind::permanent);
static_assert(fault_of(answer::too_many) == fault_kind::transient);
static_assert(fault_of(answer::throttled) == fault_kind::infrastructure);
static_assert(fault_of(answer::transient) == fault_kind::transient);
static_assert(fault_of(answer::permanent) == fault_kind::permanent);
static_assert(fault_of(answer::infrastructure) == fault_kind::infrastructure);
static_assert(fault_of(answer::ownership_lost) == fault_kind::ownership_lost);
static_assert(fault_of(answer::outcome_unknown) == fault_kind::infrastructure);
static_assert(fault_of(static_cast<answer>(99)) == fault_kind::infrastructure);

TEST_CASE("error_codes: every table is complete, and every answer has a unique name")
{
    for (const error_table& each : tables) {
        CAPTURE(each.service);
        CHECK(whole(each));
        CHECK(no_twins(each));
        for (const error_code& c : each.codes) {
            CHECK(find(each, c.code, c.phrase) == c.means);
            if (c.number) CHECK(find(each, *c.number, c.phrase) == c.means);
        }
    }
    for (const answer a : answers) {
        for (const answer b : answers) CHECK((name(a) == name(b)) == (a == b));
        CHECK(name(a) != "?");
    }
    CHECK(name(static_cast<answer>(99)) == "?");
}

}  // namespace error_codes_test

// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
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

using waybill::fault_class;
using waybill::wire::answer;
using waybill::wire::error_code;
using waybill::wire::error_table;
using waybill::wire::find;

namespace wire = waybill::wire;

namespace {

constexpr error_table tables[] = {
    wire::azure_amqp_errors, wire::aws_common_errors,  wire::sqs_errors,
    wire::sns_errors,        wire::kinesis_errors,     wire::firehose_errors,
    wire::eventbridge_errors, wire::cloudwatch_logs_errors, wire::kafka_errors,
    wire::nats_errors,       wire::jetstream_errors,   wire::rabbitmq_errors,
    wire::mqtt5_errors,      wire::http_errors,        wire::pubsub_errors,
};

constexpr answer answers[] = {
    answer::accepted,  answer::too_large,      answer::too_many,
    answer::throttled, answer::transient,      answer::permanent,
    answer::infrastructure, answer::ownership_lost, answer::unknown,
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

// A code, or a number, stands in a table once; otherwise the second row would be a dead letter.
constexpr bool no_twins(const error_table& t)
{
    for (const error_code& a : t.codes) {
        std::size_t codes = 0;
        std::size_t numbers = 0;
        for (const error_code& b : t.codes) {
            if (a.code == b.code) ++codes;
            if (a.number && a.number == b.number) ++numbers;
        }
        if (codes != 1 || numbers > 1) return false;
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

// What a table is asked for mostly, and what is wrong most often.
static_assert(find(wire::kafka_errors, 10) == answer::too_large);
static_assert(find(wire::kafka_errors, 18) == answer::too_large);
static_assert(find(wire::kafka_errors, 7) == answer::unknown, "a timeout is no refusal");
static_assert(find(wire::kafka_errors, 20) == answer::unknown, "written, but to too few");
static_assert(find(wire::kafka_errors, 19) == answer::transient, "not written");
static_assert(find(wire::kafka_errors, 46) == answer::accepted, "a duplicate is there already");
static_assert(find(wire::kafka_errors, -1) == answer::unknown);
static_assert(find(wire::kafka_errors, "MESSAGE_TOO_LARGE") == answer::too_large);
static_assert(find(wire::azure_amqp_errors, "amqp:link:message-size-exceeded") ==
              answer::too_large);
static_assert(find(wire::azure_amqp_errors, "com.microsoft:server-busy") == answer::throttled);
static_assert(find(wire::azure_amqp_errors, "com.microsoft:timeout") == answer::unknown);
static_assert(find(wire::azure_amqp_errors, "amqp:link:stolen") == answer::ownership_lost);
static_assert(find(wire::sqs_errors, "AWS.SimpleQueueService.BatchRequestTooLong") ==
              answer::too_large);
static_assert(find(wire::sqs_errors, "TooManyEntriesInBatchRequest") == answer::too_many);
static_assert(find(wire::sqs_errors, "QueueDoesNotExist") == answer::infrastructure,
              "no message is to blame for a queue that is missing");
static_assert(find(wire::kinesis_errors, "ProvisionedThroughputExceededException") ==
              answer::throttled);
static_assert(find(wire::cloudwatch_logs_errors, "DataAlreadyAcceptedException") ==
              answer::accepted);
static_assert(find(wire::pubsub_errors, "DEADLINE_EXCEEDED") == answer::unknown);
static_assert(find(wire::pubsub_errors, 8) == answer::throttled);
static_assert(find(wire::nats_errors, "Maximum Payload Violation") == answer::too_large);
static_assert(find(wire::jetstream_errors, 10054) == answer::too_large);
static_assert(find(wire::jetstream_errors, 10071) == answer::ownership_lost);
static_assert(find(wire::rabbitmq_errors, 311) == answer::too_large);
static_assert(find(wire::mqtt5_errors, 0x95) == answer::too_large);
static_assert(find(wire::mqtt5_errors, 0x10) == answer::accepted);
static_assert(find(wire::http_errors, 413) == answer::too_large);
static_assert(find(wire::http_errors, "429") == answer::throttled);
static_assert(find(wire::http_errors, 504) == answer::unknown);

// What is in no table has no answer, however much it looks like one that is.
static_assert(find(wire::kafka_errors, 0) == std::nullopt);
static_assert(find(wire::kafka_errors, 45) == std::nullopt, "it has two meanings");
static_assert(find(wire::kafka_errors, 10'000'000'000) == std::nullopt);
static_assert(find(wire::kafka_errors, (std::int64_t{1} << 32) + 10) == std::nullopt);
static_assert(find(wire::kafka_errors, "message_too_large") == std::nullopt);
static_assert(find(wire::sqs_errors, "BatchRequestTooLongException") == std::nullopt);
static_assert(find(wire::sqs_errors, "") == std::nullopt);
static_assert(find(wire::sqs_errors, 0) == std::nullopt, "codes without a number have none");
static_assert(find(wire::rabbitmq_errors, 406) == std::nullopt, "the text tells");
static_assert(find(wire::pubsub_errors, "INVALID_ARGUMENT") == std::nullopt, "the text tells");
static_assert(find(wire::cloudwatch_logs_errors, "InvalidParameterException") == std::nullopt);
static_assert(find(wire::http_errors, 200) == std::nullopt);
static_assert(find(error_table{}, "x") == std::nullopt);

// Your own list goes first, the rest is as it was.
constexpr error_code mine[] = {{"amqp:internal-error", answer::permanent},
                               {"my:own", answer::throttled},
                               {"", answer::too_large, 503}};
static_assert(find(mine, wire::azure_amqp_errors, "amqp:internal-error") == answer::permanent);
static_assert(find(mine, wire::azure_amqp_errors, "my:own") == answer::throttled);
static_assert(find(mine, wire::azure_amqp_errors, "com.microsoft:timeout") == answer::unknown);
static_assert(find(mine, wire::azure_amqp_errors, "nobody:knows") == std::nullopt);
static_assert(find(mine, wire::http_errors, 503) == answer::too_large);
static_assert(find(mine, wire::http_errors, 504) == answer::unknown);
static_assert(find(mine, wire::http_errors, 599) == std::nullopt);

// The same code means one thing of an entry and another of the whole request.
static_assert(find(wire::kinesis_errors.codes, wire::aws_common_errors, "InternalFailure") ==
              answer::transient);
static_assert(find(wire::aws_common_errors, "InternalFailure") == answer::unknown);
static_assert(find(wire::kinesis_errors.codes, wire::aws_common_errors, "RequestExpired") ==
              answer::infrastructure);

static_assert(fault_of(answer::accepted) == fault_class::none);
static_assert(fault_of(answer::too_large) == fault_class::permanent);
static_assert(fault_of(answer::too_many) == fault_class::transient);
static_assert(fault_of(answer::throttled) == fault_class::transient);
static_assert(fault_of(answer::transient) == fault_class::transient);
static_assert(fault_of(answer::permanent) == fault_class::permanent);
static_assert(fault_of(answer::infrastructure) == fault_class::infrastructure);
static_assert(fault_of(answer::ownership_lost) == fault_class::ownership_lost);
static_assert(fault_of(answer::unknown) == fault_class::infrastructure);
static_assert(fault_of(static_cast<answer>(99)) == fault_class::infrastructure);

TEST_CASE("every table is whole, and every answer has a name")
{
    for (const error_table& each : tables) {
        CAPTURE(each.service);
        CHECK(whole(each));
        CHECK(no_twins(each));
        for (const error_code& c : each.codes) {
            CHECK(find(each, c.code) == c.means);
            if (c.number) CHECK(find(each, *c.number) == c.means);
        }
    }
    for (const answer a : answers) {
        for (const answer b : answers) CHECK((name(a) == name(b)) == (a == b));
        CHECK(name(a) != "?");
    }
    CHECK(name(static_cast<answer>(99)) == "?");
}

}  // namespace error_codes_test

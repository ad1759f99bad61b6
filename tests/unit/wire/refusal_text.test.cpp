// SPDX-License-Identifier: MIT

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <support/refusals.hpp>

#include <waybill/wire/refusal_text.hpp>

namespace refusal_text_test {

using tests_support::refusal;
using tests_support::refusals;
using waybill::wire::dialect;
using waybill::wire::extent;
using waybill::wire::read_refusal;
using waybill::wire::refusal_numbers;

namespace {

constexpr dialect dialects[] = {dialect::azure_amqp, dialect::sqs,  dialect::cloudwatch_logs,
                                dialect::pubsub,     dialect::grpc, dialect::kafka,
                                dialect::rabbitmq};

constexpr bool reads_all()
{
    for (const refusal& each : refusals) {
        if (read_refusal(each.from, each.text) != each.numbers) return false;
    }
    return true;
}

// No reader accepts the text of another service.
constexpr bool nobody_else_reads_them()
{
    for (const refusal& each : refusals) {
        for (const dialect d : dialects) {
            if (d != each.from && read_refusal(d, each.text)) return false;
        }
    }
    return true;
}

constexpr std::optional<refusal_numbers> both(std::uint64_t actual, std::uint64_t limit,
                                              extent of = extent::request)
{
    return refusal_numbers{actual, limit, of};
}

constexpr std::optional<refusal_numbers> sqs(std::string_view text)
{
    return read_refusal(dialect::sqs, text);
}
// The numbers of these parts, joined.
constexpr std::optional<refusal_numbers> sqs(std::initializer_list<std::string_view> parts)
{
    std::array<char, 400> text{};
    std::size_t n = 0;
    for (const std::string_view part : parts) {
        for (const char c : part) text.at(n++) = c;
    }
    return sqs(std::string_view(text.data(), n));
}
// The text of SQS with these two numbers.
constexpr std::optional<refusal_numbers> sqs(std::string_view limit, std::string_view actual)
{
    return sqs({"Batch requests cannot be longer than ", limit, " bytes. You have sent ", actual,
                " bytes."});
}
// The numbers of 400,000 bytes, with the text that a client adds.
constexpr std::optional<refusal_numbers> sent = both(400'000, 262'144);
constexpr std::optional<refusal_numbers> handed_on(std::string_view before, std::string_view behind)
{
    return sqs({before,
                "Batch requests cannot be longer than 262144 bytes. You have sent 400000 bytes.",
                behind});
}
// The numbers of its text for one message.
constexpr std::optional<refusal_numbers> shorter_than(std::uint64_t limit)
{
    return refusal_numbers{std::nullopt, limit, extent::item};
}
constexpr std::optional<refusal_numbers> too_long(std::string_view before, std::string_view limit,
                                                  std::string_view behind)
{
    return sqs({before, "One or more parameters are invalid. Reason: Message must be shorter than ",
                limit, behind});
}
constexpr std::optional<refusal_numbers> rabbitmq(std::string_view text)
{
    return read_refusal(dialect::rabbitmq, text);
}
constexpr std::optional<refusal_numbers> grpc(std::string_view text)
{
    return read_refusal(dialect::grpc, text);
}

}  // namespace

static_assert(reads_all());
static_assert(nobody_else_reads_them());

static_assert(!sqs(""));
static_assert(!sqs("Batch requests cannot be longer than "));
static_assert(!sqs("262144 866955"));
static_assert(!sqs("The batch has 866955 bytes, and 262144 bytes are allowed."));
static_assert(!sqs("batch requests cannot be longer than 1 bytes. You have sent 2 bytes."));
static_assert(!sqs("Batch requests cannot be longer than 1 bytes."));
static_assert(sqs("Batch requests cannot be longer than 1 bytes. You have sent 2 bytes") ==
              both(2, 1));
static_assert(sqs("262144", "866955") == both(866'955, 262'144));

// The actual size is above the limit, or the text means something else.
static_assert(sqs("262144", "262145") == both(262'145, 262'144));
static_assert(!sqs("262144", "262144"));
static_assert(!sqs("262144", "1"));
static_assert(!sqs("0", "1"));

// Printed numbers, up to 64 bits and no more.
static_assert(sqs("1", "18446744073709551615") == both(18'446'744'073'709'551'615U, 1));
static_assert(!sqs("1", "18446744073709551616"));
static_assert(!sqs("1", "99999999999999999999"));
static_assert(!sqs("1", "184467440737095516150"));
static_assert(!sqs("99999999999999999999", "2"));
static_assert(!sqs("1", "0000002"));
static_assert(!sqs("01", "2"));
static_assert(!sqs("1", "866,955"));
static_assert(!sqs("1", "866.955"));
static_assert(!sqs("1", "866'955"));
static_assert(!sqs("1", "866 955"));
static_assert(!sqs("1", "+2"));
static_assert(!sqs("-1", "2"));
static_assert(!sqs("1", "0x10"));
static_assert(!sqs("1", "1e9"));
static_assert(!sqs("1", ""));
static_assert(!sqs("1", "a"));

// A phrase begins and ends where words do.
static_assert(!sqs("XBatch requests cannot be longer than 1 bytes. You have sent 2 bytes."));
static_assert(!sqs("Batch requests cannot be longer than 1 bytes. You have sent 2 bytes2"));
static_assert(sqs("{\"message\":\"Batch requests cannot be longer than 1 bytes. You have sent 2 "
                  "bytes\"}") == both(2, 1));

// A line break or a tab that was escaped on the way is an end of a word, and not a letter of it.
static_assert(handed_on("{\"text\":\"failed:\\n", "\\n\"}") == sent);
static_assert(handed_on("failed:\\t", "") == sent);
static_assert(handed_on("failed:\\r", "") == sent);
static_assert(!handed_on("failed:\\x", ""));
static_assert(!handed_on("n", ""));

// Clients add their own text before and after a refusal.
// https://github.com/awslabs/amazon-sqs-python-extended-client-lib/issues/25
static_assert(handed_on("BatchRequestTooLong('An error occurred (AWS.SimpleQueueService."
                        "BatchRequestTooLong) when calling the SendMessageBatch operation: ",
                        "')") == sent);
static_assert(handed_on("An error occurred (BatchRequestTooLong) when calling the "
                        "SendMessageBatch operation: ",
                        "") == sent);
// https://github.com/aws/aws-sdk-java-v2/issues/5888
static_assert(handed_on("software.amazon.awssdk.services.sqs.model.BatchRequestTooLongException:",
                        " (Service: Sqs, Status Code: 400, Request ID: 0-1)") == sent);
static_assert(handed_on("",
                        " (Service: AmazonSQS; Status Code: 400; Error Code: "
                        "AWS.SimpleQueueService.BatchRequestTooLong; Request ID: 7)") == sent);
// The SDKs for Go and for Rust.
static_assert(handed_on("AWS.SimpleQueueService.BatchRequestTooLong: ",
                        "\n\tstatus code: 400, request id: 7") == sent);
static_assert(handed_on("Error { message: Some(\"", "\"), code: Some(\"x\") }") == sent);
// https://github.com/aws/aws-sdk-cpp/issues/646 has the text before an unknown error.
static_assert(handed_on("Unable to parse ExceptionName: AWS.SimpleQueueService.BatchRequestTooLong "
                        "Message: ",
                        "") == sent);
static_assert(handed_on("HTTP response code: 400\nException name: BatchRequestTooLong\nError "
                        "message: ",
                        "\n5 response headers:\n") == sent);
// The client for PHP: the beginning of the reply, cut, and then its meaning.
static_assert(handed_on("400 Bad Request` response: <Message>Batch requests cannot be longer than "
                        "262144 bytes. You have sent 40 (truncated...)\n BatchRequestTooLong "
                        "(client): ",
                        " - <Message>x</Message>") == sent);

// The text of SQS for one message: with any limit of the queue, and for an entry in a batch.
static_assert(too_long("Amazon.SQS.AmazonSQSException: ", "262144",
                       " bytes. ---> Amazon.Runtime.Internal") == shorter_than(262'144),
              "https://github.com/aws/aws-sdk-net/issues/4001");
static_assert(too_long("message: '", "1048576", " bytes.'\nType: 'Sender',") ==
                  shorter_than(1'048'576),
              "https://github.com/artilleryio/artillery/issues/3683");
static_assert(too_long("<Code>InvalidParameterValue</Code><Message>", "65536",
                       " bytes.</Message><Detail/>") == shorter_than(65'536),
              "https://github.com/getmoto/moto/issues/450, of another queue");
static_assert(too_long("An error occurred (InvalidParameterValue) when calling the SendMessage "
                       "operation: ",
                       "1024", " bytes.") == shorter_than(1'024));
static_assert(!sqs("Reason: Message must be shorter than 1024 bytes."), "it is not whole");
static_assert(!too_long("", "0", " bytes."));
static_assert(!too_long("", "1", " KB."));
static_assert(!too_long("", "10", "..."));
static_assert(!too_long("", "4",
                        " bytes. One or more parameters are invalid. Reason: Message must "
                        "be shorter than 5 bytes."),
              "of two queues");
static_assert(!too_long("Batch requests cannot be longer than 4 bytes. You have sent 9 bytes. ",
                        "4", " bytes."),
              "of the batch, or of a message in it");

// If the phrase ends with a number, the next character must not belong to it.
constexpr std::optional<refusal_numbers> sized = both(65'537, 65'536, extent::item);
static_assert(rabbitmq("message size 65537 is larger than configured max size 65536") == sized);
static_assert(rabbitmq("message size 65537 is larger than configured max size 65536.") == sized);
static_assert(rabbitmq("message size 65537 is larger than configured max size 65536, 60") == sized);
static_assert(rabbitmq("message size 65537 is larger than configured max size 65536\n7") == sized);
static_assert(rabbitmq("message size 65537 is larger than configured max size 65536 by far") ==
              sized);
static_assert(rabbitmq("message size 65537 is larger than configured max size 65536 ") == sized);
static_assert(!rabbitmq("message size 65537 is larger than configured max size 256 KB"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 256 kib"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 256  K."));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 256 Bytes"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 2 megabytes"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 256KB"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 65.536"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 65,536"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 65 536"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 65'536"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 50%"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size -65536"));
static_assert(
    !rabbitmq("message size 65537 is larger than configured max size 65\xC2\xA0"
              "536"));
static_assert(
    !rabbitmq("message size 65537 is larger than configured max size 65\xE2\x80\xAF"
              "536"));

// Nor may it have been cut.
static_assert(!rabbitmq("message size 65537 is larger than configured max size 655..."));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 655 ..."));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 655[...]"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 655\xE2\x80\xA6"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 655 \xE2\x80\xA6"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 655 (truncated)"));
static_assert(!rabbitmq("message size 65537 is larger than configured max size 655<Truncated>"));
static_assert(rabbitmq("message size 65537 is larger than configured max size 65536 (true)") ==
              sized);
static_assert(rabbitmq("message size 65537 is larger than configured max size 65536 [x]") == sized);
static_assert(!read_refusal(dialect::pubsub,
                            "The value for request_size is too large. You passed 10000558 in the "
                            "request, but the maximum value is 1000..."));
static_assert(!read_refusal(dialect::kafka,
                            "The record batch size in the append to orders-0 is 1048677 bytes "
                            "which exceeds the maximum configured value of 10485..."));
static_assert(!read_refusal(dialect::kafka,
                            "Message size is 1000013 bytes which exceeds the maximum configured "
                            "message size of 1000.."));

// Saying it twice is common and has to agree.
static_assert(grpc("Received message larger than max (9 vs. 4) ... grpc_message:\"Received message "
                   "larger than max (9 vs. 4)\"") == both(9, 4));
static_assert(
    !grpc("Received message larger than max (9 vs. 4), Received message larger than max "
          "(8 vs. 4)"));
static_assert(
    !grpc("Received message larger than max (9 vs. 4); trying to send message larger "
          "than max (9 vs. 5)"));
static_assert(!grpc("Received message larger than max (9 vs. 4), Received message larger than max "
                    "(4 vs. 4)"),
              "half of it cannot be, so neither is believed");
static_assert(grpc("Received message larger than max (x vs. 4): Received message larger than max "
                   "(9 vs. 4)") == both(9, 4),
              "what is no phrase is no witness");

// If the phrase continues after its last number, the rest must be present: the number may have been
// cut.
static_assert(!read_refusal(dialect::kafka,
                            "The record batch size in the append to orders-0 is 1048677 bytes "
                            "which exceeds the maximum configured value of 104858"));
static_assert(!read_refusal(dialect::pubsub,
                            "The value for request_size is too large. You passed 10000558 in the "
                            "request, but the maximum value is 1000000"));

// The text between the words must be present.
static_assert(!read_refusal(dialect::azure_amqp,
                            "The received message (delivery-id:, size:9 bytes) exceeds the limit "
                            "(4 bytes) currently allowed on the link"));
static_assert(!read_refusal(dialect::kafka,
                            "The record batch size in the append to  is 9 bytes which exceeds the "
                            "maximum configured value of 4."));
static_assert(grpc("Received message larger than max ( vs. 4), Received message larger than max "
                   "(9 vs. 4)") == both(9, 4));

// Sizes of something else.
static_assert(!grpc("Compressed gRPC message exceeds maximum size 4194304: 5000000 bytes read"));
static_assert(!grpc("Decompressed gRPC message exceeds maximum size 4194304"));
static_assert(!grpc("gRPC message exceeds maximum size 4194304: -2147483648"));
// https://github.com/gatling/gatling/issues/4683
static_assert(!grpc("RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 4194304"));
// The text of an emulator without a limit.
static_assert(!read_refusal(dialect::azure_amqp,
                            "The message (id:28756230, size:159 bytes) is larger than is "
                            "currently allowed (-1 bytes)"));
static_assert(!read_refusal(dialect::rabbitmq, "PRECONDITION_FAILED - unknown delivery tag 82"));
static_assert(!read_refusal(static_cast<dialect>(99), refusals[0].text));

static_assert(name(extent::request) == "request" && name(extent::item) == "item");

TEST_CASE("refusal_text: each known refusal is read by its dialect, in a longer text too")
{
    for (const refusal& each : refusals) {
        CAPTURE(each.text);
        CHECK(read_refusal(each.from, each.text) == each.numbers);
        const std::string shouted = std::string("ERROR [x] ") + std::string(each.text) + " (retry)";
        CHECK(read_refusal(each.from, shouted) == each.numbers);
    }
    for (const dialect d : dialects) CHECK(name(d) != "?");
    CHECK(name(static_cast<dialect>(99)) == "?");
}

TEST_CASE(
    "refusal_text: a truncated text gives the same numbers or none, unless cut within a "
    "number")
{
    for (const refusal& each : refusals) {
        CAPTURE(each.text);
        for (std::size_t n = 0; n <= each.text.size(); ++n) {
            const auto got = read_refusal(each.from, each.text.substr(0, n));
            if (!got || got == each.numbers) continue;
            // Digits at the very end of the rest: no reader can know that more digits followed.
            CHECK(n > 0);
            CHECK((each.text[n - 1] >= '0' && each.text[n - 1] <= '9'));
            CHECK((each.text[n] >= '0' && each.text[n] <= '9'));
        }
    }
}

TEST_CASE("refusal_text: a text with a truncation mark gives the same numbers or none")
{
    for (const refusal& each : refusals) {
        CAPTURE(each.text);
        for (const std::string_view mark :
             {"...", " ...", "[...]", " (truncated...)", "<truncated>", "\xE2\x80\xA6"}) {
            for (std::size_t n = 0; n < each.text.size(); ++n) {
                const auto got = read_refusal(
                    each.from, std::string(each.text.substr(0, n)) + std::string(mark));
                if (got) CHECK(got == each.numbers);
            }
        }
    }
}

TEST_CASE("refusal_text: the time to read a long text is linear")
{
    // Quadratic reading of these would take hours.
    std::string heads;
    std::string digits = "Batch requests cannot be longer than ";
    for (int i = 0; i < 50'000; ++i) heads += "Batch requests cannot be longer than 1";
    digits.append(2'000'000, '9');
    CHECK(!read_refusal(dialect::sqs, heads));
    CHECK(!read_refusal(dialect::sqs, digits));
    std::string names = "The record batch size in the append to ";
    names.append(2'000'000, 'x');
    CHECK(!read_refusal(dialect::kafka, names));
    CHECK(!read_refusal(dialect::grpc, std::string(2'000'000, 'R')));
}

}  // namespace refusal_text_test

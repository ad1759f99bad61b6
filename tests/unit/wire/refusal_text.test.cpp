// SPDX-License-Identifier: MIT

#include <array>
#include <cstddef>
#include <cstdint>
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

constexpr dialect dialects[] = {dialect::azure_amqp, dialect::sqs,   dialect::cloudwatch_logs,
                                dialect::pubsub,     dialect::grpc,  dialect::kafka,
                                dialect::rabbitmq};

constexpr bool reads_all()
{
    for (const refusal& each : refusals) {
        if (read_refusal(each.from, each.text) != each.numbers) return false;
    }
    return true;
}

// Nobody takes another's words for his own.
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
// What SQS says, with these two in the places of the numbers.
constexpr std::optional<refusal_numbers> sqs(std::string_view limit, std::string_view actual)
{
    std::array<char, 200> text{};
    std::size_t n = 0;
    for (const std::string_view part :
         {std::string_view("Batch requests cannot be longer than "), limit,
          std::string_view(" bytes. You have sent "), actual, std::string_view(" bytes.")}) {
        for (const char c : part) text.at(n++) = c;
    }
    return sqs(std::string_view(text.data(), n));
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

// Numbers as they are printed, up to 64 bits and no further.
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

// Where a number ends the phrase, what follows it must not belong to it.
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

// Saying it twice is common and has to agree.
static_assert(grpc("Received message larger than max (9 vs. 4) ... grpc_message:\"Received message "
                   "larger than max (9 vs. 4)\"") == both(9, 4));
static_assert(!grpc("Received message larger than max (9 vs. 4), Received message larger than max "
                    "(8 vs. 4)"));
static_assert(!grpc("Received message larger than max (9 vs. 4); trying to send message larger "
                    "than max (9 vs. 5)"));
static_assert(!grpc("Received message larger than max (9 vs. 4), Received message larger than max "
                    "(4 vs. 4)"),
              "half of it cannot be, so neither is believed");
static_assert(grpc("Received message larger than max (x vs. 4): Received message larger than max "
                   "(9 vs. 4)") == both(9, 4),
              "what is no phrase is no witness");

// A phrase that goes on behind its last number has to go on: the number may have been cut.
static_assert(!read_refusal(dialect::kafka,
                            "The record batch size in the append to orders-0 is 1048677 bytes "
                            "which exceeds the maximum configured value of 104858"));
static_assert(!read_refusal(dialect::pubsub,
                            "The value for request_size is too large. You passed 10000558 in the "
                            "request, but the maximum value is 1000000"));

// What stands between the words has to be there.
static_assert(!read_refusal(dialect::azure_amqp,
                            "The received message (delivery-id:, size:9 bytes) exceeds the limit "
                            "(4 bytes) currently allowed on the link"));
static_assert(!read_refusal(dialect::kafka,
                            "The record batch size in the append to  is 9 bytes which exceeds the "
                            "maximum configured value of 4."));
static_assert(grpc("Received message larger than max ( vs. 4), Received message larger than max "
                   "(9 vs. 4)") == both(9, 4));

// Sizes that are said of something else.
static_assert(!grpc("Compressed gRPC message exceeds maximum size 4194304: 5000000 bytes read"));
static_assert(!grpc("Decompressed gRPC message exceeds maximum size 4194304"));
static_assert(!grpc("gRPC message exceeds maximum size 4194304: -2147483648"));
// https://github.com/gatling/gatling/issues/4683
static_assert(!grpc("RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 4194304"));
// What an emulator says that was told no limit.
static_assert(!read_refusal(dialect::azure_amqp,
                            "The message (id:28756230, size:159 bytes) is larger than is "
                            "currently allowed (-1 bytes)"));
static_assert(!read_refusal(dialect::rabbitmq, "PRECONDITION_FAILED - unknown delivery tag 82"));
static_assert(!read_refusal(static_cast<dialect>(99), refusals[0].text));

static_assert(name(extent::request) == "request" && name(extent::item) == "item");

TEST_CASE("the refusals that people met are read, and by nobody else")
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

TEST_CASE("a text that is cut off gives what it gives whole, or nothing, unless a number ends it")
{
    for (const refusal& each : refusals) {
        CAPTURE(each.text);
        for (std::size_t n = 0; n <= each.text.size(); ++n) {
            const auto got = read_refusal(each.from, each.text.substr(0, n));
            if (!got || got == each.numbers) continue;
            // Digits at the very end of what is left: no reader can know that more were there.
            CHECK(n > 0);
            CHECK((each.text[n - 1] >= '0' && each.text[n - 1] <= '9'));
            CHECK((each.text[n] >= '0' && each.text[n] <= '9'));
        }
    }
}

TEST_CASE("a long text is read in time that grows with its length")
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

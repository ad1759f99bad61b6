// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/held.hpp>

#include <waybill/batch/send_all.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/wire.hpp>

namespace outcome_of_test {

using namespace waybill;
using wire::answer;
using wire::outcome_of;

namespace {

const wire::error_table* const tables[] = {
    &wire::azure_amqp_errors,     &wire::http_errors,     &wire::pubsub_errors,
    &wire::grpc_errors,           &wire::kafka_errors,    &wire::nats_errors,
    &wire::jetstream_errors,      &wire::rabbitmq_errors, &wire::mqtt5_errors,
    &wire::aws_common_errors,     &wire::sqs_errors,      &wire::sns_errors,
    &wire::kinesis_errors,        &wire::firehose_errors, &wire::eventbridge_errors,
    &wire::cloudwatch_logs_errors};

/// The outcome that a sender should get for each answer.
bool fits(const send_outcome& o, answer a)
{
    const auto* failed = waybill::get_if<batch_sender::failed>(&o);
    switch (a) {
        case answer::accepted: return waybill::holds_alternative<batch_sender::accepted>(o);
        case answer::too_large:
        case answer::too_many: return waybill::holds_alternative<batch_sender::too_large>(o);
        case answer::throttled: return waybill::holds_alternative<batch_sender::throttled>(o);
        case answer::transient: return failed && failed->kind == fault_kind::transient;
        case answer::permanent: return failed && failed->kind == fault_kind::permanent;
        case answer::infrastructure: return failed && failed->kind == fault_kind::infrastructure;
        case answer::ownership_lost: return failed && failed->kind == fault_kind::ownership_lost;
        case answer::outcome_unknown:
            return waybill::holds_alternative<batch_sender::outcome_unknown>(o);
    }
    return false;
}

TEST_CASE("outcome_of: every code of every table is found by its text and its number")
{
    for (const wire::error_table* t : tables) {
        CAPTURE(t->service);
        for (const wire::error_code& c : t->codes) {
            CAPTURE(c.code);
            const std::string text = "text, " + std::string(c.phrase);
            CHECK(fits(outcome_of(*t, c.code, text), c.means));
            if (c.number) CHECK(fits(outcome_of(*t, *c.number, text), c.means));
        }
    }
}

TEST_CASE("outcome_of: an unlisted code is outcome_unknown")
{
    for (const wire::error_table* t : tables) {
        CHECK(fits(outcome_of(*t, "no such code"), answer::outcome_unknown));
        CHECK(fits(outcome_of(*t, ""), answer::outcome_unknown));
        CHECK(fits(outcome_of(*t, -987'654), answer::outcome_unknown));
    }
}

TEST_CASE("outcome_of: an unlisted code is too_large if the text is a refusal for size")
{
    const send_outcome logs =
        outcome_of(wire::cloudwatch_logs_errors, "InvalidParameterException",
                   "Upload too large: 1048914 bytes exceeds limit of 1048576");
    CHECK(tests_support::held<batch_sender::too_large>(logs) ==
          batch_sender::too_large{.actual = 1'048'914, .limit = 1'048'576});
    const send_outcome rabbit = outcome_of(
        wire::rabbitmq_errors, 406,
        "PRECONDITION_FAILED - message size 150000000 is larger than configured max size "
        "134217728");
    CHECK(tests_support::held<batch_sender::too_large>(rabbit) == batch_sender::too_large{});
    CHECK(
        fits(outcome_of(wire::rabbitmq_errors, 406, "PRECONDITION_FAILED - unknown delivery tag 3"),
             answer::outcome_unknown));
    const send_outcome pubsub = outcome_of(
        wire::pubsub_errors, "INVALID_ARGUMENT",
        "The value for request_size is too large. You passed 10000001 in the request, but "
        "the maximum value is 10000000.");
    CHECK(tests_support::held<batch_sender::too_large>(pubsub) ==
          batch_sender::too_large{.actual = 10'000'001, .limit = 10'000'000});
}

TEST_CASE("outcome_of: an entry without an answer is in doubt, and so is a request with too many")
{
    struct answered {
        std::string code{}, text{};
    };
    using entries = std::vector<answered>;
    std::vector<batch_sender::entry_fault> faults;
    const auto of = [&](const entries& all, std::uint64_t items) {
        return outcome_of(wire::kinesis_errors, all, items, faults);
    };
    CHECK(fits(of({{}, {}}, 2), answer::accepted));
    CHECK(faults.empty());
    CHECK(fits(of({}, 0), answer::accepted));
    CHECK(fits(of({{}, {}, {}}, 2), answer::outcome_unknown));
    const send_outcome o = of({{}, {"InternalFailure", "later"}}, 4);
    CHECK(waybill::holds_alternative<batch_sender::partial>(o));
    REQUIRE(faults.size() == 3);
    CHECK(faults[0] ==
          batch_sender::entry_fault(
              1, batch_sender::failed{.kind = fault_kind::transient, .text = "later"}));
    CHECK(faults[1] == batch_sender::entry_fault(2, batch_sender::outcome_unknown{}));
    CHECK(faults[2] == batch_sender::entry_fault(3, batch_sender::outcome_unknown{}));
    CHECK(fits(of({}, 1), answer::outcome_unknown) == false);  // one entry is, not the request
    CHECK(faults.size() == 1);
}

TEST_CASE("outcome_of: a failure contains the text")
{
    const send_outcome o = outcome_of(wire::azure_amqp_errors, "amqp:not-found", "no such queue");
    const auto* failed = waybill::get_if<batch_sender::failed>(&o);
    REQUIRE(failed);
    CHECK(failed->text == "no such queue");
}

TEST_CASE("outcome_of: the caller's list has priority")
{
    const wire::error_code mine[] = {{"amqp:not-found", answer::throttled, {}}};
    CHECK(fits(outcome_of(mine, wire::azure_amqp_errors, "amqp:not-found"), answer::throttled));
    CHECK(fits(outcome_of(mine, wire::azure_amqp_errors, "amqp:link:message-size-exceeded"),
               answer::too_large));
}

TEST_CASE("outcome_of: throttled contains the retry_after of the service")
{
    const auto pause = [](const send_outcome& o) {
        const auto* throttled = waybill::get_if<batch_sender::throttled>(&o);
        return throttled ? throttled->retry_after : duration::highest();
    };
    const duration hint = duration::seconds(7);
    CHECK(pause(outcome_of(wire::http_errors, 429, "slow down", hint)) == hint);
    CHECK(pause(outcome_of(wire::http_errors, "429")) == duration{});
    const wire::error_code mine[] = {{"503", answer::throttled, 503}};
    CHECK(pause(outcome_of(mine, wire::http_errors, 503, "", hint)) == hint);
    CHECK(fits(outcome_of(wire::http_errors, 413, "", hint), answer::too_large));
}

TEST_CASE("outcome_of: too_large contains the byte sizes of a refusal, and no other numbers")
{
    const std::string_view text =
        "The received message (delivery-id:0, size:300000 bytes) exceeds the limit (262144 bytes) "
        "currently allowed on the link.";
    const send_outcome o =
        outcome_of(wire::azure_amqp_errors, "amqp:link:message-size-exceeded", text);
    const auto* refused = waybill::get_if<batch_sender::too_large>(&o);
    REQUIRE(refused);
    CHECK(refused->actual == 300'000);
    CHECK(refused->limit == 262'144);

    const send_outcome without =
        outcome_of(wire::azure_amqp_errors, "amqp:link:message-size-exceeded", "too large");
    CHECK(tests_support::held<batch_sender::too_large>(without) == batch_sender::too_large{});
    // Sizes of one item are not those of the batch.
    const send_outcome item =
        outcome_of(answer::too_large, "", wire::refusal_numbers{300, 200, wire::extent::item});
    CHECK(tests_support::held<batch_sender::too_large>(item) == batch_sender::too_large{});
    // A limit of items is no limit of bytes.
    const send_outcome many = outcome_of(answer::too_many, "", wire::refusal_numbers{300, 200});
    CHECK(tests_support::held<batch_sender::too_large>(many) == batch_sender::too_large{});
}

TEST_CASE("outcome_of: send_all adapts to a refusal with numbers after at most two refusals")
{
    testing::manual_environment env;
    batch_sender sender({.limit = {.bytes = 1'000'000}, .item_overhead = 10});
    const std::vector<std::string> inbox(2'000, std::string(500, 'x'));
    std::uint64_t refusals = 0;
    const auto transmit = [&](const auto& batch) -> send_outcome {
        std::uint64_t bytes = 40;
        for (const std::string& m : batch) bytes += m.size() + 60;
        if (bytes <= 262'144) return batch_sender::accepted{};
        ++refusals;
        return outcome_of(wire::azure_amqp_errors, "amqp:link:message-size-exceeded",
                          "The received message (delivery-id:0, size:" + std::to_string(bytes) +
                              " bytes) exceeds the limit (262144 bytes) currently allowed on the "
                              "link.");
    };
    const auto size = [](const std::string& m) { return m.size(); };
    const send_report r = send_all(inbox, size, sender, transmit, env);
    CHECK(r.accepted == 2'000);
    CHECK(refusals <= 2);
}

}  // namespace
}  // namespace outcome_of_test

// SPDX-License-Identifier: MIT
//
// The snippets of include/waybill/wire/README.md, compiled and run.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/held.hpp>

#include <waybill/batch.hpp>
#include <waybill/wire.hpp>

namespace wire_guide_test {
namespace {

namespace wire = waybill::wire;

struct order {
    std::string id;
    std::string json;
    std::string note = "two \"boxes\"";
    std::string photo = "four";
    std::int64_t time = 0;
};

// 2,000 orders. Number 500 fits into no batch of 262,144 bytes.
std::vector<order> orders()
{
    std::vector<order> made;
    for (std::size_t i = 0; i != 2'000; ++i) {
        made.push_back({.id = "order-" + std::to_string(i), .json = std::string(i * i % 997, '.')});
        made.back().time = 1'700'000'000'000 + 50 * static_cast<std::int64_t>(i);
    }
    made[500].json = std::string(1'100'000, '.');
    return made;
}

struct counts {
    std::uint64_t sent = 0;
    std::uint64_t batches = 0;
    std::uint64_t largest = 0;
    std::uint64_t stored = 0;

    template <class Chunk>
    void send(const Chunk& part)
    {
        sent += part.size();
        ++batches;
        if (part.bytes > largest) largest = part.bytes;
    }
    void store(const order&) { ++stored; }
};

TEST_CASE("guide of wire: batches with the sizes of an encoder")
{
    const std::vector<order> inbox = orders();
    counts client;
    counts& archive = client;

    //! [wire_batch]
    namespace amqp = wire::amqp;
    const auto as_amqp = [](const order& o) {
        return amqp::message{.body = o.json, .message_id = o.id};
    };
    const auto in_batch = waybill::framed(amqp::batch<amqp::proton>{}, as_amqp);
    for (auto part : waybill::chunk_by(inbox, wire::service_bus_standard(), in_batch))
        part.fits ? client.send(part) : archive.store(*part.begin());
    //! [wire_batch]
    CHECK(client.sent == 1'999);
    CHECK(client.stored == 1);
    CHECK(client.largest <= 262'144);
    CHECK(client.largest > 260'000);
}

TEST_CASE("guide of wire: one message in several encodings")
{
    namespace amqp = wire::amqp;
    const std::string json(300, '.');
    const std::string trace(55, '0');

    //! [wire_message]
    const amqp::property properties[] = {{"tenant", "blue"}, {"tries", 3}};
    const amqp::message m{
        .body = json, .ttl = 60'000, .message_id = "4711", .properties = properties};
    const auto bytes = amqp::size<amqp::proton>(m);       // as Qpid Proton writes it
    const auto any_encoder = amqp::size<amqp::bound>(m);  // upper bound for all encoders
    //! [wire_message]
    CHECK(bytes < any_encoder);
    CHECK(amqp::size<amqp::minimal>(m) < bytes);

    // The bytes that tracing adds, as the guide names them.
    amqp::message plain{.body = json};
    const auto none = amqp::size<amqp::proton>(plain);
    const amqp::property traced[] = {{"traceparent", trace}};
    plain.properties = traced;
    CHECK(amqp::size<amqp::proton>(plain) == none + 70 + 12);
    const amqp::property twice[] = {{"traceparent", trace}, {"Diagnostic-Id", trace}};
    plain.properties = twice;
    CHECK(amqp::size<amqp::proton>(plain) == none + 70 + 72 + 12);

    //! [wire_envelope]
    const amqp::property partition[] = {{"x-opt-partition-key", "customer-7"}};
    const amqp::batch<amqp::proton> framing{.carries = {.message_annotations = partition}};
    const auto with_trace = waybill::with_reserve(framing, {.item = 70 + 12});
    //! [wire_envelope]
    CHECK(framing.envelope(m) > amqp::batch<amqp::proton>{}.envelope(m));
    CHECK(with_trace.delta({}, m) == framing.delta({}, m) + 82);
}

TEST_CASE("guide of wire: Kafka and JSON")
{
    std::vector<order> inbox = orders();
    counts producer;
    counts& archive = producer;
    {
        //! [wire_kafka]
        namespace kafka = wire::kafka;
        const auto as_record = [](const order& o) {
            return kafka::record{.key = o.id, .value = o.json, .timestamp = o.time};
        };
        const auto in_batch = waybill::framed(kafka::record_batch{}, as_record);
        for (auto part : waybill::chunk_by(inbox, wire::kafka_default(), in_batch))
            part.fits ? producer.send(part) : archive.store(*part.begin());
        //! [wire_kafka]
        CHECK(producer.sent == 1'999);
        CHECK(producer.stored == 1);
        CHECK(producer.largest <= 1'048'588);

        const kafka::record ten{.value = "0123456789"};
        CHECK(kafka::size(ten, 0, 0) == 10 + 7);
        CHECK(kafka::bound(ten) == 10 + 3 + 21);
    }
    {
        inbox.resize(3);
        counts client;
        const waybill::batch_limits limits{.bytes = 1'000};
        //! [wire_json]
        constexpr std::string_view frame = R"({"note":,"photo":""})";
        const auto as_json = [&](const order& o) {
            return frame.size() + wire::json::string_size(o.note) +
                   wire::base64_size(o.photo.size());
        };
        for (auto part : waybill::chunk_by(inbox, limits, wire::json::array{as_json}))
            client.send(part);
        //! [wire_json]
        const std::string_view one = R"({"note":"two \"boxes\"","photo":"Zm91cg=="})";
        CHECK(client.batches == 1);
        CHECK(client.largest == 2 + 3 * one.size() + 2);
    }
}

TEST_CASE("guide of wire: limits of services")
{
    const struct {
        std::uint64_t max_message_size = 2'000'000;
    } link;
    std::uint64_t printed = 0;
    const auto print = [&](auto&&...) { ++printed; };

    //! [wire_limits]
    waybill::batch_limits limits = wire::event_hubs_standard();
    limits.bytes = limits.single = link.max_message_size;  // the broker's own limit has priority

    for (const wire::service& s : wire::services)
        print(s.name, s.highest.bytes, wire::name(s.evidence), s.as_of, s.source, s.note);
    //! [wire_limits]
    CHECK(limits == waybill::batch_limits{
                        .bytes = 2'000'000, .single = 2'000'000, .answers_per_entry = false});
    CHECK(printed == 28);
}

TEST_CASE("guide of wire: the pause that a service requires")
{
    using namespace std::chrono_literals;
    const struct {
        std::string_view retry_after = "120";
        std::string_view x_ms_retry_after_ms = "2500";
        std::string_view body{};
        int status = 429;
    } response;
    const waybill::wall_time now{};
    //! [wire_retry_after]
    // Seconds, or a date: "120", "Sun, 06 Nov 1994 08:49:37 GMT"
    const auto pause = wire::retry_after(response.retry_after, now);
    const auto azure = wire::retry_after_ms(response.x_ms_retry_after_ms);  // "2500"
    const auto google = wire::retry_delay("2.5s");                          // RetryInfo
    const auto outcome =
        wire::outcome_of(wire::http_errors, response.status, response.body, pause.value_or(0s));
    //! [wire_retry_after]
    CHECK(azure == waybill::duration(2'500ms));
    CHECK(google == azure);
    CHECK(outcome == waybill::send_outcome(waybill::batch_sender::throttled{
                         .retry_after = waybill::duration::seconds(120)}));
}

TEST_CASE("guide of wire: codes and texts of refusals")
{
    const struct {
        int status = 503;
    } response;
    const struct {
        std::string_view code = "InternalFailure";
    } entry;

    //! [wire_codes]
    using wire::answer;
    // A list of the caller has priority. This service sends 503 before it accepts anything.
    constexpr wire::error_code own[] = {{"503", answer::throttled, 503}};
    const auto request = wire::find(own, wire::http_errors, response.status);

    // The codes of a service have priority over the codes that all AWS services share.
    const auto record = wire::find(wire::kinesis_errors.codes, wire::aws_common_errors, entry.code);
    //! [wire_codes]
    CHECK(request == answer::throttled);
    CHECK(record == answer::transient);
    CHECK(wire::find(wire::aws_common_errors.codes, wire::kinesis_errors, entry.code) ==
          answer::outcome_unknown);
    CHECK_FALSE(wire::find(wire::http_errors, 409).has_value());

    //! [wire_refusal]
    const auto refused = [](std::string_view text) {
        waybill::batch_sender::too_large event;
        const auto numbers = wire::read_refusal(wire::dialect::azure_amqp, text);
        if (numbers && numbers->of == wire::extent::request) {  // not those of one item
            event.actual = numbers->actual;
            event.limit = numbers->limit;
        }
        return event;
    };
    //! [wire_refusal]

    struct reply {
        bool ok = false;
        std::string code{};
        std::string text{};
    };
    struct {
        reply next{};
        reply send(int) { return next; }
    } client;

    CHECK(refused("too large") == waybill::batch_sender::too_large{});

    //! [wire_outcome]
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        const auto r = client.send(batch);
        if (r.ok) return waybill::batch_sender::accepted{};
        return wire::outcome_of(wire::azure_amqp_errors, r.code, r.text);
    };
    //! [wire_outcome]
    const auto outcome_of = [&](std::string code, std::string text) {
        client.next = {.code = std::move(code), .text = std::move(text)};
        return transmit(0);
    };
    const auto large = outcome_of(
        "amqp:link:message-size-exceeded",
        "The received message (delivery-id:7, size:300574 bytes) exceeds the limit (262144 bytes) "
        "currently allowed on the link.");
    CHECK(large == waybill::send_outcome(
                       waybill::batch_sender::too_large{.actual = 300'574, .limit = 262'144}));
    CHECK(waybill::holds_alternative<waybill::batch_sender::outcome_unknown>(
        outcome_of("com.microsoft:timeout", "")));
    CHECK(waybill::holds_alternative<waybill::batch_sender::outcome_unknown>(
        outcome_of("not in the table", "")));
    const auto missing = outcome_of("amqp:not-found", "");
    CHECK(tests_support::held<waybill::batch_sender::failed>(missing).kind ==
          waybill::fault_kind::infrastructure);
}

}  // namespace
}  // namespace wire_guide_test

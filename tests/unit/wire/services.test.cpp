// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/wire/services.hpp>

namespace services_test {

using waybill::batch_limits;
using waybill::unlimited;
using waybill::validate;
using waybill::wire::proof;
using waybill::wire::service;
using waybill::wire::services;

namespace {

constexpr bool is_month(std::string_view s)
{
    if (s.size() != 7 || s[4] != '-') return false;
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (i != 4 && (s[i] < '0' || s[i] > '9')) return false;
    }
    const int month = (s[5] - '0') * 10 + (s[6] - '0');
    return s >= "2010" && s < "2100" && month >= 1 && month <= 12;
}

constexpr bool is_name(std::string_view s)
{
    for (const char c : s) {
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_') return false;
    }
    return !s.empty();
}

// The required parts of every row, for each service.
constexpr bool whole(const service& s)
{
    return is_name(s.name) && is_month(s.as_of) && s.source.starts_with("https://") &&
           s.source.find(' ') == std::string_view::npos && s.note.ends_with('.') &&
           !validate(s.highest) && s.highest.envelope == 0 &&
           (s.highest.bytes != unlimited || s.highest.single != unlimited);
}

// A single item that the row allows also fits alone into a batch of that row.
constexpr bool single_fits(const service& s)
{
    return s.highest.single == unlimited || s.highest.fits_alone(s.highest.single);
}

constexpr bool all_are(bool (*what)(const service&))
{
    for (const service& each : services) {
        if (!what(each)) return false;
    }
    return true;
}

constexpr bool names_differ()
{
    for (std::size_t i = 0; i < services.size(); ++i) {
        for (std::size_t j = i + 1; j < services.size(); ++j) {
            if (services.at(i).name == services.at(j).name) return false;
        }
    }
    return true;
}

constexpr bool answers_per_entry(std::string_view name)
{
    for (const std::string_view of :
         {"sqs_", "sns_", "kinesis_", "firehose_", "eventbridge_", "redis_"}) {
        if (name.starts_with(of)) return true;
    }
    return false;
}

constexpr bool is(const service& s, std::string_view name, batch_limits l)
{
    l.answers_per_entry = answers_per_entry(name);
    return s.name == name && s.highest == l && batch_limits(s) == l;
}

}  // namespace

static_assert(all_are(whole));
static_assert(all_are(single_fits));
static_assert(names_differ());
static_assert(services.size() == 28);
static_assert(is_month("2026-01") && !is_month("2026-13") && !is_month("2026-1") &&
              !is_month("January") && !is_month("2026/01"));

namespace wire = waybill::wire;

// Written out a second time, so that a slip of a finger needs two.
static_assert(is(wire::service_bus_standard(), "service_bus_standard",
                 {.bytes = 256 * 1024, .items = 4500, .single = 256 * 1024}));
static_assert(is(wire::service_bus_premium(), "service_bus_premium",
                 {.bytes = 1024 * 1024, .items = 15000, .single = 1024 * 1024}));
static_assert(is(wire::service_bus_premium_single(), "service_bus_premium_single",
                 {.bytes = 100 * 1000 * 1000, .items = 1, .single = 100 * 1000 * 1000}));
static_assert(is(wire::event_hubs_basic(), "event_hubs_basic",
                 {.bytes = 256 * 1024, .single = 256 * 1024}));
static_assert(is(wire::event_hubs_standard(), "event_hubs_standard",
                 {.bytes = 1022 * 1024, .single = 1022 * 1024}));
static_assert(is(wire::event_hubs_dedicated(), "event_hubs_dedicated",
                 {.bytes = 1022 * 1024, .single = 1022 * 1024}));
static_assert(is(wire::cloudwatch_put_metric_data(), "cloudwatch_put_metric_data",
                 {.bytes = 1000 * 1000, .items = 1000, .single = 1000 * 1000}));
static_assert(is(wire::azure_queue_storage(), "azure_queue_storage",
                 {.bytes = 64 * 1024, .items = 1, .single = 64 * 1024}));
static_assert(is(wire::sqs_send_message_batch(), "sqs_send_message_batch",
                 {.bytes = 1024 * 1024, .items = 10, .single = 1024 * 1024}));
static_assert(is(wire::sqs_send_message_batch_256k(), "sqs_send_message_batch_256k",
                 {.bytes = 256 * 1024, .items = 10, .single = 256 * 1024}));
static_assert(is(wire::sns_publish_batch(), "sns_publish_batch",
                 {.bytes = 256 * 1024, .items = 10, .single = 256 * 1024}));
static_assert(is(wire::kinesis_put_records(), "kinesis_put_records",
                 {.bytes = 5 * 1024 * 1024, .items = 500, .single = 1024 * 1024}));
static_assert(is(wire::kinesis_put_records_large(), "kinesis_put_records_large",
                 {.bytes = 10 * 1024 * 1024, .items = 500, .single = 10 * 1024 * 1024}));
static_assert(is(wire::firehose_put_record_batch(), "firehose_put_record_batch",
                 {.bytes = 4 * 1000 * 1000, .items = 500, .single = 1000 * 1024}));
static_assert(is(wire::eventbridge_put_events(), "eventbridge_put_events",
                 {.bytes = 256 * 1024 - 1, .items = 10, .single = 256 * 1024 - 1}),
              "the documented limit is exclusive");
static_assert(is(wire::eventbridge_put_events_1mb(), "eventbridge_put_events_1mb",
                 {.bytes = 1000 * 1000 - 1, .items = 10, .single = 1000 * 1000 - 1}));
static_assert(is(wire::cloudwatch_put_log_events(), "cloudwatch_put_log_events",
                 {.bytes = 1024 * 1024, .items = 10000, .single = 1000 * 1000}));
static_assert(is(wire::pubsub_publish(), "pubsub_publish",
                 {.bytes = 10 * 1000 * 1000, .items = 1000, .single = 10 * 1000 * 1000}));
static_assert(is(wire::grpc_default(), "grpc_default",
                 {.bytes = 4 * 1024 * 1024, .single = 4 * 1024 * 1024}));
static_assert(is(wire::kafka_default(), "kafka_default", {.bytes = 1024 * 1024 + 12}));
static_assert(is(wire::nats_default(), "nats_default",
                 {.bytes = 1024 * 1024, .items = 1, .single = 1024 * 1024}));
static_assert(is(wire::rabbitmq_4_default(), "rabbitmq_4_default",
                 {.bytes = 16 * 1024 * 1024, .items = 1, .single = 16 * 1024 * 1024}));
static_assert(is(wire::rabbitmq_3_default(), "rabbitmq_3_default",
                 {.bytes = 128 * 1024 * 1024, .items = 1, .single = 128 * 1024 * 1024}));
static_assert(is(wire::mqtt_protocol(), "mqtt_protocol",
                 {.bytes = 268'435'455 + 5, .items = 1, .single = 268'435'455 + 5}));
static_assert(is(wire::emqx_default(), "emqx_default",
                 {.bytes = 1024 * 1024, .items = 1, .single = 1024 * 1024}));
static_assert(is(wire::mosquitto_default(), "mosquitto_default",
                 {.bytes = 2'000'000, .items = 1, .single = 2'000'000}));
static_assert(is(wire::aws_iot_core(), "aws_iot_core",
                 {.bytes = 128 * 1024, .items = 1, .single = 128 * 1024}));
static_assert(is(wire::redis_default(), "redis_default", {.single = 512 * 1024 * 1024}));

// Can be changed, and the ambiguous reading is the safe one.
static_assert([] {
    batch_limits l = wire::service_bus_standard();
    l.bytes = 1'000;
    l.envelope = 12;
    return l == batch_limits{.bytes = 1'000,
                             .items = 4'500,
                             .single = 262'144,
                             .envelope = 12,
                             .answers_per_entry = false};
}());
static_assert(wire::eventbridge_put_events_1mb().highest.bytes < 1'000'000);
static_assert(wire::service_bus_premium().highest.bytes <
              wire::service_bus_premium_single().highest.bytes);
static_assert(wire::nats_default().evidence == proof::measured);
static_assert(wire::nats_default() != wire::kafka_default());

// An emulator is no witness of the service that it imitates.
static_assert(wire::sqs_send_message_batch().source.find("/floci") == std::string_view::npos);
static_assert(wire::sqs_send_message_batch().as_of == "2026-01");
// Microsoft withdrew the count in this month; the row has the one that is safe in either reading.
static_assert(wire::service_bus_standard().as_of == "2026-04" &&
              wire::service_bus_standard().highest.items == 4'500);
static_assert(wire::service_bus_premium().as_of == "2026-04");

static_assert(name(proof::measured) == "measured");
static_assert(name(proof::reported) == "reported");
static_assert(name(proof::documented) == "documented");

TEST_CASE("services: every service is complete, and its largest item fits in a batch")
{
    for (const service& each : services) {
        CAPTURE(each.name);
        CHECK(whole(each));
        CHECK(single_fits(each));
    }
}

}  // namespace services_test

// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/retry/presets.hpp>

namespace presets_test {

using namespace waybill;
using namespace std::chrono_literals;

namespace {

// Presets convert to the needed type, and can be changed.
constexpr call_policy kafka = retry_presets::kafka_producer();
static_assert(kafka.time_limit == duration(2min) && kafka.retry.max_attempts == 2'147'483'648U);
constexpr retry_policy azure = retry_presets::azure_http().value.retry;
static_assert(azure.max_attempts == 4);
constexpr retry_budget quota = retry_presets::aws_retry_quota();
static_assert(quota.tokens == 100 && quota.successes == 5);

// Pauses as the clients themselves make them, with nothing drawn, all drawn, or half.
constexpr duration nth(const retry_presets::preset<call_policy>& p, std::uint32_t n, double draw)
{
    return pause(p.value.retry.pauses, n, draw);
}
static_assert(nth(retry_presets::azure_amqp(), 1, 0) == duration(1'600ms));
static_assert(nth(retry_presets::azure_amqp(), 3, 0) == duration(6'400ms));
static_assert(nth(retry_presets::azure_http(), 1, 0.5) == duration(800ms));
static_assert(nth(retry_presets::azure_http(), 3, 0.5) == duration(3'200ms));
static_assert(nth(retry_presets::aws_standard(), 1, 0.5) == duration(500ms));
static_assert(nth(retry_presets::aws_standard(), 9, 1) == duration(20s));
static_assert(nth(retry_presets::aws_standard_2026(), 2, 1) == duration(100ms));
static_assert(nth(retry_presets::aws_throttled_2026(), 2, 1) == duration(2s));
static_assert(nth(retry_presets::google_cloud_cpp(), 1, 0) == duration(1s));
static_assert(nth(retry_presets::google_cloud_cpp(), 2, 1) == duration(4s));
static_assert(nth(retry_presets::google_cloud_cpp(), 99, 1) == duration(5min));
static_assert(nth(retry_presets::polly(), 3, 0) == duration(2s));
static_assert(nth(retry_presets::kafka_producer(), 1, 0.5) == duration(100ms));
static_assert(nth(retry_presets::kafka_producer(), 3, 0.5) == duration(400ms));

static_assert(retry_presets::nservicebus().value.max_attempts() == 24);
static_assert([] {
    const retry_levels l = retry_presets::nservicebus();
    const auto sixth = decide(l, 6, fault_kind::transient, 0.5, {});
    const auto last = decide(l, 18, fault_kind::transient, 0.5, {});
    return sixth == retry_action(wait_until{steady_time::at(10s)}) &&
           last == retry_action(wait_until{steady_time::at(30s)});
}());

// A preset can be passed to `decide` instead of the plain value.
static_assert(decide(retry_presets::nservicebus(), 6, fault_kind::transient, 0.5, {}) ==
              retry_action(wait_until{steady_time::at(10s)}));
static_assert(waybill::decide(retry_presets::nservicebus(), 3, fault_kind::transient, 0.5, {},
                              0s) == retry_action(retry_now{}));
static_assert(retry_loop(retry_presets::polly(), {}).policy() == retry_presets::polly().value);
static_assert(make<retry_loop>(retry_presets::polly(), {}).has_value());

static_assert(time_until_dead_letter(retry_presets::service_bus_queue()) ==
              delivery_terms::lifetime{10min});
static_assert(time_until_dead_letter(retry_presets::sqs_queue()) ==
              delivery_terms::lifetime{duration::seconds(345'600),
                                       delivery_terms::lifetime::delivery_limit::time_to_live});
static_assert(time_until_dead_letter(retry_presets::pubsub_subscription()) ==
              delivery_terms::lifetime{duration::seconds(604'800),
                                       delivery_terms::lifetime::delivery_limit::time_to_live});

template <class T>
void is_sound(std::string_view name, const retry_presets::preset<T>& p)
{
    CAPTURE(name);
    CHECK(p.name == name);
    CHECK_FALSE(validate(p.value));
    CHECK(p.as_of.size() == 7);
    CHECK(p.as_of.substr(0, 2) == "20");
    CHECK(p.source.substr(0, 8) == "https://");
    CHECK(static_cast<T>(p) == p.value);
}

TEST_CASE("presets: each is valid, and has a date and a source")
{
    is_sound("aws_standard", retry_presets::aws_standard());
    is_sound("aws_standard_2026", retry_presets::aws_standard_2026());
    is_sound("aws_throttled_2026", retry_presets::aws_throttled_2026());
    is_sound("aws_retry_quota", retry_presets::aws_retry_quota());
    is_sound("aws_retry_quota_2026", retry_presets::aws_retry_quota_2026());
    is_sound("azure_amqp", retry_presets::azure_amqp());
    is_sound("azure_http", retry_presets::azure_http());
    is_sound("kafka_producer", retry_presets::kafka_producer());
    is_sound("google_cloud_cpp", retry_presets::google_cloud_cpp());
    is_sound("google_pubsub_cpp", retry_presets::google_pubsub_cpp());
    is_sound("grpc_example", retry_presets::grpc_example());
    is_sound("grpc_throttling_example", retry_presets::grpc_throttling_example());
    is_sound("finagle", retry_presets::finagle());
    is_sound("polly", retry_presets::polly());
    is_sound("nservicebus", retry_presets::nservicebus());
    is_sound("service_bus_queue", retry_presets::service_bus_queue());
    is_sound("sqs_queue", retry_presets::sqs_queue());
    is_sound("pubsub_subscription", retry_presets::pubsub_subscription());
}

}  // namespace
}  // namespace presets_test

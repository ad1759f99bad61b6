// SPDX-License-Identifier: MIT
//
// presets: the default retry policies of well-known clients and queues, each with date and source.
//
// A preset is a value to start from, for example to replace such a client:
//
//     waybill::call_policy p = waybill::retry_presets::kafka_producer();
//     p.time_limit = 30s;
//     waybill::retry_token_bucket tokens(waybill::retry_presets::aws_retry_quota());
//
// How to read a preset
//   1. Counts are attempts and include the first call. If a client counts retries instead, its
//      number is the argument of waybill::detail::tries_for_retries().
//   2. If the jitter of a client has no equivalent here, `note` describes it.
//   3. `as_of` is the month of the source, for example "2024-08". If the source has no date, it is
//      the month in which the source was read.
//
// All values are defaults from the vendor's own source code or reference. They are not guaranteed.

#ifndef WAYBILL_RETRY_PRESETS_HPP
#define WAYBILL_RETRY_PRESETS_HPP

#include <concepts>
#include <cstdint>
#include <string_view>

#include <waybill/core/detail/line.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2::retry_presets {

/// A default value and its source. Converts to the plain value.
template <class T>
struct preset {
    std::string_view name{};  ///< Name of the function that returns this preset.
    T value{};
    std::string_view as_of{};   ///< Year and month, for example "2024-08".
    std::string_view source{};  ///< URL, or repository and files.
    std::string_view note{};    ///< Differences between the client and `value`. May be empty.

    [[nodiscard]] constexpr operator T() const noexcept { return value; }
    friend bool operator==(const preset&, const preset&) = default;
};

/// No limit of attempts: only the time limit ends them.
inline constexpr std::uint32_t any_number = ~std::uint32_t{0};

/// AWS SDK for C++, standard mode.
[[nodiscard]] constexpr preset<call_policy> aws_standard() noexcept
{
    return {"aws_standard",
            {.retry = {.max_attempts = 3,
                       .pauses = {.base = duration::seconds(1), .cap = duration::seconds(20)}}},
            "2026-11",
            "https://github.com/aws/aws-sdk-cpp: core/source/client/RetryStrategy.cpp",
            "Pauses are whole milliseconds, and the cap applies after the jitter. Standard mode "
            "makes three attempts in all SDKs of AWS "
            "(https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html)."};
}

/// AWS SDK for C++, standard mode with AWS_NEW_RETRIES_2026 set: after errors other than
/// throttling.
[[nodiscard]] constexpr preset<call_policy> aws_standard_2026() noexcept
{
    return {"aws_standard_2026",
            {.retry = {.max_attempts = 3,
                       .pauses = {.base = duration::milliseconds(50),
                                  .cap = duration::seconds(20),
                                  .highest_hint = duration::seconds(5)}}},
            "2026-11",
            "https://github.com/aws/aws-sdk-cpp: core/source/client/RetryStrategy.cpp",
            "A server's x-amz-retry-after adds at most 5 s to the random pause: at most 25 s in "
            "total."};
}

/// AWS SDK for C++, standard mode with AWS_NEW_RETRIES_2026 set: after throttling.
[[nodiscard]] constexpr preset<call_policy> aws_throttled_2026() noexcept
{
    preset<call_policy> p = aws_standard_2026();
    p.name = "aws_throttled_2026";
    p.value.retry.pauses.base = duration::seconds(1);
    return p;
}

/// AWS SDK for C++, standard mode: the retry quota of a client.
[[nodiscard]] constexpr preset<retry_budget> aws_retry_quota() noexcept
{
    return {"aws_retry_quota",
            {.tokens = 500 / 5, .successes = 5},
            "2026-11",
            "https://github.com/aws/aws-sdk-cpp: core/source/client/RetryStrategy.cpp",
            "The SDK has 500 tokens: a retry takes 5, a retry after a timeout 10. A successful "
            "first attempt returns 1, and a successful retry returns all that it took."};
}

/// AWS SDK for C++, standard mode with AWS_NEW_RETRIES_2026 set: the retry quota of a client.
[[nodiscard]] constexpr preset<retry_budget> aws_retry_quota_2026() noexcept
{
    return {"aws_retry_quota_2026",
            {.tokens = 500 / 14, .successes = 14},
            "2026-11",
            "https://github.com/aws/aws-sdk-cpp: aws/core/internal/RetryStrategyImpl.h",
            "The SDK has 500 tokens: a retry takes 14, a retry after throttling 5. A successful "
            "first attempt returns 1, and a successful retry returns all that it took."};
}

/// Azure SDK for .NET, Service Bus and Event Hubs: operations over AMQP.
[[nodiscard]] constexpr preset<call_policy> azure_amqp() noexcept
{
    return {"azure_amqp",
            {.retry = {.max_attempts = waybill::detail::tries_for_retries(3),
                       .pauses = {.base = duration::milliseconds(1'600),
                                  .cap = duration::seconds(60),
                                  .spread = backoff::jitter::none}}},
            "2026-11",
            "https://github.com/Azure/azure-sdk-for-net: ServiceBusRetryOptions.cs, "
            "EventHubsRetryOptions.cs, BasicRetryPolicy.cs",
            "Its Delay of 0.8 s is doubled before the first retry. A random time of at most 64 ms "
            "is added, which hardly separates callers: set a jitter."};
}

/// Azure SDK for .NET: requests over HTTP, by Azure.Core.
[[nodiscard]] constexpr preset<call_policy> azure_http() noexcept
{
    return {"azure_http",
            {.retry = {.max_attempts = waybill::detail::tries_for_retries(3),
                       .pauses = {.base = duration::milliseconds(800),
                                  .cap = duration::seconds(60),
                                  .spread = backoff::jitter::around,
                                  .highest_hint = duration::highest()}}},
            "2026-11",
            "https://github.com/Azure/azure-sdk-for-net: sdk/core/Azure.Core, RetryOptions.cs, "
            "ExponentialDelayStrategy.cs",
            "Retry-After has no limit. The SDK for C++ has the same options, and random pauses of "
            "at most 1.3 times the value."};
}

/// Kafka's Java producer.
[[nodiscard]] constexpr preset<call_policy> kafka_producer() noexcept
{
    return {"kafka_producer",
            {.retry = {.max_attempts = waybill::detail::tries_for_retries(2'147'483'647),
                       .pauses = {.base = duration::milliseconds(100),
                                  .cap = duration::milliseconds(1'200),
                                  .spread = backoff::jitter::around}},
             .time_limit = duration::seconds(120)},
            "2026-11",
            "https://github.com/apache/kafka: CommonClientConfigs.java, ProducerConfig.java",
            "retry.backoff.max.ms is 1 s, and the jitter adds at most a fifth. The limit is "
            "delivery.timeout.ms, measured from the return of send()."};
}

/// google-cloud-cpp: most clients.
[[nodiscard]] constexpr preset<call_policy> google_cloud_cpp() noexcept
{
    return {"google_cloud_cpp",
            {.retry = {.max_attempts = any_number,
                       .pauses = {.base = duration::seconds(2),
                                  .cap = duration::seconds(300),
                                  .spread = backoff::jitter::equal}},
             .time_limit = duration::seconds(1'800)},  // 30 minutes
            "2026-11",
            "https://github.com/googleapis/google-cloud-cpp: ExponentialBackoffPolicy in "
            "internal/backoff_policy.cc; job_options_test.cc of BigQuery",
            "ExponentialBackoffPolicy(1 s, 5 min, 2) has random pauses of 1 s to 2 s, then of 2 s "
            "to 4 s. It measures the limit on the wall clock."};
}

/// google-cloud-cpp: publishing to Pub/Sub.
[[nodiscard]] constexpr preset<call_policy> google_pubsub_cpp() noexcept
{
    return {"google_pubsub_cpp",
            {.retry = {.max_attempts = any_number,
                       .pauses = {.base = duration::milliseconds(130),
                                  .cap = duration::seconds(60),
                                  .factor = 1.3,
                                  .spread = backoff::jitter::equal}},
             .time_limit = duration::seconds(60)},
            "2026-11",
            "https://github.com/googleapis/google-cloud-cpp: pubsub/internal/defaults.cc",
            "ExponentialBackoffPolicy(100 ms, 60 s, 1.3) has random pauses of 100 ms to 130 ms, "
            "then to 169 ms. With equal jitter they begin at half of the upper bound."};
}

/// The example in gRPC's retry design. By default gRPC does not retry.
[[nodiscard]] constexpr preset<call_policy> grpc_example() noexcept
{
    return {"grpc_example",
            {.retry = {.max_attempts = 4,
                       .pauses = {.base = duration::milliseconds(100),
                                  .cap = duration::milliseconds(1'200),
                                  .spread = backoff::jitter::around}}},
            "2024-08",
            "https://github.com/grpc/proposal: A6-client-retries.md, and its pull request 452",
            "maxBackoff is 1 s, and the jitter adds at most a fifth. gRPC makes at most 5 "
            "attempts."};
}

/// The example in gRPC's retry throttling: maxTokens 10, tokenRatio 0.1.
[[nodiscard]] constexpr preset<retry_budget> grpc_throttling_example() noexcept
{
    return {"grpc_throttling_example",
            {.tokens = 4, .successes = 10},
            "2024-08",
            "https://github.com/grpc/proposal: A6-client-retries.md",
            "gRPC has 10 tokens. Each failure takes one, retried or not, and a retry needs more "
            "than 5: four in a row. After more failures gRPC needs more successes to retry again "
            "than this budget."};
}

/// Finagle's retry budget: one fifth of the requests, and 10 retries per second.
[[nodiscard]] constexpr preset<retry_budget> finagle() noexcept
{
    return {"finagle",
            {.tokens = 100, .successes = 5, .refill = duration::milliseconds(100)},
            "2026-11",
            "https://github.com/twitter/finagle: service/RetryBudget.scala",
            "100 tokens are its reserve of 10 per second for 10 s. In Finagle every request "
            "counts, not only a success, and its tokens expire after 10 s."};
}

/// Polly 8 for .NET, RetryStrategyOptions.
[[nodiscard]] constexpr preset<call_policy> polly() noexcept
{
    return {"polly",
            {.retry = {.max_attempts = waybill::detail::tries_for_retries(3),
                       .pauses = {.base = duration::seconds(2),
                                  .cap = duration::seconds(2),
                                  .factor = 1,
                                  .spread = backoff::jitter::none}}},
            "2026-11",
            "https://github.com/App-vNext/Polly: src/Polly.Core/Retry/RetryConstants.cs",
            ""};
}

/// NServiceBus: immediate retries within a delivery, and delayed retries.
[[nodiscard]] constexpr preset<retry_levels> nservicebus() noexcept
{
    return {"nservicebus",
            {.immediate = 5,
             .delayed = 3,
             .pauses = {.base = duration::seconds(10),
                        .cap = duration::seconds(86'400),  // 1 day
                        .factor = 1,
                        .spread = backoff::jitter::none,
                        .step = duration::seconds(10)}},
            "2026-11",
            "https://docs.particular.net/nservicebus/recoverability/configure-delayed-retries",
            "Version 10. No retry is delayed once a message is 24 hours old."};
}

/// A queue of Azure Service Bus.
[[nodiscard]] constexpr preset<delivery_terms> service_bus_queue() noexcept
{
    return {"service_bus_queue",
            {.lock = duration::seconds(60),
             .max_deliveries = 10,
             .highest_lock = duration::seconds(300)},
            "2026-11",
            "https://learn.microsoft.com/dotnet/api/azure.resourcemanager.servicebus."
            "servicebusqueuedata.lockduration, and .maxdeliverycount",
            ""};
}

/// A queue of Amazon SQS without a redrive policy.
[[nodiscard]] constexpr preset<delivery_terms> sqs_queue() noexcept
{
    return {"sqs_queue",
            {.lock = duration::seconds(30),
             .max_deliveries = waybill::detail::highest_size,
             .time_to_live = duration::seconds(345'600),  // 4 days
             .highest_lock = duration::seconds(43'200)},  // 12 hours
            "2026-11",
            "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference: "
            "ChangeMessageVisibility, CreateQueue",
            "The lock is its visibility timeout, the time to live its retention period. A redrive "
            "policy sets maxReceiveCount, which has no default."};
}

/// A subscription of Google Pub/Sub without a dead-letter policy.
[[nodiscard]] constexpr preset<delivery_terms> pubsub_subscription() noexcept
{
    return {"pubsub_subscription",
            {.lock = duration::seconds(10),
             .max_deliveries = waybill::detail::highest_size,
             .time_to_live = duration::seconds(604'800),  // 7 days
             .highest_lock = duration::seconds(600)},
            "2026-11",
            "https://docs.cloud.google.com/pubsub/docs/subscription-properties",
            "The lock is its acknowledgement deadline, the time to live its retention."};
}

}  // namespace waybill::inline v0_2::retry_presets

namespace waybill::inline v0_2 {

/// decide() with the levels of a preset.
template <std::same_as<retry_presets::preset<retry_levels>> P>
[[nodiscard]] constexpr retry_action decide(const P& p, std::uint64_t tries, fault_kind kind,
                                            double random, steady_time now,
                                            duration hint = {}) noexcept
{
    return decide(p.value, tries, kind, random, now, hint);
}

namespace detail::words {

template <has_line T>
struct line_of<retry_presets::preset<T>> {
    static std::string text(const retry_presets::preset<T>& p)
    {
        return concat(one_line(p.name), ": ", p.value, " (", one_line(p.as_of), ", ",
                      one_line(p.source), ")");
    }
};

}  // namespace detail::words

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_PRESETS_HPP

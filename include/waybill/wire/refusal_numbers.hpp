// SPDX-License-Identifier: MIT
//
// refusal_numbers: the size and the limit in the text of a refusal, and the services that send it.

#ifndef WAYBILL_WIRE_REFUSAL_NUMBERS_HPP
#define WAYBILL_WIRE_REFUSAL_NUMBERS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2::wire {

using v0_2::name;

/// The service or library whose phrases are searched.
enum class dialect : std::uint8_t {
    azure_amqp,       ///< Service Bus, Event Hubs and IoT Hub: the description of the AMQP error.
    sqs,              ///< SQS and compatible services.
    cloudwatch_logs,  ///< PutLogEvents.
    pubsub,           ///< Google Pub/Sub, and Google's front end.
    grpc,             ///< The gRPC libraries: C and its wrappers, Go, Java, Node, Rust's tonic.
    kafka,            ///< The broker, and the Java, Python and Go (sarama) producers.
    rabbitmq,         ///< The reply text of a closed channel.
    none,             ///< No text with sizes is known.
};

[[nodiscard]] constexpr std::string_view texts_of(dialect) noexcept
{
    return "azure_amqp, sqs, cloudwatch_logs, pubsub, grpc, kafka, rabbitmq, none";
}

/// The thing that the numbers describe.
enum class extent : std::uint8_t {
    request,  ///< The whole request, envelope included.
    item,     ///< One item by itself; the numbers are not those of the batch.
};

[[nodiscard]] constexpr std::string_view texts_of(extent) noexcept
{
    return "request, item";
}

/// The numbers of a refusal. At least one of `actual` and `limit` is set.
struct refusal_numbers {
    std::optional<std::uint64_t> actual{};  ///< Actual size in bytes, as the service counts it.
    std::optional<std::uint64_t> limit{};   ///< Maximum size in bytes.
    extent of = extent::request;

    friend bool operator==(const refusal_numbers&, const refusal_numbers&) = default;
};

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_REFUSAL_NUMBERS_HPP

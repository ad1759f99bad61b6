// SPDX-License-Identifier: MIT
//
// services: the limits of named services for one request, with the month and page of each source.
//
//     waybill::batch_limits l = waybill::wire::service_bus_standard();
//     l.bytes = link.max_message_size;                      // the broker's own limit has priority
//     for (auto part : waybill::chunk_by(inbox, l, size)) send(part);
//
// A preset is a starting point if no better number is known; the caller may change it. Limits
// change while programs run: an SQS queue accepted 262,144 bytes for years, and now four times as
// many. Only the service guarantees its limits. If a refusal contains a limit, read_refusal in
// refusal_text.hpp reads it.
//
// Guarantees
//   1. A limit is the largest value that is accepted. If a page is ambiguous ("less than", or a KB
//      of 1,000 or 1,024 bytes), the limit is safe in both readings. The note names the ambiguity.
//   2. Bytes are counted as the service counts them; the note names the counted parts. The envelope
//      is 0, because it depends on the encoder. Set `limits.envelope` or use a framing.
//   3. `as_of` is the month of the source, such as "2026-05". If the source has no date, it is the
//      month of reading.
//   4. `evidence` is the kind of evidence for the limit: measured with a server, reported by the
//      service itself (in a refusal or in its source code), or only documented.
//   5. `answers_per_entry` is left set if the response of the operation has a result for each
//      entry, so that some can succeed while others fail. Read 2026-11 in the API references of SQS
//      (API_SendMessageBatch), SNS (API_PublishBatch), Kinesis (API_PutRecords), Firehose
//      (API_PutRecordBatch) and EventBridge (API_PutEvents); a pipeline of Redis has an answer for
//      each command. All others answer for the request.

#ifndef WAYBILL_WIRE_SERVICES_HPP
#define WAYBILL_WIRE_SERVICES_HPP

#include <array>
#include <cstdint>
#include <string_view>

#include <waybill/core/batch_limits.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2::wire {

using v0_2::name;

/// The kind of evidence for a limit.
enum class proof : std::uint8_t {
    measured,  ///< A server accepted the limit and refused one byte more.
    /// The service reported the number in a refusal, or its public source code contains it.
    reported,
    documented,  ///< A page contains the number; no test or refusal confirms it.
};

[[nodiscard]] constexpr std::string_view texts_of(proof) noexcept
{
    return "measured, reported, documented";
}

/// One service, one kind of request and its limits. Converts to `batch_limits`.
struct service {
    std::string_view name{};   ///< Name of the function below that returns it.
    batch_limits highest{};    ///< The limits of a request.
    std::string_view as_of{};  ///< Year and month of the source.
    proof evidence = proof::documented;
    std::string_view source{};  ///< Page with the limits.
    std::string_view note{};    ///< Counted parts, and exceptions.

    [[nodiscard]] constexpr operator batch_limits() const noexcept { return highest; }
    friend bool operator==(const service&, const service&) = default;
};

/// Azure Service Bus, Basic and Standard: a message, or a batch of messages.
[[nodiscard]] constexpr service service_bus_standard() noexcept
{
    return {"service_bus_standard",
            {.bytes = 262'144, .items = 4'500, .single = 262'144, .answers_per_entry = false},
            "2026-04",
            proof::reported,
            "https://github.com/Azure/azure-sdk-for-net/pull/57941",
            "Whole AMQP message, properties counted. More than 4,500 messages were refused in 2020 "
            "(https://github.com/Azure/azure-service-bus/issues/397); since 2026-04 the vendor "
            "documents no limit of the count. 4,500 is safe. At most 100 in a transaction. The "
            "properties of a message have at most 64 KB, each at most 32 KB."};
}

/// Azure Service Bus, Premium: a batch. For one large message see `service_bus_premium_single`.
[[nodiscard]] constexpr service service_bus_premium() noexcept
{
    return {"service_bus_premium",
            {.bytes = 1'048'576, .items = 15'000, .single = 1'048'576, .answers_per_entry = false},
            "2026-04",
            proof::documented,
            "https://github.com/Azure/azure-sdk-for-net/pull/57941",
            "Whole AMQP message. If large messages are allowed, max-message-size of the link is "
            "the limit of one message; that of a batch is the link's property "
            "com.microsoft:max-message-batch-size. The count is not guaranteed: about 15,885 and "
            "about 15,000 were observed "
            "(https://github.com/Azure/azure-sdk-for-python/issues/14903), see Standard."};
}

/// Azure Service Bus, Premium: one message that is sent alone, without a batch.
[[nodiscard]] constexpr service service_bus_premium_single() noexcept
{
    return {"service_bus_premium_single",
            {.bytes = 100'000'000, .items = 1, .single = 100'000'000, .answers_per_entry = false},
            "2022-07",
            proof::documented,
            "https://github.com/MicrosoftDocs/azure-docs/blob/"
            "03df76b37acd5663e6d89fdfaa0d0e7ee84b435b/includes/service-bus-quotas-table.md",
            "100 MB, read as 1,000 x 1,000. Only if the limit of the queue, 1,024 KB by default, "
            "was raised."};
}

/// Azure Event Hubs, Basic: an event, or a batch of events.
[[nodiscard]] constexpr service event_hubs_basic() noexcept
{
    return {"event_hubs_basic",
            {.bytes = 262'144, .items = unlimited, .single = 262'144, .answers_per_entry = false},
            "2022-01",
            proof::reported,
            "https://github.com/MicrosoftDocs/azure-docs/blob/"
            "014bcff1b6be45da9d913bb24e2aa4d1d823fee5/articles/event-hubs/includes/"
            "event-hubs-tier-limits.md",
            "256 KB, 262144 in refusals. Whole AMQP message. No limit of the count was found."};
}

/// Azure Event Hubs, Standard and Premium.
[[nodiscard]] constexpr service event_hubs_standard() noexcept
{
    return {
        "event_hubs_standard",
        {.bytes = 1'046'528, .items = unlimited, .single = 1'046'528, .answers_per_entry = false},
        "2019-04",
        proof::reported,
        "https://github.com/Azure/azure-event-hubs-java/issues/463",
        "1 MB on pages, 1,022 KiB from the link: prefer what your link reports. For Kafka clients, "
        "too: a larger Produce request closes the connection "
        "(https://learn.microsoft.com/azure/event-hubs/apache-kafka-configurations)."};
}

/// Azure Event Hubs, Dedicated.
[[nodiscard]] constexpr service event_hubs_dedicated() noexcept
{
    return {
        "event_hubs_dedicated",
        {.bytes = 1'046'528, .items = unlimited, .single = 1'046'528, .answers_per_entry = false},
        "2022-01",
        proof::documented,
        event_hubs_basic().source,
        "1 MB as in Standard. The link reports a higher limit, up to 20 MB."};
}

/// Azure Queue storage: one message per request.
[[nodiscard]] constexpr service azure_queue_storage() noexcept
{
    return {"azure_queue_storage",
            {.bytes = 65'536, .items = 1, .single = 65'536, .answers_per_entry = false},
            "2022-05",
            proof::reported,
            "https://github.com/microsoft/onefuzz/issues/1900",
            "Message text in UTF-8, after base64 where the client uses it."};
}

/// Amazon SQS SendMessageBatch.
[[nodiscard]] constexpr service sqs_send_message_batch() noexcept
{
    return {"sqs_send_message_batch",
            {.bytes = 1'048'576, .items = 10, .single = 1'048'576},
            "2026-01",
            proof::reported,
            "https://github.com/artilleryio/artillery/issues/3683",
            "Bodies and attributes: names, types, values. The refusal is of one message; that the "
            "whole batch has the same limit is documented. A smaller MaximumMessageSize of the "
            "queue is the limit of a message. It is unknown if it also limits a batch: a batch of "
            "one byte more was accepted (test_sqs.py of https://github.com/localstack/localstack, "
            "recorded at AWS). A batch below it is safe. Until 2025-08 the limit was 262,144, as "
            "in sqs_send_message_batch_256k."};
}

/// Amazon SQS SendMessageBatch until 2025-08. Safe for a queue that still has this
/// MaximumMessageSize.
[[nodiscard]] constexpr service sqs_send_message_batch_256k() noexcept
{
    return {"sqs_send_message_batch_256k",
            {.bytes = 262'144, .items = 10, .single = 262'144},
            "2025-03",
            proof::reported,
            "https://github.com/aws/aws-sdk-go-v2/issues/3026",
            "Counted as in sqs_send_message_batch."};
}

/// Amazon SNS PublishBatch.
[[nodiscard]] constexpr service sns_publish_batch() noexcept
{
    return {"sns_publish_batch",
            {.bytes = 262'144, .items = 10, .single = 262'144},
            "2026-11",
            proof::documented,
            "https://docs.aws.amazon.com/sdk-for-python/v4/reference/clients/sns/operations/"
            "publish_batch/",
            "Bodies and attributes. A topic's MaximumMessageSize can be raised to 1,048,576."};
}

/// Amazon Kinesis PutRecords, safe for every stream.
[[nodiscard]] constexpr service kinesis_put_records() noexcept
{
    return {"kinesis_put_records",
            {.bytes = 5'242'880, .items = 500, .single = 1'048'576},
            "2026-11",
            proof::documented,
            "https://docs.aws.amazon.com/sdkfornet/v3/apidocs/items/Kinesis/"
            "TPutRecordsRequest.html",
            "Data before base64, and the partition key. Newer pages allow 10 MiB for a request: "
            "see kinesis_put_records_large."};
}

/// Amazon Kinesis PutRecords, for a stream with the largest possible maximum record size.
[[nodiscard]] constexpr service kinesis_put_records_large() noexcept
{
    return {"kinesis_put_records_large",
            {.bytes = 10'485'760, .items = 500, .single = 10'485'760},
            "2026-11",
            proof::documented,
            "https://docs.aws.amazon.com/streams/latest/dev/large-records.html",
            "10 MiB since 2025; a record may have 1 MiB unless the stream was set to more."};
}

/// Amazon Data Firehose PutRecordBatch.
[[nodiscard]] constexpr service firehose_put_record_batch() noexcept
{
    return {"firehose_put_record_batch",
            {.bytes = 4'000'000, .items = 500, .single = 1'024'000},
            "2026-11",
            proof::documented,
            "https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html",
            "Data before base64. The whole is 4 MB, read as 1,000 x 1,000; a record 1,000 KiB."};
}

/// Amazon EventBridge PutEvents, safe for every region.
[[nodiscard]] constexpr service eventbridge_put_events() noexcept
{
    return {"eventbridge_put_events",
            {.bytes = 262'143, .items = 10, .single = 262'143},
            "2026-11",
            proof::documented,
            "https://docs.aws.amazon.com/AmazonCloudWatch/latest/events/"
            "CalculatePutEventsEntrySize.html",
            "The sum of the entries must be less than 256 KB, each without the names and marks of "
            "its JSON. Some versions of the page count those: leave a reserve. See "
            "eventbridge_put_events_1mb."};
}

/// Amazon EventBridge PutEvents since January 2026.
[[nodiscard]] constexpr service eventbridge_put_events_1mb() noexcept
{
    return {"eventbridge_put_events_1mb",
            {.bytes = 999'999, .items = 10, .single = 999'999},
            "2026-01",
            proof::documented,
            "https://aws.amazon.com/blogs/compute/"
            "more-room-to-build-serverless-services-now-support-payloads-up-to-1-mb",
            "1 MB, read as less than 1,000 x 1,000; pages of the API still contain 256 KB."};
}

/// Amazon CloudWatch PutMetricData.
[[nodiscard]] constexpr service cloudwatch_put_metric_data() noexcept
{
    return {"cloudwatch_put_metric_data",
            {.bytes = 1'000'000, .items = 1'000, .single = 1'000'000, .answers_per_entry = false},
            "2026-11",
            proof::documented,
            "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/"
            "API_PutMetricData.html",
            "1 MB, read as 1,000 x 1,000, of a POST request, which may be compressed by gzip. An "
            "item is a metric with at most 150 values."};
}

/// Amazon CloudWatch Logs PutLogEvents.
[[nodiscard]] constexpr service cloudwatch_put_log_events() noexcept
{
    return {"cloudwatch_put_log_events",
            {.bytes = 1'048'576, .items = 10'000, .single = 1'000'000, .answers_per_entry = false},
            "2025-04",
            proof::reported,
            "https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/"
            "API_PutLogEvents.html",
            "UTF-8 of each message and 26 bytes more. An event is 1 MB since 2025-04, read as "
            "1,000 x 1,000; before, it was 262,144. Events in the order of their times."};
}

/// Google Pub/Sub Publish over gRPC.
[[nodiscard]] constexpr service pubsub_publish() noexcept
{
    return {
        "pubsub_publish",
        {.bytes = 10'000'000, .items = 1'000, .single = 10'000'000, .answers_per_entry = false},
        "2022-07",
        proof::reported,
        "https://github.com/snowplow/enrich/issues/653",
        "The encoded PublishRequest, its topic counted. Over HTTP also 10,485,760 bytes of "
        "JSON, where data is base64. A message has at most 100 attributes, their keys 256 bytes "
        "and their values 1,024 bytes."};
}

/// A gRPC server with default settings; OTLP and many others.
[[nodiscard]] constexpr service grpc_default() noexcept
{
    return {
        "grpc_default",
        {.bytes = 4'194'304, .items = unlimited, .single = 4'194'304, .answers_per_entry = false},
        "2024-06",
        proof::reported,
        "https://github.com/grpc/grpc-go/issues/7335",
        "The encoded request, decompressed."};
}

/// Apache Kafka with default settings: one record batch.
[[nodiscard]] constexpr service kafka_default() noexcept
{
    return {
        "kafka_default",
        {.bytes = 1'048'588, .items = unlimited, .single = unlimited, .answers_per_entry = false},
        "2017-10",
        proof::reported,
        "https://github.com/apache/kafka/pull/4154",
        "The record batch as sent, compressed, its 61 bytes of header counted. A topic may "
        "have another limit (max.message.bytes). The Java producer's limit is 1,048,576."};
}

/// NATS with default settings: one message.
[[nodiscard]] constexpr service nats_default() noexcept
{
    return {"nats_default",
            {.bytes = 1'048'576, .items = 1, .single = 1'048'576, .answers_per_entry = false},
            "2026-11",
            proof::measured,
            "https://docs.nats.io/reference/config/max_payload",
            "Headers and payload together, on nats-server 2.9.10. INFO has max_payload: use it."};
}

/// RabbitMQ 4 with default settings: one message.
[[nodiscard]] constexpr service rabbitmq_4_default() noexcept
{
    return {"rabbitmq_4_default",
            {.bytes = 16'777'216, .items = 1, .single = 16'777'216, .answers_per_entry = false},
            "2025-07",
            proof::reported,
            "https://github.com/DDMAL/Rodan/issues/1319",
            "The body alone: msg_size in rabbit_writer.erl adds up the payload's fragments, and a "
            "server of 3.10.8 did so (see amqp091.hpp)."};
}

/// RabbitMQ 3.8 to 3.13 with default settings: one message.
[[nodiscard]] constexpr service rabbitmq_3_default() noexcept
{
    return {"rabbitmq_3_default",
            {.bytes = 134'217'728, .items = 1, .single = 134'217'728, .answers_per_entry = false},
            "2024-02",
            proof::reported,
            "https://github.com/celery/py-amqp/issues/428",
            "Counted as in rabbitmq_4_default."};
}

/// The limit of the MQTT protocol: one packet.
[[nodiscard]] constexpr service mqtt_protocol() noexcept
{
    return {"mqtt_protocol",
            {.bytes = 268'435'460, .items = 1, .single = 268'435'460, .answers_per_entry = false},
            "2019-03",
            proof::documented,
            "https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html",
            "The whole packet: a remaining length of 268,435,455 and the 5 bytes before it. "
            "Maximum Packet Size in CONNACK, counted in the same way, is usually much smaller."};
}

/// EMQX 4 and 5 with default settings: one packet of MQTT.
[[nodiscard]] constexpr service emqx_default() noexcept
{
    return {"emqx_default",
            {.bytes = 1'048'576, .items = 1, .single = 1'048'576, .answers_per_entry = false},
            "2021-02",
            proof::reported,
            "https://github.com/emqx/emqx/issues/4132",
            "The whole packet (mqtt.max_packet_size). A larger one closes the connection."};
}

/// Mosquitto 2.1 with default settings: one packet of MQTT.
[[nodiscard]] constexpr service mosquitto_default() noexcept
{
    return {"mosquitto_default",
            {.bytes = 2'000'000, .items = 1, .single = 2'000'000, .answers_per_entry = false},
            "2026-08",
            proof::reported,
            "https://github.com/eclipse-mosquitto/mosquitto/issues/3713",
            "The whole packet (max_packet_size). A larger one closes the connection. Before 2.1, "
            "the default was the limit of the protocol."};
}

/// AWS IoT Core: one message of MQTT.
[[nodiscard]] constexpr service aws_iot_core() noexcept
{
    return {"aws_iot_core",
            {.bytes = 131'072, .items = 1, .single = 131'072, .answers_per_entry = false},
            "2024-05",
            proof::documented,
            "https://aws.amazon.com/blogs/iot/"
            "securely-ingesting-large-sized-payloads-from-iot-devices-to-the-aws-cloud/",
            "128 KB of payload, read as 128 x 1,024. If the whole packet is counted, the limit is "
            "safe. A larger message closes the connection."};
}

/// Redis with default settings: one argument of a command, such as a field value of a stream entry.
[[nodiscard]] constexpr service redis_default() noexcept
{
    return {"redis_default",
            {.bytes = unlimited, .items = unlimited, .single = 536'870'912},
            "2021-09",
            proof::reported,
            "https://github.com/redis/redis-doc/pull/1653",
            "Each bulk string by itself (proto-max-bulk-len); there is no limit for a pipeline, "
            "whose commands have an answer each."};
}

/// All services of this header.
inline constexpr std::array services{
    service_bus_standard(),
    service_bus_premium(),
    service_bus_premium_single(),
    event_hubs_basic(),
    event_hubs_standard(),
    event_hubs_dedicated(),
    azure_queue_storage(),
    sqs_send_message_batch(),
    sqs_send_message_batch_256k(),
    sns_publish_batch(),
    kinesis_put_records(),
    kinesis_put_records_large(),
    firehose_put_record_batch(),
    eventbridge_put_events(),
    eventbridge_put_events_1mb(),
    cloudwatch_put_metric_data(),
    cloudwatch_put_log_events(),
    pubsub_publish(),
    grpc_default(),
    kafka_default(),
    nats_default(),
    rabbitmq_4_default(),
    rabbitmq_3_default(),
    mqtt_protocol(),
    emqx_default(),
    mosquitto_default(),
    aws_iot_core(),
    redis_default(),
};

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_SERVICES_HPP

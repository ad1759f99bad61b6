// SPDX-License-Identifier: MIT
//
// refusals: published texts with which services refused large items, and the numbers in them. Each
// has its source. Some of the surrounding text is kept if the service's sentence was wrapped.

#ifndef WAYBILL_TESTS_SUPPORT_REFUSALS_HPP
#define WAYBILL_TESTS_SUPPORT_REFUSALS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/wire/refusal_text.hpp>

namespace tests_support {

struct refusal {
    waybill::wire::dialect from{};
    std::string_view text{};
    waybill::wire::refusal_numbers numbers{};
};

namespace refusals_detail {

using waybill::wire::dialect;
using waybill::wire::extent;

constexpr waybill::wire::refusal_numbers request(std::uint64_t actual, std::uint64_t limit)
{
    return {actual, limit, extent::request};
}
constexpr waybill::wire::refusal_numbers item(std::uint64_t actual, std::uint64_t limit)
{
    return {actual, limit, extent::item};
}
// For services that do not report the size of the item.
constexpr waybill::wire::refusal_numbers item_over(std::uint64_t limit)
{
    return {std::nullopt, limit, extent::item};
}

}  // namespace refusals_detail

inline constexpr refusal refusals[] = {
    // https://github.com/Azure/azure-event-hubs-java/issues/430
    {refusals_detail::dialect::azure_amqp,
     "EventHubError: The received message (delivery-id:0, size:327545 bytes) exceeds the limit "
     "(262144 bytes) currently allowed on the link. TrackingId:de96150b-bac4-4606-9575-b363a",
     refusals_detail::request(327'545, 262'144)},
    // https://github.com/Azure/azure-event-hubs-python/issues/106
    {refusals_detail::dialect::azure_amqp,
     "amqp:link:message-size-exceeded,The received message (delivery-id:0, size:262412 bytes) "
     "exceeds the limit (262144 bytes) currently allowed on the link. "
     "TrackingId:1971a5ae-2aac-4708-ae41-976b40bf6243_B10, SystemTracker:NoSystemTracker, "
     "Timestamp:2019-04-15T22:30:50,NULL",
     refusals_detail::request(262'412, 262'144)},
    // https://github.com/Particular/docs.particular.net, of the transport for Service Bus
    {refusals_detail::dialect::azure_amqp,
     "Microsoft.Azure.ServiceBus.MessageSizeExceededException: The received message "
     "(delivery-id:0, size:262626 bytes) exceeds the limit (262144 bytes) currently allowed on "
     "the link.",
     refusals_detail::request(262'626, 262'144)},
    // https://github.com/Azure/azure-sdk-for-net/issues/33636
    {refusals_detail::dialect::azure_amqp,
     "Azure.Messaging.ServiceBus.ServiceBusException: The message (id:23749772, size:263150 bytes) "
     "is larger than is currently allowed (262144 bytes). (MessageSizeExceeded). For",
     refusals_detail::request(263'150, 262'144)},

    // https://github.com/Azure/azure-iot-sdk-c/issues/2233
    {refusals_detail::dialect::azure_amqp,
     "amqp:link:message-size-exceeded,Message size is 349372 bytes which is greater than the max "
     "size 262144 bytes allowed.",
     refusals_detail::request(349'372, 262'144)},

    // https://github.com/smaskalik/sqsmover/issues/13
    {refusals_detail::dialect::sqs,
     "Failed to un-queue messages to the destination. Error: Batch requests cannot be longer than "
     "262144 bytes. You have sent 866955 bytes.",
     refusals_detail::request(866'955, 262'144)},
    // https://github.com/vmihailenco/taskq/issues/36
    {refusals_detail::dialect::sqs,
     "AWS.SimpleQueueService.BatchRequestTooLong: Batch requests cannot be longer than 262144 "
     "bytes. You have sent 492271 bytes.",
     refusals_detail::request(492'271, 262'144)},
    // https://github.com/aws/aws-sdk-go-v2/issues/3026
    {refusals_detail::dialect::sqs,
     "https response error StatusCode: 400, RequestID: aa19cfe4-2919-5891-a6d6-afa5b743715d, "
     "AWS.SimpleQueueService.BatchRequestTooLong: Batch requests cannot be longer than 262144 "
     "bytes. You have sent 1662852 bytes.\nSending",
     refusals_detail::request(1'662'852, 262'144)},
    // https://github.com/floci-io/floci/pull/907
    {refusals_detail::dialect::sqs,
     "An error occurred (AWS.SimpleQueueService.BatchRequestTooLong) when calling the "
     "SendMessageBatch operation: Batch requests cannot be longer than 1048576 bytes. You have "
     "sent 1200000 bytes.",
     refusals_detail::request(1'200'000, 1'048'576)},
    // https://github.com/aws/aws-sdk-net/issues/4001
    {refusals_detail::dialect::sqs,
     "Amazon.SQS.AmazonSQSException: One or more parameters are invalid. Reason: Message must be "
     "shorter than 262144 bytes. ---> Amazon.Runtime.Internal.HttpErrorResponseException: "
     "Exception of type",
     refusals_detail::item_over(262'144)},
    // https://github.com/artilleryio/artillery/issues/3683
    {refusals_detail::dialect::sqs,
     "message: 'One or more parameters are invalid. Reason: Message must be shorter than 1048576 "
     "bytes.'\nType: 'Sender',\nCode: 'InvalidParameterValue',",
     refusals_detail::item_over(1'048'576)},
    // https://github.com/getmoto/moto/issues/450
    {refusals_detail::dialect::sqs,
     "<Error><Type>Sender</Type><Code>InvalidParameterValue</Code><Message>One or more parameters "
     "are invalid. Reason: Message must be shorter than 262144 bytes.</Message><Detail/></Error>",
     refusals_detail::item_over(262'144)},
    // https://github.com/inferablehq/inferable/issues/306
    {refusals_detail::dialect::sqs,
     "InvalidParameterValue: One or more parameters are invalid. Reason: Message must be shorter "
     "than 262144 bytes. at throwDefaultError (/app/node_modules/@aws-sdk/client-sqs/",
     refusals_detail::item_over(262'144)},

    // https://github.com/nhs-england-tools/terraform-aws-opennext/issues/27
    {refusals_detail::dialect::cloudwatch_logs,
     "\"errorMessage\": \"Upload too large: 1049882 bytes exceeds limit of 1048576\",",
     refusals_detail::request(1'049'882, 1'048'576)},
    // https://github.com/vectordotdev/vector/issues/2394
    {refusals_detail::dialect::cloudwatch_logs,
     "error=CloudwatchError::Put: Upload too large: 1048914 bytes exceeds limit of 1048576\nApr 21",
     refusals_detail::request(1'048'914, 1'048'576)},
    // https://github.com/aws/aws-for-fluent-bit/issues/68
    {refusals_detail::dialect::cloudwatch_logs,
     "InvalidParameterException: Log event too large: 635616 bytes exceeds limit of "
     "262144\\n\\tstatus code: 400",
     refusals_detail::item(635'616, 262'144)},
    // https://github.com/maxbanton/cwh/issues/101
    {refusals_detail::dialect::cloudwatch_logs,
     "{\"message\":\"Log event too large: 292824 bytes exceeds limit of 262144\"} (client): Log "
     "event too large: 292824 bytes exceeds limit of 262144 - {",
     refusals_detail::item(292'824, 262'144)},

    // https://github.com/GoogleCloudPlatform/pubsub/issues/267
    {refusals_detail::dialect::pubsub,
     "io.grpc.StatusRuntimeException: INVALID_ARGUMENT: The value for request_size is too large. "
     "You passed 10000558 in the request, but the maximum value is 10000000.",
     refusals_detail::request(10'000'558, 10'000'000)},
    // https://github.com/mia-0032/fluent-plugin-gcloud-pubsub-custom/pull/11
    {refusals_detail::dialect::pubsub,
     "error=\"3:The value for request_size is too large. You passed 10006011 in the request, but "
     "the maximum value is 10000000.\"",
     refusals_detail::request(10'006'011, 10'000'000)},
    // https://github.com/googleapis/google-cloud-python/issues/5898
    {refusals_detail::dialect::pubsub,
     "google.api_core.exceptions.InvalidArgument: 400 The value for 10159812 is too large. You "
     "passed request_size in the request, but the maximum value is 10000000.",
     refusals_detail::request(10'159'812, 10'000'000)},
    // https://github.com/standard-ai/hedwig-rust/issues/18
    {refusals_detail::dialect::pubsub,
     "Request payload size exceeds the limit: 10485760 bytes.",
     {std::nullopt, 10'485'760, refusals_detail::extent::request}},

    // https://github.com/Kubedex/exporter/issues/6
    {refusals_detail::dialect::grpc,
     "details = \"Received message larger than max (5308389 vs. 4194304)\" debug_error_string = "
     "\"{\"created\":\"@1554216457.448112296\",\"grpc_message\":\"Received message larger than "
     "max (5308389 vs. 4194304)\",\"grpc_status\":8}\"",
     refusals_detail::request(5'308'389, 4'194'304)},
    // https://github.com/grpc/grpc-go/issues/7335
    {refusals_detail::dialect::grpc,
     "status code 8, err msg: grpc: received message larger than max (4194346 vs. 4194304)",
     refusals_detail::request(4'194'346, 4'194'304)},
    // https://github.com/rpcpool/yellowstone-grpc/issues/421
    {refusals_detail::dialect::grpc,
     "Error: 8 RESOURCE_EXHAUSTED: Received message larger than max (2065853043 vs 67108864)",
     refusals_detail::request(2'065'853'043, 67'108'864)},
    // The words of https://github.com/grpc/grpc-go/pull/4918; the numbers are made up.
    {refusals_detail::dialect::grpc,
     "rpc error: code = ResourceExhausted desc = grpc: received message after decompression larger "
     "than max (5000000 vs. 4194304)",
     refusals_detail::request(5'000'000, 4'194'304)},
    // From a test of Vitess: an error of grpc-go.
    {refusals_detail::dialect::grpc,
     "rpc error: code = ResourceExhausted desc = grpc: trying to send message larger than max "
     "(18345369 vs. 16777216)",
     refusals_detail::request(18'345'369, 16'777'216)},
    // From a report on a large archive: an error of gRPC's C core.
    {refusals_detail::dialect::grpc,
     "grpc RESOURCE_EXHAUSTED: \"CLIENT: Sent message larger than max (639180917 vs. 134217728)\"",
     refusals_detail::request(639'180'917, 134'217'728)},
    // https://github.com/wechaty/grpc/issues/71
    {refusals_detail::dialect::grpc,
     "RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 4194304: 5118829.",
     refusals_detail::request(5'118'829, 4'194'304)},
    // https://github.com/databendlabs/databend/issues/11338
    {refusals_detail::dialect::grpc,
     "status: OutOfRange, message: \"Error, message length too large: found 4231429 bytes, the "
     "limit is: 4194304 bytes\", details: []",
     refusals_detail::request(4'231'429, 4'194'304)},
    // https://github.com/abdolence/gcloud-sdk-rs/issues/223
    {refusals_detail::dialect::grpc,
     "Status { code: OutOfRange, message: \\\"Error, decoded message length too large: found "
     "9547809 bytes, the limit is: 4194304 bytes\\\", source: None }",
     refusals_detail::request(9'547'809, 4'194'304)},
    // The words of tonic for a compressed message.
    {refusals_detail::dialect::grpc,
     "Error decompressing: size limit, of 4194304 bytes, exceeded while decompressing message",
     {std::nullopt, 4'194'304, refusals_detail::extent::request}},
    // tonic's words; the numbers are made up.
    {refusals_detail::dialect::grpc,
     "Error, encoded message length too large: found 9437184 bytes, the limit is: 4194304 bytes",
     refusals_detail::request(9'437'184, 4'194'304)},

    // https://github.com/RedHatInsights/notifications-backend/pull/2263
    {refusals_detail::dialect::kafka,
     "RecordTooLargeException\nThe message is 4021051 bytes when serialized which is larger than "
     "1048576, which is the value of the max.request.size configuration.",
     refusals_detail::item(4'021'051, 1'048'576)},
    // https://github.com/openconfig/gnmic/issues/856
    {refusals_detail::dialect::kafka,
     "kafka: invalid configuration (Attempt to produce message larger than configured "
     "Producer.MaxMessageBytes: 1952591 > 1048576)",
     refusals_detail::item(1'952'591, 1'048'576)},
    // https://github.com/Apicurio/apicurio-registry/issues/889
    {refusals_detail::dialect::kafka,
     "The message is 1051237 bytes when serialized which is larger than the maximum request size "
     "you have configured with the max.request.size configuration.",
     {1'051'237, std::nullopt, refusals_detail::extent::item}},
    // kafka-python's words; the number is made up.
    {refusals_detail::dialect::kafka,
     "MessageSizeTooLargeError: The message is 1048661 bytes when serialized which is larger than "
     "the maximum request size you have configured with the max_request_size configuration",
     {1'048'661, std::nullopt, refusals_detail::extent::item}},
    // Kafka's words, https://github.com/apache/kafka (UnifiedLog); the numbers are made up.
    {refusals_detail::dialect::kafka,
     "org.apache.kafka.common.errors.RecordTooLargeException: The record batch size in the append "
     "to orders.v2-eu-0 is 1048677 bytes which exceeds the maximum configured value of 1048588).",
     refusals_detail::request(1'048'677, 1'048'588)},
    // The same in Kafka up to 3; the numbers are made up.
    {refusals_detail::dialect::kafka,
     "The record batch size in the append to orders-0 is 1048677 bytes which exceeds the maximum "
     "configured value of 1048588.",
     refusals_detail::request(1'048'677, 1'048'588)},
    // The same before that, https://github.com/apache/kafka/pull/2802; the numbers are made up.
    {refusals_detail::dialect::kafka,
     "Message size is 1000013 bytes which exceeds the maximum configured message size of 1000012.",
     refusals_detail::request(1'000'013, 1'000'012)},

    // https://github.com/DDMAL/Rodan/issues/1319
    {refusals_detail::dialect::rabbitmq,
     "amqp.exceptions.PreconditionFailed: Basic.publish: (406) PRECONDITION_FAILED - message size "
     "83413489 is larger than configured max size 16777216\n",
     refusals_detail::item(83'413'489, 16'777'216)},
    // https://github.com/celery/py-amqp/issues/428
    {refusals_detail::dialect::rabbitmq,
     "exception: Basic.publish: (406) PRECONDITION_FAILED - message size 179010654 is larger than "
     "configured max size 134217728",
     refusals_detail::item(179'010'654, 134'217'728)},
    // RabbitMQ's text at its highest limit (rabbit_channel.erl); the number is made up.
    {refusals_detail::dialect::rabbitmq,
     "PRECONDITION_FAILED - message size 536870913 is larger than max size 536870912",
     refusals_detail::item(536'870'913, 536'870'912)},
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_REFUSALS_HPP

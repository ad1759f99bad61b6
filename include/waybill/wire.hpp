// SPDX-License-Identifier: MIT
//
// wire: message and batch sizes in bytes, limits of services, and meanings of error codes.
//
// Size functions and framings cover AMQP 1.0 and 0-9-1, Kafka, MQTT 5, NATS, protobuf, JSON, SQS,
// SNS, Kinesis, EventBridge, CloudWatch Logs and Pub/Sub. A size is exact, or it is the size that
// the service documents. services.hpp contains the limits of named services. The error_codes
// headers map error codes to outcomes; refusal_text.hpp reads sizes and limits from error texts, and
// retry_after.hpp the pause that a service requires.

// Index, written by tests/api --write:
//
//   wire/amqp091.hpp
//     constant default_frame_max
//     constant frame_overhead
//     struct message
//     std::uint64_t method_frame_size(const amqp091::message& m)
//     std::uint64_t header_frame_size(const amqp091::message& m)
//     std::uint64_t body_frames_size(std::uint64_t body, std::uint64_t frame_max)
//     std::uint64_t size(const amqp091::message& m, std::uint64_t frame_max)
//
//   wire/amqp091_table.hpp
//     struct encoded
//     class value
//     struct field
//     std::uint64_t table_size(std::span<const field> fields)
//     amqp091::value table(std::span<const field> fields)
//     amqp091::value array(std::span<const value> values)
//     amqp091::value bytes(string_view all)
//     amqp091::value timestamp()
//     amqp091::value decimal()
//
//   wire/amqp_batch.hpp
//     constant batch_format
//     std::uint64_t wrapped(std::uint64_t encoded)
//     enum single_message { wrapped, unwrapped }
//     struct batch
//     constant event_hubs_js
//     constant service_bus_js
//     constant service_bus_dotnet
//
//   wire/amqp_encoder.hpp
//     enum section { if_written, if_given, always }
//     enum numbers { typed, untyped }
//     struct encoder
//     concept profile
//     struct minimal
//     struct proton
//     struct rhea
//     struct uamqp
//     struct go_amqp
//     struct dotnet
//     struct bound
//
//   wire/amqp_message.hpp
//     struct property
//     class entries
//     class content
//     struct message
//
//   wire/amqp_size.hpp
//     std::uint64_t size(const amqp::value& v)
//     std::uint64_t size(const amqp::entries& map)
//     std::uint64_t size(const amqp::message& m)
//
//   wire/amqp_value.hpp
//     class octets
//     class value
//     class identifier
//
//   wire/base64.hpp
//     std::uint64_t base64_size(std::uint64_t bytes)
//     std::uint64_t base64_unpadded_size(std::uint64_t bytes)
//
//   wire/cloudwatch.hpp
//     struct event
//     std::uint64_t size(const cloudwatch::event& e)
//     struct put_log_events
//
//   wire/error_codes.hpp
//     enum answer { accepted, too_large, too_many, throttled, transient, permanent, infrastructu...
//     fault_kind fault_of(answer a)
//     struct error_code
//     struct error_table
//     std::optional<answer> find(codes, code, text)
//     std::optional<answer> find(codes, number, text)
//     std::optional<answer> find(const error_table& table, string_view code, string_view text)
//     std::optional<answer> find(const error_table& table, std::int64_t number, string_view text)
//     std::optional<answer> find(first, then, code, text)
//     std::optional<answer> find(first, then, number, text)
//
//   wire/error_codes_aws.hpp
//     constant aws_common_errors
//     constant sqs_errors
//     constant sns_errors
//     constant kinesis_errors
//     constant firehose_errors
//     constant eventbridge_errors
//     constant cloudwatch_logs_errors
//
//   wire/error_codes_azure.hpp
//     constant azure_amqp_errors
//
//   wire/error_codes_brokers.hpp
//     constant kafka_errors
//     constant nats_errors
//     constant jetstream_errors
//     constant rabbitmq_errors
//     constant mqtt5_errors
//
//   wire/error_codes_http.hpp
//     constant http_errors
//     constant grpc_errors
//     constant pubsub_errors
//
//   wire/eventbridge.hpp
//     struct entry
//     std::uint64_t size(const eventbridge::entry& e)
//
//   wire/json_array.hpp
//     struct length
//     struct array
//     struct lines
//     std::uint64_t bulk_size(string_view action, string_view source)
//
//   wire/json_text.hpp
//     enum escapes { fewest, ascii }
//     struct measured
//     json::measured measure(string_view text, json::escapes e)
//     std::uint64_t string_size(string_view text, json::escapes e)
//
//   wire/kafka.hpp
//     constant batch_head
//     constant max_bytes
//     std::uint64_t size(r, offset_delta, timestamp_delta)
//     std::uint64_t bound(const kafka::record& r)
//     struct record_batch
//
//   wire/kafka_record.hpp
//     struct header
//     struct record
//
//   wire/kinesis.hpp
//     struct record
//     std::uint64_t size(const kinesis::record& r)
//
//   wire/mqtt5.hpp
//     struct property
//     struct publish
//     constant max_remaining_length
//     std::uint64_t properties_size(const mqtt5::publish& p)
//     std::uint64_t size(const mqtt5::publish& p)
//
//   wire/nats.hpp
//     struct header
//     struct message
//     enum header_style { spaced, compact }
//     std::uint64_t header_size(std::span<const header> headers, nats::header_style style)
//     std::uint64_t payload_size(const nats::message& m, nats::header_style style)
//     std::uint64_t frame_size(const nats::message& m, nats::header_style style)
//
//   wire/outcome_of.hpp
//     Outcome outcome_of(a, text, numbers, retry_after)
//     send_outcome outcome_of(table, code, text, retry_after)
//     send_outcome outcome_of(first, then, code, text, retry_after)
//     send_outcome outcome_of(table, entries, items, faults, retry_after)
//     send_outcome outcome_of(first, then, entries, items, faults, retry_after)
//
//   wire/protobuf.hpp
//     constant max_bytes
//     std::uint64_t tag_size(std::uint64_t number)
//     std::uint64_t varint_field_size(std::uint64_t number, std::uint64_t value)
//     std::uint64_t fixed32_field_size(std::uint64_t number)
//     std::uint64_t fixed64_field_size(std::uint64_t number)
//     std::uint64_t bytes_field_size(std::uint64_t number, std::uint64_t length)
//     struct repeated
//
//   wire/pubsub.hpp
//     struct attribute
//     struct message
//     std::uint64_t size(const pubsub::message& m)
//     std::uint64_t billed_size(const pubsub::message& m)
//     struct publish_request
//
//   wire/refusal_numbers.hpp
//     enum dialect { azure_amqp, sqs, cloudwatch_logs, pubsub, grpc, kafka, rabbitmq, none }
//     enum extent { request, item }
//     struct refusal_numbers
//
//   wire/refusal_text.hpp
//     std::optional<refusal_numbers> read_refusal(dialect d, string_view text)
//
//   wire/retry_after.hpp
//     std::optional<duration> retry_after(string_view value, wall_time now)
//     std::optional<duration> retry_after_ms(string_view value)
//     std::optional<duration> retry_delay(string_view value)
//     std::optional<duration> retry_info(string_view status)
//
//   wire/services.hpp
//     enum proof { measured, reported, documented }
//     struct service
//     service service_bus_standard()
//     service service_bus_premium()
//     service service_bus_premium_single()
//     service event_hubs_basic()
//     service event_hubs_standard()
//     service event_hubs_dedicated()
//     service azure_queue_storage()
//     service sqs_send_message_batch()
//     service sqs_send_message_batch_256k()
//     service sns_publish_batch()
//     service kinesis_put_records()
//     service kinesis_put_records_large()
//     service firehose_put_record_batch()
//     service eventbridge_put_events()
//     service eventbridge_put_events_1mb()
//     service cloudwatch_put_metric_data()
//     service cloudwatch_put_log_events()
//     service pubsub_publish()
//     service grpc_default()
//     service kafka_default()
//     service nats_default()
//     service rabbitmq_4_default()
//     service rabbitmq_3_default()
//     service mqtt_protocol()
//     service emqx_default()
//     service mosquitto_default()
//     service aws_iot_core()
//     service redis_default()
//     constant services
//
//   wire/sqs.hpp
//     struct attribute
//     struct message
//     std::uint64_t size(const sqs::message& m)

#ifndef WAYBILL_WIRE_HPP
#define WAYBILL_WIRE_HPP

#include <waybill/version.hpp>
#include <waybill/wire/amqp091.hpp>
#include <waybill/wire/amqp091_table.hpp>
#include <waybill/wire/amqp_batch.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_size.hpp>
#include <waybill/wire/amqp_value.hpp>
#include <waybill/wire/base64.hpp>
#include <waybill/wire/cloudwatch.hpp>
#include <waybill/wire/error_codes.hpp>
#include <waybill/wire/error_codes_aws.hpp>
#include <waybill/wire/error_codes_azure.hpp>
#include <waybill/wire/error_codes_brokers.hpp>
#include <waybill/wire/error_codes_http.hpp>
#include <waybill/wire/eventbridge.hpp>
#include <waybill/wire/json_array.hpp>
#include <waybill/wire/json_text.hpp>
#include <waybill/wire/kafka.hpp>
#include <waybill/wire/kafka_record.hpp>
#include <waybill/wire/kinesis.hpp>
#include <waybill/wire/mqtt5.hpp>
#include <waybill/wire/nats.hpp>
#include <waybill/wire/outcome_of.hpp>
#include <waybill/wire/protobuf.hpp>
#include <waybill/wire/pubsub.hpp>
#include <waybill/wire/refusal_numbers.hpp>
#include <waybill/wire/refusal_text.hpp>
#include <waybill/wire/retry_after.hpp>
#include <waybill/wire/services.hpp>
#include <waybill/wire/sqs.hpp>
#include <waybill/wire/varint.hpp>

#endif  // WAYBILL_WIRE_HPP

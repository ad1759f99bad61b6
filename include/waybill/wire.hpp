// SPDX-License-Identifier: MIT
//
// wire: message and batch sizes in bytes, limits of services, and meanings of error codes.
//
// Size functions and framings cover AMQP 1.0 and 0-9-1, Kafka, MQTT 5, NATS, protobuf, JSON, SQS,
// SNS, Kinesis, EventBridge, CloudWatch Logs and Pub/Sub. A size is exact, or it is the size that
// the service documents. services.hpp contains the limits of named services. The error_codes
// headers map error codes to outcomes; refusal_text.hpp reads sizes and limits from error texts.

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
#include <waybill/wire/kinesis.hpp>
#include <waybill/wire/mqtt5.hpp>
#include <waybill/wire/nats.hpp>
#include <waybill/wire/protobuf.hpp>
#include <waybill/wire/pubsub.hpp>
#include <waybill/wire/refusal_phrases.hpp>
#include <waybill/wire/refusal_text.hpp>
#include <waybill/wire/services.hpp>
#include <waybill/wire/sqs.hpp>
#include <waybill/wire/varint.hpp>

#endif  // WAYBILL_WIRE_HPP

// SPDX-License-Identifier: MIT
//
// The door to wire/: how large is it really, and how large may it be.

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
#include <waybill/wire/limits.hpp>
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

// SPDX-License-Identifier: MIT
//
// error_codes_brokers: Kafka, NATS and JetStream, RabbitMQ, MQTT 5.
//
//     waybill::wire::find(waybill::wire::kafka_errors, 7);         // unknown: it may be written
//     waybill::wire::find(waybill::wire::mqtt5_errors, 0x95);      // too_large
//
// They are the codes that a producer can meet. Left out, since they mean more than one thing:
// Kafka's OUT_OF_ORDER_SEQUENCE_NUMBER and UNKNOWN_PRODUCER_ID (what came before may be lost),
// RabbitMQ's 406 precondition-failed (too large, among others; the text tells), MQTT's 0x80 and
// 0x83 (unspecified), and NATS errors that name a subject.

#ifndef WAYBILL_WIRE_ERROR_CODES_BROKERS_HPP
#define WAYBILL_WIRE_ERROR_CODES_BROKERS_HPP

#include <waybill/wire/error_codes.hpp>

namespace waybill::inline v0_1::wire {

namespace detail {

inline constexpr error_code kafka_codes[] = {
    {"UNKNOWN_SERVER_ERROR", answer::unknown, -1},
    {"CORRUPT_MESSAGE", answer::transient, 2},
    {"UNKNOWN_TOPIC_OR_PARTITION", answer::transient, 3},
    {"LEADER_NOT_AVAILABLE", answer::transient, 5},
    {"NOT_LEADER_OR_FOLLOWER", answer::transient, 6},
    {"REQUEST_TIMED_OUT", answer::unknown, 7},
    {"BROKER_NOT_AVAILABLE", answer::infrastructure, 8},
    {"REPLICA_NOT_AVAILABLE", answer::transient, 9},
    {"MESSAGE_TOO_LARGE", answer::too_large, 10},
    {"NETWORK_EXCEPTION", answer::unknown, 13},
    {"INVALID_TOPIC_EXCEPTION", answer::permanent, 17},
    {"RECORD_LIST_TOO_LARGE", answer::too_large, 18},
    {"NOT_ENOUGH_REPLICAS", answer::transient, 19},
    {"NOT_ENOUGH_REPLICAS_AFTER_APPEND", answer::unknown, 20},  // written, but to too few
    {"INVALID_REQUIRED_ACKS", answer::permanent, 21},
    {"TOPIC_AUTHORIZATION_FAILED", answer::infrastructure, 29},
    {"CLUSTER_AUTHORIZATION_FAILED", answer::infrastructure, 31},
    {"INVALID_TIMESTAMP", answer::permanent, 32},
    {"UNSUPPORTED_VERSION", answer::permanent, 35},
    {"INVALID_REQUEST", answer::permanent, 42},
    {"UNSUPPORTED_FOR_MESSAGE_FORMAT", answer::permanent, 43},
    {"POLICY_VIOLATION", answer::permanent, 44},
    {"DUPLICATE_SEQUENCE_NUMBER", answer::accepted, 46},
    {"INVALID_PRODUCER_EPOCH", answer::ownership_lost, 47},
    {"INVALID_TXN_STATE", answer::permanent, 48},
    {"CONCURRENT_TRANSACTIONS", answer::transient, 51},
    {"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", answer::infrastructure, 53},
    {"OPERATION_NOT_ATTEMPTED", answer::transient, 55},
    {"KAFKA_STORAGE_ERROR", answer::unknown, 56},  // a disk failed, at whatever point
    {"SASL_AUTHENTICATION_FAILED", answer::infrastructure, 58},
    {"INVALID_RECORD", answer::permanent, 87},
    {"THROTTLING_QUOTA_EXCEEDED", answer::throttled, 89},
    {"PRODUCER_FENCED", answer::ownership_lost, 90},
    {"UNKNOWN_TOPIC_ID", answer::transient, 100},
};

// What stands between the quotes of -ERR '...'.
inline constexpr error_code nats_codes[] = {
    {"Maximum Payload Violation", answer::too_large},  // and closes the connection
    {"Invalid Subject", answer::permanent},
    {"Invalid Publish Subject", answer::permanent},
    {"Unknown Protocol Operation", answer::infrastructure},
    {"Attempted To Connect To Route Port", answer::infrastructure},
    {"Authorization Violation", answer::infrastructure},
    {"Authorization Timeout", answer::infrastructure},
    {"Authentication Timeout", answer::infrastructure},
    {"Invalid Client Protocol", answer::infrastructure},
    {"Maximum Control Line Exceeded", answer::infrastructure},
    {"maximum control line exceeded", answer::infrastructure},
    {"Parser Error", answer::infrastructure},
    {"Secure Connection - TLS Required", answer::infrastructure},
    {"Stale Connection", answer::infrastructure},
    {"Maximum Connections Exceeded", answer::infrastructure},
    {"maximum connections exceeded", answer::infrastructure},
    {"Slow Consumer", answer::infrastructure},
    {"User Authentication Expired", answer::infrastructure},
};

// The err_code of a publish acknowledgement, not the code of three digits beside it.
inline constexpr error_code jetstream_codes[] = {
    {"JSStreamMessageExceedsMaximumErr", answer::too_large, 10054},
    {"JSStreamHeaderExceedsMaximumErr", answer::too_large, 10097},
    {"JSStreamTooManyRequests", answer::throttled, 10167},
    {"JSAtomicPublishTooManyInflight", answer::throttled, 10210},
    {"JSBatchPublishTooManyInflight", answer::throttled, 10211},
    {"JSStreamDuplicateMessageConflict", answer::unknown, 10158},  // an earlier one is under way
    {"JSAccountResourcesExceededErr", answer::transient, 10002},
    {"JSClusterNotAvailErr", answer::transient, 10008},
    {"JSClusterNotLeaderErr", answer::transient, 10009},
    {"JSInsufficientResourcesErr", answer::transient, 10023},
    {"JSMemoryResourcesExceededErr", answer::transient, 10028},
    {"JSStorageResourcesExceededErr", answer::transient, 10047},
    {"JSStreamStoreFailedF", answer::transient, 10077},  // the stream is full, for one
    {"JSStreamExpectedLastSeqPerSubjectNotReady", answer::transient, 10163},
    {"JSBadRequestErr", answer::permanent, 10003},
    {"JSStreamNotMatchErr", answer::permanent, 10060},
    {"JSStreamSealedErr", answer::permanent, 10109},
    {"JSMessageTTLInvalidErr", answer::permanent, 10165},
    {"JSMessageTTLDisabledErr", answer::permanent, 10166},
    {"JSNoAccountErr", answer::infrastructure, 10035},
    {"JSNotEnabledForAccountErr", answer::infrastructure, 10039},
    {"JSStreamNotFoundErr", answer::infrastructure, 10059},
    {"JSNotEnabledErr", answer::infrastructure, 10076},
    {"JSStreamOfflineErr", answer::infrastructure, 10118},
    {"JSStreamOfflineReasonErrF", answer::infrastructure, 10194},
    // Somebody wrote there first, be it an earlier attempt of the same sender.
    {"JSStreamWrongLastMsgIDErrF", answer::ownership_lost, 10070},
    {"JSStreamWrongLastSequenceErrF", answer::ownership_lost, 10071},
    {"JSStreamWrongLastSequenceConstantErr", answer::ownership_lost, 10164},
};

inline constexpr error_code rabbitmq_codes[] = {
    {"content-too-large", answer::too_large, 311},
    {"no-route", answer::permanent, 312},  // of a message that was published as mandatory
    {"no-consumers", answer::transient, 313},
    {"connection-forced", answer::infrastructure, 320},
    {"invalid-path", answer::infrastructure, 402},
    {"access-refused", answer::infrastructure, 403},
    {"not-found", answer::infrastructure, 404},
    {"resource-locked", answer::ownership_lost, 405},
    {"frame-error", answer::infrastructure, 501},
    {"syntax-error", answer::infrastructure, 502},
    {"command-invalid", answer::infrastructure, 503},
    {"channel-error", answer::infrastructure, 504},
    {"unexpected-frame", answer::infrastructure, 505},
    {"resource-error", answer::infrastructure, 506},
    {"not-allowed", answer::infrastructure, 530},
    {"not-implemented", answer::permanent, 540},
    {"internal-error", answer::unknown, 541},
};

// Of PUBACK and PUBREC, and of the DISCONNECT that may come instead.
inline constexpr error_code mqtt5_codes[] = {
    {"No matching subscribers", answer::accepted, 0x10},
    {"Malformed Packet", answer::permanent, 0x81},
    {"Protocol Error", answer::infrastructure, 0x82},
    {"Not authorized", answer::infrastructure, 0x87},
    {"Server unavailable", answer::infrastructure, 0x88},
    {"Server busy", answer::throttled, 0x89},
    {"Banned", answer::infrastructure, 0x8A},
    {"Server shutting down", answer::infrastructure, 0x8B},
    {"Keep Alive timeout", answer::infrastructure, 0x8D},
    {"Session taken over", answer::ownership_lost, 0x8E},
    {"Topic Name invalid", answer::permanent, 0x90},
    {"Receive Maximum exceeded", answer::throttled, 0x93},
    {"Topic Alias invalid", answer::permanent, 0x94},
    {"Packet too large", answer::too_large, 0x95},
    {"Message rate too high", answer::throttled, 0x96},
    {"Quota exceeded", answer::throttled, 0x97},
    {"Administrative action", answer::infrastructure, 0x98},
    {"Payload format invalid", answer::permanent, 0x99},
    {"Retain not supported", answer::permanent, 0x9A},
    {"QoS not supported", answer::permanent, 0x9B},
    {"Use another server", answer::infrastructure, 0x9C},
    {"Server moved", answer::infrastructure, 0x9D},
    {"Connection rate exceeded", answer::throttled, 0x9F},
    {"Maximum connect time", answer::infrastructure, 0xA0},
};

}  // namespace detail

/// Produce, by name and by number.
inline constexpr error_table kafka_errors{
    "Apache Kafka", detail::kafka_codes, "2026-11",
    "https://kafka.apache.org/39/generated/protocol_errors.html"};

/// Core NATS.
inline constexpr error_table nats_errors{
    "NATS", detail::nats_codes, "2026-11",
    "https://docs.nats.io/reference/reference-protocols/nats-protocol"};

/// JetStream, by constant and by err_code.
inline constexpr error_table jetstream_errors{
    "NATS JetStream", detail::jetstream_codes, "2026-11",
    "https://github.com/nats-io/nats-server/blob/"
    "00903595eaba7145d53828e1359d9f9f66bcef3b/server/errors.json"};

/// AMQP 0-9-1, by name and by reply code.
inline constexpr error_table rabbitmq_errors{
    "RabbitMQ", detail::rabbitmq_codes, "2026-11",
    "https://ocaml.org/p/amqp-client-lwt/latest/doc/Amqp_client_lwt/Constants/index.html"};

/// MQTT 5, by name and by reason code.
inline constexpr error_table mqtt5_errors{
    "MQTT 5", detail::mqtt5_codes, "2019-03",
    "https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html"};

}  // namespace waybill::inline v0_1::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_BROKERS_HPP

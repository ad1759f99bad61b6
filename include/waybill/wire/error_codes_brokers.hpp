// SPDX-License-Identifier: MIT
//
// error_codes_brokers: error codes of Kafka, NATS and JetStream, RabbitMQ and MQTT 5.
//
//     waybill::wire::find(waybill::wire::kafka_errors, 7);  // outcome_unknown: maybe written
//     waybill::wire::find(waybill::wire::mqtt5_errors, 0x95);      // too_large
//
// The tables contain the codes that a producer can receive. A code with several meanings is in no
// table; the comment of each table lists it.
//
// The error of a closed channel or connection describes one publication, and usually not which one.
// The other publications without a confirmation may have arrived: their outcome is unknown.
//   - RabbitMQ: 311, 313 and 403 to 406 close the channel. 320, 402 and 501 to 541 close the
//     connection. 312 comes with the returned message and closes nothing.
//   - MQTT 5: PUBACK and PUBREC report 0x10, 0x87, 0x90, 0x97 and 0x99 for one publication. All
//     other codes of the table, including 0x95 (too large) and 0x96 (too fast), come in the
//     DISCONNECT that ends the connection, or in the CONNACK that refuses the next connection.

#ifndef WAYBILL_WIRE_ERROR_CODES_BROKERS_HPP
#define WAYBILL_WIRE_ERROR_CODES_BROKERS_HPP

#include <waybill/wire/error_codes.hpp>

namespace waybill::inline v0_2::wire {

namespace detail {

inline constexpr error_code kafka_codes[] = {
    {"UNKNOWN_SERVER_ERROR", answer::outcome_unknown, -1},
    {"CORRUPT_MESSAGE", answer::transient, 2},
    {"UNKNOWN_TOPIC_OR_PARTITION", answer::transient, 3},
    {"LEADER_NOT_AVAILABLE", answer::transient, 5},
    {"NOT_LEADER_OR_FOLLOWER", answer::transient, 6},
    {"REQUEST_TIMED_OUT", answer::outcome_unknown, 7},
    {"BROKER_NOT_AVAILABLE", answer::infrastructure, 8},
    {"REPLICA_NOT_AVAILABLE", answer::transient, 9},
    {"MESSAGE_TOO_LARGE", answer::too_large, 10},
    {"NETWORK_EXCEPTION", answer::outcome_unknown, 13},
    {"INVALID_TOPIC_EXCEPTION", answer::permanent, 17},
    {"RECORD_LIST_TOO_LARGE", answer::too_large, 18},
    {"NOT_ENOUGH_REPLICAS", answer::transient, 19},
    {"NOT_ENOUGH_REPLICAS_AFTER_APPEND", answer::outcome_unknown, 20},  // too few replicas
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
    {"INVALID_PRODUCER_ID_MAPPING", answer::ownership_lost, 49},  // or the producer id has expired
    {"CONCURRENT_TRANSACTIONS", answer::transient, 51},
    {"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", answer::infrastructure, 53},
    {"OPERATION_NOT_ATTEMPTED", answer::transient, 55},
    {"KAFKA_STORAGE_ERROR", answer::outcome_unknown, 56},  // disk failure
    {"SASL_AUTHENTICATION_FAILED", answer::infrastructure, 58},
    {"UNSUPPORTED_COMPRESSION_TYPE", answer::permanent, 76},  // zstd from a client older than 2.1
    {"INVALID_RECORD", answer::permanent, 87},
    {"THROTTLING_QUOTA_EXCEEDED", answer::throttled, 89},
    {"PRODUCER_FENCED", answer::ownership_lost, 90},
    {"UNKNOWN_TOPIC_ID", answer::transient, 100},
};

// The text between the quotes of -ERR '...'. "Invalid Publish Subject" is not in the list: a server
// in pedantic mode reports it for a message that it then delivers.
inline constexpr error_code nats_codes[] = {
    {"Maximum Payload Violation", answer::too_large},  // also closes the connection
    {"Invalid Subject", answer::permanent},
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
    {"maximum account active connections exceeded", answer::infrastructure},
    {"Slow Consumer", answer::infrastructure},
    {"User Authentication Expired", answer::infrastructure},
    {"User Authentication Revoked", answer::infrastructure},
    {"Account Authentication Expired", answer::infrastructure},
};

// The err_code of a publish acknowledgement, not its three-digit `code`.
inline constexpr error_code jetstream_codes[] = {
    {"JSStreamMessageExceedsMaximumErr", answer::too_large, 10054},
    {"JSStreamHeaderExceedsMaximumErr", answer::too_large, 10097},
    {"JSAtomicPublishTooLargeBatchErrF", answer::too_many, 10199},  // messages, not bytes
    {"JSStreamTooManyRequests", answer::throttled, 10167},
    {"JSAtomicPublishTooManyInflight", answer::throttled, 10210},
    {"JSBatchPublishTooManyInflight", answer::throttled, 10211},
    {"JSStreamDuplicateMessageConflict", answer::outcome_unknown, 10158},  // still in progress
    {"JSAccountResourcesExceededErr", answer::transient, 10002},
    {"JSClusterNotAvailErr", answer::transient, 10008},
    {"JSClusterNotLeaderErr", answer::transient, 10009},
    {"JSInsufficientResourcesErr", answer::transient, 10023},
    {"JSMemoryResourcesExceededErr", answer::transient, 10028},
    {"JSStorageResourcesExceededErr", answer::transient, 10047},
    {"JSStreamStoreFailedF", answer::transient, 10077},  // for example: the stream is full
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
    {"JSAtomicPublishDisabledErr", answer::infrastructure, 10174},
    {"JSBatchPublishDisabledErr", answer::infrastructure, 10205},
    {"JSStreamOfflineReasonErrF", answer::infrastructure, 10194},
    // Another write came first. It may be an earlier attempt of the same sender.
    {"JSStreamWrongLastMsgIDErrF", answer::ownership_lost, 10070},
    {"JSStreamWrongLastSequenceErrF", answer::ownership_lost, 10071},
    {"JSStreamWrongLastSequenceConstantErr", answer::ownership_lost, 10164},
};

// Names as in the specification, and as at the beginning of a reply text ("NOT_FOUND - no exchange
// ...").
inline constexpr error_code rabbitmq_codes[] = {
    {"content-too-large", answer::too_large, 311},  // may be temporary; a smaller body also helps
    {"no-route", answer::permanent, 312},           // for a message published as mandatory
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
    {"internal-error", answer::outcome_unknown, 541},
    {"CONTENT_TOO_LARGE", answer::too_large},
    {"NO_ROUTE", answer::permanent},
    {"NO_CONSUMERS", answer::transient},
    {"CONNECTION_FORCED", answer::infrastructure},
    {"INVALID_PATH", answer::infrastructure},
    {"ACCESS_REFUSED", answer::infrastructure},
    {"NOT_FOUND", answer::infrastructure},
    {"RESOURCE_LOCKED", answer::ownership_lost},
    {"FRAME_ERROR", answer::infrastructure},
    {"SYNTAX_ERROR", answer::infrastructure},
    {"COMMAND_INVALID", answer::infrastructure},
    {"CHANNEL_ERROR", answer::infrastructure},
    {"UNEXPECTED_FRAME", answer::infrastructure},
    {"RESOURCE_ERROR", answer::infrastructure},
    {"NOT_ALLOWED", answer::infrastructure},
    {"NOT_IMPLEMENTED", answer::permanent},
    {"INTERNAL_ERROR", answer::outcome_unknown},
};

// Reason codes of PUBACK and PUBREC, of a DISCONNECT instead of them, and of the next CONNACK.
inline constexpr error_code mqtt5_codes[] = {
    {"No matching subscribers", answer::accepted, 0x10},
    {"Malformed Packet", answer::permanent, 0x81},
    {"Protocol Error", answer::infrastructure, 0x82},
    {"Unsupported Protocol Version", answer::infrastructure, 0x84},
    {"Client Identifier not valid", answer::infrastructure, 0x85},
    {"Bad User Name or Password", answer::infrastructure, 0x86},
    {"Not authorized", answer::infrastructure, 0x87},
    {"Server unavailable", answer::infrastructure, 0x88},
    {"Server busy", answer::throttled, 0x89},
    {"Banned", answer::infrastructure, 0x8A},
    {"Server shutting down", answer::infrastructure, 0x8B},
    {"Bad authentication method", answer::infrastructure, 0x8C},
    {"Keep Alive timeout", answer::infrastructure, 0x8D},
    {"Session taken over", answer::ownership_lost, 0x8E},
    {"Topic Name invalid", answer::permanent, 0x90},
    {"Receive Maximum exceeded", answer::throttled, 0x93},  // keep fewer publications in flight
    {"Topic Alias invalid", answer::permanent, 0x94},
    {"Packet too large", answer::too_large, 0x95},
    {"Message rate too high", answer::throttled, 0x96},
    {"Quota exceeded", answer::throttled, 0x97},  // may be permanent: see `mqtt5_errors`
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
/// Not in the table: OUT_OF_ORDER_SEQUENCE_NUMBER and UNKNOWN_PRODUCER_ID, since earlier records
/// may be lost; TRANSACTION_ABORTABLE, since the transaction must be aborted, not only the batch.
inline constexpr error_table kafka_errors{
    "Apache Kafka", detail::kafka_codes, "2026-11",
    "https://kafka.apache.org/44/generated/protocol_errors.html", dialect::kafka};

/// Core NATS, by error text. Errors that contain a subject are not in the table.
inline constexpr error_table nats_errors{
    "NATS", detail::nats_codes, "2026-11",
    "https://docs.nats.io/reference/reference-protocols/nats-protocol"};

/// JetStream, by constant and by err_code.
inline constexpr error_table jetstream_errors{
    "NATS JetStream", detail::jetstream_codes, "2026-11",
    "https://github.com/nats-io/nats-server/blob/"
    "00903595eaba7145d53828e1359d9f9f66bcef3b/server/errors.json"};

/// AMQP 0-9-1, by name and by reply code. The table contains all codes of RabbitMQ except 200 and
/// 406. PRECONDITION_FAILED (406) has several meanings, one of them a message that is too large,
/// which its text shows (`dialect::rabbitmq`).
inline constexpr error_table rabbitmq_errors{
    "RabbitMQ", detail::rabbitmq_codes, "2026-11",
    "https://github.com/rabbitmq/rabbitmq-server/blob/"
    "046ea717cab5f41569792020abf6d779ac627444/deps/rabbitmq_codegen/amqp-rabbitmq-0.9.1.json",
    dialect::rabbitmq};

/// MQTT 5, by name and by reason code. Not in the table: 0x80 and 0x83 (unspecified), and 0x91
/// (packet identifier in use). An earlier attempt of the same message can cause 0x91, or different
/// session states of server and client. 0x97 reports an exceeded quota of any kind. Mosquitto
/// reports it for too many publications in flight
/// (https://github.com/eclipse-mosquitto/mosquitto/issues/3611), which is temporary. A full store
/// or a used-up allowance may last until an operator acts. Its meaning is `throttled`, because the
/// message was refused and a slower sender does no harm. Limit the time of waiting, or put the
/// meaning of your server into your own list. 0x89 and 0x96 are temporary. 0x93 means that the
/// sender exceeded the server's Receive Maximum: keep fewer publications in flight.
inline constexpr error_table mqtt5_errors{
    "MQTT 5", detail::mqtt5_codes, "2019-03",
    "https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html"};

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_ERROR_CODES_BROKERS_HPP

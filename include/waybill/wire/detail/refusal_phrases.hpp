// SPDX-License-Identifier: MIT
//
// refusal_phrases: phrases of services that contain the size of a refused request and its limit.
//
// The phrases were collected from published refusals; the tests contain each one with the thread of
// its source. refusal_text.hpp reads them. Each phrase is long enough to have one meaning only. If
// the text of the service continues after the last number, so does the phrase. Then a text that is
// cut within that number does not match, and no wrong number is read.

#ifndef WAYBILL_WIRE_DETAIL_REFUSAL_PHRASES_HPP
#define WAYBILL_WIRE_DETAIL_REFUSAL_PHRASES_HPP

#include <span>
#include <string_view>

#include <waybill/wire/refusal_numbers.hpp>

namespace waybill::inline v0_2::wire::detail {

// A phrase with %a for the actual size, %l for the limit, %n for another number and %w for the name
// of a partition.
struct phrase {
    std::string_view words{};
    extent of = extent::request;
};

inline constexpr phrase azure_amqp_phrases[] = {
    {"The received message (delivery-id:%n, size:%a bytes) exceeds the limit (%l bytes) "
     "currently allowed on the link"},
    {"The message (id:%n, size:%a bytes) is larger than is currently allowed (%l bytes)"},
    {"Message size is %a bytes which is greater than the max size %l bytes allowed"},  // IoT Hub
};

inline constexpr phrase sqs_phrases[] = {
    {"Batch requests cannot be longer than %l bytes. You have sent %a bytes"},
    // For one message, or for one entry of a batch. The text contains "shorter", but
    // MaximumMessageSize of a queue is documented as the largest accepted size. %l is therefore the
    // limit.
    {"One or more parameters are invalid. Reason: Message must be shorter than %l bytes",
     extent::item},
};

inline constexpr phrase cloudwatch_logs_phrases[] = {
    {"Upload too large: %a bytes exceeds limit of %l"},
    {"Log event too large: %a bytes exceeds limit of %l", extent::item},
};

inline constexpr phrase pubsub_phrases[] = {
    {"The value for request_size is too large. You passed %a in the request, but the maximum "
     "value is %l."},
    // The service sent this text for some time in 2018.
    {"The value for %a is too large. You passed request_size in the request, but the maximum "
     "value is %l."},
    {"Request payload size exceeds the limit: %l bytes"},
};

inline constexpr phrase grpc_phrases[] = {
    {"Received message larger than max (%a vs. %l)"},
    {"Received message larger than max (%a vs %l)"},
    {"received message larger than max (%a vs. %l)"},
    {"received message after decompression larger than max (%a vs. %l)"},
    {"Sent message larger than max (%a vs. %l)"},
    {"trying to send message larger than max (%a vs. %l)"},
    {"gRPC message exceeds maximum size %l: %a"},
    {"Error, message length too large: found %a bytes, the limit is: %l bytes"},
    {"Error, decoded message length too large: found %a bytes, the limit is: %l bytes"},
    {"Error, encoded message length too large: found %a bytes, the limit is: %l bytes"},
    {"Error decompressing: size limit, of %l bytes, exceeded while decompressing message"},
};

inline constexpr phrase kafka_phrases[] = {
    {"The record batch size in the append to %w is %a bytes which exceeds the maximum configured "
     "value of %l."},
    {"The record batch size in the append to %w is %a bytes which exceeds the maximum configured "
     "value of %l)."},
    {"Message size is %a bytes which exceeds the maximum configured message size of %l."},
    // sarama
    {"Attempt to produce message larger than configured Producer.MaxMessageBytes: %a > %l",
     extent::item},
    {"The message is %a bytes when serialized which is larger than %l, which is the value of the "
     "max.request.size configuration",
     extent::item},
    {"The message is %a bytes when serialized which is larger than the maximum request size you "
     "have configured with the max.request.size configuration",
     extent::item},
    {"The message is %a bytes when serialized which is larger than the maximum request size you "
     "have configured with the max_request_size configuration",
     extent::item},
};

inline constexpr phrase rabbitmq_phrases[] = {
    {"message size %a is larger than configured max size %l", extent::item},
    {"message size %a is larger than max size %l", extent::item},
};

constexpr std::span<const phrase> phrases_of(dialect d) noexcept
{
    switch (d) {
        case dialect::azure_amqp: return azure_amqp_phrases;
        case dialect::sqs: return sqs_phrases;
        case dialect::cloudwatch_logs: return cloudwatch_logs_phrases;
        case dialect::pubsub: return pubsub_phrases;
        case dialect::grpc: return grpc_phrases;
        case dialect::kafka: return kafka_phrases;
        case dialect::rabbitmq: return rabbitmq_phrases;
        case dialect::none: break;
    }
    return {};
}

}  // namespace waybill::inline v0_2::wire::detail

#endif  // WAYBILL_WIRE_DETAIL_REFUSAL_PHRASES_HPP

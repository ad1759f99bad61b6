// SPDX-License-Identifier: MIT
//
// amqp091: exact bytes of a message published over AMQP 0-9-1, frame by frame.
//
// A message goes out as a method frame, one content header frame and as many body frames as the
// negotiated frame_max asks for, at eight bytes each:
//
//     namespace amqp = waybill::wire::amqp091;
//     const amqp::field headers[] = {{"traceparent", trace}, {"attempt", std::int32_t{2}}};
//     amqp::message m{.exchange = "orders", .headers = headers, .message_id = id, .body = json};
//     amqp::size(m, frame_max);              // all frames
//     amqp::header_frame_size(m);            // this one cannot be split
//     m.body.size() <= max_message_size;     // what RabbitMQ limits: the body and nothing else
//
// What holds:
//   1. RabbitMQ's max_message_size counts the body only, headers and properties do not count. What
//      limits those is frame_max: a content header that is over it cannot be sent at all;
//   2. clients choose the types of the values in a table, an integer being anything from two to
//      nine bytes. The type that is given here is the type that is counted;
//   3. what the protocol cannot encode, or cannot send with this frame_max, reads as the largest
//      size: a short string over 255 bytes, a table or a long string over 4 GiB.
//
// Source: AMQP 0-9-1, sections 2.3.5 and 4.2, and for basic.publish the reference,
// https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf and amqp-xml-doc0-9-1.pdf beside it. What
// max_message_size counts was measured with RabbitMQ 3.10.8.
// Proved by amqplib 2.3.1 (tests/golden/amqp091) and by a writer in amqp091.prop.cpp.

#ifndef WAYBILL_WIRE_AMQP091_HPP
#define WAYBILL_WIRE_AMQP091_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <waybill/core/saturating.hpp>
#include <waybill/wire/amqp091_table.hpp>

namespace waybill::inline v0_2::wire {

namespace amqp091 {

/// What RabbitMQ proposes unless it is told otherwise.
inline constexpr std::uint64_t default_frame_max = 131'072;

/// A frame's type, channel, length and end.
inline constexpr std::uint64_t frame_overhead = 8;

/// A message and where it is published to. It views what it names and owns nothing. A property that
/// is absent is not sent; one that is present and empty is.
struct message {
    std::string_view exchange{};
    std::string_view routing_key{};
    std::optional<std::string_view> content_type{};
    std::optional<std::string_view> content_encoding{};
    std::optional<std::span<const field>> headers{};
    std::optional<std::uint8_t> delivery_mode{};
    std::optional<std::uint8_t> priority{};
    std::optional<std::string_view> correlation_id{};
    std::optional<std::string_view> reply_to{};
    std::optional<std::string_view> expiration{};
    std::optional<std::string_view> message_id{};
    std::optional<std::uint64_t> timestamp{};
    std::optional<std::string_view> type{};
    std::optional<std::string_view> user_id{};
    std::optional<std::string_view> app_id{};
    std::optional<std::string_view> cluster_id{};
    std::string_view body{};
};

/// Bytes of the basic.publish method frame. Constant time. Source: section 4.2 and basic.publish.
[[nodiscard]] constexpr std::uint64_t method_frame_size(const message& m) noexcept
{
    // Class, method, a reserved short and the octet of flags.
    const std::uint64_t names = saturating_add(detail::short_string(m.exchange),
                                               detail::short_string(m.routing_key));
    return saturating_add(frame_overhead + 2 + 2 + 2 + 1, names);
}

/// Bytes of the content header frame: properties and headers. It must fit into one frame.
/// Linear in the headers. Source: section 4.2.6.1.
[[nodiscard]] constexpr std::uint64_t header_frame_size(const message& m) noexcept
{
    std::uint64_t sum = frame_overhead + 2 + 2 + 8 + 2;  // class, weight, body size, flags
    sum += (m.delivery_mode ? 1U : 0U) + (m.priority ? 1U : 0U) + (m.timestamp ? 8U : 0U);
    for (const auto* text : {&m.content_type, &m.content_encoding, &m.correlation_id, &m.reply_to,
                             &m.expiration, &m.message_id, &m.type, &m.user_id, &m.app_id,
                             &m.cluster_id}) {
        if (*text) sum = saturating_add(sum, detail::short_string(**text));
    }
    return m.headers ? saturating_add(sum, amqp091::table_size(*m.headers)) : sum;
}

/// Bytes of the body frames; an empty body has none. A frame_max that leaves no room for a body, as
/// 0 does, is too small for any; no limit is `unlimited`. Constant time. Source: section 4.2.6.2.
[[nodiscard]] constexpr std::uint64_t
body_frames_size(std::uint64_t body, std::uint64_t frame_max = default_frame_max) noexcept
{
    if (body == 0) return 0;
    if (frame_max <= frame_overhead) return highest_size;
    const std::uint64_t room = lesser(frame_max - frame_overhead, 0xFFFF'FFFF);  // 32-bit lengths
    const std::uint64_t frames = body / room + (body % room == 0 ? 0U : 1U);
    return saturating_add(body, saturating_mul(frames, frame_overhead));
}

/// Bytes of all frames of the message. The highest size where method or content header are over
/// frame_max. Linear in the headers.
[[nodiscard]] constexpr std::uint64_t size(const message& m,
                                           std::uint64_t frame_max = default_frame_max) noexcept
{
    const std::uint64_t method = amqp091::method_frame_size(m);
    const std::uint64_t header = amqp091::header_frame_size(m);
    if (method > frame_max || header > frame_max) return highest_size;
    return saturating_add(saturating_add(method, header),
                          amqp091::body_frames_size(m.body.size(), frame_max));
}

}  // namespace amqp091

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_AMQP091_HPP

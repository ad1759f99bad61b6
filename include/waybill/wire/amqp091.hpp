// SPDX-License-Identifier: MIT
//
// amqp091: exact size in bytes of a message published over AMQP 0-9-1, all frames included.
//
//     namespace amqp = waybill::wire::amqp091;
//     const amqp::field headers[] = {{"traceparent", trace}, {"attempt", std::int32_t{2}}};
//     amqp::message m{.exchange = "orders", .headers = headers, .message_id = id, .body = json};
//     amqp::size(m, frame_max);              // all frames
//     amqp::header_frame_size(m);            // this frame cannot be split
//     m.body.size() <= max_message_size;     // RabbitMQ's limit counts the body only
//
// A message is a method frame, a content header frame and the body frames, with 8 bytes per frame.
//
// Guarantees
//   1. `frame_max` limits headers and properties: a larger content header cannot be sent.
//   2. An integer in a table takes 2 to 9 bytes, depending on the type that the client chooses. The
//      size is that of the type given here.
//   3. If the protocol cannot encode the message, or cannot send it with this `frame_max`, the size
//      is 2^64 - 1. Examples: a short string over 255 bytes, a table or long string of 4 GiB.
// Sources: sections 2.3.5 and 4.2 of the specification, and the reference of basic.publish; their
// addresses are at `message`. Tested against amqplib 2.3.1 (tests/golden/amqp091) and an
// independent writer in amqp091.prop.cpp.

#ifndef WAYBILL_WIRE_AMQP091_HPP
#define WAYBILL_WIRE_AMQP091_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/amqp091_table.hpp>

namespace waybill::inline v0_2::wire {

namespace amqp091 {

/// RabbitMQ's default frame_max in bytes.
inline constexpr std::uint64_t default_frame_max = 131'072;

/// Bytes that each frame adds: type, channel, length and frame end.
inline constexpr std::uint64_t frame_overhead = 8;

/// A message with its exchange and routing key. Contains views and owns nothing. An absent property
/// is not sent. A property that is present but empty is sent. Sources: AMQP 0-9-1,
/// https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf, and its reference,
/// https://www.rabbitmq.com/resources/specs/amqp-xml-doc0-9-1.pdf.
/// RabbitMQ's max_message_size counts the body only (measured with RabbitMQ 3.10.8).
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

/// Bytes of the basic.publish method frame, or 2^64 - 1 if the exchange or the routing key has more
/// than 255 bytes. Constant time. Source: section 4.2 and basic.publish.
[[nodiscard]] constexpr std::uint64_t method_frame_size(const message& m) noexcept
{
    // Class, method, a reserved short and the octet of flags.
    const std::uint64_t names = waybill::detail::saturating_add(
        detail::short_string(m.exchange), detail::short_string(m.routing_key));
    return waybill::detail::saturating_add(frame_overhead + 2 + 2 + 2 + 1, names);
}

/// Bytes of the content header frame: properties and headers. A message has exactly one such frame.
/// Linear in the headers. Source: section 4.2.6.1.
[[nodiscard]] constexpr std::uint64_t header_frame_size(const message& m) noexcept
{
    std::uint64_t sum = frame_overhead + 2 + 2 + 8 + 2;  // class, weight, body size, flags
    sum += (m.delivery_mode ? 1U : 0U) + (m.priority ? 1U : 0U) + (m.timestamp ? 8U : 0U);
    for (const auto* text :
         {&m.content_type, &m.content_encoding, &m.correlation_id, &m.reply_to, &m.expiration,
          &m.message_id, &m.type, &m.user_id, &m.app_id, &m.cluster_id}) {
        if (*text) sum = waybill::detail::saturating_add(sum, detail::short_string(**text));
    }
    return m.headers ? waybill::detail::saturating_add(sum, amqp091::table_size(*m.headers)) : sum;
}

/// Bytes of the body frames; 0 for an empty body. If `frame_max` is at most 8, only an empty body
/// can be sent; for any other body the result is 2^64 - 1. Pass `unlimited` for no limit, not 0.
/// Constant time. Source: section 4.2.6.2.
[[nodiscard]] constexpr std::uint64_t body_frames_size(
    std::uint64_t body, std::uint64_t frame_max = default_frame_max) noexcept
{
    if (body == 0) return 0;
    if (frame_max <= frame_overhead) return waybill::detail::highest_size;
    const std::uint64_t max_frame_body =
        waybill::detail::lesser(frame_max - frame_overhead, 0xFFFF'FFFF);  // 32-bit lengths
    const std::uint64_t frames = body / max_frame_body + (body % max_frame_body == 0 ? 0U : 1U);
    return waybill::detail::saturating_add(body,
                                           waybill::detail::saturating_mul(frames, frame_overhead));
}

/// Bytes of all frames of the message. The result is 2^64 - 1 if the method frame or the content
/// header frame is larger than `frame_max`. Linear in the headers.
[[nodiscard]] constexpr std::uint64_t size(const message& m,
                                           std::uint64_t frame_max = default_frame_max) noexcept
{
    const std::uint64_t method = amqp091::method_frame_size(m);
    const std::uint64_t header = amqp091::header_frame_size(m);
    if (method > frame_max || header > frame_max) return waybill::detail::highest_size;
    return waybill::detail::saturating_add(waybill::detail::saturating_add(method, header),
                                           amqp091::body_frames_size(m.body.size(), frame_max));
}

}  // namespace amqp091

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_AMQP091_HPP

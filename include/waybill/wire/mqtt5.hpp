// SPDX-License-Identifier: MIT
//
// mqtt5: exact size in bytes of an MQTT 5 PUBLISH packet, properties included.
//
//     namespace mqtt5 = waybill::wire::mqtt5;
//     mqtt5::publish p{.topic = "a/b", .payload = json, .qos = 1, .content_type = "text/plain"};
//     mqtt5::size(p) <= maximum_packet_size;
//
// The broker's CONNACK contains its Maximum Packet Size. This limit applies to the whole packet:
// topic, properties, fixed header and payload. The first packet with a topic alias is larger than a
// packet without an alias. Later packets omit the topic and are smaller.
//
// If the protocol cannot encode a packet, its size is 2^64 - 1. The cause is a string of more than
// 65,535 bytes, or a remaining length over 268,435,455.
//
// Source: MQTT Version 5.0, OASIS Standard, sections 1.5, 2.1.4, 2.2.2 and 3.3,
// https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html; Maximum Packet Size: 3.2.2.3.6. Tested
// against mqtt-packet 9.0.2 (tests/golden/mqtt5) and an independent writer in mqtt5.prop.cpp.

#ifndef WAYBILL_WIRE_MQTT5_HPP
#define WAYBILL_WIRE_MQTT5_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/varint.hpp>

namespace waybill::inline v0_2::wire {

namespace mqtt5 {

/// A user property. Several user properties may have the same key.
struct property {
    std::string_view key{};
    std::string_view value{};
};

/// A PUBLISH packet. Contains views and owns nothing. An absent property is not sent. A property
/// that is present but empty is sent.
struct publish {
    std::string_view topic{};  ///< Empty if a topic alias that the broker knows replaces it.
    std::string_view payload{};
    unsigned qos = 0;   ///< If above 0, the packet contains a packet identifier.
    bool utf8 = false;  ///< Sends the payload format indicator: the payload is UTF-8 text.
    std::optional<std::uint32_t> message_expiry{};  ///< In seconds.
    std::optional<std::uint16_t> topic_alias{};
    std::optional<std::string_view> content_type{};
    std::optional<std::string_view> response_topic{};
    std::optional<std::string_view> correlation_data{};
    std::span<const property> user_properties{};
};

/// Maximum remaining length: bytes after the fixed header.
inline constexpr std::uint64_t max_remaining_length = 268'435'455;

namespace detail {

// A string or binary data with its length of two bytes; 2^64 - 1 if longer than 65,535 bytes.
[[nodiscard]] constexpr std::uint64_t text(std::string_view s) noexcept
{
    return s.size() > 0xFFFF ? waybill::detail::highest_size : 2 + s.size();
}

[[nodiscard]] constexpr std::uint64_t text_property(
    const std::optional<std::string_view>& s) noexcept
{
    return s ? waybill::detail::saturating_add(1, detail::text(*s)) : 0;
}

}  // namespace detail

/// Bytes of all properties, without their length field. Linear in the user properties. Source:
/// section 2.2.2.2. Tested alone only against the independent writer in mqtt5.prop.cpp.
[[nodiscard]] constexpr std::uint64_t properties_size(const publish& p) noexcept
{
    // An identifier of one byte, and a value of one, four or two bytes.
    std::uint64_t sum = p.utf8 ? 2 : 0;
    sum += (p.message_expiry ? 5U : 0U) + (p.topic_alias ? 3U : 0U);
    sum = waybill::detail::saturating_add(sum, detail::text_property(p.content_type));
    sum = waybill::detail::saturating_add(sum, detail::text_property(p.response_topic));
    sum = waybill::detail::saturating_add(sum, detail::text_property(p.correlation_data));
    for (const property& u : p.user_properties) {
        const std::uint64_t pair =
            waybill::detail::saturating_add(detail::text(u.key), detail::text(u.value));
        sum = waybill::detail::saturating_add(sum, waybill::detail::saturating_add(1, pair));
    }
    return sum > max_remaining_length ? waybill::detail::highest_size : sum;
}

/// Bytes of the whole packet, as Maximum Packet Size counts them. Linear in the user properties.
/// Source: sections 2.1.4 and 3.3. Tested against mqtt-packet and in mqtt5.prop.cpp.
[[nodiscard]] constexpr std::uint64_t size(const publish& p) noexcept
{
    const std::uint64_t properties = mqtt5::properties_size(p);
    std::uint64_t remaining =
        waybill::detail::saturating_add(waybill::detail::varint_size(properties), properties);
    remaining = waybill::detail::saturating_add(remaining, detail::text(p.topic));
    remaining = waybill::detail::saturating_add(
        remaining, waybill::detail::saturating_add(p.qos > 0 ? 2 : 0, p.payload.size()));
    if (remaining > max_remaining_length) return waybill::detail::highest_size;
    return 1 + waybill::detail::varint_size(remaining) + remaining;
}

}  // namespace mqtt5

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_MQTT5_HPP

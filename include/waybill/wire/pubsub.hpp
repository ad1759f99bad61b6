// SPDX-License-Identifier: MIT
//
// pubsub: exact size in bytes of a Google Cloud Pub/Sub message and of its publish request.
//
//     namespace pubsub = waybill::wire::pubsub;
//     const pubsub::message m{.data = json, .attributes = attributes, .ordering_key = order};
//     pubsub::size(m);                                // the message by itself
//     pubsub::publish_request framing{topic};         // "projects/p/topics/t"
//
// The service accepts 10,000,000 bytes per request. The limit applies to the encoded request: it
// counts the content of the messages, the topic's name, and three or more bytes per message.
//
// The sizes are those of gRPC. A REST request is JSON with its data in base64, which is a third
// larger: see json_text.hpp and base64.hpp.
//
// Source: PubsubMessage and PublishRequest in
// https://github.com/googleapis/googleapis/blob/master/google/pubsub/v1/pubsub.proto; the encoding
// as in protobuf.hpp. Tested against Google's Python encoder (tests/golden/pubsub), and against an
// independent writer in protobuf.prop.cpp.

#ifndef WAYBILL_WIRE_PUBSUB_HPP
#define WAYBILL_WIRE_PUBSUB_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/protobuf.hpp>

namespace waybill::inline v0_2::wire::pubsub {

/// An attribute. Its key is unique in the message.
struct attribute {
    std::string_view key{};
    std::string_view value{};
};

/// A message as it is published, without the fields that the server sets.
struct message {
    std::string_view data{};
    std::span<const attribute> attributes{};
    std::string_view ordering_key{};
};

namespace detail {

// A string or bytes field; 0 if empty, because it is not written.
[[nodiscard]] constexpr std::uint64_t text_field(std::uint64_t number, std::string_view s) noexcept
{
    return s.empty() ? 0 : protobuf::bytes_field_size(number, s.size());
}

}  // namespace detail

/// Bytes of the message by itself. Linear in the attributes. The key and the value of a map entry
/// are written even if they are empty.
[[nodiscard]] constexpr std::uint64_t size(const message& m) noexcept
{
    // Field numbers: 1 data, 2 attributes, 5 ordering_key; in a map entry 1 key, 2 value.
    std::uint64_t sum = waybill::detail::saturating_add(detail::text_field(1, m.data),
                                                        detail::text_field(5, m.ordering_key));
    for (const attribute& a : m.attributes) {
        const std::uint64_t entry =
            waybill::detail::saturating_add(protobuf::bytes_field_size(1, a.key.size()),
                                            protobuf::bytes_field_size(2, a.value.size()));
        sum = waybill::detail::saturating_add(sum, protobuf::bytes_field_size(2, entry));
    }
    return sum > protobuf::max_bytes ? waybill::detail::highest_size : sum;
}

/// Bytes that the service bills for the message: its content and 20 bytes for the time. The message
/// id is billed, too, but the server has not assigned it yet. This is not the encoded size; no
/// limit of a request applies to it. Linear in the attributes. Documented; source: "Message
/// ingestion and delivery" in https://cloud.google.com/pubsub/pricing.
[[nodiscard]] constexpr std::uint64_t billed_size(const message& m) noexcept
{
    std::uint64_t sum = waybill::detail::saturating_add(
        20, waybill::detail::saturating_add(m.data.size(), m.ordering_key.size()));
    for (const attribute& a : m.attributes) {
        sum = waybill::detail::saturating_add(
            sum, waybill::detail::saturating_add(a.key.size(), a.value.size()));
    }
    return sum;
}

/// A PublishRequest as a framing: the topic (field 1), and the messages (field 2), each with a tag
/// and a length.
struct publish_request {
    std::string_view topic{};  ///< The full name: "projects/<project>/topics/<topic>".

    /// Empty: the bytes of a message do not depend on the messages before it.
    struct state {
        friend bool operator==(const state&, const state&) = default;
    };

    [[nodiscard]] constexpr std::uint64_t envelope(const message&) const noexcept
    {
        return detail::text_field(1, topic);
    }
    [[nodiscard]] constexpr std::uint64_t delta(const state&, const message& m) const noexcept
    {
        return protobuf::bytes_field_size(2, pubsub::size(m));
    }
    constexpr void push(state&, const message&) const noexcept {}
};

}  // namespace waybill::inline v0_2::wire::pubsub

#endif  // WAYBILL_WIRE_PUBSUB_HPP

// SPDX-License-Identifier: MIT
//
// pubsub: exact bytes of a Google Cloud Pub/Sub message and of the request that publishes it.
//
// The service takes 10,000,000 bytes a request, and it is the encoded request that it measures: the
// topic's name and three or more bytes a message count as well as what the messages hold.
//
//     namespace pubsub = waybill::wire::pubsub;
//     const pubsub::message m{.data = json, .attributes = attributes, .ordering_key = order};
//     pubsub::size(m);                                // the message by itself
//     pubsub::publish_request framing{topic};         // "projects/p/topics/t"
//
// These are the bytes over gRPC. Over REST the request is JSON and the data in it is base64, a
// third larger: see json_text.hpp and base64.hpp.
//
// Source: PubsubMessage and PublishRequest in
// https://github.com/googleapis/googleapis/blob/master/google/pubsub/v1/pubsub.proto; the encoding
// as in protobuf.hpp. Proved by Google's Python encoder (tests/golden/pubsub), and by
// a writer of our own in protobuf.prop.cpp.

#ifndef WAYBILL_WIRE_PUBSUB_HPP
#define WAYBILL_WIRE_PUBSUB_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/core/saturating.hpp>
#include <waybill/wire/protobuf.hpp>

namespace waybill::inline v0_2::wire::pubsub {

/// An attribute; a key comes once.
struct attribute {
    std::string_view key{};
    std::string_view value{};
};

/// A message as it is published: what the server fills in is not there yet.
struct message {
    std::string_view data{};
    std::span<const attribute> attributes{};
    std::string_view ordering_key{};
};

namespace detail {

// A string or bytes field, which is not written when it is empty.
[[nodiscard]] constexpr std::uint64_t text_field(std::uint64_t number, std::string_view s) noexcept
{
    return s.empty() ? 0 : protobuf::bytes_field_size(number, s.size());
}

}  // namespace detail

/// Bytes of the message by itself. Linear in the attributes. A map writes the key and the value of
/// each entry even where they are empty.
[[nodiscard]] constexpr std::uint64_t size(const message& m) noexcept
{
    std::uint64_t sum = saturating_add(detail::text_field(1, m.data),
                                       detail::text_field(5, m.ordering_key));
    for (const attribute& a : m.attributes) {
        const std::uint64_t entry = saturating_add(protobuf::bytes_field_size(1, a.key.size()),
                                                   protobuf::bytes_field_size(2, a.value.size()));
        sum = saturating_add(sum, protobuf::bytes_field_size(2, entry));
    }
    return sum > protobuf::most_bytes ? highest_size : sum;
}

/// What the message is billed for, which is no encoded size and is held against no limit of a
/// request: what it holds, and 20 bytes for the time. The id that the server gives it is billed,
/// too, and not known yet. Linear in the attributes. Documented; source: "Message ingestion and
/// delivery" in https://cloud.google.com/pubsub/pricing.
[[nodiscard]] constexpr std::uint64_t billed_size(const message& m) noexcept
{
    std::uint64_t sum = saturating_add(20, saturating_add(m.data.size(), m.ordering_key.size()));
    for (const attribute& a : m.attributes) {
        sum = saturating_add(sum, saturating_add(a.key.size(), a.value.size()));
    }
    return sum;
}

/// A PublishRequest as a framing: the topic, and each message behind a tag and its length.
struct publish_request {
    std::string_view topic{};  ///< In full: "projects/<project>/topics/<topic>".

    /// Nothing: what a message adds does not depend on those before it.
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

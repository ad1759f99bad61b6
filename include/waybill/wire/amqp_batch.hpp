// SPDX-License-Identifier: MIT
//
// amqp_batch: size in bytes that each message adds to a batch of Service Bus or Event Hubs.
//
//     constexpr waybill::wire::amqp::batch<waybill::wire::amqp::proton> framing{
//         .carries = {.message_annotations = partition_key}};
//     for (auto part : waybill::chunk_by(messages, limits, framing)) send(part);
//
// A batch is one AMQP message of format 0x80013700. Its envelope contains the sections before the
// body. One data section per message contains the encoded message. The section adds 5 bytes to a
// message of at most 255 bytes and 8 bytes to a longer message (profile `bound`: 15 bytes).
//
// Each SDK chooses the fields of the envelope; the options of `batch` describe its choice. The size
// of a batch is exact if the options match the SDK. Constants below contain the options of some
// SDKs. A single message may be sent without a batch: see `single`.

#ifndef WAYBILL_WIRE_AMQP_BATCH_HPP
#define WAYBILL_WIRE_AMQP_BATCH_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_size.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace waybill::inline v0_2::wire::amqp {

/// The message format of a batch, a field of its AMQP transfer.
inline constexpr std::uint32_t batch_format = 0x8001'3700;

/// Bytes of a data section that contains a message of `encoded` bytes.
template <profile P>
[[nodiscard]] constexpr std::uint64_t wrapped(std::uint64_t encoded) noexcept
{
    return waybill::detail::saturating_add(detail::descriptor<P>, size<P>(value::binary(encoded)));
}

/// The form in which a batch with a single message is sent.
enum class single_message : std::uint8_t {
    wrapped,    ///< As a batch, like several messages.
    unwrapped,  ///< As the message itself, without envelope and data section.
};

[[nodiscard]] constexpr std::string_view texts_of(single_message) noexcept
{
    return "wrapped, unwrapped";
}

/// A framing for messages that the encoder `P` writes. All options are plain data. By default all
/// options are off and the envelope has no field.
template <profile P>
struct batch {
    /// Envelope fields with the same value in all batches; its body is ignored.
    message carries{};

    // Fields that the envelope copies from the first message. A copy replaces the field in
    // `carries`.
    bool copies_message_id = false;
    bool copies_group_id = false;
    bool copies_properties = false;  ///< All fields of the properties section, including ids.
    bool copies_message_annotations = false;
    bool copies_application_properties = false;

    /// Does not copy an empty string, an id equal to 0, or a group-sequence of 0. An empty user-id
    /// and a time of 0 are copied.
    bool drops_empty = false;

    /// The form in which a batch with a single message is sent. With `single_message::unwrapped`,
    /// `delta` of the second message also contains the envelope and the data section of the first.
    /// Do not compare that value with a limit for single messages.
    amqp::single_message single = amqp::single_message::wrapped;

    /// The batch built so far.
    struct state {
        bool empty = true;
        /// Bytes that the second message adds for the first one, see `single`.
        std::uint64_t owed_by_first = 0;

        friend bool operator==(const state&, const state&) = default;
    };

    /// Bytes of the envelope for a batch that begins with `first`; 0 with
    /// `single_message::unwrapped`.
    [[nodiscard]] constexpr std::uint64_t envelope(const message& first) const noexcept
    {
        return single == amqp::single_message::unwrapped ? 0 : envelope_size(first);
    }

    /// Bytes that `m` adds as the next message. Linear in its map entries.
    [[nodiscard]] constexpr std::uint64_t delta(const state& s, const message& m) const noexcept
    {
        const std::uint64_t encoded = size<P>(m);
        if (single == amqp::single_message::unwrapped && s.empty) return encoded;
        return waybill::detail::saturating_add(s.owed_by_first, wrapped<P>(encoded));
    }

    /// Adds `m` to the batch. Linear in its map entries.
    constexpr void push(state& s, const message& m) const noexcept
    {
        s.owed_by_first = 0;
        if (single == amqp::single_message::unwrapped && s.empty) {
            const std::uint64_t encoded = size<P>(m);
            s.owed_by_first = waybill::detail::saturating_add(
                envelope_size(m), waybill::detail::saturating_sub(wrapped<P>(encoded), encoded));
        }
        s.empty = false;
    }

private:
    [[nodiscard]] constexpr octets copied(const octets& o) const noexcept
    {
        return drops_empty && o.size() == 0 ? octets{} : o;
    }

    [[nodiscard]] constexpr identifier copied(const identifier& id) const noexcept
    {
        const value& v = id.as_value();
        const bool is_empty = v.what() == value::kind::number
                                  ? v.shortest_size() == 1
                                  : v.what() == value::kind::text && v.length() == 0;
        return drops_empty && is_empty ? identifier{} : id;
    }

    // Bytes of all sections of the envelope before its body.
    [[nodiscard]] constexpr std::uint64_t envelope_size(const message& first) const noexcept
    {
        message e = carries;
        if (copies_message_id || copies_properties) e.message_id = copied(first.message_id);
        if (copies_group_id || copies_properties) e.group_id = copied(first.group_id);
        if (copies_properties) {
            e.user_id = first.user_id;
            e.to = copied(first.to);
            e.subject = copied(first.subject);
            e.reply_to = copied(first.reply_to);
            e.correlation_id = copied(first.correlation_id);
            e.content_type = copied(first.content_type);
            e.content_encoding = copied(first.content_encoding);
            e.absolute_expiry_time = first.absolute_expiry_time;
            e.creation_time = first.creation_time;
            e.group_sequence = first.group_sequence;
            if (drops_empty && first.group_sequence == 0u) e.group_sequence.reset();
            e.reply_to_group_id = copied(first.reply_to_group_id);
        }
        if (copies_message_annotations) e.message_annotations = first.message_annotations;
        if (copies_application_properties) e.properties = first.properties;
        return detail::sections_before_body<P>(e);
    }
};

/// Azure's event-hubs SDK for JavaScript. It gives each message a map of message annotations, which
/// may be empty. If the message has a partition key, the SDK sets `durable`. Tested with 6.0.4:
/// tests/golden/amqp.
inline constexpr batch<rhea> event_hubs_js{.copies_message_annotations = true};

/// Azure's service-bus SDK for JavaScript. It gives each message a map of message annotations,
/// which may be empty. Tested with 7.9.5: tests/golden/amqp.
inline constexpr batch<rhea> service_bus_js{.copies_properties = true,
                                            .copies_message_annotations = true,
                                            .copies_application_properties = true,
                                            .drops_empty = true};

/// Azure.Messaging.ServiceBus for .NET. A partition key is equal for all messages of a batch; put
/// it into `carries`. Documented: AmqpMessageConverter.cs of Azure/azure-sdk-for-net.
inline constexpr batch<dotnet> service_bus_dotnet{
    .copies_message_id = true, .copies_group_id = true, .single = single_message::unwrapped};

}  // namespace waybill::inline v0_2::wire::amqp

#endif  // WAYBILL_WIRE_AMQP_BATCH_HPP

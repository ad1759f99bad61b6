// SPDX-License-Identifier: MIT
//
// amqp_batch: what a message adds to a batch of Service Bus or Event Hubs.
//
// Such a batch is one AMQP message of format 0x80013700: an envelope with the sections before the
// body, and then a data section for each message, which holds it encoded. So a message of S bytes
// takes S + 5 up to 255 bytes and S + 8 from there on, and the envelope takes its own:
//
//     constexpr waybill::wire::amqp::batch<waybill::wire::amqp::proton> framing{
//         .carries = {.message_annotations = partition_key}};
//     for (auto part : waybill::chunk_by(messages, limits, framing)) send(part);
//
// What an SDK writes into the envelope is its choice; the options say it, and the size of a batch
// is exact if they are right. Those of some SDKs are below, by name. A message that is alone may go
// without a batch around it: see `lone`.

#ifndef WAYBILL_WIRE_AMQP_BATCH_HPP
#define WAYBILL_WIRE_AMQP_BATCH_HPP

#include <cstdint>

#include <waybill/core/saturating.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_size.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace waybill::inline v0_2::wire::amqp {

/// The message format of a batch, for the transfer that carries it.
inline constexpr std::uint32_t batch_format = 0x8001'3700;

/// The size of an encoded message as a data section of a batch.
template <profile P>
[[nodiscard]] constexpr std::uint64_t wrapped(std::uint64_t encoded) noexcept
{
    return saturating_add(detail::descriptor<P>, size<P>(value::binary(encoded)));
}

/// How a batch with a single message travels.
enum class lone : std::uint8_t {
    wrapped,  ///< As a batch, like any other.
    bare,     ///< As the message itself, without envelope and data section.
};

/// A framing for messages of one encoder. All options are plain data and off by default, which is
/// an envelope without any field.
template <profile P>
struct batch {
    message carries{};  ///< Fields of the envelope that are the same for all batches; no body.

    // What the envelope repeats of the first message, instead of the same in `carries`.
    bool copies_message_id = false;
    bool copies_group_id = false;
    bool copies_properties = false;  ///< All that stands in the properties section, ids included.
    bool copies_message_annotations = false;
    bool copies_application_properties = false;

    bool drops_empty = false;  ///< Does not repeat an empty string or a number 0.

    /// With `lone::bare` the second message of a batch pays for the envelope and for wrapping the
    /// first, so a limit for single messages must not be held against what it adds.
    amqp::lone lone = amqp::lone::wrapped;

    /// A batch so far.
    struct state {
        bool empty = true;
        std::uint64_t unpaid = 0;  ///< What is due when the first message gets company.

        friend bool operator==(const state&, const state&) = default;
    };

    /// Bytes before the first message.
    [[nodiscard]] constexpr std::uint64_t envelope(const message& first) const noexcept
    {
        return lone == amqp::lone::bare ? 0 : head(first);
    }

    /// Bytes that a message adds.
    [[nodiscard]] constexpr std::uint64_t delta(const state& s, const message& m) const noexcept
    {
        const std::uint64_t own = size<P>(m);
        if (lone == amqp::lone::bare && s.empty) return own;
        return saturating_add(s.unpaid, wrapped<P>(own));
    }

    constexpr void push(state& s, const message& m) const noexcept
    {
        s.unpaid = 0;
        if (lone == amqp::lone::bare && s.empty) {
            const std::uint64_t own = size<P>(m);
            s.unpaid = saturating_add(head(m), saturating_sub(wrapped<P>(own), own));
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
        const bool is_empty = v.what() == value::kind::number ? v.narrow() == 1
                              : v.what() == value::kind::text && v.length() == 0;
        return drops_empty && is_empty ? identifier{} : id;
    }

    // The envelope, up to its body.
    [[nodiscard]] constexpr std::uint64_t head(const message& first) const noexcept
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
        return detail::head_size<P>(e);
    }
};

/// Azure's event-hubs for JavaScript. Its messages always have a map of annotations, which may be
/// empty, and with a partition key they are durable. Proved with 6.0.4: tests/golden/amqp.
inline constexpr batch<rhea> event_hubs_js{.copies_message_annotations = true};

/// Azure's service-bus for JavaScript. Its messages always have a map of annotations, which may be
/// empty. Proved with 7.9.5: tests/golden/amqp.
inline constexpr batch<rhea> service_bus_js{.copies_properties = true,
                                            .copies_message_annotations = true,
                                            .copies_application_properties = true,
                                            .drops_empty = true};

/// Azure.Messaging.ServiceBus for .NET, without partition keys: `carries` takes one, as it is the
/// same for a whole batch. Documented: AmqpMessageConverter.cs of Azure/azure-sdk-for-net.
inline constexpr batch<dotnet> service_bus_dotnet{
    .copies_message_id = true, .copies_group_id = true, .lone = lone::bare};

}  // namespace waybill::inline v0_2::wire::amqp

#endif  // WAYBILL_WIRE_AMQP_BATCH_HPP

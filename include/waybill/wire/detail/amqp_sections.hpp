// SPDX-License-Identifier: MIT
//
// amqp_sections: sizes of the sections of an AMQP 1.0 message.

#ifndef WAYBILL_WIRE_DETAIL_AMQP_SECTIONS_HPP
#define WAYBILL_WIRE_DETAIL_AMQP_SECTIONS_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_value.hpp>
#include <waybill/wire/detail/amqp_fields.hpp>

namespace waybill::inline v0_2::wire::amqp::detail {

template <profile P>
[[nodiscard]] constexpr std::uint64_t header_size(const message& m) noexcept
{
    constexpr encoder e = P::rules;
    // A list32 whose fields are all present in their widest form: durable, priority, ttl,
    // first-acquirer and delivery-count.
    if (e.widest) return descriptor<P> + 9 + (2 + 2 + 5 + 2 + 5);
    fields<P> f;
    f.add(m.durable, e.writes_defaults, false);
    f.add(m.priority, e.writes_defaults, std::uint8_t{4});
    f.add(m.ttl, e.writes_zero_ttl, std::uint32_t{0});
    f.add(m.first_acquirer, e.writes_defaults, false);
    f.add(m.delivery_count, e.writes_defaults, std::uint32_t{0});
    return f.section_size(e.header);
}

template <profile P>
[[nodiscard]] constexpr std::uint64_t properties_size(const message& m) noexcept
{
    constexpr encoder e = P::rules;
    fields<P> f;
    f.add(m.message_id);
    if (f.next(m.user_id.given(),
               m.user_id.given() && !(e.binary_or_null && m.user_id.size() == 0))) {
        f.add_text(m.user_id);
    }
    f.add(m.to);
    f.add(m.subject);
    f.add(m.reply_to);
    f.add(m.correlation_id);
    f.add(m.content_type);
    f.add(m.content_encoding);
    f.add(m.absolute_expiry_time, e.writes_zero_times, std::int64_t{0});
    f.add(m.creation_time, e.writes_zero_times, std::int64_t{0});
    f.add(m.group_id);
    const std::uint32_t sequence = m.group_sequence.value_or(0);
    bool has_sequence = m.group_sequence.has_value();
    if (e.sequences_groups) has_sequence = m.group_id.given() || sequence != 0;
    if (e.widest) has_sequence = true;
    if (f.next(m.group_sequence.has_value(), has_sequence)) {
        f.add_bytes(e.widest ? 5 : value(sequence).shortest_size());
    }
    f.add(m.reply_to_group_id);
    return f.section_size(e.properties);
}

template <profile P>
[[nodiscard]] constexpr std::uint64_t map_size(const entries& map) noexcept
{
    if (!map.given() || (map.empty() && !P::rules.writes_empty_maps)) return 0;
    return waybill::detail::saturating_add(descriptor<P>, entries_size<P>(map));
}

template <profile P>
[[nodiscard]] constexpr std::uint64_t body_size(const content& body) noexcept
{
    if (body.what() == content::kind::none) {
        return P::rules.writes_null_body ? descriptor<P> + 1 : 0;
    }
    return waybill::detail::saturating_add(descriptor<P>, value_size<P>(body.as_value()));
}

// All sections before the body.
template <profile P>
[[nodiscard]] constexpr std::uint64_t sections_before_body(const message& m) noexcept
{
    std::uint64_t bytes = waybill::detail::saturating_add(header_size<P>(m), properties_size<P>(m));
    bytes = waybill::detail::saturating_add(bytes, map_size<P>(m.delivery_annotations));
    bytes = waybill::detail::saturating_add(bytes, map_size<P>(m.message_annotations));
    return waybill::detail::saturating_add(bytes, map_size<P>(m.properties));
}

}  // namespace waybill::inline v0_2::wire::amqp::detail

#endif  // WAYBILL_WIRE_DETAIL_AMQP_SECTIONS_HPP

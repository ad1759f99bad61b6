// SPDX-License-Identifier: MIT
//
// amqp_size: the encoded size of an AMQP 1.0 message in bytes, computed without encoding it.
//
//     constexpr auto n = waybill::wire::amqp::size<waybill::wire::amqp::proton>(
//         {.body = body.size(), .message_id = id, .group_id = session, .properties = props});
//
// The profile names the encoder (see amqp_encoder).
//
// Guarantees
//   1. The size is exact, from the first byte of the header to the last byte of the body. Transfer
//      and frames are not counted; no broker's limit counts them.
//   2. Only lengths are read and nothing is allocated.
//   3. AMQP cannot encode a string, a body or a map of 4 GiB or more. A message with such a part
//      has the size 2^64 - 1, which is over every limit.
//
// Fields that are added after the measurement are not counted; include them or reserve space.
// Example: tracing adds an application property. A traceparent of 55 characters adds 70 bytes; as
// Diagnostic-Id it adds 72. The first application property also adds the map: 12 bytes with Proton.

#ifndef WAYBILL_WIRE_AMQP_SIZE_HPP
#define WAYBILL_WIRE_AMQP_SIZE_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_value.hpp>
#include <waybill/wire/detail/amqp_fields.hpp>
#include <waybill/wire/detail/amqp_sections.hpp>

namespace waybill::inline v0_2::wire::amqp {

/// Bytes of a value in a map or as a body, including its constructor; 2^64 - 1 if it cannot be
/// encoded. Constant time.
template <profile P>
[[nodiscard]] constexpr std::uint64_t size(const value& v) noexcept
{
    return detail::value_size<P>(v);
}

/// Bytes of a map without a descriptor. For a map inside a value, pass the result to
/// `value::encoded`. Linear in its entries.
template <profile P>
[[nodiscard]] constexpr std::uint64_t size(const entries& map) noexcept
{
    return detail::entries_size<P>(map);
}

/// Bytes of a message as the encoder `P` writes it; 2^64 - 1 if it cannot be encoded. Linear in the
/// entries of its maps.
template <profile P>
[[nodiscard]] constexpr std::uint64_t size(const message& m) noexcept
{
    return waybill::detail::saturating_add(detail::sections_before_body<P>(m),
                                           detail::body_size<P>(m.body));
}

/// `size` as a function object, for functions that take a size function: `chunk_by(messages,
/// limits, sized<proton>)`.
template <profile P>
inline constexpr auto sized = [](const message& m) noexcept { return size<P>(m); };

}  // namespace waybill::inline v0_2::wire::amqp

#endif  // WAYBILL_WIRE_AMQP_SIZE_HPP

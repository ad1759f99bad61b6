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
//      has the size `highest_size`, which is over every limit.
//
// Fields that are added after the measurement are not counted; include them or reserve space.
// Example: tracing adds an application property. A traceparent of 55 characters adds 70 bytes; as
// Diagnostic-Id it adds 72. The first application property also adds the map: 12 bytes with Proton.

#ifndef WAYBILL_WIRE_AMQP_SIZE_HPP
#define WAYBILL_WIRE_AMQP_SIZE_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/saturating.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace waybill::inline v0_2::wire::amqp {

namespace detail {

inline constexpr std::uint64_t longest = 0xFFFF'FFFF;  // the largest 32-bit length

// A section begins with 0x00 and the ulong of its descriptor, in short or long form.
template <profile P>
inline constexpr std::uint64_t descriptor = P::rules.widest ? 10 : 3;

// Bytes before `octets` octets: a constructor and the length in one byte or four.
template <profile P>
[[nodiscard]] constexpr std::uint64_t prefix(std::uint64_t octets) noexcept
{
    return P::rules.widest || octets > 255 ? 5 : 2;
}

// A list or map of `count` elements with `bytes` bytes. Its length field also counts its count
// field.
[[nodiscard]] constexpr std::uint64_t compound(bool can_be_short, std::uint64_t count,
                                               std::uint64_t bytes) noexcept
{
    if (can_be_short && bytes <= 254 && count <= 255) return bytes + 3;
    return bytes > longest - 4 || count > longest ? highest_size : bytes + 9;
}

// Bytes of consecutive values. The sums need not saturate: `seen_` records a length over 32 bits.
// Without such a length, an overflow takes more than 2^31 values of 4 GiB.
template <profile P>
class sum {
public:
    constexpr void fixed(std::uint64_t n) noexcept { bytes_ += n; }

    constexpr void text(std::uint64_t octets) noexcept
    {
        bytes_ += octets + prefix<P>(octets);
        seen_ |= octets;
    }

    constexpr void put(const value& v) noexcept
    {
        constexpr encoder e = P::rules;
        const std::uint64_t n = v.length();
        seen_ |= n;
        if (e.binary_or_null && v.what() == value::kind::binary && n == 0) {
            bytes_ += 1;
            return;
        }
        const bool is_long = n > 255 && v.what() != value::kind::encoded;
        if constexpr (e.widest) bytes_ += n + v.wide();
        else if constexpr (e.number == numbers::plain) bytes_ += n + v.plain() + (is_long ? 3 : 0);
        else bytes_ += n + v.narrow() + (is_long ? 3 : 0);
    }

    // A numeric identifier is a ulong with every encoder.
    constexpr void put(const identifier& id) noexcept
    {
        const value& v = id.as_value();
        if (v.what() == value::kind::number) fixed(P::rules.widest ? v.wide() : v.narrow());
        else put(v);
    }

    // A separate sum per entry, so that its additions do not wait for those of the previous entry.
    constexpr void put(const property& p) noexcept
    {
        sum one;
        one.text(p.name.size());
        one.put(p.value);
        bytes_ += one.bytes_;
        seen_ |= one.seen_;
    }

    [[nodiscard]] constexpr std::uint64_t bytes() const noexcept
    {
        return seen_ > longest ? highest_size : bytes_;
    }

private:
    std::uint64_t bytes_ = 0;
    std::uint64_t seen_ = 0;  // bitwise or of all lengths
};

// The fields of a list in their order. An unwritten field is a null of one byte if a later field is
// written, or if the encoder does not trim nulls.
template <profile P>
class fields {
public:
    // Counts the next field. Returns true if the caller has to add its size.
    constexpr bool next(bool is_given, bool is_written) noexcept
    {
        ++at_;
        given_ = given_ || is_given;
        if (!is_written) return false;
        ++written_;
        last_ = at_;
        return true;
    }

    // Adds an optional field. If its value is `idle`, it is written only if `writes_idle` is set.
    template <class T>
    constexpr void put(const std::optional<T>& field, bool writes_idle, T idle) noexcept
    {
        if (!field) {
            ++at_;
        } else if (next(true, writes_idle || *field != idle)) {
            sum_.fixed(width(*field));
        }
    }

    constexpr void put(const octets& field) noexcept
    {
        if (next(field.given(), field.given())) text(field);
    }

    constexpr void put(const identifier& field) noexcept
    {
        if (next(field.given(), field.given())) sum_.put(field);
    }

    constexpr void fixed(std::uint64_t bytes) noexcept { sum_.fixed(bytes); }
    constexpr void text(const octets& field) noexcept { sum_.text(field.size()); }

    [[nodiscard]] constexpr std::uint64_t section_size(section when) const noexcept
    {
        if (last_ == 0) {
            const bool is_written =
                when == section::always || (when == section::if_given && given_);
            if (!is_written) return 0;
            if (P::rules.trims_nulls) return descriptor<P> + 1;  // list0
        }
        const std::uint64_t count = P::rules.trims_nulls ? last_ : at_;
        const std::uint64_t bytes = saturating_add(sum_.bytes(), count - written_);
        return saturating_add(descriptor<P>, compound(P::rules.short_lists, count, bytes));
    }

private:
    [[nodiscard]] static constexpr std::uint64_t width(bool) noexcept { return 1; }
    [[nodiscard]] static constexpr std::uint64_t width(std::uint8_t) noexcept { return 2; }
    [[nodiscard]] static constexpr std::uint64_t width(std::int64_t) noexcept { return 9; }
    [[nodiscard]] static constexpr std::uint64_t width(std::uint32_t n) noexcept
    {
        return value(n).narrow();
    }

    sum<P> sum_;
    std::uint64_t at_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t written_ = 0;
    bool given_ = false;
};

}  // namespace detail

/// Bytes of a value in a map or as a body, including its constructor; `highest_size` if it cannot
/// be encoded. Constant time.
template <profile P>
[[nodiscard]] constexpr std::uint64_t size(const value& v) noexcept
{
    detail::sum<P> all;
    all.put(v);
    return all.bytes();
}

/// Bytes of a map without a descriptor. For a map inside a value, pass the result to
/// `value::encoded`. Linear in its entries.
template <profile P>
[[nodiscard]] constexpr std::uint64_t size(const entries& map) noexcept
{
    detail::sum<P> all;
    for (const property& each : map) all.put(each);
    return detail::compound(P::rules.short_maps, saturating_mul(map.size(), 2), all.bytes());
}

namespace detail {

template <profile P>
[[nodiscard]] constexpr std::uint64_t header_size(const message& m) noexcept
{
    constexpr encoder e = P::rules;
    // Every field may be present, at its widest: durable, priority, ttl, first-acquirer and
    // delivery-count.
    if (e.widest) return descriptor<P> + 9 + (2 + 2 + 5 + 2 + 5);
    fields<P> f;
    f.put(m.durable, e.writes_defaults, false);
    f.put(m.priority, e.writes_defaults, std::uint8_t{4});
    f.put(m.ttl, e.writes_zero_ttl, std::uint32_t{0});
    f.put(m.first_acquirer, e.writes_defaults, false);
    f.put(m.delivery_count, e.writes_defaults, std::uint32_t{0});
    return f.section_size(e.header);
}

template <profile P>
[[nodiscard]] constexpr std::uint64_t properties_size(const message& m) noexcept
{
    constexpr encoder e = P::rules;
    fields<P> f;
    f.put(m.message_id);
    if (f.next(m.user_id.given(),
               m.user_id.given() && !(e.binary_or_null && m.user_id.size() == 0))) {
        f.text(m.user_id);
    }
    f.put(m.to);
    f.put(m.subject);
    f.put(m.reply_to);
    f.put(m.correlation_id);
    f.put(m.content_type);
    f.put(m.content_encoding);
    f.put(m.absolute_expiry_time, e.writes_zero_times, std::int64_t{0});
    f.put(m.creation_time, e.writes_zero_times, std::int64_t{0});
    f.put(m.group_id);
    const std::uint32_t sequence = m.group_sequence.value_or(0);
    const bool has_sequence = e.widest ? true
                              : e.sequences_groups ? m.group_id.given() || sequence != 0
                                                   : m.group_sequence.has_value();
    if (f.next(m.group_sequence.has_value(), has_sequence)) {
        f.fixed(e.widest ? 5 : value(sequence).narrow());
    }
    f.put(m.reply_to_group_id);
    return f.section_size(e.properties);
}

template <profile P>
[[nodiscard]] constexpr std::uint64_t map_size(const entries& map) noexcept
{
    if (!map.given() || (map.empty() && !P::rules.writes_empty_maps)) return 0;
    return saturating_add(descriptor<P>, size<P>(map));
}

template <profile P>
[[nodiscard]] constexpr std::uint64_t body_size(const content& body) noexcept
{
    if (body.what() == content::kind::none) {
        return P::rules.writes_null_body ? descriptor<P> + 1 : 0;
    }
    return saturating_add(descriptor<P>, size<P>(body.as_value()));
}

// All sections before the body.
template <profile P>
[[nodiscard]] constexpr std::uint64_t head_size(const message& m) noexcept
{
    std::uint64_t bytes = saturating_add(header_size<P>(m), properties_size<P>(m));
    bytes = saturating_add(bytes, map_size<P>(m.delivery_annotations));
    bytes = saturating_add(bytes, map_size<P>(m.message_annotations));
    return saturating_add(bytes, map_size<P>(m.properties));
}

}  // namespace detail

/// Bytes of a message as the encoder `P` writes it; `highest_size` if it cannot be encoded. Linear
/// in the entries of its maps.
template <profile P>
[[nodiscard]] constexpr std::uint64_t size(const message& m) noexcept
{
    return saturating_add(detail::head_size<P>(m), detail::body_size<P>(m.body));
}

/// `size` as a function object, for functions that take a size function: `chunk_by(messages,
/// limits, sized<proton>)`.
template <profile P>
inline constexpr auto sized = [](const message& m) noexcept { return size<P>(m); };

}  // namespace waybill::inline v0_2::wire::amqp

#endif  // WAYBILL_WIRE_AMQP_SIZE_HPP

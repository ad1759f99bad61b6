// SPDX-License-Identifier: MIT
//
// kafka_fields: sizes of the fields of a Kafka record, with a fast path for short records.
//
// Part of kafka.hpp.

#ifndef WAYBILL_WIRE_DETAIL_KAFKA_FIELDS_HPP
#define WAYBILL_WIRE_DETAIL_KAFKA_FIELDS_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/kafka_record.hpp>
#include <waybill/wire/varint.hpp>

namespace waybill::inline v0_2::wire::kafka::detail {

inline constexpr std::uint64_t highest_int32 = 0x7FFF'FFFFU;

// The size of fields that the format cannot encode. Additions to it cannot overflow.
inline constexpr std::uint64_t too_large = highest_int32 + 1;

// Bytes of a length field. It is a zigzag varint, because -1 marks an absent value.
[[nodiscard]] constexpr std::uint64_t length_size(std::uint64_t n) noexcept
{
    return varint_size(n << 1U);
}

// An absent value has the length -1, which takes as many bytes as the length 0.
[[nodiscard]] constexpr std::uint64_t length_of(const std::optional<std::string_view>& s) noexcept
{
    return s ? s->size() : 0;
}

// A fast path for short records. A record has at least six varints, and computing their widths
// takes several times as long as adding the lengths. Nearly all lengths are short: one byte, or two
// bytes from 64 on. `short_fields` assumes this for all of them, with one comparison each, and
// collects the bits of all lengths. One check of these bits at the end verifies the assumption. If
// it fails, a separate function computes the record again without it, so that the fast path stays
// small enough to inline. Headers have separate functions, too: a loop in the same function uses
// registers that a record without headers needs.
inline constexpr std::uint64_t short_length_end = 8'192;

[[nodiscard]] constexpr std::uint64_t second_byte(std::uint64_t n) noexcept
{
    return n > 63 ? 1U : 0U;
}

struct short_fields {
    std::uint64_t bytes = 0;
    std::uint64_t length_bits = 0;

    // The caller counts the first byte of the length field. With `if`, the compilers use the carry
    // of the comparison (g++ 12, clang 14, -O2); adding a bool took two instructions more.
    constexpr void add(std::uint64_t length) noexcept
    {
        bytes += length;
        if (length > 63) ++bytes;
        length_bits |= length;
    }

    constexpr void add_headers(std::span<const header> all) noexcept
    {
        length_bits |= all.size();
        if (length_bits >= short_length_end) return;
        bytes += 2 * all.size() + detail::second_byte(all.size());
        for (const header& h : all) {
            add(h.key.size());
            if (h.value) [[likely]]
                add(h.value->size());
        }
    }
};

// Key, value and headers with their length fields, or `too_large`. Lengths below 2^31 cannot
// overflow the sum.
[[nodiscard]] WAYBILL_NOINLINE constexpr std::uint64_t long_fields(const record& r) noexcept
{
    const std::uint64_t key = detail::length_of(r.key);
    const std::uint64_t value = detail::length_of(r.value);
    const std::uint64_t count = r.headers.size();
    if ((key | value | count) > highest_int32) return too_large;
    std::uint64_t sum = key + value;
    sum += detail::length_size(key) + detail::length_size(value) + detail::length_size(count);
    for (const header& h : r.headers) {
        const std::uint64_t name = h.key.size();
        const std::uint64_t text = detail::length_of(h.value);
        if ((name | text) > highest_int32) return too_large;
        sum += name + text + detail::length_size(name) + detail::length_size(text);
    }
    return sum;  // at most 2^31 headers of little more than 2^32 bytes: less than 2^64
}

// Key and value, without the first byte of each length field.
[[nodiscard]] constexpr short_fields short_key_and_value(const record& r) noexcept
{
    short_fields sum;
    if (r.key) [[likely]]
        sum.add(r.key->size());
    if (r.value) [[likely]]
        sum.add(r.value->size());
    return sum;
}

// Bytes of key, value and headers with their length fields.
[[nodiscard]] constexpr std::uint64_t fields(const record& r) noexcept
{
    short_fields sum = detail::short_key_and_value(r);
    sum.bytes += 3;  // the first bytes of two lengths and of the header count
    if (!r.headers.empty()) sum.add_headers(r.headers);
    return sum.length_bits < short_length_end ? sum.bytes : detail::long_fields(r);
}

// Bytes of a record with any lengths and differences, or 2^64 - 1 if it cannot be encoded.
[[nodiscard]] WAYBILL_NOINLINE constexpr std::uint64_t long_size(
    const record& r, std::uint64_t offset_delta, std::int64_t timestamp_delta) noexcept
{
    const std::uint64_t fields = detail::long_fields(r);
    if ((fields | offset_delta) > highest_int32) return waybill::detail::highest_size;
    const std::uint64_t body =
        1 + zigzag_size(timestamp_delta) + detail::length_size(offset_delta) + fields;
    return body > highest_int32 ? waybill::detail::highest_size : detail::length_size(body) + body;
}

// Bytes of the record at its position. `fields` is the sum of key, value and headers, without the
// first bytes of three length fields: key, value and header count.
[[nodiscard]] constexpr std::uint64_t size_at_position(const record& r, short_fields fields,
                                                       std::uint64_t offset_delta,
                                                       std::int64_t timestamp_delta) noexcept
{
    // A timestamp difference in [-64, 63] takes one byte. A difference below -64 makes
    // `shifted_delta` large, so the record is not treated as short.
    const std::uint64_t shifted_delta = static_cast<std::uint64_t>(timestamp_delta) + 64;
    // One byte each for the attributes and the lengths of record, key, value and headers. Two bytes
    // each for the two differences, minus one if one byte is enough.
    std::uint64_t overhead = 5 + 2 * 2;
    overhead -= static_cast<std::uint64_t>(offset_delta < 64);
    overhead -= static_cast<std::uint64_t>(shifted_delta < 128);
    const std::uint64_t bytes = fields.bytes + overhead;
    const std::uint64_t all_bits = fields.length_bits | offset_delta | shifted_delta | bytes;
    if (all_bits >= short_length_end) [[unlikely]] {
        return detail::long_size(r, offset_delta, timestamp_delta);
    }
    return bytes + (bytes > 64 ? 1U : 0U);  // the record length does not count its own byte
}

[[nodiscard]] WAYBILL_NOINLINE constexpr std::uint64_t size_with_headers(
    const record& r, std::uint64_t offset_delta, std::int64_t timestamp_delta) noexcept
{
    short_fields fields = detail::short_key_and_value(r);
    fields.add_headers(r.headers);
    return detail::size_at_position(r, fields, offset_delta, timestamp_delta);
}

// The timestamp difference as a producer computes it. It wraps around between the extremes, and so
// does the broker's sum.
[[nodiscard]] constexpr std::int64_t distance(std::int64_t from, std::int64_t to) noexcept
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from));
}

}  // namespace waybill::inline v0_2::wire::kafka::detail

#endif  // WAYBILL_WIRE_DETAIL_KAFKA_FIELDS_HPP

// SPDX-License-Identifier: MIT
//
// kafka: exact bytes of records and of a record batch, version 2.
//
// A record's bytes depend on its place: it stores its time and its offset as the distance from the
// batch's first record, and each distance in as few bytes as will do. So one record takes 7 bytes
// over its value here and 17 there, and no function of the record alone can say which. The framing
// knows the place; the bound holds in any place and needs none:
//
//     namespace kafka = waybill::wire::kafka;
//     const kafka::record r{.key = id, .value = json, .timestamp = ms, .headers = headers};
//     kafka::bound(r);                        // at most this, wherever it ends up
//     kafka::size(r, 3, 250);                 // as the fourth record, 250 ms after the first
//     kafka::record_batch framing;            // for whatever cuts batches by a framing
//
// What holds:
//   1. an absent key is not an empty one: -1 and 0 are both one byte, but the broker tells them
//      apart, and so does a compacted topic. Lengths are all that is read, never a character;
//   2. what the format cannot say reads as the largest size, which fits nowhere: a field or record
//      of 2 GiB, and a record further on than a 32-bit offset delta counts. A whole batch cannot
//      say more than `most_bytes`, so no limit in bytes should be higher;
//   3. sizes are before compression. A broker's max.message.bytes is held against the batch as it
//      is sent, so what fits here fits there unless a codec makes it larger;
//   4. the 61 bytes are the batch's own head. The request around it (topic, partition, acks) is
//      not counted, as max.message.bytes does not count it.
//
// Source: "Record Batch" and "Record", https://kafka.apache.org/documentation/#recordbatch.
// Proved by kafkajs 2.2.4 (tests/golden/kafka) and by an encoder in kafka.prop.cpp.

#ifndef WAYBILL_WIRE_KAFKA_HPP
#define WAYBILL_WIRE_KAFKA_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <waybill/core/saturating.hpp>
#include <waybill/wire/varint.hpp>

namespace waybill::inline v0_2::wire::kafka {

/// A header of a record. Its key is never absent; its value may be.
struct header {
    std::string_view key{};
    std::optional<std::string_view> value{};
};

/// A record as a producer hands it over. It views what it names and owns nothing.
struct record {
    std::optional<std::string_view> key{};
    std::optional<std::string_view> value{};
    std::int64_t timestamp = 0;  ///< Milliseconds; only the distance to the batch's first counts.
    std::span<const header> headers{};
};

/// Bytes of a batch before its first record.
inline constexpr std::uint64_t batch_head = 61;

/// Most bytes of a batch: its length is 32 bits with a sign and counts all but the first twelve.
inline constexpr std::uint64_t most_bytes = 12U + 0x7FFF'FFFFU;

namespace detail {

inline constexpr std::uint64_t highest_int32 = 0x7FFF'FFFFU;

// Stands for fields that the format cannot say, and leaves room to add to it.
inline constexpr std::uint64_t too_large = highest_int32 + 1;

// Lengths are zigzag, too, although only -1 needs a sign.
[[nodiscard]] constexpr std::uint64_t length_size(std::uint64_t n) noexcept
{
    return varint_size(n << 1U);
}

// What is absent has the length -1, which is written in as many bytes as that of an empty text.
[[nodiscard]] constexpr std::uint64_t length_of(const std::optional<std::string_view>& s) noexcept
{
    return s ? s->size() : 0;
}

// A record has six lengths and more, and to count the width of each takes several times as long as
// to add them up. Nearly all are short, which is a byte, or two from 64 on. So all are taken for
// short, at one comparison each, and one look at the bits of all tells whether they were. If not,
// they are gone through again with care, apart, so that the short way is small enough to inline.
// Headers are apart as well, for a loop beside it takes the registers of a record without any.
inline constexpr std::uint64_t short_end = 8'192;

[[nodiscard]] constexpr std::uint64_t second_byte(std::uint64_t n) noexcept
{
    return n > 63 ? 1U : 0U;
}

struct short_sum {
    std::uint64_t bytes = 0;
    std::uint64_t bits = 0;

    // Whoever adds a length counts its first byte. As an `if` it was seen to become the carry of the
    // comparison (g++ 12, clang 14, -O2), where adding a bool took two instructions more.
    constexpr void add(std::uint64_t length) noexcept
    {
        bytes += length;
        if (length > 63) ++bytes;
        bits |= length;
    }

    constexpr void add_headers(std::span<const header> all) noexcept
    {
        bits |= all.size();
        if (bits >= short_end) return;
        bytes += 2 * all.size() + detail::second_byte(all.size());
        for (const header& h : all) {
            add(h.key.size());
            if (h.value) [[likely]] add(h.value->size());
        }
    }
};

// Lengths below 2^31 leave room to add up without looking.
[[nodiscard, gnu::noinline]] constexpr std::uint64_t long_fields(const record& r) noexcept
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
    return sum;  // at most 2^31 headers of 2^32 bytes and some: far from 2^64
}

// Key and value. What is absent adds nothing to its first byte.
[[nodiscard, gnu::always_inline]] constexpr short_sum short_texts(const record& r) noexcept
{
    short_sum sum;
    if (r.key) [[likely]] sum.add(r.key->size());
    if (r.value) [[likely]] sum.add(r.value->size());
    return sum;
}

// The bytes of key, value and headers with their lengths.
[[nodiscard]] constexpr std::uint64_t fields(const record& r) noexcept
{
    short_sum sum = detail::short_texts(r);
    sum.bytes += 3;  // the first bytes of two lengths and of the count
    if (!r.headers.empty()) sum.add_headers(r.headers);
    return sum.bits < short_end ? sum.bytes : detail::long_fields(r);
}

[[nodiscard, gnu::noinline]] constexpr std::uint64_t
long_size(const record& r, std::uint64_t offset_delta, std::int64_t timestamp_delta) noexcept
{
    const std::uint64_t fields = detail::long_fields(r);
    if ((fields | offset_delta) > highest_int32) return highest_size;
    const std::uint64_t body =
        1 + zigzag_size(timestamp_delta) + detail::length_size(offset_delta) + fields;
    return body > highest_int32 ? highest_size : detail::length_size(body) + body;
}

// The record in its place, once the fields are added up.
[[nodiscard, gnu::always_inline]] constexpr std::uint64_t
placed(const record& r, short_sum fields, std::uint64_t offset_delta,
       std::int64_t timestamp_delta) noexcept
{
    // From -64 to 63 a time is one byte. One that is further back is not taken for short.
    const std::uint64_t away = static_cast<std::uint64_t>(timestamp_delta) + 64;
    // A byte each for the attributes, the record's length and those of key, value and headers, and
    // two for each distance, less one where that will do.
    std::uint64_t rest = 9;
    rest -= static_cast<std::uint64_t>(offset_delta < 64);
    rest -= static_cast<std::uint64_t>(away < 128);
    const std::uint64_t bytes = fields.bytes + rest;
    if ((fields.bits | offset_delta | away | bytes) >= short_end) [[unlikely]] {
        return detail::long_size(r, offset_delta, timestamp_delta);
    }
    return bytes + (bytes > 64 ? 1U : 0U);  // the length counts all but its own byte
}

[[nodiscard, gnu::noinline]] constexpr std::uint64_t
size_with_headers(const record& r, std::uint64_t offset_delta,
                  std::int64_t timestamp_delta) noexcept
{
    short_sum fields = detail::short_texts(r);
    fields.add_headers(r.headers);
    return detail::placed(r, fields, offset_delta, timestamp_delta);
}

// The distance as a producer takes it: from one end of time to the other it wraps, and so does
// the broker's sum when it reads it.
[[nodiscard]] constexpr std::int64_t distance(std::int64_t from, std::int64_t to) noexcept
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                     static_cast<std::uint64_t>(from));
}

}  // namespace detail

/// Bytes of the record at `offset_delta` records and `timestamp_delta` milliseconds after the first
/// one of its batch, which is at 0 and 0. Linear in the headers, otherwise constant.
/// Proved by tests/golden/kafka and kafka.prop.cpp.
[[nodiscard, gnu::always_inline]] constexpr std::uint64_t
size(const record& r, std::uint64_t offset_delta, std::int64_t timestamp_delta) noexcept
{
    if (!r.headers.empty()) [[unlikely]] {
        return detail::size_with_headers(r, offset_delta, timestamp_delta);
    }
    return detail::placed(r, detail::short_texts(r), offset_delta, timestamp_delta);
}

/// The most bytes the record takes in any place of any batch: its fields and 21. Java's producer
/// reserves the same. Linear in the headers.
/// Source: `MAX_RECORD_OVERHEAD` in org.apache.kafka.common.record.DefaultRecord.
[[nodiscard]] constexpr std::uint64_t bound(const record& r) noexcept
{
    constexpr std::uint64_t place = 5 + 1 + 10 + 5;  // length, attributes, timestamp, offset
    const std::uint64_t fields = detail::fields(r);
    return fields > detail::highest_int32 ? highest_size : place + fields;
}

/// The record batch as a framing: what each record adds to the batch so far, in its place.
struct record_batch {
    /// A batch so far.
    struct state {
        std::uint64_t count = 0;  ///< Records in it.
        std::int64_t first = 0;   ///< Timestamp of the first one.

        friend bool operator==(const state&, const state&) = default;
    };

    /// 61 bytes, whatever comes first.
    [[nodiscard]] constexpr std::uint64_t envelope(const record&) const noexcept
    {
        return batch_head;
    }

    /// Bytes that `r` adds as the next record. Linear in its headers, otherwise constant.
    [[nodiscard, gnu::always_inline]] constexpr std::uint64_t delta(const state& s,
                                                                    const record& r) const noexcept
    {
        return size(r, s.count, s.count == 0 ? 0 : detail::distance(s.first, r.timestamp));
    }

    /// Counts `r` in. Constant time.
    constexpr void push(state& s, const record& r) const noexcept
    {
        if (s.count == 0) s.first = r.timestamp;
        s.count = saturating_add(s.count, 1);
    }
};

}  // namespace waybill::inline v0_2::wire::kafka

#endif  // WAYBILL_WIRE_KAFKA_HPP

// SPDX-License-Identifier: MIT
//
// kafka: exact size in bytes of records and of a record batch, format version 2.
//
//     namespace kafka = waybill::wire::kafka;
//     const kafka::record r{.key = id, .value = json, .timestamp = ms, .headers = headers};
//     kafka::bound(r);                        // upper bound for any position in any batch
//     kafka::size(r, 3, 250);                 // as the fourth record, 250 ms after the first
//     kafka::record_batch framing;            // for functions that take a framing
//
// A record contains its timestamp and offset as varint differences from the batch's first record.
// Its size depends on its position: for example, 7 to 17 bytes more than its value.
//
// Guarantees
//   1. Only lengths are read. An absent key and an empty key have the same size (lengths -1 and 0),
//      but differ for the broker and for a compacted topic.
//   2. A record that the format cannot encode has the size 2^64 - 1: a field or record of 2 GiB, or
//      an offset difference over 31 bits. Limits in bytes should be at most `max_bytes`.
//   3. Sizes are before compression and contain the batch header of 61 bytes, but not the request
//      (topic, partition, acks). max.message.bytes limits the same bytes after compression.

#ifndef WAYBILL_WIRE_KAFKA_HPP
#define WAYBILL_WIRE_KAFKA_HPP

#include <cstdint>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/detail/kafka_fields.hpp>
#include <waybill/wire/kafka_record.hpp>

namespace waybill::inline v0_2::wire::kafka {

/// Bytes of a batch before its first record.
inline constexpr std::uint64_t batch_head = 61;

/// Maximum bytes of a batch. Its length field is a signed 32-bit number and does not count the
/// first 12 bytes.
inline constexpr std::uint64_t max_bytes = 12U + 0x7FFF'FFFFU;

/// Bytes of the record at `offset_delta` records and `timestamp_delta` milliseconds after the first
/// record of its batch; both are 0 for the first record. Linear in the headers, otherwise constant.
/// Source: "Record Batch" and "Record", https://kafka.apache.org/documentation/#recordbatch. Tested
/// against kafkajs 2.2.4 (tests/golden/kafka) and an independent encoder in kafka.prop.cpp.
[[nodiscard]] constexpr std::uint64_t size(const record& r, std::uint64_t offset_delta,
                                           std::int64_t timestamp_delta) noexcept
{
    if (!r.headers.empty()) [[unlikely]] {
        return detail::size_with_headers(r, offset_delta, timestamp_delta);
    }
    return detail::size_at_position(r, detail::short_key_and_value(r), offset_delta,
                                    timestamp_delta);
}

/// Upper bound of the size of the record at any position of any batch: its fields and 21 bytes.
/// Java's producer reserves the same. Linear in the headers. Source: `MAX_RECORD_OVERHEAD` in
/// org.apache.kafka.common.record.DefaultRecord.
[[nodiscard]] constexpr std::uint64_t bound(const record& r) noexcept
{
    constexpr std::uint64_t overhead = 5 + 1 + 10 + 5;  // length, attributes, timestamp, offset
    const std::uint64_t fields = detail::fields(r);
    return fields > detail::highest_int32 ? waybill::detail::highest_size : overhead + fields;
}

/// The record batch as a framing: the size of each record depends on the batch built so far.
struct record_batch {
    /// The batch built so far.
    struct state {
        std::uint64_t count = 0;  ///< Number of records.
        std::int64_t first = 0;   ///< Timestamp of the first record in milliseconds.

        friend bool operator==(const state&, const state&) = default;
    };

    /// 61 bytes for every batch.
    [[nodiscard]] constexpr std::uint64_t envelope(const record&) const noexcept
    {
        return batch_head;
    }

    /// Bytes that `r` adds as the next record. Linear in its headers, otherwise constant. Inlined,
    /// because clang 14 takes 16 % more instructions otherwise (`bench/run wire`, "size by
    /// framing").
    [[nodiscard]] WAYBILL_ALWAYS_INLINE constexpr std::uint64_t delta(
        const state& s, const record& r) const noexcept
    {
        return size(r, s.count, s.count == 0 ? 0 : detail::distance(s.first, r.timestamp));
    }

    /// Adds `r` to the batch. Constant time.
    constexpr void push(state& s, const record& r) const noexcept
    {
        if (s.count == 0) s.first = r.timestamp;
        s.count = waybill::detail::saturating_add(s.count, 1);
    }
};

}  // namespace waybill::inline v0_2::wire::kafka

#endif  // WAYBILL_WIRE_KAFKA_HPP

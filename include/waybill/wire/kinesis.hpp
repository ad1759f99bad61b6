// SPDX-License-Identifier: MIT
//
// kinesis: bytes of a record as Amazon Kinesis Data Streams accounts for it in PutRecords.
//
// What counts is the data, before base64, and the partition key, both for the limit of a record and
// for the limit of the request:
//
//     namespace kinesis = waybill::wire::kinesis;
//     kinesis::size({.data = json, .partition_key = customer});
//
// Documented, not proved: only the service itself could show it. An explicit hash key is named
// nowhere as counting. What the Kinesis Producer Library packs into one record is another format:
// it writes each partition key once a record, and that is not sized here.
//
// Source: PutRecords, "a limit of 5 MiB for the entire request, including partition keys", and "the
// record size limit applies to the total size of the partition key and data blob",
// https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecords.html.

#ifndef WAYBILL_WIRE_KINESIS_HPP
#define WAYBILL_WIRE_KINESIS_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::wire::kinesis {

/// A record of PutRecords.
struct record {
    std::string_view data{};           ///< Before base64.
    std::string_view partition_key{};  ///< UTF-8.
};

/// Bytes that the record is counted with. Constant time. Documented.
[[nodiscard]] constexpr std::uint64_t size(const record& r) noexcept
{
    return saturating_add(r.data.size(), r.partition_key.size());
}

}  // namespace waybill::inline v0_2::wire::kinesis

#endif  // WAYBILL_WIRE_KINESIS_HPP

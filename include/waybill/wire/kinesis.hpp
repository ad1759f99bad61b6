// SPDX-License-Identifier: MIT
//
// kinesis: size in bytes of a PutRecords record as Amazon Kinesis Data Streams counts it.
//
//     namespace kinesis = waybill::wire::kinesis;
//     kinesis::size({.data = json, .partition_key = customer});
//
// The data before base64 and the partition key count for the limit of a record and for the limit of
// the request.
//
// Documented, not tested: only the service can confirm the size. No page names an explicit hash key
// as counted. The Kinesis Producer Library packs several records into one record in another format:
// it writes each partition key once per packed record. This header does not measure that format.
//
// Source: PutRecords, "a limit of 5 MiB for the entire request, including partition keys", and "the
// record size limit applies to the total size of the partition key and data blob",
// https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecords.html.

#ifndef WAYBILL_WIRE_KINESIS_HPP
#define WAYBILL_WIRE_KINESIS_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire::kinesis {

/// A record of PutRecords.
struct record {
    std::string_view data{};           ///< Before base64.
    std::string_view partition_key{};  ///< UTF-8.
};

/// Bytes that the service counts for the record. Constant time. Documented.
[[nodiscard]] constexpr std::uint64_t size(const record& r) noexcept
{
    return waybill::detail::saturating_add(r.data.size(), r.partition_key.size());
}

}  // namespace waybill::inline v0_2::wire::kinesis

#endif  // WAYBILL_WIRE_KINESIS_HPP

// SPDX-License-Identifier: MIT
//
// broker_sequence: the two parts of a sequence number of a partitioned Service Bus queue.
//
//     waybill::detail::partition_of(message.sequence)          // the highest 16 bits
//     waybill::detail::number_in_partition(message.sequence)   // the lower 48 bits

#ifndef WAYBILL_CORE_DETAIL_BROKER_SEQUENCE_HPP
#define WAYBILL_CORE_DETAIL_BROKER_SEQUENCE_HPP

#include <cstdint>

namespace waybill::inline v0_2::detail {

/// The partition in a sequence number of a partitioned queue: its highest 16 bits.
[[nodiscard]] constexpr std::uint16_t partition_of(std::uint64_t sequence) noexcept
{
    return static_cast<std::uint16_t>(sequence >> 48U);
}

/// The lower 48 bits of a sequence number: the number in its partition, which wraps after 2^48.
[[nodiscard]] constexpr std::uint64_t number_in_partition(std::uint64_t sequence) noexcept
{
    return sequence & ((std::uint64_t{1} << 48U) - 1);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_BROKER_SEQUENCE_HPP

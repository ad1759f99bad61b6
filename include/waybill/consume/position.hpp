// SPDX-License-Identifier: MIT
//
// position: the progress of a partition, its owner, and the key of its checkpoint.
//
// A position identifies the last event done; before the first event there is no position. So an
// event can have any 64-bit sequence number, and "from the beginning" differs from "after event 0".

#ifndef WAYBILL_CONSUME_POSITION_HPP
#define WAYBILL_CONSUME_POSITION_HPP

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace waybill::inline v0_2 {

/// The key of a checkpoint: a source (topic, hub, queue), the group that reads it, and a partition.
struct partition_key {
    std::string source{};
    std::string group{};
    std::string partition{};

    friend auto operator<=>(const partition_key&, const partition_key&) = default;
};

/// The position of an event in its partition. Sequence numbers ascend and may have gaps.
struct position {
    std::uint64_t sequence = 0;
    /// The position in the format of the broker. Opaque; stores do not compare it.
    std::string offset{};

    friend bool operator==(const position&, const position&) = default;
};

/// The stored progress of a partition: the last event done, and the epoch of the owner that wrote
/// it.
struct checkpoint {
    position at{};
    std::uint64_t epoch = 0;

    friend bool operator==(const checkpoint&, const checkpoint&) = default;
};

/// A partition and its owner. The epoch grows with every change of owner. A store refuses an epoch
/// that is lower than an earlier one. So an owner that was replaced while its process was suspended
/// cannot write.
///
/// Keep one assignment for all deliveries, and set only `from`. `last` then distinguishes a handler
/// that threw from a store that failed at the end of a delivery (crash_record.hpp).
struct assignment {
    /// The outcomes of the last deliveries with an assignment. Written by the drivers, not by the
    /// caller.
    struct delivery_memory {
        /// The last delivery that wrote a crash record returned a report.
        bool report_returned = false;
        /// Consecutive deliveries that ended with an exception of the handler.
        std::uint32_t exceptions = 0;
        std::uint64_t event = 0;  ///< Sequence of the event whose handler threw last.

        friend bool operator==(const delivery_memory&, const delivery_memory&) = default;
    };

    partition_key key{};
    std::optional<position> from{};  ///< The loaded checkpoint: the last event done. Empty if none.
    std::uint64_t epoch = 0;
    /// Identifies this process, and differs after each start: a random number is enough. With it, a
    /// store that keeps crash records finds an event that ends its process repeatedly. 0: none.
    std::uint64_t incarnation = 0;
    /// The incarnation whose lease had expired when this process took the partition. It counts as
    /// dead. 0 if the previous owner gave the lease back, or lost it to balance while alive. Empty
    /// if unknown, as without leases: then every other incarnation counts as dead.
    std::optional<std::uint64_t> expired_incarnation{};
    /// The outcomes of the last deliveries. Written by the drivers.
    mutable delivery_memory last{};

    friend bool operator==(const assignment&, const assignment&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_POSITION_HPP

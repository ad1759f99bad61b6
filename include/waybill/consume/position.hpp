// SPDX-License-Identifier: MIT
//
// position: how far a partition has been consumed, by whom, and where that is written down.
//
// A position is that of the last event done; there is none before the first. So an event of any
// number can be the last one, the largest 64-bit number included, and "from the beginning" is not
// mistaken for "after event 0".

#ifndef WAYBILL_CONSUME_POSITION_HPP
#define WAYBILL_CONSUME_POSITION_HPP

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace waybill::inline v0_2 {

/// Names one checkpoint: a source (topic, hub, queue), who reads it, and which part of it.
struct partition_key {
    std::string source{};
    std::string group{};
    std::string partition{};

    friend auto operator<=>(const partition_key&, const partition_key&) = default;
};

/// An event in its partition. Sequence numbers ascend and may have gaps.
struct position {
    std::uint64_t sequence = 0;
    std::string offset{};  ///< The broker's own word for it, opaque; not compared by stores.

    friend bool operator==(const position&, const position&) = default;
};

/// What a store has about a partition: the last event done, and the epoch of who wrote that.
struct checkpoint {
    position at{};
    std::uint64_t epoch = 0;

    friend bool operator==(const checkpoint&, const checkpoint&) = default;
};

/// How the last deliveries with an assignment ended. The drivers write it; the caller does not.
struct delivery_memory {
    bool returned = false;  ///< The last delivery that noted an attempt returned a report.
    std::uint32_t exceptions = 0;  ///< Deliveries in a row that an exception of the handler ended.
    std::uint64_t event = 0;       ///< Sequence of the event whose handler threw last.

    friend bool operator==(const delivery_memory&, const delivery_memory&) = default;
};

/// A partition in the hands of one owner. The epoch grows with every change of owner, and a store
/// refuses one that is lower than what it has seen: an owner who was replaced while asleep writes
/// nothing.
///
/// Keep one assignment from delivery to delivery, and set only `from`. `last` then tells a handler
/// that threw from a store that failed while a delivery ended (attempt.hpp).
struct assignment {
    partition_key key{};
    std::optional<position> from{};  ///< The last event done as loaded; empty where there is none.
    std::uint64_t epoch = 0;
    /// Of this process, another one after each start: a random number will do. With one, a store that
    /// keeps attempts finds the event that ends its process again and again; 0 is none.
    std::uint64_t incarnation = 0;
    /// The incarnation whose lease had expired when this process took the partition: it is taken for
    /// dead. 0 if whoever had it gave it back, or was robbed of it alive. Empty where nobody knows, as
    /// without leases: then every other incarnation is taken for dead.
    std::optional<std::uint64_t> ended{};
    mutable delivery_memory last{};

    friend bool operator==(const assignment&, const assignment&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_POSITION_HPP

// SPDX-License-Identifier: MIT
//
// batch_report: what one delivery of a batch came to.
//
// All events that were passed in are accounted for: repeated + handled + dead_lettered + dropped +
// skipped + left of them, where it is committed.

#ifndef WAYBILL_CONSUME_BATCH_REPORT_HPP
#define WAYBILL_CONSUME_BATCH_REPORT_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/guarantee.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// A report lists the first dropped events, at most this many, and counts all of them.
inline constexpr std::uint64_t max_dropped_events = 128;

/// An event that failed for good and was not stored: only the report names it.
struct dropped_event {
    position at{};
    fault why{};  ///< Its text is bounded by `reason_bytes`, as that of a dead letter.

    friend bool operator==(const dropped_event&, const dropped_event&) = default;
};

struct [[nodiscard]] batch_report {
    static constexpr delivery_guarantee guarantee = delivery_guarantee::effect_once;

    batch_end end = batch_end::empty;
    /// Where the checkpoint stands: go on behind it. Not known unless `committed`, `empty`, `invalid`.
    std::optional<position> reached{};
    std::uint64_t handled = 0;          ///< Events that took effect; 0 unless committed, as are these:
    std::uint64_t dead_lettered = 0;
    std::uint64_t dropped = 0;   ///< Failed for good, and kept nowhere: `letter_keeps::nothing`.
    std::uint64_t skipped = 0;   ///< None of ours, says the handler.
    std::uint64_t repeated = 0;  ///< Events up to `from`, which took effect earlier.
    /// The first dropped events, in order, at most `max_dropped_events`.
    std::vector<dropped_event> dropped_events{};
    std::uint64_t left = 0;      ///< Not delivered yet: the batch was cut short to find one event.
    fault why{};                 ///< What kept it from being committed.

    friend bool operator==(const batch_report&, const batch_report&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_BATCH_REPORT_HPP

// SPDX-License-Identifier: MIT
//
// batch_report: the results of process_batch and process_at_least_once for one delivery of a batch.

#ifndef WAYBILL_CONSUME_BATCH_REPORT_HPP
#define WAYBILL_CONSUME_BATCH_REPORT_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// The result of process_batch. If the batch is committed, repeated + handled + dead_lettered +
/// dropped + skipped + not_delivered equals the number of events passed in.
struct [[nodiscard]] batch_report {
    /// An event that failed in its last try and got no dead letter. Only the report names it.
    struct dropped_event {
        position at{};
        fault reason{};  ///< Its text is limited by `reason_bytes`, like that of a dead letter.

        friend bool operator==(const dropped_event&, const dropped_event&) = default;
    };

    /// Maximum length of the list of dropped events in a report. All of them are counted.
    static constexpr std::uint64_t max_dropped_events = 128;

    batch_outcome outcome = batch_outcome::empty;
    /// The checkpoint: continue after it. Only known if `outcome` is `committed`, `empty` or
    /// `invalid`.
    std::optional<position> reached{};
    std::uint64_t handled = 0;  ///< Events that took effect; 0 unless committed.
    /// Events with a dead letter; 0 unless committed.
    std::uint64_t dead_lettered = 0;
    /// Events that failed and got no dead letter (`dead_letter_body::discard`); 0 unless committed.
    std::uint64_t dropped = 0;
    std::uint64_t skipped = 0;   ///< Events that the handler skipped; 0 unless committed.
    std::uint64_t repeated = 0;  ///< Events up to `from`, which took effect earlier.
    /// The first dropped events, in order, at most `max_dropped_events`.
    std::vector<dropped_event> dropped_events{};
    std::uint64_t not_delivered = 0;  ///< Events cut off to find a single event; not delivered yet.
    fault reason{};                   ///< The fault that prevented the commit.

    friend bool operator==(const batch_report&, const batch_report&) = default;
};

/// The result of process_at_least_once. The number of events passed in equals repeated + handled +
/// dead_lettered + dropped + skipped + not_committed + the events that were not reached.
struct [[nodiscard]] at_least_once_report {
    /// All values except `committed` refer to the events after `reached`.
    batch_outcome outcome = batch_outcome::empty;
    /// The position of the checkpoint. If `outcome` is `unknown`, the checkpoint may be later.
    std::optional<position> reached{};
    std::uint64_t handled = 0;  ///< Events up to `reached` that took effect.
    /// Events up to `reached` that became dead letters.
    std::uint64_t dead_lettered = 0;
    /// Events up to `reached` that failed and got no dead letter (`dead_letter_body::discard`).
    std::uint64_t dropped = 0;
    /// The first dropped events, in order, at most `batch_report::max_dropped_events`.
    std::vector<batch_report::dropped_event> dropped_events{};
    std::uint64_t skipped = 0;   ///< Events up to `reached` that the handler skipped.
    std::uint64_t repeated = 0;  ///< Events up to `from`, which were done earlier.
    /// Events that are done, but after the checkpoint. They will be delivered again.
    std::uint64_t not_committed = 0;
    fault reason{};  ///< The fault that ended the delivery; empty if `committed`.

    friend bool operator==(const at_least_once_report&, const at_least_once_report&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_BATCH_REPORT_HPP

// SPDX-License-Identifier: MIT
//
// calibration: the knowledge of a batch_sender about a destination, as plain data.
//
//     store(sender.learnt());                                     // at the end of a run
//     waybill::batch_sender next{policy, load()};                 // the next run continues with it
//
// The caller knows the sizes of bodies. The broker also counts headers, and its limit may differ
// from the documented one. A sender learns both from the outcomes of batches. Keep one calibration
// for each destination. `merged` combines those of two workers. ext/json/batch.hpp reads and writes
// it. The guide describes the rules for outcomes, refusals and probes.

#ifndef WAYBILL_BATCH_CALIBRATION_HPP
#define WAYBILL_BATCH_CALIBRATION_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/batch_limits.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The knowledge of a sender about a destination. All sizes are bytes of whole batches. A sender
/// corrects fields that contradict each other: `ceiling` is at least `limit`, `probe_after` is in
/// [32, 16384], and contradictory bounds of the search are dropped.
struct calibration {
    /// The estimate of the bytes that items take beyond their bodies. Units: `header_variance` and
    /// `noise` in bytes squared, `covariance` in bytes, `ratio_variance` without a unit. A sender
    /// discards an estimate with impossible numbers, except its header.
    struct item_estimate {
        double ratio = 1;            ///< Bytes on the wire for each byte of a body; [1/64, 16].
        double header = 0;           ///< Bytes that each item adds; at least 0.
        double ratio_variance = 0;   ///< Variance of the estimate `ratio`.
        double covariance = 0;       ///< Covariance of the estimates `ratio` and `header`.
        double header_variance = 0;  ///< Variance of the estimate `header`.
        double noise = 0;            ///< Variance among single items.
        double drift = 0;            ///< Mean of recent errors, in bytes per item.
        double error = 0;            ///< Mean of recent absolute errors, in bytes per item.
        std::uint32_t seen = 0;      ///< Reported sizes since the last change; at most 4.

        friend bool operator==(const item_estimate&, const item_estimate&) = default;
    };

    /// The sizes that a broker reports on its own. Each value includes the previous ones.
    enum class broker_reports : std::uint8_t {
        nothing,   ///< No sizes: only accepted or refused.
        refusals,  ///< Sizes in refusals.
        sizes,     ///< Sizes of accepted batches, too.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(broker_reports) noexcept
    {
        return "nothing, refusals, sizes";
    }

    std::uint64_t documented = unlimited;  ///< The limit in the policy.
    std::uint64_t limit = unlimited;       ///< Current limit: documented, reported or raised.
    std::uint64_t ceiling = unlimited;     ///< Highest known limit, the target of probes.
    std::uint64_t envelope = 0;            ///< Bytes of a batch before its first item.
    item_estimate items{};                 ///< Estimate of the bytes of items beyond their bodies.
    std::uint64_t accepted = 0;            ///< Largest accepted size, the lower bound of a search.
    std::uint64_t refused = unlimited;     ///< Smallest refused size, the upper bound of a search.
    /// Full batches accepted since the last refused probe.
    std::uint32_t consecutive_accepted = 0;
    /// Accepted full batches before the next probe, in [32, 16384].
    std::uint32_t probe_after = 32;
    broker_reports reports = broker_reports::nothing;  ///< The sizes that the broker reports.
    std::uint64_t refuted_limit = 0;  ///< Highest reported limit that an acceptance exceeded.

    /// A copy for the documented limits `l`. If `l.bytes` differs from `documented`, everything
    /// learnt about the limit is dropped. The estimate for items is kept. O(1).
    [[nodiscard]] constexpr calibration for_limits(const batch_limits& l) const noexcept
    {
        if (documented == l.bytes) return *this;
        calibration c = *this;
        c.documented = c.limit = c.ceiling = l.bytes;
        c.accepted = 0;
        c.refused = unlimited;
        c.consecutive_accepted = 0;
        c.probe_after = calibration().probe_after;
        c.refuted_limit = 0;
        return c;
    }

    friend bool operator==(const calibration&, const calibration&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_CALIBRATION_HPP

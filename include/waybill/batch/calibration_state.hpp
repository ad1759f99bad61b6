// SPDX-License-Identifier: MIT
//
// calibration_state: the knowledge of a calibration as plain data, to be stored.

#ifndef WAYBILL_BATCH_CALIBRATION_STATE_HPP
#define WAYBILL_BATCH_CALIBRATION_STATE_HPP

#include <cstdint>
#include <string_view>

#include <waybill/batch/detail/overhead.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// The knowledge that a batch was cut with. A refusal applies to all batches in flight: they become
/// `older`.
enum class cut_with : std::uint8_t {
    latest,  ///< The current knowledge.
    probe,   ///< The current knowledge, but the batch is larger, to test the limit.
    older,   ///< The knowledge before the last refusal.
};

}  // namespace detail

/// The state of a calibration, to be stored. All sizes are bytes of whole batches.
struct calibration_state {
    /// The contents of a batch, as far as the sender knows them.
    struct batch_sizes {
        std::uint64_t bodies = 0;    ///< Bytes of the bodies of items whose overhead is estimated.
        std::uint64_t guessed = 0;   ///< Number of items whose overhead is estimated.
        std::uint64_t exact = 0;     ///< Bytes of items whose size is known, overhead included.
        std::uint64_t reported = 0;  ///< Number of items in `exact` with a share of a reported sum.
        std::uint64_t items = 0;     ///< Number of all items.

        friend bool operator==(const batch_sizes&, const batch_sizes&) = default;
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
    detail::overhead_state items{};        ///< Estimate of the bytes of items beyond their bodies.
    std::uint64_t accepted = 0;            ///< Largest accepted size, the lower bound of a search.
    std::uint64_t refused = unlimited;     ///< Smallest refused size, the upper bound of a search.
    /// Full batches accepted since the last refused probe.
    std::uint32_t consecutive_accepted = 0;
    /// Accepted full batches before the next probe, in [32, 16384]. 16 times as many if refusals
    /// report sizes and the limit is not in doubt.
    std::uint32_t probe_after = 32;
    broker_reports reports = broker_reports::nothing;  ///< The sizes that the broker reports.
    std::uint64_t refuted = 0;  ///< Highest reported limit that an acceptance exceeded.

    friend bool operator==(const calibration_state&, const calibration_state&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_CALIBRATION_STATE_HPP

// SPDX-License-Identifier: MIT
//
// calibration_state: what a calibration knows, as plain data to be stored.

#ifndef WAYBILL_BATCH_CALIBRATION_STATE_HPP
#define WAYBILL_BATCH_CALIBRATION_STATE_HPP

#include <cstdint>
#include <string_view>

#include <waybill/batch/overhead.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

/// What a batch is made of, as far as the sender knows.
struct batch_sizes {
    std::uint64_t bodies = 0;   ///< Bytes of items whose overhead is estimated.
    std::uint64_t guessed = 0;  ///< How many those are.
    std::uint64_t exact = 0;    ///< Bytes of items whose whole size is known.
    std::uint64_t told = 0;     ///< How many of those are known by a sum over several.
    std::uint64_t items = 0;    ///< All items.

    friend bool operator==(const batch_sizes&, const batch_sizes&) = default;
};

/// What a broker says of its own accord. Each level implies the one before.
enum class broker_tells : std::uint8_t {
    nothing,   ///< Yes and no.
    refusals,  ///< Sizes in a refusal.
    sizes,     ///< Sizes of accepted batches, too.
};

[[nodiscard]] constexpr std::string_view name(broker_tells t) noexcept
{
    switch (t) {
        case broker_tells::nothing: return "nothing";
        case broker_tells::refusals: return "refusals";
        case broker_tells::sizes: return "sizes";
    }
    return "?";
}

/// The knowledge that a batch was cut with. A refusal applies to all requests in flight: it makes
/// them `older`.
enum class cut_with : std::uint8_t {
    latest,  ///< All that is known.
    probe,   ///< As `latest`, but larger, to test the limit.
    older,   ///< The knowledge before the last refusal.
};

/// What is known, to be stored. Sizes are those of whole batches.
struct calibration_state {
    std::uint64_t documented = unlimited;  ///< The limit as the policy has it.
    std::uint64_t limit = unlimited;    ///< As documented, or as the broker reported it.
    std::uint64_t ceiling = unlimited;  ///< The highest of these: what is probed for.
    std::uint64_t envelope = 0;         ///< Bytes of a batch before its first item.
    overhead_state items{};             ///< What items have beyond their bodies.
    std::uint64_t accepted = 0;         ///< The largest size that went through,
    std::uint64_t refused = unlimited;  ///< and the smallest that did not, of those that count.
    std::uint32_t row = 0;              ///< Full batches accepted since a probe was refused.
    std::uint32_t probe_after = 32;     ///< How many it takes, or a 16th where sizes are told.
    broker_tells tells = broker_tells::nothing;
    std::uint64_t refuted = 0;          ///< Highest reported limit that an acceptance exceeded.

    friend bool operator==(const calibration_state&, const calibration_state&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_CALIBRATION_STATE_HPP

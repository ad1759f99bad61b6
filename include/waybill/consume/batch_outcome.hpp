// SPDX-License-Identifier: MIT
//
// batch_outcome: the ways in which a delivery of a batch can end.

#ifndef WAYBILL_CONSUME_BATCH_OUTCOME_HPP
#define WAYBILL_CONSUME_BATCH_OUTCOME_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The outcome of a delivery of a batch. The rest is the part of the batch after `reached`. After
/// process_batch it is the whole batch, without any effect. process_at_least_once commits in
/// several steps: there the rest may be a part of the batch, and may already be handled.
enum class batch_outcome : std::uint8_t {
    /// All events up to `reached` are done or dead-lettered, and the checkpoint is at `reached`.
    committed,
    redeliver,  ///< Deliver the rest again, after a pause.
    /// Another owner has the partition: stop reading it. The rest belongs to that owner. Exception:
    /// the result of the last commit was lost, and the other owner moved the checkpoint before this
    /// one read it back. Then that commit may have been applied.
    ownership_lost,
    cancelled,  ///< The caller stopped the delivery. The rest is delivered again.
    unknown,    ///< The checkpoint is not known. Load it before anything else.
    empty,      ///< There was no event to deliver.
    invalid,    ///< The events violate the contract. Nothing was changed.
};

[[nodiscard]] constexpr std::string_view texts_of(batch_outcome) noexcept
{
    return "committed, redeliver, ownership_lost, cancelled, unknown, empty, invalid";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_BATCH_OUTCOME_HPP

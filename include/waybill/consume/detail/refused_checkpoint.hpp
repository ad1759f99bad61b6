// SPDX-License-Identifier: MIT
//
// refused_checkpoint: the fault of a checkpoint that a store refuses, as text.

#ifndef WAYBILL_CONSUME_DETAIL_REFUSED_CHECKPOINT_HPP
#define WAYBILL_CONSUME_DETAIL_REFUSED_CHECKPOINT_HPP

#include <cstdint>
#include <optional>
#include <string>

#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::detail {

/// The fault of a checkpoint that was not written from `from` under `epoch`. `refused` is not
/// `applied`.
[[nodiscard]] inline fault refused_checkpoint(advance_outcome refused,
                                              const std::optional<position>& from,
                                              std::uint64_t epoch)
{
    if (refused == advance_outcome::stale_epoch) {
        return ownership_lost("checkpoint stale_epoch: another owner has a higher epoch than " +
                              std::to_string(epoch));
    }
    return ownership_lost("checkpoint conflict: another owner has moved it, expected " +
                          (from ? std::to_string(from->sequence) : std::string("none")));
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_REFUSED_CHECKPOINT_HPP

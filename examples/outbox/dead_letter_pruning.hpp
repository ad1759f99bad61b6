// SPDX-License-Identifier: MIT
//
// dead_letter_pruning: limits the number and age of dead letters. The plan is printed before it is
// executed.

#ifndef WAYBILL_EXAMPLES_OUTBOX_DEAD_LETTER_PRUNING_HPP
#define WAYBILL_EXAMPLES_OUTBOX_DEAD_LETTER_PRUNING_HPP

#include <cstdint>
#include <string>

namespace outbox {

struct pruning {
    std::uint64_t planned = 0;
    std::uint64_t removed = 0;
    std::uint64_t left = 0;  ///< The letters left after the plan.
    bool spike = false;
};

/// Prints the plan with its reasons, and then removes the letters. The number, the reason and the
/// time of a removed letter stay in the table `pruned`.
[[nodiscard]] pruning prune_letters(const std::string& db);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_DEAD_LETTER_PRUNING_HPP

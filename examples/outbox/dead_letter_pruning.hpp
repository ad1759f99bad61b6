// SPDX-License-Identifier: MIT
//
// dead_letter_pruning: limits the number and age of dead letters. The plan is printed before it is
// carried out.

#ifndef WAYBILL_EXAMPLES_OUTBOX_DEAD_LETTER_PRUNING_HPP
#define WAYBILL_EXAMPLES_OUTBOX_DEAD_LETTER_PRUNING_HPP

#include <cstdint>
#include <string>

namespace outbox {

struct pruning {
    std::uint64_t planned = 0;
    std::uint64_t removed = 0;
    std::uint64_t left = 0;  ///< By the plan.
    bool spike = false;
};

/// Prints what would go and why, and then removes it. What is known of a removed letter stays: its
/// number, its reason and when it was parked.
[[nodiscard]] pruning prune_letters(const std::string& db);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_DEAD_LETTER_PRUNING_HPP

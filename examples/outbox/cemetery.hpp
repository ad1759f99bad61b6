// SPDX-License-Identifier: MIT
//
// cemetery: keeps dead letters from growing for ever, by a plan that is shown before it is done.

#ifndef WAYBILL_EXAMPLES_OUTBOX_CEMETERY_HPP
#define WAYBILL_EXAMPLES_OUTBOX_CEMETERY_HPP

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

#endif  // WAYBILL_EXAMPLES_OUTBOX_CEMETERY_HPP

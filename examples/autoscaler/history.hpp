// SPDX-License-Identifier: MIT
//
// history: all decisions of a run, made a second time and checked independently.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_HISTORY_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_HISTORY_HPP

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "brain.hpp"
#include "ticks.hpp"

namespace autoscaler {

struct history {
    memory start{};                            ///< Before the first tick.
    std::vector<std::vector<decided>> made{};  ///< For each tick.
    intake rows{};
    memory known{};  ///< After the last one.
};

/// Decides all ticks from the first on, as if the program was killed before each of them: the state
/// is written as text and read again. At most about a thousand ticks have such a restart.
[[nodiscard]] history replayed(std::span<const tick> ticks, const rules& r, const memory& start);

/// The violations of these rules, one sentence each:
///   1. each mean, highest and number of points equals that of the rows, computed again;
///   2. each comparison is correct for its numbers;
///   3. commands stay within the bounds, and cooldowns are kept;
///   4. no command scales down if more instances may be needed or if this is unknown.
[[nodiscard]] std::vector<std::string> flaws_of(const history& h, std::span<const tick> ticks,
                                                const rules& r);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_HISTORY_HPP

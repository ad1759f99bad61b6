// SPDX-License-Identifier: MIT
//
// history: all decisions of a run, made again and looked at by somebody who trusts none of them.

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
    memory start{};                           ///< Before the first tick.
    std::vector<std::vector<decided>> made{};  ///< For each tick.
    intake rows{};
    memory known{};  ///< After the last one.
};

/// All ticks from the first on. The program is as if killed and started again before each of them:
/// what it knows goes through the form that it has in a file. Of more than a thousand ticks, before
/// a thousand of them.
[[nodiscard]] history replayed(std::span<const tick> ticks, const rules& r,
                               const memory& start);

/// What is not as it has to be, in words; nothing where all is well:
///   1. each mean, highest and number of points is that of the rows, added up anew;
///   2. each comparison is as its numbers say;
///   3. commands stay within the bounds, and cooldowns are kept;
///   4. nothing is taken away where somebody might need it or nobody knows.
[[nodiscard]] std::vector<std::string> flaws_of(const history& h, std::span<const tick> ticks,
                                                const rules& r);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_HISTORY_HPP

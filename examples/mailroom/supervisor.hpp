// SPDX-License-Identifier: MIT
//
// supervisor: starts the worker, kills it at given phases, and restarts it until it is done.

#ifndef WAYBILL_EXAMPLES_MAILROOM_SUPERVISOR_HPP
#define WAYBILL_EXAMPLES_MAILROOM_SUPERVISOR_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "options.hpp"
#include "tally.hpp"

namespace mailroom {

struct outcome {
    tally counts{};
    std::vector<std::string> kills{};  ///< The phases at which this program killed the worker.
    std::uint64_t deaths = 0;          ///< The number of other deaths of the worker.
};

/// Runs the job of `o` in a worker until it is done, and kills the worker once at each hold of
/// `plan`. Calls `show` after each report. Throws a complaint if the worker fails.
[[nodiscard]] outcome supervise(const options& o, std::vector<hold> plan,
                                const std::function<void(const tally&)>& show);

/// Runs the job in this process, without a worker.
[[nodiscard]] outcome work_here(const options& o, const std::function<void(const tally&)>& show);

/// Runs in the worker: does the job of `o` and reports through the descriptor `o.worker`.
void work_for_parent(const options& o);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_SUPERVISOR_HPP

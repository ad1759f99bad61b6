// SPDX-License-Identifier: MIT
//
// supervisor: starts the worker, kills it on the way, and starts it again until it is done.

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
    std::vector<std::string> kills{};  ///< At which phases the worker was killed by us.
    std::uint64_t deaths = 0;          ///< How often it was killed by others.
};

/// Runs the job of `o` in a worker until it is done. It is killed once at each of `plan`, when it
/// is there. `show` is called when there is news. Throws a complaint if the worker fails.
[[nodiscard]] outcome supervise(const options& o, std::vector<hold> plan,
                                const std::function<void(const tally&)>& show);

/// The same without a worker, in this process.
[[nodiscard]] outcome work_here(const options& o, const std::function<void(const tally&)>& show);

/// The worker's side: does the job of `o` and tells of it through the descriptor `o.worker`.
void work_for_parent(const options& o);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_SUPERVISOR_HPP

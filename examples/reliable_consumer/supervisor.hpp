// SPDX-License-Identifier: MIT
//
// supervisor: starts the workers, kills them at random, and starts others in their place.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SUPERVISOR_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SUPERVISOR_HPP

#include <cstdint>

#include "options.hpp"

namespace reliable_consumer {

/// What became of the workers.
struct casualties {
    std::uint64_t kills = 0;        ///< With -9, by us.
    std::uint64_t in_a_batch = 0;   ///< Of these, with a transaction open or about to be committed.
    std::uint64_t by_poison = 0;    ///< That ended themselves in a handler.
    double seconds = 0;             ///< From the first start to the last event.
};

/// Runs until every event of the log is done and all workers have given back what they had. With
/// kills the log is fed anew as long as they last. `o.db` is a folder that exists.
[[nodiscard]] casualties supervise(const options& o);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SUPERVISOR_HPP

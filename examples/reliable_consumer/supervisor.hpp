// SPDX-License-Identifier: MIT
//
// supervisor: starts the workers, kills them at random, and starts others in their place.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SUPERVISOR_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SUPERVISOR_HPP

#include <cstdint>
#include <string>

#include "options.hpp"
#include "tables.hpp"

namespace reliable_consumer {

/// The servers of a run, if it has any of its own.
class server_faults {
public:
    server_faults() = default;
    server_faults(const server_faults&) = delete;
    server_faults& operator=(const server_faults&) = delete;
    virtual ~server_faults() = default;

    /// To be called often. Continues repairs and, if `may_kill`, kills the next server when its
    /// time has come.
    virtual void step(bool may_kill) = 0;
    /// True if no server is down.
    [[nodiscard]] virtual bool whole() = 0;
    /// One line: the servers that were killed.
    [[nodiscard]] virtual std::string summary() const = 0;
};

/// What became of the workers.
struct casualties {
    std::uint64_t kills = 0;        ///< With -9, by us.
    std::uint64_t in_a_batch = 0;   ///< Of these, with a transaction open or about to be committed.
    std::uint64_t by_poison = 0;    ///< That ended themselves in a handler.
    double seconds = 0;             ///< From the first start to the last event.
};

/// Runs until every event of the log is done and all workers have given back what they had. With
/// kills the log is fed anew as long as they last. `o.db` is a folder that exists. `servers` may be
/// null.
[[nodiscard]] casualties supervise(const options& o, tables& all, server_faults* servers);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SUPERVISOR_HPP

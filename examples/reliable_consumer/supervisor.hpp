// SPDX-License-Identifier: MIT
//
// supervisor: starts the workers, kills them at random, and replaces them.

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
    /// True if a kind of server that is to be killed has not been killed yet.
    [[nodiscard]] virtual bool one_is_spared() const = 0;
    /// The first server that is down or has not caught up yet; empty if there is none.
    [[nodiscard]] virtual std::string missing() = 0;
    /// One line: the servers that were killed.
    [[nodiscard]] virtual std::string summary() const = 0;
};

/// The ends of workers.
struct casualties {
    std::uint64_t kills = 0;       ///< With -9, by this program.
    std::uint64_t in_a_batch = 0;  ///< Kills with a transaction open or about to be committed.
    std::uint64_t by_poison = 0;   ///< Workers that the poison message ended.
    double seconds = 0;            ///< From the first start to the last event.
};

/// Runs until every event of the log is done and all workers have released their leases. While
/// kills are made, events are appended again and again. `o.db` is an existing folder. `servers` may
/// be null.
[[nodiscard]] casualties supervise(const options& o, tables& all, server_faults* servers);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SUPERVISOR_HPP

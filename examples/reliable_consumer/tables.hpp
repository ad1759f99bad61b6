// SPDX-License-Identifier: MIT
//
// tables: the log and the tables of a run, as the supervisor and the verifier use them.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_TABLES_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_TABLES_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"
#include <waybill/lease/lease.hpp>

namespace reliable_consumer {

struct event {
    std::uint64_t sequence = 0;
    std::string body{};
};

class tables {
public:
    struct letter {
        std::uint64_t sequence = 0;
        std::string reason{};
        std::string body{};
    };
    struct lease {
        std::uint64_t epoch = 0;
        std::string owner{};  ///< Empty: it was released.
    };
    struct sums {
        std::uint64_t lines = 0;   ///< Lines of the ledger.
        std::uint64_t events = 0;  ///< The sum over all packages.
    };

    tables() = default;
    tables(const tables&) = delete;
    tables& operator=(const tables&) = delete;
    virtual ~tables() = default;

    // Calls of the supervisor. They return nothing if a server cannot be reached at the moment.

    /// Appends the lines to the partitions of their keys. False: only some, or none.
    [[nodiscard]] virtual bool append(const std::vector<std::string>& lines) = 0;
    /// About the number of events that are left in the log; 0 only if there are none.
    [[nodiscard]] virtual std::optional<std::uint64_t> left() = 0;
    [[nodiscard]] virtual std::optional<waybill::lease_table> leases() = 0;

    // Calls of the verifier. They throw.

    /// All events of a partition, in order.
    [[nodiscard]] virtual std::vector<event> events(std::uint64_t partition) = 0;
    /// The sequence numbers in the ledger, in the order in which they were written.
    [[nodiscard]] virtual std::vector<std::uint64_t> effects(std::uint64_t partition) = 0;
    [[nodiscard]] virtual std::vector<letter> dead_letters(std::uint64_t partition) = 0;
    /// The sequence number of the checkpoint; 0 if there is none.
    [[nodiscard]] virtual std::uint64_t position(std::uint64_t partition) = 0;
    [[nodiscard]] virtual lease lease_of(std::uint64_t partition) = 0;
    [[nodiscard]] virtual sums count() = 0;
    /// True if the rule of the ledger was repaired.
    [[nodiscard]] virtual bool repaired() = 0;
};

/// In SQLite, in the folder `o.db`. Refers to `o`.
[[nodiscard]] std::unique_ptr<tables> sqlite_tables(const options& o);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_TABLES_HPP

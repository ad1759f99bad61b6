// SPDX-License-Identifier: MIT
//
// verify: checks the outcome of each line of the input.
//
// It reads the input once more, and the tables of the sink. It uses neither the checkpoint nor the
// reports of the worker.

#ifndef WAYBILL_EXAMPLES_MAILROOM_VERIFY_HPP
#define WAYBILL_EXAMPLES_MAILROOM_VERIFY_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "lines.hpp"
#include "options.hpp"

namespace mailroom {

struct findings {
    std::uint64_t read = 0;  ///< Lines that are not blank. Each is an event.
    std::uint64_t blank = 0;
    std::uint64_t applied = 0;  ///< Events that are in the ledger, byte for byte, at least once.
    std::uint64_t dead_lettered = 0;
    std::uint64_t lost = 0;            ///< Events that are neither applied nor dead letters.
    std::uint64_t duplicated = 0;      ///< The number of surplus rows.
    std::uint64_t optimum = 0;         ///< The minimum of batches in order, with known sizes.
    std::vector<std::string> wrong{};  ///< Other violations, one text each.
};

/// Checks the folder `o.db`. If `from` is set, the optimum is counted for the input from there on.
[[nodiscard]] findings verify(const options& o, const place* from);

/// Checks the sums, the checkpoint and that the queue is empty. Returns the violations.
[[nodiscard]] std::vector<std::string> check_sums(const options& o, const findings& f);

/// Prints all tables of the sink, row by row, in the order in which they were written.
void dump(const options& o);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_VERIFY_HPP

// SPDX-License-Identifier: MIT
//
// verify: what became of each line of the input, by looking.
//
// It reads the input once more, beside the tables of the sink, and takes nobody's word for
// anything: not the checkpoint's, and not the worker's.

#ifndef WAYBILL_EXAMPLES_MAILROOM_VERIFY_HPP
#define WAYBILL_EXAMPLES_MAILROOM_VERIFY_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "lines.hpp"
#include "options.hpp"

namespace mailroom {

struct findings {
    std::uint64_t read = 0;  ///< Lines that are no blank ones, each of which is an event.
    std::uint64_t blank = 0;
    std::uint64_t applied = 0;  ///< Events that are in the ledger, byte for byte, at least once.
    std::uint64_t dead_lettered = 0;
    std::uint64_t lost = 0;            ///< Events that are in neither.
    std::uint64_t duplicated = 0;      ///< How often one is there once more than it should be.
    std::uint64_t optimum = 0;         ///< Fewest batches in order, for one who knows all sizes.
    std::vector<std::string> wrong{};  ///< What else does not add up.
};

/// Looks at the folder `o.db`. The optimum is for the input from `from` on, and counted on request.
[[nodiscard]] findings verify(const options& o, const place* from);

/// What must hold in a sink that keeps its word: sums, checkpoint, an empty queue.
[[nodiscard]] std::vector<std::string> check_sums(const options& o, const findings& f);

/// Prints all tables of the sink, row by row, in the order in which they were written.
void dump(const options& o);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_VERIFY_HPP

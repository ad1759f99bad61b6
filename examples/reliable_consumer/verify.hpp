// SPDX-License-Identifier: MIT
//
// verify: compares the tables with the log, independent of the workers.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_VERIFY_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_VERIFY_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "options.hpp"
#include "tables.hpp"

namespace reliable_consumer {

struct partition_row {
    std::uint64_t events = 0;    ///< In the log.
    std::uint64_t position = 0;  ///< Of the checkpoint.
    std::uint64_t applied = 0;
    std::uint64_t dead = 0;
    std::uint64_t owners = 0;  ///< The number of times it was taken.
};

struct findings {
    std::vector<partition_row> partitions{};
    std::uint64_t lost = 0;
    std::uint64_t doubled = 0;
    std::uint64_t out_of_order = 0;
    std::vector<std::string> wrong{};  ///< All violations, one text each.
};

/// Reads the log and all tables anew.
[[nodiscard]] findings verify(const options& o, tables& all);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_VERIFY_HPP

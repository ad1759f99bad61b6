// SPDX-License-Identifier: MIT
//
// tally: the lines with which a worker reports its work, and their sums.
//
// The counters of a killed worker are lost. So it reports each step at once; the lines stay in the
// pipe after its death.

#ifndef WAYBILL_EXAMPLES_MAILROOM_TALLY_HPP
#define WAYBILL_EXAMPLES_MAILROOM_TALLY_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mailroom {

/// Reports one line to the owner of the tally.
using progress_sink = std::function<void(const std::string&)>;

struct tally {
    std::uint64_t sends = 0;             ///< Requests to the queue, with any outcome.
    std::uint64_t batches = 0;           ///< Accepted requests.
    std::uint64_t rejected = 0;          ///< Refused requests.
    std::uint64_t unaccepted_bytes = 0;  ///< The bytes of refused requests.
    std::uint64_t byte = 0;              ///< The producer's position in the input, in bytes.
    std::uint64_t enqueued = 0;          ///< The number of the last message in the queue.
    std::uint64_t applied = 0;           ///< The number of the last finished message.
    std::uint64_t peak_rss_kib = 0;
    bool worked = false;    ///< There was something to do.
    std::string holding{};  ///< The phase at which the worker waits to be killed.

    /// Counts a line of a worker.
    void take(std::string_view line);
};

/// The peak memory of this process, in KiB.
[[nodiscard]] std::uint64_t peak_rss_kib();

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_TALLY_HPP

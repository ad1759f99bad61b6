// SPDX-License-Identifier: MIT
//
// tally: what a worker tells of its work, in lines, and the sums of it.
//
// A worker that is killed takes its counters with it. So it tells everything at once, and what it
// has told stays in the pipe when it is gone.

#ifndef WAYBILL_EXAMPLES_MAILROOM_TALLY_HPP
#define WAYBILL_EXAMPLES_MAILROOM_TALLY_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mailroom {

/// Says one line to whoever keeps the tally.
using progress_sink = std::function<void(const std::string&)>;

struct tally {
    std::uint64_t sends = 0;         ///< Requests to the queue, whatever came of them.
    std::uint64_t batches = 0;       ///< Those that it took.
    std::uint64_t rejected = 0;      ///< Those that it refused, and
    std::uint64_t unaccepted_bytes = 0;  ///< the bytes of these, which went for nothing.
    std::uint64_t byte = 0;          ///< How far into the input the producer is,
    std::uint64_t enqueued = 0;      ///< the number of the last message,
    std::uint64_t applied = 0;       ///< and of the last one that is done.
    std::uint64_t peak_rss_kib = 0;
    bool worked = false;    ///< There was something to do.
    std::string holding{};  ///< The phase at which the worker waits for its end.

    /// Takes a line from a worker.
    void take(std::string_view line);
};

/// The most memory that this process ever had, in KiB.
[[nodiscard]] std::uint64_t peak_rss_kib();

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_TALLY_HPP

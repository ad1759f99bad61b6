// SPDX-License-Identifier: MIT
//
// phases: the critical moments for a kill.
//
// A kill at a random time is rarely within a transaction. So an option makes the worker stop at a
// phase, report it and wait to be killed. mailroom kills its worker this way in the middle of a
// batch; the tests kill it at every other phase.

#ifndef WAYBILL_EXAMPLES_MAILROOM_PHASES_HPP
#define WAYBILL_EXAMPLES_MAILROOM_PHASES_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace mailroom {

inline constexpr std::string_view all_phases[] = {
    "read",              // a line has been read
    "enqueue.begin",     // a batch is about to go into the queue
    "enqueue.insert",    // half of it is in
    "enqueue.commit",    // all of it and the producer's position are written, but not committed
    "enqueue.done",      // it is committed
    "enqueue.marker",    // a message was refused; its marker is not in yet
    "consume.begin",     // a transaction has been opened in the sink
    "consume.handler",   // an event has had half of its effects
    "consume.parked",    // a dead letter is written, but not committed
    "consume.advanced",  // the checkpoint is written, too, but not committed
    "consume.done",      // all is committed
    "trim.begin",        // finished messages are about to be removed from the queue
    "trim.done",         // they are removed
};

/// A stop: at the n-th occurrence of a phase, and not before byte `from` of the input.
struct hold {
    std::string phase{};
    std::uint64_t nth = 1;
    std::uint64_t from = 0;
};

/// Parses PHASE, PHASE:NTH or PHASE@BYTE; empty for any other text.
[[nodiscard]] std::optional<hold> hold_in(std::string_view text);
[[nodiscard]] std::string text(const hold& h);

class phases {
public:
    /// `announce` is called before the wait.
    phases(std::optional<hold> h, std::function<void(std::string_view)> announce)
        : hold_(std::move(h)), announce_(std::move(announce))
    {
    }

    void reach(std::string_view phase, std::uint64_t byte)
    {
        if (!hold_ || phase != hold_->phase || byte < hold_->from || ++times_ < hold_->nth) return;
        announce_(phase);
        for (;;) pause();
    }

private:
    std::optional<hold> hold_;
    std::function<void(std::string_view)> announce_;
    std::uint64_t times_ = 0;
};

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_PHASES_HPP

// SPDX-License-Identifier: MIT
//
// phases: the moments at which it hurts most to be killed.
//
// A kill at a random time mostly hits nothing. So the worker can be told to stop at a phase, to say
// so, and to wait there for its end: that is how mailroom kills its own worker in the middle of a
// batch, and how the tests kill it everywhere else.

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
    "enqueue.commit",    // all of it and the producer's position are, but it is not committed
    "enqueue.done",      // it is
    "enqueue.marker",    // a message was refused; its marker is not in yet
    "consume.begin",     // a transaction has been opened in the sink
    "consume.handler",   // an event has had half of its effects
    "consume.parked",    // a dead letter is written, but not committed
    "consume.advanced",  // the checkpoint is, too
    "consume.done",      // all is committed
    "trim.begin",        // what is done is about to leave the queue
    "trim.done",         // it has left
};

/// Where to stop: at a phase, there at the n-th time, and not before this byte of the input.
struct hold {
    std::string phase{};
    std::uint64_t nth = 1;
    std::uint64_t from = 0;
};

/// From PHASE, PHASE:NTH or PHASE@BYTE; empty if that is none of them.
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

// SPDX-License-Identifier: MIT
//
// intake_steps: the steps of an intake and their answers. One step is one call that can fail by
// itself.
//
// All work has a number: a message that was received, or a pair of a pointer and the deferred
// original that it tells of. The message of a pair is its pointer, whether that is a message of a
// broker or a row in a book.

#ifndef WAYBILL_RETRY_INTAKE_STEPS_HPP
#define WAYBILL_RETRY_INTAKE_STEPS_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// What to do with a message that is in hand.
enum class settle_as : std::uint8_t {
    complete,     ///< It is done with.
    give_back,    ///< It is to come again: abandon it; for a row, give up the claim on it.
    dead_letter,  ///< Park it.
};

[[nodiscard]] constexpr std::string_view name(settle_as s) noexcept
{
    switch (s) {
        case settle_as::complete: return "complete";
        case settle_as::give_back: return "give_back";
        case settle_as::dead_letter: return "dead_letter";
    }
    return "?";
}

/// What a broker says of a message that is to be fetched or settled.
enum class broker_said : std::uint8_t {
    done,
    gone,    ///< There is no such message any more. Not: somebody else has it, or our lock ran out.
    failed,  ///< Anything else. Nobody knows whether it was done.
};

[[nodiscard]] constexpr std::string_view name(broker_said b) noexcept
{
    switch (b) {
        case broker_said::done: return "done";
        case broker_said::gone: return "gone";
        case broker_said::failed: return "failed";
    }
    return "?";
}

namespace act {

/// Take pairs whose time has come: receive their pointers, or claim their rows. The first of them
/// is number `first`, the next one more. Answered by `pairs_taken`.
struct take_due {
    std::uint64_t first = 0;
    std::uint64_t most = 0;
    friend bool operator==(const take_due&, const take_due&) = default;
};

/// Receive fresh messages, numbered likewise. Answered by `messages_received`.
struct receive {
    std::uint64_t first = 0;
    std::uint64_t most = 0;
    friend bool operator==(const receive&, const receive&) = default;
};

/// Fetch the original of this pair by its sequence number. Answered by `original_fetched`.
struct receive_deferred {
    std::uint64_t work = 0;
    friend bool operator==(const receive_deferred&, const receive_deferred&) = default;
};

/// Settle the original of this pair. Answered by `original_settled`.
struct settle_original {
    std::uint64_t work = 0;
    settle_as how = settle_as::complete;
    friend bool operator==(const settle_original&, const settle_original&) = default;
};

/// Settle this message, which is a fresh one or the pointer of a pair. Answered by
/// `message_settled`.
struct settle_message {
    std::uint64_t work = 0;
    settle_as how = settle_as::complete;
    bool gone = false;  ///< There was no original any more that the pointer could tell of.
    friend bool operator==(const settle_message&, const settle_message&) = default;
};

}  // namespace act

/// So many pairs were taken, and this is when the next will be due, if that is known.
struct pairs_taken {
    std::uint64_t pairs = 0;
    steady_time next = steady_time::highest();
    fault_class how = fault_class::none;  ///< Why none could be taken.
    friend bool operator==(const pairs_taken&, const pairs_taken&) = default;
};

/// So many messages were received. Each is to be handled now.
struct messages_received {
    std::uint64_t messages = 0;
    fault_class how = fault_class::none;  ///< Why none could be received.
    friend bool operator==(const messages_received&, const messages_received&) = default;
};

/// The original is in hand and is to be handled now, or is not.
struct original_fetched {
    std::uint64_t work = 0;
    broker_said said = broker_said::done;
    friend bool operator==(const original_fetched&, const original_fetched&) = default;
};

/// A message or an original was handled.
struct work_done {
    std::uint64_t work = 0;
    fault_class how = fault_class::none;
    /// It is deferred (again), and there is a new pointer to it. Of a fresh message nothing is left
    /// to settle then; an original is given back, and its old pointer is complete.
    bool deferred = false;
    double draw = 1.0;  ///< For the valve's pauses, in [0, 1).
    friend bool operator==(const work_done&, const work_done&) = default;
};

struct original_settled {
    std::uint64_t work = 0;
    broker_said said = broker_said::done;
    friend bool operator==(const original_settled&, const original_settled&) = default;
};

struct message_settled {
    std::uint64_t work = 0;
    broker_said said = broker_said::done;
    friend bool operator==(const message_settled&, const message_settled&) = default;
};

/// A pair will be due then: sooner, maybe, than what is known to be the next.
struct pair_scheduled {
    steady_time due{};
    friend bool operator==(const pair_scheduled&, const pair_scheduled&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_INTAKE_STEPS_HPP

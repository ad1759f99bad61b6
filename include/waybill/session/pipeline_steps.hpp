// SPDX-License-Identifier: MIT
//
// pipeline_steps: what a pipeline asks for, and how it is answered. One action is one call that can
// fail by itself.
//
// An answer whose `how` is not none says that the call was not confirmed. It may have been applied
// all the same; the pipeline is right in both cases.

#ifndef WAYBILL_SESSION_PIPELINE_STEPS_HPP
#define WAYBILL_SESSION_PIPELINE_STEPS_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/consume/settle.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/lock_renewal.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Read the state of the session. Answered by `state_loaded`.
struct load_state {
    friend bool operator==(const load_state&, const load_state&) = default;
};

/// Run the step in hand. Answered by `executed`.
struct execute {
    std::uint64_t step = 0;
    std::uint64_t tries = 1;  ///< Which try this is, as far as anybody knows.
    friend bool operator==(const execute&, const execute&) = default;
};

/// Write the state: the user's part, and the pipeline's progress() with it. Answered by
/// `state_saved`.
struct save_state {
    bool undone = false;  ///< The step is not done: the user's part as it was before it.
    friend bool operator==(const save_state&, const save_state&) = default;
};

/// Write the letter of the message in hand, or replace the one that is there, with the pipeline's
/// why() in it. Answered by `step_parked`.
struct park {
    park_reason reason = park_reason::failed;
    std::uint64_t cause = 0;       ///< The sequence number of the message that failed; 0 for none.
    std::uint64_t cause_step = 0;  ///< And its step.
    std::uint64_t tries = 0;       ///< Of the message in hand.
    bool bare = false;  ///< Without its body: with it the letter was refused, and would always be.
    bool alone = false;  ///< Its session goes on without it: steps are independent.
    friend bool operator==(const park&, const park&) = default;
};

/// Remove the state of the session. Answered by `state_cleared`.
struct clear_state {
    friend bool operator==(const clear_state&, const clear_state&) = default;
};

/// Give the session back with all its messages that are not complete, for nobody before `until`,
/// and so that it does not count as a delivery. For Service Bus abandoning a message counts, and
/// closing a session does not. Where the broker can keep it from nobody, wait until then, or for
/// as long as the lock lasts: given back at once it comes at once, until no delivery is left.
/// What follows the message in hand must not come before it. Answered by `given_back`.
///
/// `until` is longer the more often the message was delivered (`pipeline_policy::retry`).
struct give_back {
    steady_time until{};
    fault_class why = fault_class::none;
    friend bool operator==(const give_back&, const give_back&) = default;
};

}  // namespace act

/// The state was looked for, and `found` was what there was; `how` says why nobody could look.
struct state_loaded {
    state_read found = state_read::absent;
    session_progress progress{};  ///< Counts where it is ok.
    fault_class how = fault_class::none;
    /// Of the message that it was looked for, where there is one: before what failed is tried again
    /// there is a longer pause with each. With 0 it is the longest at once.
    std::uint64_t deliveries = 0;
    std::string why{};  ///< In words, where it cannot be read: for the letters of its session.

    friend bool operator==(const state_loaded&, const state_loaded&) = default;
};

/// The next message of the session is in hand. `wall` is the time that goes into the state.
struct step_received {
    step_facts facts{};
    wall_time wall{};

    friend bool operator==(const step_received&, const step_received&) = default;
};

/// The call for `execute` begins. If this is reported again before `executed`, the first call ended
/// with an exception and counts as a try. Only a driver whose calls may throw reports it.
struct step_begun {
    friend bool operator==(const step_begun&, const step_begun&) = default;
};

/// The step has run, or failed in this way. `draw` in [0, 1) spreads the pauses, and `retry_after`
/// is a "come back after" of what it called.
struct executed {
    fault why{};
    double draw = 0.5;
    duration retry_after{};

    friend bool operator==(const executed&, const executed&) = default;
};

/// The state was written, or that is not sure. A store that has found another state than the one
/// that was read says `ownership_lost`, one that never takes it, say for its size, `permanent`.
struct state_saved {
    fault_class how = fault_class::none;
    std::string_view why{};  ///< In words, for a letter; it is read before `on` returns.

    friend bool operator==(const state_saved&, const state_saved&) = default;
};

/// The letter was written, or that is not sure. `permanent`: it is never taken as it is.
struct step_parked {
    fault_class how = fault_class::none;
    friend bool operator==(const step_parked&, const step_parked&) = default;
};

/// The message was completed, or that is not sure.
struct completed {
    fault_class how = fault_class::none;
    friend bool operator==(const completed&, const completed&) = default;
};

/// The state was removed, or that is not sure.
struct state_cleared {
    fault_class how = fault_class::none;
    friend bool operator==(const state_cleared&, const state_cleared&) = default;
};

/// The session was given back. Where that failed, its lock runs out.
struct given_back {
    friend bool operator==(const given_back&, const given_back&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PIPELINE_STEPS_HPP

// SPDX-License-Identifier: MIT
//
// pipeline_steps: the actions of a pipeline and the events that report their results.
//
// Each action is one call that can fail alone. An event whose `kind` is not `none` reports a call
// that was not confirmed. The call may have had its effect; the pipeline is correct in both cases.

#ifndef WAYBILL_SESSION_PIPELINE_STEPS_HPP
#define WAYBILL_SESSION_PIPELINE_STEPS_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `pipeline`, which inherits them.
struct pipeline_types {
    /// Read the state of the session. Report `state_loaded`.
    struct load_state {
        friend bool operator==(const load_state&, const load_state&) = default;
    };

    /// Run the step in hand. Report `executed`.
    struct execute {
        std::uint64_t step = 0;
        std::uint64_t tries = 1;  ///< The number of this attempt, from 1, as far as it is known.
        friend bool operator==(const execute&, const execute&) = default;
    };

    /// A step for a handler of `run_session`. The texts are valid during the call.
    struct step {
        /// The session id with which the step was sent first; it is the same after a redrive.
        std::string_view job{};
        std::uint64_t number = 1;   ///< From 1 on.
        bool last = false;          ///< No step follows.
        std::uint64_t attempt = 1;  ///< The number of this attempt, as far as it is known.
        std::string_view body{};

        /// "order-17/4": the key of its effect. It is the same in each attempt and after a redrive.
        [[nodiscard]] std::string key() const
        {
            return std::string(job) + '/' + std::to_string(number);
        }

        friend bool operator==(const step&, const step&) = default;
    };

    /// Write the state: the user's part and the pipeline's progress(). Report `state_saved`.
    struct save_state {
        /// The step is not done: write the user's part from before the step.
        bool keep_old_value = false;
        friend bool operator==(const save_state&, const save_state&) = default;
    };

    /// Write or replace the dead letter of the message in hand, with the pipeline's reason().
    /// Report `step_dead_lettered`.
    struct write_dead_letter {
        dead_letter_reason reason = dead_letter_reason::failed;
        std::uint64_t cause = 0;       ///< Sequence number of the message that failed; 0 for none.
        std::uint64_t cause_step = 0;  ///< Step number of the message that failed; 0 for none.
        std::uint64_t tries = 0;       ///< Attempts of the message in hand.
        /// Write no body: the dead letter was permanently refused with its body.
        bool without_body = false;
        /// The session continues without this step: steps are independent.
        bool independent = false;
        friend bool operator==(const write_dead_letter&, const write_dead_letter&) = default;
    };

    /// Remove the state of the session. Report `state_cleared`.
    struct clear_state {
        friend bool operator==(const clear_state&, const clear_state&) = default;
    };

    /// Give the session back with all its messages that are not complete. No consumer should
    /// receive them before `until`, and the release should not count as a delivery. Report
    /// `given_back`.
    ///
    /// At Service Bus, abandoning a message counts as a delivery; closing a session does not. If
    /// the broker cannot delay redelivery, hold the session until `until`, or until its lock
    /// expires. If it were released at once, it would be delivered at once, until no delivery is
    /// left. Later messages of the session must not be delivered before the message in hand.
    ///
    /// `until` grows with the deliveries of the message (`pipeline_policy::retry`).
    struct give_back {
        steady_time until{};
        fault_kind reason = fault_kind::none;
        friend bool operator==(const give_back&, const give_back&) = default;
    };

    /// The state was read with the result `found`. If the read failed, `kind` is the fault.
    struct state_loaded {
        state_read found = state_read::absent;
        session_progress progress{};  ///< Used only if `found` is ok.
        fault_kind kind = fault_kind::none;
        /// Deliveries of the message for which the state was read, if there is one. After a failed
        /// read the pause grows with them. 0 gives a pause of `pauses.cap`.
        std::uint64_t deliveries = 0;
        /// The error text of an unreadable state, for the dead letters of its session.
        std::string reason{};

        friend bool operator==(const state_loaded&, const state_loaded&) = default;
    };

    /// The next message of the session is in hand. `wall` is the wall time now: the state records
    /// it, and a sweep computes the age of the state from it. It has no default, so that compilers
    /// warn if it is missing.
    struct step_received {
        step_facts facts{};
        wall_time wall;

        friend bool operator==(const step_received&, const step_received&) = default;
    };

    /// The call for `execute` begins. A second `step_begun` before `executed` reports that the
    /// first call threw an exception, which counts as an attempt. Only a driver whose calls may
    /// throw needs this event.
    struct step_begun {
        friend bool operator==(const step_begun&, const step_begun&) = default;
    };

    /// The step has run, with the result `reason`. `random` in [0, 1) is the random number for the
    /// jitter of pauses. `retry_after` is the retry hint of the dependency that the step called; 0
    /// if there is none.
    struct executed {
        fault reason{};
        double random = 0.5;
        duration retry_after{};

        friend bool operator==(const executed&, const executed&) = default;
    };

    /// The state was written, or the write is not confirmed. `ownership_lost`: the store contains
    /// another state than the one that was read. `permanent`: the store never accepts this state,
    /// for example for its size.
    struct state_saved {
        fault_kind kind = fault_kind::none;
        /// The error text, for a dead letter. `on` copies it before it returns.
        std::string_view reason{};

        friend bool operator==(const state_saved&, const state_saved&) = default;
    };

    /// The dead letter was written, or the write is not confirmed. `permanent`: the table never
    /// accepts it in this form.
    struct step_dead_lettered {
        fault_kind kind = fault_kind::none;
        friend bool operator==(const step_dead_lettered&, const step_dead_lettered&) = default;
    };

    /// The message was completed, or the completion is not confirmed.
    struct completed {
        fault_kind kind = fault_kind::none;
        friend bool operator==(const completed&, const completed&) = default;
    };

    /// The state was removed, or the removal is not confirmed.
    struct state_cleared {
        fault_kind kind = fault_kind::none;
        friend bool operator==(const state_cleared&, const state_cleared&) = default;
    };

    /// The session was given back. If that call failed, the lock of the session expires.
    struct given_back {
        friend bool operator==(const given_back&, const given_back&) = default;
    };

    friend bool operator==(const pipeline_types&, const pipeline_types&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PIPELINE_STEPS_HPP

// SPDX-License-Identifier: MIT
//
// progress: how many steps of a session are done, and the failure that stopped it.
//
// A pipeline stores this progress in the state of a session, next to the user's own part. It
// contains all that the next holder of the session needs.

#ifndef WAYBILL_SESSION_PROGRESS_HPP
#define WAYBILL_SESSION_PROGRESS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The progress of a session, as its state stores it.
struct session_progress {
    /// The failure that stopped a session.
    struct failure {
        std::uint64_t step = 0;
        /// Sequence number of its message. Later dead letters name it as their cause.
        std::uint64_t sequence = 0;
        dead_letter_reason reason = dead_letter_reason::failed;
        std::uint64_t tries = 0;  ///< Attempts of the step.
        /// The error text, of at most `pipeline_policy::reason_bytes`, cut between characters.
        std::string text{};
        wall_time at{};

        friend bool operator==(const failure&, const failure&) = default;
    };

    std::uint64_t done = 0;   ///< The last step done or dead-lettered; 0 before the first.
    std::uint64_t total = 0;  ///< The number of the last step; 0 if unknown.
    /// Dead-lettered steps among `done`. Always 0 if the policy stops a session at its first
    /// failure.
    std::uint64_t dead_lettered = 0;
    std::uint64_t tries = 0;  ///< Attempts of step `done` + 1 in earlier deliveries.
    /// The failure that stopped the session. Later steps are dead-lettered.
    std::optional<failure> failed{};
    wall_time begun{};    ///< Receipt of the first message of the session.
    wall_time changed{};  ///< The time at which this progress was written.
    /// The step at which the session began, if it is more than 1, as after a redrive. Otherwise 0:
    /// the session began at step 1, its steps are independent, or it failed before an attempt or a
    /// done step was saved.
    std::uint64_t first = 0;
    /// If the messages have no step numbers: the number of the last one that was numbered by its
    /// arrival, and its sequence number. Otherwise 0. A redelivered message keeps its number.
    std::uint64_t arrived = 0;
    std::uint64_t arrived_sequence = 0;

    /// True if all steps are done or dead-lettered and no failure has stopped the session.
    [[nodiscard]] bool finished() const noexcept { return !failed && total != 0 && done >= total; }

    friend bool operator==(const session_progress&, const session_progress&) = default;
};

/// The result of reading the state of a session. The values after `ok` are unreadable states, which
/// must not be overwritten.
enum class state_read : std::uint8_t {
    absent,  ///< There is no state: the session is new or has ended.
    ok,
    newer,      ///< A later version wrote the state. Do not change it.
    corrupt,    ///< The state is damaged, or the bytes never were a state.
    too_large,  ///< The state has more bytes than the budget.
};

[[nodiscard]] constexpr std::string_view texts_of(state_read) noexcept
{
    return "absent, ok, newer, corrupt, too_large";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PROGRESS_HPP

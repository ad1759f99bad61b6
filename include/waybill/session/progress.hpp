// SPDX-License-Identifier: MIT
//
// progress: how far a session has come, and what stopped it.
//
// This is what a pipeline keeps in the state of a session, beside whatever the user keeps there. It
// is small, and says all that the next holder of the session must know.

#ifndef WAYBILL_SESSION_PROGRESS_HPP
#define WAYBILL_SESSION_PROGRESS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/time.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The step that failed and took the rest of its session with it.
struct step_failure {
    std::uint64_t step = 0;
    std::uint64_t sequence = 0;  ///< Of its message: the cause that the others are parked with.
    park_reason reason = park_reason::failed;
    std::uint64_t tries = 0;     ///< How often it was tried.
    std::string text{};          ///< Bounded, cut between characters.
    wall_time at{};

    friend bool operator==(const step_failure&, const step_failure&) = default;
};

struct session_progress {
    std::uint64_t done = 0;    ///< The last step that is behind it; 0 before the first.
    std::uint64_t total = 0;   ///< The last step of all; 0 where nobody has said yet.
    std::uint64_t parked = 0;  ///< Of those behind it so many failed. Where one stops all, 0.
    std::uint64_t tries = 0;   ///< How often the step after `done` was tried in earlier deliveries.
    std::optional<step_failure> failed{};  ///< What stopped it. The rest is parked.
    wall_time begun{};         ///< When its first step came.
    wall_time changed{};       ///< When this was written.
    /// The step that it began with, where that is a later one than 1, as after a redrive; 0 where
    /// it is 1, or nobody has said, or steps may be missing.
    std::uint64_t first = 0;

    /// All its steps are behind it, and none has stopped it.
    [[nodiscard]] bool finished() const noexcept { return !failed && total != 0 && done >= total; }

    friend bool operator==(const session_progress&, const session_progress&) = default;
};

/// What was found where the state of a session is kept. Only `absent` and `ok` may be written over.
enum class state_read : std::uint8_t {
    absent,     ///< There is none: the session is new, or over.
    ok,
    newer,      ///< A later version has written it. Leave it alone.
    corrupt,    ///< It is not what was written, or was never a state.
    too_large,  ///< It has more bytes than the budget allows.
};

[[nodiscard]] constexpr std::string_view name(state_read s) noexcept
{
    switch (s) {
        case state_read::absent: return "absent";
        case state_read::ok: return "ok";
        case state_read::newer: return "newer";
        case state_read::corrupt: return "corrupt";
        case state_read::too_large: return "too_large";
    }
    return "?";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PROGRESS_HPP

// SPDX-License-Identifier: MIT
//
// command: the command to change the number of instances, and its result.
//
//     if (d.command) {
//         state.on(d);                                            // stored before the change
//         const bool done = start_or_stop(d.command->from, d.command->to);
//         if (done) state.on(scaling::applied{d.command->id}, now);
//         else state.on(scaling::failed{d.command->id}, now);
//     }
//
// Commands may arrive late or twice. Each command has an id, greater than all before it, and the
// number of instances that it starts from. So both the executor (`admit`) and the state detect
// stale and duplicate commands and results.

#ifndef WAYBILL_SCALING_COMMAND_HPP
#define WAYBILL_SCALING_COMMAND_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2::scaling {

using v0_2::name;

/// Change the number of instances from `from` to `to`.
struct command {
    std::uint64_t id = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;

    friend bool operator==(const command&, const command&) = default;
};

/// Event: the command was executed.
struct applied {
    std::uint64_t id = 0;

    friend bool operator==(const applied&, const applied&) = default;
};

/// Event: the command failed. Nothing was changed.
struct failed {
    std::uint64_t id = 0;

    friend bool operator==(const failed&, const failed&) = default;
};

/// The result of a call that executes a command.
enum class resize_outcome : std::uint8_t {
    applied,  ///< The number of instances was changed.
    failed,   ///< The command failed. Nothing was changed.
    pending,  ///< In progress, sent to another process, or not known.
};

[[nodiscard]] constexpr std::string_view texts_of(resize_outcome) noexcept
{
    return "applied, failed, pending";
}

/// The result of an event `applied` or `failed`.
enum class command_result : std::uint8_t {
    applied,  ///< The event belongs to the pending command and was applied.
    stale,    ///< The command already has a result or was given up. No change.
    unknown,  ///< A command with this id was never issued. No change.
};

[[nodiscard]] constexpr std::string_view texts_of(command_result) noexcept
{
    return "applied, stale, unknown";
}

/// The result of `admit`: execute the command, or the reason not to.
enum class admission : std::uint8_t {
    fresh,      ///< Execute it.
    duplicate,  ///< It was the last executed command.
    late,       ///< Stale: a later command was executed.
    moved,      ///< The number of instances differs from the command's `from`.
    idle,       ///< `from` equals `to`.
};

[[nodiscard]] constexpr std::string_view texts_of(admission) noexcept
{
    return "fresh, duplicate, late, moved, idle";
}

/// Decides whether to execute c. `last` is the id of the last executed command, or 0 if there was
/// none. `instances` is the current number of instances.
[[nodiscard]] constexpr admission admit(const command& c, std::uint64_t last,
                                        std::uint64_t instances) noexcept
{
    if (c.id < last) return admission::late;
    if (c.id == last) return admission::duplicate;
    if (c.from == c.to) return admission::idle;
    return c.from == instances ? admission::fresh : admission::moved;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_COMMAND_HPP

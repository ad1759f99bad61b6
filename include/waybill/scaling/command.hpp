// SPDX-License-Identifier: MIT
//
// command: the order to change the number of instances, and what comes back.
//
//     if (d.command) {
//         state.on(d);                                            // stored first, then done
//         const bool done = start_or_stop(d.command->from, d.command->to);
//         if (done) state.on(scaling::applied{d.command->id}, now);
//         else state.on(scaling::failed{d.command->id}, now);
//     }
//
// Orders travel, and some arrive twice or late. Each has a number, greater than all before it, and
// says what it starts from; so whoever executes them can tell, and so can the state that waits for
// the answer.

#ifndef WAYBILL_SCALING_COMMAND_HPP
#define WAYBILL_SCALING_COMMAND_HPP

#include <cstdint>
#include <string_view>

namespace waybill::inline v0_2::scaling {

struct command {
    std::uint64_t id = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;

    friend bool operator==(const command&, const command&) = default;
};

/// The instances are there, or gone.
struct applied {
    std::uint64_t id = 0;

    friend bool operator==(const applied&, const applied&) = default;
};

/// Nothing was changed.
struct failed {
    std::uint64_t id = 0;

    friend bool operator==(const failed&, const failed&) = default;
};

/// What became of an answer.
enum class answered : std::uint8_t {
    taken,    ///< It is for the command that was waited for.
    late,     ///< For an earlier one, which was answered or given up: nothing has changed.
    unknown,  ///< For one that was never given: nothing has changed.
};

[[nodiscard]] constexpr std::string_view name(answered a) noexcept
{
    switch (a) {
        case answered::taken: return "taken";
        case answered::late: return "late";
        case answered::unknown: return "unknown";
    }
    return "?";
}

/// Whether a command is to be executed.
enum class admission : std::uint8_t {
    fresh,      ///< Yes.
    duplicate,  ///< It was the last one that was executed.
    late,       ///< A later one was.
    moved,      ///< There are not as many instances as it starts from.
    idle,       ///< It changes nothing.
};

[[nodiscard]] constexpr std::string_view name(admission a) noexcept
{
    switch (a) {
        case admission::fresh: return "fresh";
        case admission::duplicate: return "duplicate";
        case admission::late: return "late";
        case admission::moved: return "moved";
        case admission::idle: return "idle";
    }
    return "?";
}

/// What to do with a command where `last` was the last one executed (0: none) and there are so many
/// instances.
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

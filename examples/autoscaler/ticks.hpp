// SPDX-License-Identifier: MIT
//
// ticks: when is decided, and on which rows.
//
// A trace is taken as it would have come: row by row, in the order of the file. The clock is at the
// latest time that a row had; a decision falls due at each whole multiple of `every`, and is made
// as soon as a row is later than that. So what follows in the file changes no earlier decision, and
// a trace that is being written can be read again and again.
//
//   1. a row that comes late goes to the next decision, and the window finds its place in time;
//   2. one row that is more than `longest_gap` ahead is not believed, and neither is the first, or
//      a single wrong clock would make all others too old. Two that agree are;
//   3. in a longer gap no more decisions are made than in `longest_gap`: all would be the same.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_TICKS_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_TICKS_HPP

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/time.hpp>

#include "trace.hpp"

namespace autoscaler {

inline constexpr waybill::duration longest_gap = waybill::duration::seconds(3'600);

/// What somebody has to say of the last command for a resource.
struct answer {
    std::string resource{};
    std::uint64_t id = 0;
    bool done = false;
    waybill::wall_time at{};
};

/// So many instances were counted.
struct head_count {
    std::string resource{};
    std::uint64_t instances = 0;
};

/// A time to decide, and what has come since the last one.
struct tick {
    waybill::wall_time now{};
    std::span<const row> rows{};
    std::vector<answer> answers{};
    std::vector<head_count> counted{};
    std::uint64_t skipped = 0;  ///< So many times before it nothing was decided, as nothing came.
    std::uint64_t mark = 0;     ///< Of all rows and times so far: another trace has another.
};

struct schedule {
    std::vector<row> rows{};  ///< What the ticks view.
    std::vector<tick> ticks{};
    std::uint64_t waiting = 0;  ///< Rows behind the last tick; it takes a later one for the next.
    rejections rejected_rows{};
};

/// Of all rows of a trace.
[[nodiscard]] schedule schedule_of(trace t, waybill::duration every);

/// One more text in a mark (FNV-1a, 64 bits).
[[nodiscard]] constexpr std::uint64_t marked(std::uint64_t mark, std::string_view text) noexcept
{
    for (const char c : text) {
        mark ^= static_cast<unsigned char>(c);
        mark *= 0x100000001b3ULL;
    }
    return (mark ^ 0xffU) * 0x100000001b3ULL;  // where one text ends and the next begins
}
inline constexpr std::uint64_t first_mark = 0xcbf29ce484222325ULL;

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_TICKS_HPP

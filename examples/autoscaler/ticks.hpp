// SPDX-License-Identifier: MIT
//
// ticks: the times of the decisions, and the rows of each.
//
// A trace is read row by row, in the order of the file. The clock equals the latest time of all
// rows so far. A decision is due at each whole multiple of `every`, and is made once a row is
// later. Later rows of the file change no earlier decision. So a trace can be read repeatedly
// while it grows.
//
//   1. a late row belongs to the next decision, and the window inserts it at its own time;
//   2. the first row, and a row more than `longest_gap` ahead, count only if the next row agrees.
//      Otherwise a single wrong clock would make all other rows too old;
//   3. a longer gap has at most as many decisions as `longest_gap`: further ones would be equal.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_TICKS_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_TICKS_HPP

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace.hpp"
#include <waybill/core/time.hpp>

namespace autoscaler {

inline constexpr waybill::duration longest_gap = waybill::duration::seconds(3'600);

/// The result of the last command for a resource.
struct answer {
    std::string resource{};
    std::uint64_t id = 0;
    bool done = false;
    waybill::wall_time at{};
};

/// The counted number of instances.
struct head_count {
    std::string resource{};
    std::uint64_t instances = 0;
};

/// The time of a decision, and the input since the last one.
struct tick {
    waybill::wall_time now{};
    std::span<const row> rows{};
    std::vector<answer> answers{};
    std::vector<head_count> counted{};
    std::uint64_t skipped = 0;  ///< Decisions left out before it, in a gap without rows.
    std::uint64_t mark = 0;     ///< A hash of all rows and times so far. It identifies the trace.
};

struct schedule {
    std::vector<row> rows{};  ///< The ticks view these.
    std::vector<tick> ticks{};
    std::uint64_t waiting = 0;  ///< Rows after the last tick; the next tick needs a later row.
    rejections rejected_rows{};
};

/// The schedule of all rows of a trace.
[[nodiscard]] schedule schedule_of(trace t, waybill::duration every);

/// The mark with one more text (FNV-1a, 64 bits).
[[nodiscard]] constexpr std::uint64_t marked(std::uint64_t mark, std::string_view text) noexcept
{
    for (const char c : text) {
        mark ^= static_cast<unsigned char>(c);
        mark *= 0x100000001b3ULL;
    }
    return (mark ^ 0xffU) * 0x100000001b3ULL;  // the end of a text
}
inline constexpr std::uint64_t first_mark = 0xcbf29ce484222325ULL;

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_TICKS_HPP

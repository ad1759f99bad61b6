// SPDX-License-Identifier: MIT
//
// work: all lines of an input on their way, and what came of them.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_WORK_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_WORK_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "destination.hpp"
#include "input.hpp"
#include "options.hpp"
#include <waybill/batch.hpp>

namespace send_batches {

/// One batch and its answer.
struct sent {
    std::uint64_t number = 0;  ///< Of the request, the first being 1.
    std::uint64_t items = 0;
    std::uint64_t bytes = 0;  ///< As the broker counts.
    std::string_view became{};  ///< accepted, refused, partial, throttled, failed, unknown
    std::string note{};         ///< What else there is to say of it.
    bool again = false;         ///< The identical batch once more: its first outcome is unknown.
};

struct results {
    waybill::send_report report{};
    waybill::calibration begun{};   ///< What was known at the beginning,
    waybill::calibration learnt{};  ///< and at the end.
    std::uint64_t lines = 0;
    std::uint64_t input_bytes = 0;
    line_numbers numbers{};
    std::uint64_t fewest = 0;  ///< Batches, for one who knows all sizes beforehand.
    std::uint64_t partial = 0;
    std::uint64_t throttled = 0;
    std::uint64_t failed = 0;
    std::uint64_t unknown = 0;
    bool limit_told = false;  ///< The broker has, in a refusal.
    bool checked = false;  ///< The queue has been read back.
    bool in_order = false;  ///< Of a checked queue.
    std::vector<std::string> wrong{};
    double seconds = 0;
};

/// Sends what `in` has to a destination of which so much is known. Calls `show` after each batch.
[[nodiscard]] results send_lines(const options& o, destination& to,
                                 const waybill::calibration& known, std::istream& in,
                                 const std::function<void(const sent&)>& show);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_WORK_HPP

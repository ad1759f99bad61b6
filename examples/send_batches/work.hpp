// SPDX-License-Identifier: MIT
//
// work: sends all lines of an input, and returns the results.

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

/// One batch and its outcome.
struct sent {
    std::uint64_t number = 0;  ///< Of the request, from 1 on.
    std::uint64_t items = 0;
    std::uint64_t bytes = 0;    ///< As the broker counts.
    std::string_view became{};  ///< accepted, refused, partial, throttled, failed, unknown
    std::string note{};         ///< Details of the outcome.
    bool again = false;         ///< Repeats a batch whose first outcome is unknown.
};

struct results {
    waybill::send_report report{};
    waybill::calibration begun{};   ///< The calibration at the beginning.
    waybill::calibration learnt{};  ///< The calibration at the end.
    std::uint64_t lines = 0;
    std::uint64_t input_bytes = 0;
    line_numbers numbers{};
    std::uint64_t fewest = 0;  ///< The minimum of batches, with sizes known in advance.
    std::uint64_t partial = 0;
    std::uint64_t throttled = 0;
    std::uint64_t failed = 0;
    std::uint64_t unknown = 0;
    bool limit_told = false;  ///< A refusal of the broker contained the limit.
    bool checked = false;     ///< The queue has been read back.
    bool in_order = false;    ///< Of a checked queue.
    std::vector<std::string> wrong{};
    double seconds = 0;
};

/// Sends the lines of `in`, beginning with the calibration `known`. Calls `show` after each batch.
[[nodiscard]] results send_lines(const options& o, destination& to,
                                 const waybill::calibration& known, std::istream& in,
                                 const std::function<void(const sent&)>& show);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_WORK_HPP

// SPDX-License-Identifier: MIT
//
// options: the command line of lost_events.

#ifndef WAYBILL_EXAMPLES_LOST_EVENTS_OPTIONS_HPP
#define WAYBILL_EXAMPLES_LOST_EVENTS_OPTIONS_HPP

#include <optional>
#include <string>
#include <variant>

#include "input.hpp"
#include <waybill/core/time.hpp>

namespace lost_events {

struct options {
    std::string input{};
    std::string truth{};  ///< A file of exact counts. Empty: no check.
    std::string chart{};  ///< Empty: no chart.
    std::optional<waybill::duration> bin{};
    std::optional<waybill::duration> last{};  ///< If set, only the last part of the input.
    bool weekdays = false;
    selection select{};
};

/// The text and the exit code if the program is to end at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace lost_events

#endif  // WAYBILL_EXAMPLES_LOST_EVENTS_OPTIONS_HPP

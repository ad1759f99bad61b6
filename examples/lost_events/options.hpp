// SPDX-License-Identifier: MIT
//
// options: what lost_events was asked for.

#ifndef WAYBILL_EXAMPLES_LOST_EVENTS_OPTIONS_HPP
#define WAYBILL_EXAMPLES_LOST_EVENTS_OPTIONS_HPP

#include <optional>
#include <string>
#include <variant>

#include <waybill/core/time.hpp>

#include "input.hpp"

namespace lost_events {

struct options {
    std::string input{};
    std::string truth{};  ///< Empty: there is nothing to check against.
    std::string chart{};  ///< Empty: none is drawn.
    std::optional<waybill::duration> bin{};
    std::optional<waybill::duration> last{};  ///< Only so much before the end of the input.
    bool weekdays = false;
    selection select{};
};

/// Instead of work: what to say, and the exit code.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace lost_events

#endif  // WAYBILL_EXAMPLES_LOST_EVENTS_OPTIONS_HPP

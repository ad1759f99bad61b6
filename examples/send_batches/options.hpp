// SPDX-License-Identifier: MIT
//
// options: the command line of send_batches.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_OPTIONS_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace send_batches {

struct options {
    std::string to{};  ///< Empty: a temporary SQLite queue.
    std::string input{};
    std::optional<std::uint64_t> limit{};
    std::optional<std::uint64_t> items{};
    std::string report{};       ///< Empty: none.
    std::string calibration{};  ///< Empty: none.
    bool blind = false;
    bool plain = false;
};

/// The exit code and text if the program is to end at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_OPTIONS_HPP

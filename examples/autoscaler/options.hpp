// SPDX-License-Identifier: MIT
//
// options: the command line of autoscaler.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_OPTIONS_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <waybill/core/time.hpp>

namespace autoscaler {

struct options {
    std::string input{};  ///< The file of a trace.
    std::string from{};   ///< The address of a queue to read: see depth_any.hpp.
    bool live = false;    ///< Whether to start a queue, a producer and workers.
    std::string where{};  ///< The engine of the live queue: see live_engine.hpp.
    std::string policy{};
    std::string state{};  ///< Empty: none.
    std::string records{};
    std::string chart{};
    std::string folder{};  ///< Of the live queue. Empty: a temporary folder.
    waybill::duration window{};
    waybill::duration every{};
    waybill::duration delay{};
    waybill::duration lasting{};  ///< The duration of the run. Zero: until a signal.
    std::optional<std::uint64_t> instances{};
    bool advise = false;  ///< The trace contains the instances.
    bool all = false;
    bool plain = false;
    std::uint64_t seed = 1;
    std::uint64_t pause_ms = 0;  ///< After each decision, for tests that kill the program.
};

/// The exit code and text if the program is to end at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_OPTIONS_HPP

// SPDX-License-Identifier: MIT
//
// options: what autoscaler was asked to do.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_OPTIONS_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <waybill/core/time.hpp>

namespace autoscaler {

struct options {
    std::string input{};  ///< A trace.
    std::string from{};   ///< Or a queue that is asked: see depth_any.hpp.
    bool live = false;    ///< Or a queue, a producer and workers of our own,
    std::string where{};  ///< and what that queue is kept in: see live_engine.hpp.
    std::string policy{};
    std::string state{};   ///< Empty: none.
    std::string records{};
    std::string chart{};
    std::string folder{};  ///< Of the live queue. Empty: one that is removed at the end.
    waybill::duration window{};
    waybill::duration every{};
    waybill::duration delay{};
    waybill::duration lasting{};  ///< How long to ask; nothing: until somebody stops us.
    std::optional<std::uint64_t> instances{};
    bool advise = false;  ///< Instances are those of the trace.
    bool all = false;
    bool plain = false;
    std::uint64_t seed = 1;
    std::uint64_t pause_ms = 0;  ///< Behind each decision, for tests that kill us.
};

/// What ends the program at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_OPTIONS_HPP

// SPDX-License-Identifier: MIT
//
// options: the command line of mailroom.

#ifndef WAYBILL_EXAMPLES_MAILROOM_OPTIONS_HPP
#define WAYBILL_EXAMPLES_MAILROOM_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "phases.hpp"

namespace mailroom {

struct options {
    std::string input{};
    std::string db{};  ///< Empty: a temporary folder.
    std::uint64_t limit = 32'768;
    std::string report{};  ///< Empty: none.
    bool plain = false;

    // Between mailroom and its worker, and for its tests; not in --help.
    std::optional<hold> stop{};   ///< --hold PHASE[:NTH | @BYTE]
    std::optional<int> worker{};  ///< --worker FD: run as a worker, and report to FD.
    bool naive = false;           ///< --naive: the worker is the naive one.
    bool dump = false;            ///< --dump: print the tables of the sink in DIR.
};

/// The exit code and text if the program is to end at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_OPTIONS_HPP

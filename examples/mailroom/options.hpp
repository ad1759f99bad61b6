// SPDX-License-Identifier: MIT
//
// options: what mailroom was asked to do.

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
    std::string db{};  ///< Empty: a folder of its own that is removed at the end.
    std::uint64_t limit = 32'768;
    std::string report{};  ///< Empty: none.
    bool plain = false;

    // Between mailroom and its worker, and for its tests; not in --help.
    std::optional<hold> stop{};   ///< --hold PHASE[:NTH | @BYTE]
    std::optional<int> worker{};  ///< --worker FD: do the work, and tell of it there.
    bool naive = false;           ///< --naive: the worker is the naive one.
    bool dump = false;            ///< --dump: print the tables of the sink in DIR.
};

/// What ends the program at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_OPTIONS_HPP

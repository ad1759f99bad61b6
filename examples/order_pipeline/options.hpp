// SPDX-License-Identifier: MIT
//
// options: the command line of order_pipeline.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_OPTIONS_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace order_pipeline {

inline constexpr std::uint64_t most_workers = 32;
inline constexpr std::uint64_t most_jobs = 100'000;  ///< Also the limit of products of an import.

enum class command : std::uint8_t {
    run,      ///< Sends the orders and processes them.
    redrive,  ///< Redrives failed jobs.
};

struct options {
    command what = command::run;
    std::string input{};
    std::string db{};  ///< Empty: a temporary folder.
    std::string chart{};
    std::string dead_letters{};  ///< Empty: in the shop's database.
    /// Empty: SQLite. "postgres:" starts a server. Otherwise the address of a server.
    std::string sessions{};
    std::uint64_t workers = 3;
    std::uint64_t most = most_jobs;  ///< Orders or products.
    std::uint64_t imports = 4;
    std::uint64_t seed = 1;
    bool import = false;
    bool kill = false;
    bool fix = false;
    bool dry_run = false;
    std::uint64_t failed_step = 0;  ///< Redrive only jobs that failed at this step; 0: all.

    std::optional<std::uint64_t> worker{};  ///< --worker N: run as a worker. Not in --help.
};

/// The exit code and text if the program is to end at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_OPTIONS_HPP

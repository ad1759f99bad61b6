// SPDX-License-Identifier: MIT
//
// report: the progress of a run, and its summary.

#ifndef WAYBILL_EXAMPLES_MAILROOM_REPORT_HPP
#define WAYBILL_EXAMPLES_MAILROOM_REPORT_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "../support/program.hpp"
#include "options.hpp"
#include "supervisor.hpp"
#include "verify.hpp"

namespace mailroom {

/// One of the two implementations of the job, and the result of its check.
struct contestant {
    outcome how{};
    findings found{};
};

struct results {
    std::uint64_t input_bytes = 0;
    contestant waybill{};
    std::optional<contestant> naive{};
    double seconds = 0;
    bool temporary = false;
};

using support::say;

/// A progress bar on a terminal, otherwise a line for each quarter; on stderr.
class progress {
public:
    progress(std::string who, std::uint64_t input_bytes);
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;
    ~progress();  ///< Removes the bar.

    void show(const tally& t);

private:
    std::string who_;
    std::uint64_t bytes_;
    bool terminal_;
    std::uint64_t shown_ = 0;  // quarters of the input that have been reported as lines
    std::string last_{};       // the last text of the bar
    std::chrono::steady_clock::time_point next_{};
};

/// Prints at most ten lines.
void print(const options& o, const results& r);

/// Writes the file `o.report`, if set. Throws a complaint if that fails.
void write_report(const options& o, const results& r);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_REPORT_HPP

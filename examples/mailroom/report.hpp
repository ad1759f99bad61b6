// SPDX-License-Identifier: MIT
//
// report: what is shown on the way and at the end.

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

/// One of the two who do the job, and what was found out about his work.
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

/// A bar on a terminal, a line now and then elsewhere; on stderr, so that it is in nobody's way.
class progress {
public:
    progress(std::string who, std::uint64_t input_bytes);
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;
    ~progress();  ///< Takes the bar away.

    void show(const tally& t);

private:
    std::string who_;
    std::uint64_t bytes_;
    bool terminal_;
    std::uint64_t shown_ = 0;  // quarters of the input that have been reported as lines
    std::string last_{};       // what has been done by now
    std::chrono::steady_clock::time_point next_{};
};

/// At most ten lines.
void print(const options& o, const results& r);

/// Writes `o.report`, if there is one to be written. Throws a complaint if that fails.
void write_report(const options& o, const results& r);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_REPORT_HPP

// SPDX-License-Identifier: MIT
//
// report: the progress of a run, and its summary.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_REPORT_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_REPORT_HPP

#include <cstdint>
#include <string>

#include "../support/program.hpp"
#include "destination.hpp"
#include "options.hpp"
#include "work.hpp"

namespace send_batches {

using support::say;

/// A bar for each batch, relative to the limit. After the first batches, only batches that were not
/// accepted are shown. On a terminal the last line shows the progress.
class picture {
public:
    picture(const options& o, std::uint64_t limit);
    picture(const picture&) = delete;
    picture& operator=(const picture&) = delete;
    ~picture();  ///< Prints the number of batches without a bar.

    void show(const sent& s);

private:
    [[nodiscard]] std::string bar(const sent& s) const;

    std::uint64_t limit_;
    bool coloured_;
    bool moving_;
    std::uint64_t shown_ = 0;
    std::uint64_t odd_ = 0;  // batches that were shown and not accepted
    std::uint64_t left_out_ = 0;
    std::uint64_t items_ = 0;
};

void print(const options& o, const destination& to, const results& r);

/// Writes the file `o.report`, if set. Throws a complaint if that fails.
void write_report(const options& o, const destination& to, const results& r);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_REPORT_HPP

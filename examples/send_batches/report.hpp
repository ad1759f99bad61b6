// SPDX-License-Identifier: MIT
//
// report: what is shown on the way and at the end.

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

/// A bar a batch, against the limit. When there have been many, only what is not as it should be;
/// on a terminal a line at the bottom tells how far it is.
class picture {
public:
    picture(const options& o, std::uint64_t limit);
    picture(const picture&) = delete;
    picture& operator=(const picture&) = delete;
    ~picture();  ///< Tells what was left out.

    void show(const sent& s);

private:
    [[nodiscard]] std::string bar(const sent& s) const;

    std::uint64_t limit_;
    bool coloured_;
    bool moving_;
    std::uint64_t shown_ = 0;
    std::uint64_t odd_ = 0;  // of these, not accepted
    std::uint64_t left_out_ = 0;
    std::uint64_t items_ = 0;
};

void print(const options& o, const destination& to, const results& r);

/// Writes `o.report`, if there is one to be written. Throws a complaint if that fails.
void write_report(const options& o, const destination& to, const results& r);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_REPORT_HPP

// SPDX-License-Identifier: MIT
//
// job: the work of a worker from its start to the end of the input.
//
// Both jobs may be killed at any moment and started again on the same folder.

#ifndef WAYBILL_EXAMPLES_MAILROOM_JOB_HPP
#define WAYBILL_EXAMPLES_MAILROOM_JOB_HPP

#include <string>

#include "options.hpp"
#include "phases.hpp"
#include "tally.hpp"

namespace mailroom {

/// The files of a folder.
[[nodiscard]] inline std::string queue_in(const std::string& dir)
{
    return dir + "/queue.sqlite";
}
[[nodiscard]] inline std::string sink_in(const std::string& dir)
{
    return dir + "/sink.sqlite";
}

/// The job with waybill, in the folder `o.db`.
void run_job(const options& o, phases& at, const progress_sink& progress);

/// The job without waybill, in the folder `o.db`.
void run_naive_job(const options& o, phases& at, const progress_sink& progress);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_JOB_HPP

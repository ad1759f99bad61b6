// SPDX-License-Identifier: MIT
//
// jobs: creates the jobs and sends their steps to the queue.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_JOBS_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_JOBS_HPP

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "options.hpp"
#include "shop_services.hpp"
#include <waybill/core/fault.hpp>

namespace order_pipeline {

struct sent_messages {
    std::uint64_t accepted = 0;  ///< The number of messages in the queue, from the first on.
    std::uint64_t batches = 0;
    waybill::fault why{};  ///< The fault of the next one.
};

/// Sends messages in their order, in as few batches as the queue allows.
[[nodiscard]] sent_messages send_in_order(shop_services& w,
                                          std::span<const engines::session_message> messages);

struct taken_jobs {
    std::uint64_t jobs = 0;
    std::uint64_t known = 0;  ///< Jobs that were stored before.
    std::uint64_t steps = 0;
    std::uint64_t batches = 0;
    std::string left_out{};  ///< The lines that are no jobs, with the reasons.
};

/// Makes a job of each order, or of all products of an import, and sends its steps. The queue drops
/// repeated messages by their ids. Throws a complaint, and sends nothing, if a job with the same
/// name was different.
[[nodiscard]] taken_jobs take_jobs(shop_services& w, const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_JOBS_HPP

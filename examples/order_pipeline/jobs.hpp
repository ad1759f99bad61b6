// SPDX-License-Identifier: MIT
//
// jobs: what there is to be done, on its way into the queue.

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
    std::uint64_t accepted = 0;  ///< The first so many are in the queue.
    std::uint64_t batches = 0;
    waybill::fault why{};        ///< What kept the next one from it.
};

/// In their order, in as few batches as the queue takes.
[[nodiscard]] sent_messages send_in_order(shop_services& w,
                                          std::span<const engines::session_message> messages);

struct taken_jobs {
    std::uint64_t jobs = 0;
    std::uint64_t known = 0;  ///< So many of them were there before.
    std::uint64_t steps = 0;
    std::uint64_t batches = 0;
    std::string left_out{};   ///< What of the input is no job, and why.
};

/// Makes a job of each order, or of all products that an import has, and sends its steps. What was
/// sent before is dropped by the queue, which knows its messages by their ids. Nothing is sent, and
/// a complaint is thrown, where a job of that name was another one.
[[nodiscard]] taken_jobs take_jobs(shop_services& w, const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_JOBS_HPP

// SPDX-License-Identifier: MIT
//
// shop_services: the resources that all processes of order_pipeline share. One database file holds
// the queue with sessions. Another one holds the shop's data, the dead letters of steps, and the
// expected effects of each job.
//
// Jobs are called "order-17" and "import-3"; redriven, "order-17~1". The name says what a job is.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_SERVICES_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_SERVICES_HPP

#include <chrono>
#include <string>
#include <string_view>

#include "../engines/sqlite_sessions.hpp"
#include "letter_table.hpp"

namespace order_pipeline {

using namespace std::chrono_literals;

/// A lock is as short as it can be, since whoever is killed keeps it to its end.
inline constexpr engines::session_options queue_options{
    .lock = 500ms, .deliveries = 10, .remembers = std::chrono::hours(24 * 7), .partitions = 16};

/// What lies in a folder.
inline constexpr std::string_view own_files[] = {
    "queue.sqlite",      "queue.sqlite-wal",     "queue.sqlite-shm", "shop.sqlite",
    "shop.sqlite-wal",   "shop.sqlite-shm",      "receipt.txt",      "receipt.txt.new",
    "label.txt",         "label.txt.new",        "phases",           "lock",
    "input.fingerprint", "input.fingerprint.new"};

struct shop_services {
    /// `dead_letters` is empty, or the address of an Azure table.
    shop_services(const std::string& folder, const std::string& dead_letters)
        : queue_file(folder + "/queue.sqlite"),
          shop_file(folder + "/shop.sqlite"),
          queue(queue_file, queue_options),
          letters(shop_file, dead_letters),
          receipt(folder + "/receipt.txt"),
          label(folder + "/label.txt"),
          phases(folder + "/phases")
    {
    }

    engines::database queue_file;
    engines::database shop_file;
    engines::sqlite_sessions queue;
    letter_table letters;
    std::string receipt;  ///< The template of all receipts,
    std::string label;    ///< and that of the products' labels.
    std::string phases;
};

[[nodiscard]] inline waybill::wall_time wall()
{
    return std::chrono::system_clock::now();
}

[[nodiscard]] constexpr bool is_import(std::string_view job)
{
    return job.starts_with("import-");
}

/// Orders depend on each of their steps, products do not depend on each other.
[[nodiscard]] constexpr waybill::pipeline_policy policy_of(std::string_view job)
{
    waybill::pipeline_policy p;
    if (is_import(job)) p.mode = waybill::pipeline_policy::pipeline_mode::independent;
    p.retry = {.max_attempts = 4, .pauses = {.base = 20ms, .cap = 200ms}};
    p.max_wait_in_hand = 100ms;
    p.max_deliveries = queue_options.deliveries - 1;
    p.broker_max_deliveries = queue_options.deliveries;
    return p;
}
static_assert(!validate(policy_of("order-1")) && !validate(policy_of("import-1")));

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_SERVICES_HPP

// SPDX-License-Identifier: MIT
//
// shop_services: the resources that all processes of order_pipeline share.
//
//     SQLite       one file has the queue with sessions; another one the shop's data, the dead
//                  letters of steps, and the expected effects of each job (sqlite_services.cpp)
//     PostgreSQL   one database has all of it (postgres_services.cpp)
//
// The names of jobs are "order-17" and "import-3"; redriven, "order-17~1". The name has the kind.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_SERVICES_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_SERVICES_HPP

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "letter_table.hpp"
#include "options.hpp"
#include "order_queue.hpp"
#include "shop_tables.hpp"

namespace order_pipeline {

using namespace std::chrono_literals;

/// In SQLite, a killed worker holds its lock until the lock expires, so the lock is short. But it must
/// be longer than a disk's worst pause, or its holder loses it and a step runs twice. The main process
/// has longer locks, which the next run ends. In PostgreSQL, the lock of a killed worker is free at
/// once.
inline constexpr engines::session_options queue_options{
    .lock = 1s, .deliveries = 10, .remembers = std::chrono::hours(24 * 7), .partitions = 16};

/// The program's files in a folder.
inline constexpr std::string_view own_files[] = {
    "queue.sqlite",      "queue.sqlite-wal",      "queue.sqlite-shm", "shop.sqlite",
    "shop.sqlite-wal",   "shop.sqlite-shm",       "receipt.txt",      "receipt.txt.new",
    "label.txt",         "label.txt.new",         "phases",           "lock",
    "input.fingerprint", "input.fingerprint.new", "sessions",         "sessions.new"};

/// The open database, and the parts in it.
struct databases {
    std::shared_ptr<void> connections{};
    std::unique_ptr<order_queue> queue{};
    std::unique_ptr<letter_table> letters{};
    std::unique_ptr<shop_tables> tables{};
};
/// In files of `o.db`.
[[nodiscard]] databases open_sqlite(const options& o);
/// In the database at the address that `start_server` has written to `o.db`.
[[nodiscard]] databases open_postgres(const options& o);

struct shop_services {
    explicit shop_services(const options& o)
        : shop_services(o.db, o.sessions.empty() ? open_sqlite(o) : open_postgres(o))
    {
    }

private:
    databases in_;  // before the references

    shop_services(const std::string& folder, databases in)
        : in_(std::move(in)),
          queue(*in_.queue),
          letters(*in_.letters),
          tables(*in_.tables),
          receipt(folder + "/receipt.txt"),
          label(folder + "/label.txt"),
          phases(folder + "/phases")
    {
    }

public:
    order_queue& queue;
    letter_table& letters;
    shop_tables& tables;
    std::string receipt;  ///< The template of receipts.
    std::string label;    ///< The template of the products' labels.
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

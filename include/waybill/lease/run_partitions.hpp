// SPDX-License-Identifier: MIT
//
// run_partitions: processes the share of one process in the partitions of a log.
//
//     engines::sqlite_store store(db);
//     engines::sqlite_leases leases(db);
//     const auto handle = [&](auto& tx, const order& o) -> waybill::fault { ... };
//     auto r = waybill::run_partitions(log, store, leases, handle,
//                                      {.group = "billing", .owner = "host-7"}, env);
//     print(waybill::describe(r));
//
// It shares the partitions with other owners of the group. It processes batches until the
// environment requests a stop or, with `until_drained`, until there are no more events. Then it
// gives all leases back.
//
// Guarantees
//   1. As of process_batch: effects in the transaction, dead letters and the checkpoint are
//      committed together. So each event takes effect once.
//   2. If the leases can be read in that transaction, no commit succeeds after another owner has
//      taken the partition. Otherwise, none succeeds after that owner has committed.
//   3. If a handler is slow, the batch is committed early, so that the leases are renewed in time.
//      One event must be done within 7/8 of `expiry`, less one interval (42.5 s by default). For
//      longer events use threads (partition_tasks.hpp).
//   4. A fault of log, store or leases is repeated after a pause that grows. It ends nothing.

#ifndef WAYBILL_LEASE_RUN_PARTITIONS_HPP
#define WAYBILL_LEASE_RUN_PARTITIONS_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/lease/detail/partition_run.hpp>
#include <waybill/lease/event_log.hpp>
#include <waybill/lease/lease_group.hpp>
#include <waybill/lease/partition_tasks.hpp>
#include <waybill/lease/partitions_report.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// The names of the partitions. Repeats the call after a fault, and while there are none. False
/// after a stop request.
template <class Log, class Clock>
[[nodiscard]] bool list_partitions(Log& log, const partition_lifecycle::config& c, Clock& clock,
                                   std::vector<std::string>& names, partitions_report& r)
{
    static_assert(checked_event_log<Log>::ok);
    std::uint32_t failures = 0;
    while (!clock.stop_requested()) {
        auto listed = log.partitions();
        const steady_time now = clock.now();
        if (listed && !listed->empty()) {
            names = *std::move(listed);
            return true;
        }
        duration wait = c.poll;
        if (listed) {
            failures = 0;
        } else {
            r.failed_reads = saturating_add(r.failed_reads, 1);
            store_fault(r, {}, listed.error());
            if (failures != ~std::uint32_t{0}) ++failures;
            wait = pause(c.pause, failures, clock.random());
        }
        if (!clock.sleep_until(now + wait)) return false;
    }
    return false;
}

/// Completes a task, also if an exception leaves `run`.
template <class Tasks>
class task_guard {
public:
    task_guard(Tasks& work, typename Tasks::task& t, steady_time now) noexcept
        : work_(work), task_(t), now_(now)
    {
    }
    task_guard(const task_guard&) = delete;
    task_guard& operator=(const task_guard&) = delete;
    ~task_guard() { work_.complete(std::move(task_), now_); }
    void returned_at(steady_time now) noexcept { now_ = now; }

private:
    Tasks& work_;
    typename Tasks::task& task_;
    steady_time now_;
};

/// Adds the report of the tasks at the end, also if an exception ends it.
template <class Tasks>
class report_guard {
public:
    report_guard(Tasks& work, partitions_report& r) noexcept : work_(work), report_(r)
    {
        work_.take_last_fault(report_);
    }
    report_guard(const report_guard&) = delete;
    report_guard& operator=(const report_guard&) = delete;
    ~report_guard() { work_.add_report_to(report_); }

private:
    Tasks& work_;
    partitions_report& report_;
};

}  // namespace detail

/// Continues with `work`, which keeps its leases and its report. After an exception of a callable,
/// the batch is rolled back, and a further call repeats it after a pause. After the end it does
/// nothing.
template <class Log, class Store, class Leases, class Handler, class Environment>
partitions_report run_partitions(Log&& log, Store&& store, Leases&& leases, Handler&& handler,
                                 partition_tasks& work, Environment&& env)
{
    detail::driver_clock clock(env);
    while (true) {
        const bool stops = clock.stop_requested();
        if (stops) work.on(stop_requested{}, clock.now());
        partition_tasks::task t = work.next_task(clock.now());
        // After a stop request nothing has to be waited for.
        if (t.ended() || (t.waits() && stops)) break;
        if (t.waits()) {
            (void)clock.sleep_until(t.until());
            continue;
        }
        detail::task_guard guard(work, t, clock.now());
        work.run(t, log, store, leases, handler, clock);
        guard.returned_at(clock.now());
    }
    return work.report();
}

/// The same for a new process. Adds its counts to `report` at the end, also if a callable throws.
/// After an exception the leases are still held. A further call with the same report takes them
/// over at once; without it they expire.
template <class Log, class Store, class Leases, class Handler, class Environment>
void run_partitions(Log&& log, Store&& store, Leases&& leases, Handler&& handler,
                    const partition_tasks::policy& p, Environment&& env, partitions_report& report)
{
    detail::driver_clock clock(env);
    report.released = false;
    report.drained = false;
    report.invalid = validate(p);
    if (report.invalid) return;
    std::vector<std::string> names;
    if (!detail::list_partitions(log, p.lifecycle, clock, names, report)) {
        report.released = true;
        return;
    }
    if (report.incarnation == 0) report.incarnation = detail::draw_incarnation(clock);
    partition_tasks work(p, names, report.incarnation);
    detail::report_guard guard(work, report);
    (void)run_partitions(log, store, leases, handler, work, clock);
}

/// Shares the partitions of `log` with the other owners of the group, and processes them until the
/// environment requests a stop or `until_drained` is reached. Then gives all leases back. The
/// partitions are listed once.
///
/// `log` is an `event_log`, `store` a store of process_batch, and `leases` a `lease_store`. The
/// handler is called as handler(tx, event) or handler(tx, event, key). It returns a fault, an
/// event_outcome or void.
template <class Log, class Store, class Leases, class Handler, class Environment>
[[nodiscard]] partitions_report run_partitions(Log&& log, Store&& store, Leases&& leases,
                                               Handler&& handler, const partition_tasks::policy& p,
                                               Environment&& env)
{
    partitions_report report;
    run_partitions(log, store, leases, handler, p, env, report);
    return report;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_RUN_PARTITIONS_HPP

// SPDX-License-Identifier: MIT

#include "worker.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "../engines/sqlite_leases.hpp"
#include "../engines/sqlite_store.hpp"
#include "../support/program.hpp"
#include "event_log.hpp"
#include "files.hpp"
#include "ledger.hpp"
#include "phases.hpp"
#include <waybill/consume.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/lease.hpp>

namespace reliable_consumer {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

volatile std::sig_atomic_t terminated = 0;

waybill::processor::config as_worker(const options& o, std::uint64_t incarnation)
{
    waybill::processor::config c;
    c.group = {source, group, {}, {fmt::format("worker-{}", *o.worker), incarnation}};
    for (std::uint64_t p = 0; p != o.partitions; ++p)
        c.group.partitions.push_back(std::to_string(p));
    // seconds in production, where kills are rare
    c.group.leases = {.interval = 20ms, .expiry = 80ms};
    c.lifecycle = {.poll = 20ms, .pause = {.base = 20ms, .cap = 1s}};
    return c;
}

class consumer {
public:
    explicit consumer(const options& o)
        : o_(o),
          log_(log_in(o)),
          sink_(sink_in(o)),
          checkpoints_(sink_),
          leases_(sink_),
          store_(checkpoints_, leases_),
          ledger_(sink_),
          phases_(phases_in(o)),
          place_(phases_.of(*o.worker)),
          incarnation_(std::random_device{}() | std::uint64_t{std::random_device{}()} << 32U),
          dice_(incarnation_),
          work_(as_worker(o, incarnation_))
    {
    }

    void run()
    {
        while (!work_.ended()) {
            if (terminated != 0) work_.on(waybill::stop_requested{}, clock::now());
            waybill::match(
                work_.next(clock::now()),
                [&](const waybill::lease_manager::lease_call& c) {
                    at(phase::leases);
                    const auto answer = waybill::perform(leases_, c, draw());
                    note(answer);
                    work_.on(answer, clock::now());
                },
                [&](waybill::partition_lifecycle::open a) { work_.on(open(a), clock::now()); },
                [&](waybill::partition_lifecycle::process a) {
                    const waybill::batch_outcome end = one_batch(a);
                    work_.on(waybill::partition_lifecycle::processed::of(a, end), clock::now());
                },
                [&](waybill::partition_lifecycle::close a) {
                    work_.on(waybill::partition_lifecycle::partition_closed{a.partition, a.epoch},
                             clock::now());
                },
                // Each batch has saved its position itself.
                [&](waybill::partition_lifecycle::save a) {
                    work_.on(waybill::partition_lifecycle::partition_saved{a.partition, a.epoch},
                             clock::now());
                },
                [&](waybill::wait_until w) {
                    at(phase::asleep);
                    const auto until = std::chrono::nanoseconds(
                        (w.time - waybill::steady_time(clock::now())).count());
                    std::this_thread::sleep_for(std::min<clock::duration>(until, 50ms));
                },
                [](waybill::idle) {});
        }
    }

private:
    /// The position at which a newly owned partition continues.
    waybill::partition_lifecycle::partition_opened open(const waybill::partition_lifecycle::open& a)
    {
        at(phase::leases);
        const auto stored = store_.load(work_.key(a.partition));
        note(stored);
        if (stored) mine_[a.partition] = work_.assignment_of(a, *stored);
        return waybill::partition_lifecycle::partition_opened::of(a, stored);
    }

    /// Reads the next events, and commits their effects with the position after them.
    waybill::batch_outcome one_batch(const waybill::partition_lifecycle::process& a)
    {
        waybill::assignment& mine = mine_.at(a.partition);
        at(phase::reading);
        const auto events = log_.read(a.partition, mine.from ? mine.from->sequence : 0, o_.batch);
        at(phase::batch);
        const auto handle = waybill::catching(
            [&](auto&, const event& e) {
                at(phase::handler);
                return ledger_.apply(a.partition, e);
            },
            engines::classify);
        const auto r =
            waybill::process_batch(store_, mine, events, handle, std::chrono::system_clock::now());
        if (r.outcome == waybill::batch_outcome::committed) mine.from = r.reached;
        else note(r.reason);
        return r.outcome;
    }

    void at(phase p) { place_.at = p; }

    /// Shows a failure. A lost partition is not a failure.
    void note(const waybill::fault& f)
    {
        if (!f.ok() && f.kind != waybill::fault_kind::ownership_lost) place_.report(f.text);
    }
    template <class T>
    void note(const waybill::result<T>& answer)
    {
        if (!answer) note(answer.error());
    }
    void note(const waybill::lease_manager::lease_answer& answer)
    {
        waybill::match(
            answer, [&](const waybill::lease_manager::renewed& a) { note(a.table); },
            [&](const waybill::lease_manager::claimed& a) {
                for (const auto& each : a.answers) note(each);
            },
            [&](const auto& a) { note(a.answer); });
    }

    double draw() { return std::uniform_real_distribution<double>(0, 1)(dice_); }

    const options& o_;
    event_log log_;
    engines::database sink_;
    engines::sqlite_store checkpoints_;
    engines::sqlite_leases leases_;
    waybill::fenced_store<engines::sqlite_store, engines::sqlite_leases> store_;
    ledger ledger_;
    phases phases_;
    support::worker_place<phase>& place_;
    std::uint64_t incarnation_;
    std::mt19937_64 dice_;
    waybill::processor work_;
    std::map<std::uint32_t, waybill::assignment> mine_;
};

}  // namespace

int work(const options& o)
{
    std::signal(SIGTERM, [](int) { terminated = 1; });
    sigset_t early;  // blocked by the supervisor until here
    sigemptyset(&early);
    sigaddset(&early, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &early, nullptr);
    consumer(o).run();
    return 0;
}

}  // namespace reliable_consumer

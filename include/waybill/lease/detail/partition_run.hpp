// SPDX-License-Identifier: MIT
//
// partition_run: makes the calls of one task of `partition_tasks`, and counts their results.

#ifndef WAYBILL_LEASE_DETAIL_PARTITION_RUN_HPP
#define WAYBILL_LEASE_DETAIL_PARTITION_RUN_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/lease/event_log.hpp>
#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/lease/partitions_report.hpp>

namespace waybill::inline v0_2::detail {

template <class Store>
inline constexpr bool is_fenced = false;
template <class Store, class Leases>
inline constexpr bool is_fenced<fenced_store<Store, Leases>> = true;

/// True if each commit checks the lease.
template <class Store, class Leases>
inline constexpr bool commits_are_fenced =
    is_fenced<Store> || lease_fence<Leases, typename Store::transaction>;

/// The store, fenced by the leases if a transaction of the store can read them.
template <class Store, class Leases>
[[nodiscard]] decltype(auto) fenced(Store& store, [[maybe_unused]] Leases& leases)
{
    if constexpr (is_fenced<Store> || !commits_are_fenced<Store, Leases>) return (store);
    else return fenced_store<Store, Leases>(store, leases);
}

/// A handler (transaction, event) or (transaction, event, key) that returns a fault, an
/// event_outcome or void, as a handler of process_batch. Counts its calls.
template <class Handler>
class event_call {
public:
    event_call(Handler& handler, const partition_key& key, std::uint64_t& calls)
        : handler_(handler), key_(key), calls_(calls)
    {
    }

    template <class Transaction, class Event>
    auto operator()(Transaction& tx, const Event& e)
    {
        constexpr bool takes_key =
            std::invocable<Handler&, Transaction&, const Event&, const partition_key&>;
        static_assert(takes_key || std::invocable<Handler&, Transaction&, const Event&>,
                      "run_partitions: the handler must accept (transaction&, const event&), or "
                      "(transaction&, const event&, const partition_key&)");
        ++calls_;
        if constexpr (takes_key) return returned([&] { return handler_(tx, e, key_); });
        else return returned([&] { return handler_(tx, e); });
    }

private:
    template <class Call>
    static auto returned(const Call& call)
    {
        using type = std::invoke_result_t<const Call&>;
        static_assert(std::is_void_v<type> || std::convertible_to<type, event_outcome>,
                      "run_partitions: the handler must return a fault, an event_outcome or void");
        if constexpr (std::is_void_v<type>) {
            call();
            return fault{};
        } else if constexpr (std::convertible_to<type, fault>) {
            return fault(call());
        } else {
            return event_outcome(call());
        }
    }

    Handler& handler_;
    const partition_key& key_;
    std::uint64_t& calls_;
};

/// Ends a batch at a time, or at a stop request. `is_cut` is then true.
template <class Clock>
struct batch_watch {
    Clock& clock;
    steady_time until;
    bool is_cut = false;

    [[nodiscard]] batch_policy::if_all_failed operator()(std::uint64_t) const
    {
        return batch_policy::if_all_failed::go_on;
    }
    [[nodiscard]] bool keep_going()
    {
        is_cut = clock.stop_requested() || clock.now() >= until;
        return !is_cut;
    }
};

/// Stores a fault in a report.
inline void store_fault(partitions_report& r, const std::string& partition, const fault& f)
{
    r.last_fault = f;
    r.last_partition = partition;
    r.repaired = false;
}

/// Adds the counts of `more`. Its texts are moved.
inline void add_counts(partitions_report& to, partitions_report& more) noexcept
{
    constexpr std::uint64_t partitions_report::* counts[] = {
        &partitions_report::opened,          &partitions_report::batches,
        &partitions_report::cut_batches,     &partitions_report::handled,
        &partitions_report::dead_lettered,   &partitions_report::dropped,
        &partitions_report::skipped,         &partitions_report::repeated_calls,
        &partitions_report::failed_batches,  &partitions_report::lost_batches,
        &partitions_report::unknown_commits, &partitions_report::failed_reads,
        &partitions_report::failed_opens,    &partitions_report::failed_lease_calls};
    for (const auto count : counts) to.*count = saturating_add(to.*count, more.*count);
    to.fenced = to.fenced || more.fenced;
    if (more.last_fault.ok()) return;
    to.last_fault = std::move(more.last_fault);
    to.last_partition = std::move(more.last_partition);
    to.repaired = more.repaired;
}

/// Two random numbers as one of 64 bits, which is not 0.
template <class Environment>
[[nodiscard]] std::uint64_t draw_incarnation(Environment& env)
{
    constexpr double two_to_32 = 4'294'967'296.0;
    const auto draw = [&] {
        const double random = env.random();
        return random >= 0 && random < 1 ? static_cast<std::uint64_t>(random * two_to_32) : 0;
    };
    const std::uint64_t high = draw();
    const std::uint64_t drawn = high << 32 | draw();
    return drawn == 0 ? 1 : drawn;
}

/// Makes a call of the leases. A failed call is counted in `r`.
template <class Leases>
[[nodiscard]] lease_manager_types::lease_answer call_leases(
    Leases& leases, const lease_manager_types::lease_call& call, double random,
    partitions_report& r)
{
    using types = lease_manager_types;
    types::lease_answer answer = perform(leases, call, random);
    r = {};
    const auto count_failure = [&](const auto& returned) {
        if (returned) return;
        r.failed_lease_calls = 1;
        store_fault(r, {}, returned.error());
    };
    match(
        answer,
        [&](const types::renewed& a) {
            count_failure(a.written);
            count_failure(a.table);
        },
        [&](const types::claimed& a) {
            for (const auto& each : a.answers) count_failure(each);
        },
        [&](const types::group_left& a) { count_failure(a.answer); },
        [&](const types::listed& a) { count_failure(a.answer); });
    return answer;
}

/// The fault of a checkpoint after the end of the log, for example of a log that was created anew.
/// Without this fault, nothing would be read and no error reported. Empty if the log does not know
/// its end.
template <class Log>
[[nodiscard]] fault end_fault([[maybe_unused]] Log& log, [[maybe_unused]] const assignment& mine)
{
    if constexpr (log_with_end<Log>) {
        if (!mine.from) return {};
        const result<std::optional<position>> end = log.end(mine.key.partition);
        if (!end) return end.error();
        if (!*end || (*end)->sequence >= mine.from->sequence) return {};
        return permanent("the checkpoint is " + std::to_string(mine.from->sequence) +
                         ", after the end of the log, " + std::to_string((*end)->sequence) +
                         ": if the log was created anew, rewind the checkpoint");
    } else {
        return {};
    }
}

/// Loads the checkpoint of `mine`. The result is in `opened`.
template <class Log, class Store>
void open_partition(Log& log, Store& store, assignment& mine,
                    partition_lifecycle_types::partition_opened& opened, partitions_report& r)
{
    const result<std::optional<checkpoint>> stored = store.load(mine.key);
    fault f;
    if (stored) {
        mine.from = position_of(*stored);
        opened.stored_epoch = *stored ? (*stored)->epoch : 0;
        f = end_fault(log, mine);
    } else {
        f = stored.error();
    }
    opened.kind = f.kind;
    r = {};
    if (f.ok()) {
        r.opened = 1;
        return;
    }
    r.failed_opens = 1;
    store_fault(r, mine.key.partition, f);
}

/// Counts a batch in `r`, and continues after it.
template <std::same_as<batch_report> Report>
void count_batch(const Report& b, bool is_cut, assignment& mine, partitions_report& r)
{
    switch (b.outcome) {
        case batch_outcome::committed:
            r.batches = 1;
            r.cut_batches = is_cut ? 1 : 0;
            mine.from = b.reached;
            break;
        case batch_outcome::ownership_lost: r.lost_batches = 1; break;
        case batch_outcome::unknown: r.unknown_commits = 1; break;
        case batch_outcome::redeliver:
        case batch_outcome::cancelled:
        case batch_outcome::invalid: r.failed_batches = 1; break;
        case batch_outcome::empty: break;
    }
    r.handled = b.handled;
    r.dead_lettered = b.dead_lettered;
    r.dropped = b.dropped;
    r.skipped = b.skipped;
    if (!b.reason.ok()) store_fault(r, mine.key.partition, b.reason);
}

/// True if no event follows the checkpoint, after a read without events. True if the log does not
/// know its end.
template <class Log>
[[nodiscard]] bool is_at_end([[maybe_unused]] Log& log, [[maybe_unused]] const assignment& mine,
                             [[maybe_unused]] partitions_report& r)
{
    if constexpr (log_with_end<Log>) {
        const result<std::optional<position>> end = log.end(mine.key.partition);
        if (end) return !*end || (mine.from && (*end)->sequence <= mine.from->sequence);
        r.failed_reads = 1;
        store_fault(r, mine.key.partition, end.error());
        return false;
    } else {
        return true;
    }
}

/// Reads and handles one batch. The result is in `done`; `r.drained` is true at the end of the
/// partition.
template <class Log, class Store, class Leases, class Handler, class Clock, class Policy>
void process_partition(Log& log, Store& store, Leases& leases, Handler& handler, Clock& clock,
                       const Policy& p, steady_time until, assignment& mine,
                       partition_lifecycle_types::processed& done, partitions_report& r)
{
    const auto events = log.read(mine.key.partition, mine.from, p.max_events);
    if (!events) {
        r = {};
        r.failed_reads = 1;
        store_fault(r, mine.key.partition, events.error());
        return;
    }
    auto&& guarded = fenced(store, leases);
    event_call<Handler> call(handler, mine.key, r.repeated_calls);
    batch_watch<Clock> watch{clock, until};
    const batch_report b =
        process_batch(guarded, mine, *events, call, clock.wall_now(), p.batch, watch);
    const std::uint64_t calls = r.repeated_calls;
    r = {};
    count_batch(b, watch.is_cut, mine, r);
    const std::uint64_t counted = r.handled + r.dead_lettered + r.dropped + r.skipped;
    r.repeated_calls = calls > counted ? calls - counted : 0;
    if (p.until_drained && b.outcome == batch_outcome::empty) r.drained = is_at_end(log, mine, r);
    done.pass = partition_lifecycle_types::pass_of(b.outcome);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_PARTITION_RUN_HPP

// SPDX-License-Identifier: MIT
//
// partition_tasks: the loop of `run_partitions` as tasks for several threads.
//
//     auto task = work.next_task(env.now());                            // under a mutex
//     work.run(task, log, store, leases, handle, env);                  // without the mutex
//     work.complete(std::move(task), env.now());                        // under the mutex
//
// The guide has the loop of a thread. Each thread has connections of its own.
//
// Guarantees
//   1. At most one task at a time calls the leases, and at most one works on a partition.
//   2. Tasks of different partitions are independent, so a slow batch delays no other partition.
//   3. A thread that calls only `next_lease_task` renews the leases while all others are busy.
//   4. A task that was not run, or whose handler threw, counts as failed and is repeated.
//
// A value without locks: one thread at a time.
// Exception: several threads may call `run` at the same time.

#ifndef WAYBILL_LEASE_PARTITION_TASKS_HPP
#define WAYBILL_LEASE_PARTITION_TASKS_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time.hpp>
#include <waybill/lease/detail/checked_lease_store.hpp>
#include <waybill/lease/detail/partition_run.hpp>
#include <waybill/lease/detail/partition_steps.hpp>
#include <waybill/lease/event_log.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_group.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/lease/partitions_report.hpp>
#include <waybill/lease/processor.hpp>

namespace waybill::inline v0_2 {

namespace detail {
template <class Tasks>
class report_guard;
}  // namespace detail

/// The tasks of one process. All of its threads share one object.
class partition_tasks : private lease_manager_types, private partition_lifecycle_types {
public:
    struct policy {
        std::string source{};            ///< The log: the first part of each key.
        std::string group{};             ///< Owners of one group share the partitions.
        std::string owner{};             ///< The name of this process; not empty.
        std::uint64_t max_events = 100;  ///< Maximum events of one read, and of one transaction.
        /// Stop when this process has its share of the partitions, and has read each to its end.
        bool until_drained = false;
        lease_options leases{};
        partition_lifecycle::config lifecycle{};
        batch_policy batch{};

        friend bool operator==(const policy&, const policy&) = default;
    };

    /// The first error of `p`: an empty owner, no events in a batch, or an invalid part.
    [[nodiscard]] friend std::optional<config_error> validate(const policy& p)
    {
        if (p.owner.empty()) return config_error{"owner", 0, "bytes must be at least", 1};
        if (p.max_events == 0) return config_error{"max_events", 0, "must be at least", 1};
        if (auto bad = validate(p.leases)) return bad;
        if (auto bad = validate(p.lifecycle)) return bad;
        return validate(p.batch);
    }

    /// One call, or one batch. It refers to nothing and may be moved between threads.
    class task {
    public:
        /// True if nothing is due before `until()`, unless a task is completed earlier.
        [[nodiscard]] bool waits() const noexcept { return kind_ == kind::wait; }
        /// True if all partitions are closed, and all leases were given back or tried three times.
        [[nodiscard]] bool ended() const noexcept { return kind_ == kind::end; }
        /// The end of the wait. For a batch, the time after which it commits what is done.
        [[nodiscard]] steady_time until() const noexcept { return until_; }
        /// The partition; empty if the task calls the leases, waits or has ended.
        [[nodiscard]] const partition_key& key() const noexcept { return mine_.key; }

    private:
        friend class partition_tasks;
        enum class kind : std::uint8_t { end, wait, lease_call, open, process };

        kind kind_ = kind::end;
        steady_time until_{};
        [[maybe_unused]] std::uint32_t partition_ = 0;  // used in templates only
        assignment mine_{};
        lease_call call_{};
        lease_answer answer_{};
        bool answered_ = false;
        partition_opened opened_{};
        processed processed_{};
        partitions_report counts_{};  // of this task; before it is run, those of a failure
    };

    /// `partitions` are the names of all partitions, each once. `incarnation` is a random number
    /// that differs at each start of the process. If `validate` refuses the policy, `report` has
    /// the error, and the first task is the end.
    template <class = void>
    partition_tasks(const policy& p, const std::vector<std::string>& partitions,
                    std::uint64_t incarnation)
        : policy_(p),
          processor_({group_of(p, partitions, incarnation), p.lifecycle}),
          slots_(partitions.size())
    {
        report_.incarnation = incarnation;
        report_.invalid = validate(p);
        if (!report_.invalid) report_.invalid = validate(group_of(p, partitions, incarnation));
    }

    /// The same with an incarnation from the random numbers of `env`.
    template <environment Environment>
    partition_tasks(const policy& p, const std::vector<std::string>& partitions, Environment& env)
        : partition_tasks(p, partitions, detail::draw_incarnation(env))
    {
    }

    /// The next task: a call of the leases first, then partitions in turn. If nothing is due, a
    /// task that waits. Each other task must be passed to `complete`. Linear in the partitions.
    template <class = void>
    [[nodiscard]] task next_task(steady_time now)
    {
        return next_of(*this, now, true);
    }

    /// As `next_task`, but only calls of the leases, for a thread that does nothing else.
    template <class = void>
    [[nodiscard]] task next_lease_task(steady_time now)
    {
        return next_of(*this, now, false);
    }

    /// Makes the calls of a task: of the leases, or of log, store and handler for one batch. It
    /// reads only the policy, so it needs no mutex. Exceptions of callables pass through.
    ///
    /// If the leases can be read in a transaction of the store (fenced_store.hpp), each commit
    /// checks the lease. The handler is called as handler(tx, event) or handler(tx, event, key),
    /// and returns a fault, an event_outcome or void.
    template <class Log, class Store, class Leases, class Handler, class Environment>
    void run(task& t, Log&& log, Store&& store, Leases&& leases, Handler&& handler,
             Environment&& env) const
    {
        static_assert(detail::checked_event_log<std::remove_cvref_t<Log>>::ok);
        static_assert(detail::checked_batch_store<std::remove_cvref_t<Store>>::ok);
        static_assert(detail::checked_lease_store<std::remove_cvref_t<Leases>>::ok);
        detail::driver_clock clock(env);
        t.counts_.last_fault.text = "an exception";  // unless a call below returns
        switch (t.kind_) {
            case task::kind::end:
            case task::kind::wait: break;
            case task::kind::lease_call:
                t.answer_ = detail::call_leases(leases, t.call_, clock.random(), t.counts_);
                t.answered_ = true;
                break;
            case task::kind::open:
                detail::open_partition(log, store, t.mine_, t.opened_, t.counts_);
                break;
            case task::kind::process:
                detail::process_partition(log, store, leases, handler, clock, policy_, t.until_,
                                          t.mine_, t.processed_, t.counts_);
                break;
        }
        t.counts_.fenced =
            detail::commits_are_fenced<std::remove_cvref_t<Store>, std::remove_cvref_t<Leases>>;
    }

    /// Ends a task. Its result takes effect in the next call of `next_task`. A task that was not
    /// run, or whose `run` threw, counts as failed.
    template <std::same_as<task> Task>
    void complete(Task&& t, steady_time now) noexcept
    {
        complete_in(*this, t, now);
    }

    /// Starts to close and give back all partitions. Batches in progress end early if the
    /// environment of `run` requests a stop, too.
    event_result on(const stop_requested& s, steady_time now)
    {
        now_ = detail::later(now_, now);
        return processor_.on(s, now_);
    }

    /// The counts of all completed tasks.
    [[nodiscard]] const partitions_report& report() const noexcept { return report_; }
    /// The leases and partitions.
    [[nodiscard]] const processor& state() const noexcept { return processor_; }

private:
    template <class Tasks>
    friend class detail::report_guard;

    /// Moves the last fault of an earlier call to here, so that its repair is noticed.
    template <std::same_as<partitions_report> Report>
    void take_last_fault(Report& from) noexcept
    {
        report_.last_fault = std::move(from.last_fault);
        report_.last_partition = std::move(from.last_partition);
        report_.repaired = from.repaired;
    }

    template <std::same_as<partitions_report> Report>
    void add_report_to(Report& to) noexcept
    {
        detail::add_counts(to, report_);
        to.released = report_.released;
        to.drained = report_.drained;
        to.invalid = report_.invalid;
    }

    enum class progress : std::uint8_t { none, running, completed };

    /// The task of a partition.
    struct slot {
        progress state = progress::none;
        bool was_open = false;
        bool drained = false;  // the last task has read all events
        assignment mine{};     // of the last task
        partition_opened opened{};
        processed processed_batch{};
    };

    template <std::same_as<policy> Policy>
    [[nodiscard]] static lease_group group_of(const Policy& p,
                                              const std::vector<std::string>& partitions,
                                              std::uint64_t incarnation)
    {
        return {p.source, p.group, partitions, {p.owner, incarnation}, p.leases};
    }

    // In the following functions all types depend on Self, so that they cost nothing where the
    // header is included and they are not called.

    template <class Self, class Task>
    static void complete_in(Self& self, Task& t, steady_time now) noexcept
    {
        using kind = typename Task::kind;
        if (t.kind_ == kind::end || t.kind_ == kind::wait) return;
        self.now_ = detail::later(self.now_, now);
        // An opened partition can still fail where it failed before.
        const bool repairs = t.kind_ != kind::open && t.counts_.last_fault.ok() &&
                             t.mine_.key.partition == self.report_.last_partition;
        detail::add_counts(self.report_, t.counts_);
        if (repairs && !self.report_.last_fault.ok()) self.report_.repaired = true;
        if (t.kind_ == kind::lease_call) {
            self.call_ = std::move(t.call_);
            self.answer_ = std::move(t.answer_);
            self.answered_ = t.answered_;
            self.lease_call_ = progress::completed;
            return;
        }
        auto& s = self.slots_[t.partition_];
        s.mine = std::move(t.mine_);
        s.opened = t.opened_;
        s.processed_batch = t.processed_;
        s.was_open = t.kind_ == kind::open;
        s.drained = t.counts_.drained;
        s.state = progress::completed;
    }

    template <class Self>
    [[nodiscard]] static typename Self::task next_of(Self& self, steady_time time,
                                                     bool opens_and_processes)
    {
        self.now_ = detail::later(self.now_, time);
        apply_results(self);
        if (self.policy_.until_drained && !self.report_.drained && all_drained(self)) {
            self.report_.drained = true;
            (void)self.processor_.on(stop_requested{}, self.now_);
        }
        typename Self::task t;
        const auto is_free = [&](std::uint32_t p) {
            return self.slots_[p].state == progress::none;
        };
        bool selected = self.report_.invalid.has_value();
        while (!selected) {
            auto step = detail::partition_steps::next(self.processor_, self.now_,
                                                      self.lease_call_ == progress::none,
                                                      opens_and_processes, is_free);
            selected = select(self, t, step);
        }
        self.report_.released = self.processor_.ended();
        return t;
    }

    /// True if this process has its share of the partitions, and the last read of each has found
    /// its end. False if a stop was requested before.
    template <class Self>
    [[nodiscard]] static bool all_drained(const Self& self)
    {
        const auto& leases = self.processor_.leases();
        if (!leases.balanced() || leases.stopping()) return false;
        for (std::uint32_t p = 0; p != leases.partitions(); ++p) {
            const auto epoch = leases.epoch(p);
            const auto& s = self.slots_[p];
            const bool is_read = s.state == progress::none && s.drained && s.mine.epoch == epoch;
            if (epoch && !is_read) return false;
        }
        return true;
    }

    /// Makes the step a task. Steps without a call are done at once: then the result is false.
    template <class Self, class Task, class Step>
    static bool select(Self& self, Task& t, Step& step)
    {
        using kind = typename Task::kind;
        return match(
            step,
            [&](lease_call& c) {
                t.kind_ = kind::lease_call;
                t.call_ = std::move(c);
                t.counts_.failed_lease_calls = 1;
                t.counts_.last_fault.kind = fault_kind::infrastructure;
                self.lease_call_ = progress::running;
                return true;
            },
            [&](const open& a) { return start_open(self, t, a); },
            [&](const process& a) { return start_batch(self, t, a); },
            [&](const close& a) {
                (void)self.processor_.on(partition_closed{a.partition, a.epoch}, self.now_);
                return false;
            },
            [&](const save& a) {  // each batch has saved its position
                (void)self.processor_.on(partition_saved{a.partition, a.epoch}, self.now_);
                return false;
            },
            [&](const wait_until& w) {
                t.kind_ = kind::wait;
                t.until_ = detail::earlier(w.time, self.now_ + self.policy_.leases.interval);
                return true;
            },
            [](const idle&) { return true; });
    }

    template <class Self, class Task>
    static bool start_open(Self& self, Task& t, const open& a)
    {
        start(self, t, Task::kind::open, a);
        auto mine = self.processor_.leases().assignment_of(a.partition, a.epoch, {});
        if (t.mine_.epoch == a.epoch) mine.last = t.mine_.last;
        t.mine_ = std::move(mine);
        t.opened_ = {
            .partition = a.partition, .epoch = a.epoch, .kind = fault_kind::infrastructure};
        t.counts_.failed_opens = 1;
        t.counts_.last_partition = t.mine_.key.partition;
        self.slots_[a.partition].state = progress::running;
        return true;
    }

    template <class Self, class Task>
    static bool start_batch(Self& self, Task& t, const process& a)
    {
        start(self, t, Task::kind::process, a);
        const steady_time next =
            detail::partition_steps::next_lease_time(self.processor_, self.now_);
        const bool calls_leases = self.lease_call_ != progress::none || next <= self.now_;
        t.until_ = calls_leases ? self.now_ + self.policy_.leases.interval : next;
        t.processed_ = {a.partition, a.epoch, batch_result::again};
        t.counts_.failed_batches = 1;
        t.counts_.last_partition = t.mine_.key.partition;
        self.slots_[a.partition].state = progress::running;
        return true;
    }

    template <class Self, class Task, class Step>
    static void start(Self& self, Task& t, typename Task::kind kind, const Step& a)
    {
        t.kind_ = kind;
        t.partition_ = a.partition;
        t.mine_ = self.slots_[a.partition].mine;
        t.counts_.last_fault.kind = fault_kind::infrastructure;
    }

    /// Reports the results of completed tasks. If memory runs out, the rest is reported by the next
    /// call.
    template <class Self>
    static void apply_results(Self& self)
    {
        if (self.lease_call_ == progress::completed) {
            if (!self.answered_) self.answer_ = detail::partition_steps::failed(self.call_);
            (void)self.processor_.on(self.answer_, self.now_);
            self.lease_call_ = progress::none;
        }
        for (auto& s : self.slots_) {
            if (s.state != progress::completed) continue;
            if (s.was_open) {
                (void)self.processor_.on(s.opened, self.now_);
                const auto f = self.processor_.last_error(s.opened.partition);
                if (!f.ok()) detail::store_fault(self.report_, s.mine.key.partition, f);
            } else {
                (void)self.processor_.on(s.processed_batch, self.now_);
            }
            s.state = progress::none;
        }
    }

    policy policy_;
    processor processor_;
    std::vector<slot> slots_;
    progress lease_call_ = progress::none;
    lease_call call_;      // of the completed task
    lease_answer answer_;  // unless the task failed
    bool answered_ = false;
    steady_time now_ = steady_time::lowest();
    partitions_report report_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_PARTITION_TASKS_HPP

// SPDX-License-Identifier: MIT
//
// processor: takes, reads and gives back all partitions of one process, in one thread.
//
//     waybill::processor work({.group = {"orders", "billing", partitions, self}});
//
// It combines a `lease_manager` and a `partition_lifecycle` for each partition in one state
// machine. Each action of `next` is done before the next one; the guide has the loop. With a thread
// per partition, use `lease_manager` and `partition_lifecycle` directly.
//
// Guarantees
//   1. Lease calls come first, then partitions in turn, so no partition starves.
//   2. A partition is read only while its lease is held and trusted.
//   3. If the checkpoint has the same or a later epoch, or batches repeatedly end as
//      `ownership_lost`, the epoch is raised before anything is read. If no epoch is left,
//      `last_error` reports it.
//   4. `stop_requested` closes, saves and gives back all partitions in a bounded number of steps.
//
// A step and all calls of a round must end within `expiry` * 7/8 - `interval`, by default 42.5 s.
// A longer step loses its lease, and the fence refuses its commit.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_LEASE_PROCESSOR_HPP
#define WAYBILL_LEASE_PROCESSOR_HPP

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/partition_lifecycle.hpp>

namespace waybill::inline v0_2 {

namespace detail {
struct partition_steps;
}  // namespace detail

/// A `lease_manager` and one `partition_lifecycle` for each partition that this owner holds.
class processor : public lease_manager_types, public partition_lifecycle_types {
public:
    struct config {
        lease_group group{};
        partition_lifecycle::config lifecycle{};

        friend bool operator==(const config&, const config&) = default;
    };

    using action = variant<lease_manager::lease_call, open, process, close, save, wait_until, idle>;

    explicit processor(const config& c) : leases_(c.group)
    {
        for (std::uint32_t p = 0; p != leases_.partitions(); ++p) {
            lifecycles_.emplace_back(p, c.lifecycle);
        }
        conflicts_.resize(lifecycles_.size());
    }

    /// The next action. `wait_until` if no step is due, `idle` after the end. Linear in the
    /// partitions.
    [[nodiscard]] action next(steady_time now) const
    {
        if (ended()) return idle{};
        if (auto call = leases_.call(now)) return *std::move(call);
        steady_time until = steady_time::highest();
        for (std::uint32_t n = 0; n != lifecycles_.size(); ++n) {
            const std::uint32_t p = (next_partition_ + n) % leases_.partitions();
            if (auto a = due_action(p, now, until)) return *a;
        }
        const auto leases = leases_.next(now);
        if (const auto* w = get_if<wait_until>(&leases)) until = detail::earlier(until, w->time);
        return wait_until{until};
    }

    /// The result of a lease call.
    event_result on(const lease_manager::lease_answer& a, steady_time now)
    {
        const event_result h = leases_.on(a, now);
        report_lease_changes(now);
        return h;
    }

    event_result on(const partition_opened& o, steady_time now)
    {
        partition_lifecycle* const part = find(o.partition);
        if (!part) return event_result::invalid;
        const ownership_conflict& d = conflicts_[o.partition];
        const bool in_conflict = d.times > 1 && d.epoch == o.epoch;
        const bool raise = o.kind == fault_kind::none && o.epoch == part->epoch() &&
                           (in_conflict || o.stored_epoch > o.epoch ||
                            (o.stored_epoch == o.epoch && !part->has_processed()));
        if (!raise) return forward(*part, o, o.partition, now);
        // The checkpoint has this epoch or a later one: the row of the lease was lost earlier.
        partition_opened refused_open = o;
        if (in_conflict)
            refused_open.stored_epoch = detail::greater(o.stored_epoch, d.epoch_to_exceed());
        const bool no_epoch_left = refused_open.stored_epoch == lease::max_epoch;
        refused_open.kind = no_epoch_left ? fault_kind::permanent : fault_kind::transient;
        const event_result h = part->on(refused_open, now);
        if (h == event_result::applied)
            (void)leases_.on(epoch_too_low{o.partition, refused_open.stored_epoch}, now);
        return h;
    }

    event_result on(const processed& r, steady_time now)
    {
        partition_lifecycle* const part = find(r.partition);
        if (!part) return event_result::invalid;
        const event_result h = forward(*part, r, r.partition, now);
        if (h != event_result::applied) return h;
        ownership_conflict& d = conflicts_[r.partition];
        d = {r.epoch, r.pass == partition_lifecycle::batch_result::lost
                          ? detail::saturating_add(d.times, 1)
                          : 0};
        if (d.times != 0) (void)leases_.on(lease_suspected{r.partition}, now);
        return h;
    }

    event_result on(const partition_closed& c, steady_time now) { return on_step_result(c, now); }
    event_result on(const partition_saved& s, steady_time now) { return on_step_result(s, now); }

    event_result on(const woken& w, steady_time now)
    {
        partition_lifecycle* const part = find(w.partition);
        return part ? part->on(w, now) : event_result::invalid;
    }

    /// Starts to close, save and give back all partitions.
    event_result on(const stop_requested& s, steady_time now)
    {
        leases_.reserve_give_backs(lifecycles_.size());
        const event_result h = leases_.on(s, now);
        if (h != event_result::applied) return h;
        report_lease_changes(now);
        for (std::uint32_t p = 0; p != lifecycles_.size(); ++p) {
            if (!leases_.epoch(p)) continue;
            (void)lifecycles_[p].on(revoked{}, now);
            give_back(p, now);
        }
        return h;
    }

    /// True if no partition is open, and each lease is given back or was tried three times.
    [[nodiscard]] bool ended() const noexcept
    {
        if (!leases_.ended()) return false;
        for (const partition_lifecycle& part : lifecycles_) {
            if (!part.is_idle()) return false;
        }
        return true;
    }
    [[nodiscard]] const lease_manager& leases() const noexcept { return leases_; }
    /// The fault of a partition that cannot be opened although all stores work; empty otherwise.
    /// Opening is retried from time to time, in case a lower epoch is written to the store.
    [[nodiscard]] fault last_error(std::uint32_t partition) const
    {
        const partition_lifecycle p = part(partition);
        // After a batch without a conflict, this process may have written the checkpoint itself.
        const bool foreign = partition < lifecycles_.size() &&
                             (!p.has_processed() || conflicts_[partition].times != 0);
        const bool cannot_open =
            p.stored() == lease::max_epoch && foreign && leases_.epoch(partition);
        return cannot_open || leases_.exhausted(partition) ? detail::epochs_used_up() : fault{};
    }
    /// The state of a partition; an idle one if the partition is unknown.
    [[nodiscard]] partition_lifecycle part(std::uint32_t partition) const
    {
        return partition < lifecycles_.size() ? lifecycles_[partition]
                                              : partition_lifecycle(partition);
    }
    [[nodiscard]] partition_key key(std::uint32_t partition) const
    {
        return leases_.key(partition);
    }

    /// The assignment of a partition to open, from the loaded checkpoint. Its `expired_incarnation`
    /// shows whether the previous owner counts as dead (crash_record.hpp).
    [[nodiscard]] assignment assignment_of(const open& a,
                                           const std::optional<checkpoint>& stored) const
    {
        return leases_.assignment_of(a.partition, a.epoch, stored);
    }

    friend bool operator==(const processor&, const processor&) = default;

private:
    friend struct detail::partition_steps;  // for several actions at the same time

    /// Under `epoch`, the store has reported another owner in `times` consecutive batches, although
    /// this process holds the lease. If `times` is 1, another writer has moved the checkpoint. If
    /// `times` is higher, the lease row was lost earlier, and the checkpoint has a later epoch.
    struct ownership_conflict {
        std::uint64_t epoch = 0;
        std::uint64_t times = 0;

        /// The next epoch must exceed this. The distance to the epoch in the store is unknown, so
        /// it doubles each time. Requires: `times` >= 2.
        [[nodiscard]] std::uint64_t epoch_to_exceed() const
        {
            constexpr std::uint64_t max_shift = 63;  // of a 64-bit number
            const std::uint64_t doublings = times - 2;
            const std::uint64_t distance =
                doublings > max_shift ? detail::highest_size : (std::uint64_t{1} << doublings) - 1;
            return detail::saturating_add(epoch, distance);
        }
        friend bool operator==(const ownership_conflict&, const ownership_conflict&) = default;
    };

    [[nodiscard]] partition_lifecycle* find(std::uint32_t partition)
    {
        return partition < lifecycles_.size() ? &lifecycles_[partition] : nullptr;
    }

    /// The next step of partition `p`, if it is due and allowed. If the partition waits, `until`
    /// becomes the earlier of the two times.
    [[nodiscard]] std::optional<action> due_action(std::uint32_t p, steady_time now,
                                                   steady_time& until) const
    {
        const bool trusted = leases_.trusted(p, now);
        const auto only_trusted = [&](const auto& a) {
            return trusted ? std::optional<action>(a) : std::nullopt;
        };
        return match(
            lifecycles_[p].next(now), [&](const open& a) { return only_trusted(a); },
            [&](const process& a) { return only_trusted(a); },
            [](const close& a) { return std::optional<action>(a); },
            [](const save& a) { return std::optional<action>(a); },
            [](const release&) { return std::optional<action>(); },
            [&](const wait_until& w) {
                until = detail::earlier(until, w.time);
                return std::optional<action>();
            },
            [](const idle&) { return std::optional<action>(); });
    }

    template <class Event>
    event_result forward(partition_lifecycle& part, const Event& e, std::uint32_t p,
                         steady_time now)
    {
        const event_result h = part.on(e, now);
        if (h == event_result::applied) next_partition_ = p + 1;
        return h;
    }

    template <class Event>
    event_result on_step_result(const Event& e, steady_time now)
    {
        partition_lifecycle* const part = find(e.partition);
        if (!part) return event_result::invalid;
        // Before the event: if memory runs out, nothing has changed yet.
        leases_.reserve_give_backs(1);
        const event_result h = forward(*part, e, e.partition, now);
        // The event may end a lost assignment, and a later assignment of the partition may wait.
        // If it must not be opened, it is revoked at once.
        if (must_give_back(e.partition)) (void)part->on(revoked{}, now);
        give_back(e.partition, now);
        return h;
    }

    [[nodiscard]] bool must_give_back(std::uint32_t p) const
    {
        return leases_.stopping() || leases_.to_release(p);
    }

    /// Reports each change of the held leases to the partitions.
    void report_lease_changes(steady_time now)
    {
        if (reported_changes_ == leases_.changes()) return;
        reported_changes_ = leases_.changes();
        for (std::uint32_t p = 0; p != lifecycles_.size(); ++p) {
            const auto epoch = leases_.epoch(p);
            if (!epoch) {
                (void)lifecycles_[p].on(partition_lost{}, now);
                conflicts_[p] = {};
            }
            if (epoch && !leases_.stopping()) (void)lifecycles_[p].on(assigned{*epoch}, now);
            if (leases_.to_release(p)) (void)lifecycles_[p].on(revoked{}, now);
        }
    }

    /// Gives the lease back if the next step of the partition is `release`, or if the partition is
    /// idle and the lease must be given back.
    void give_back(std::uint32_t p, steady_time now)
    {
        partition_lifecycle& part = lifecycles_[p];
        const auto step = part.next(now);
        if (const auto* r = get_if<release>(&step)) {
            (void)part.on(partition_released{p, r->epoch}, now);
        } else if (!must_give_back(p) || !part.is_idle()) {
            return;
        }
        (void)leases_.on(lease_released{p}, now);
    }

    lease_manager leases_;
    std::vector<partition_lifecycle> lifecycles_;
    std::vector<ownership_conflict> conflicts_;  // for each partition
    std::uint32_t next_partition_ = 0;
    std::uint64_t reported_changes_ = 0;
};

[[nodiscard]] inline std::optional<config_error> validate(const processor::config& c)
{
    if (auto bad = validate(c.group)) return bad;
    return validate(c.lifecycle);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_PROCESSOR_HPP

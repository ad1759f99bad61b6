// SPDX-License-Identifier: MIT
//
// processor: all partitions of one process, taken, read, and given back.
//
// A lease_keeper and a partition_lifecycle for each partition, behind one `next`. What it wants
// done is done one after another in one thread; who has a thread a partition drives the two by
// himself.
//
//     waybill::processor work({.group = {"orders", "billing", partitions, {"host-7", drawn}}});
//     while (!work.ended()) {
//         if (terminated) work.on(waybill::stop_asked{}, clock::now());
//         waybill::match(work.next(clock::now()),
//             [&](const waybill::lease_call& c) { tell(waybill::ask(leases, c, dice())); },
//             [&](act::open a) {
//                 const auto stored = store.load(work.key(a.partition));
//                 if (stored) mine[a.partition] = work.assignment_of(a, *stored);
//                 tell(opened_with(a, stored));
//             },
//             [&](act::process a) { tell(processed_with(a, one_batch(a).end)); },
//             [&](act::close a)   { tell(partition_closed{a.partition, a.epoch}); },
//             [&](act::save a)    { tell(partition_saved{a.partition, a.epoch, how}); },
//             [&](act::wait w)    { sleep_until(w.until); },
//             [&](act::idle)      {});
//     }                                // tell(e) is work.on(e, clock::now())
//
// What holds:
//   1. leases come first, then partitions in turn: one that always has events starves no other;
//   2. nothing is read in a partition whose lease is not trusted right now, or is lost;
//   3. an epoch that is not above that of the checkpoint is raised before anything is read, and so
//      is one under which batches are abandoned again and again although the lease is ours. Where
//      none is left it is not read, and `trouble` says so;
//   4. `stop_asked` closes, saves and gives back what there is, in a bounded number of steps.
//
// Leases are renewed between steps. A step, which is a batch more often than not, that takes longer
// than what is left of a lease loses it: with all calls of a round as well it has to end within
// `expiry` less an eighth, less an interval. Cut batches so that they do, or drive keeper and
// partitions in threads of their own. The fence keeps a batch that was too long from committing.
// A value without locks: one thread at a time.

#ifndef WAYBILL_CONSUME_PROCESSOR_HPP
#define WAYBILL_CONSUME_PROCESSOR_HPP

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/consume/lease_calls.hpp>
#include <waybill/consume/lease_keeper.hpp>
#include <waybill/consume/partition_lifecycle.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

struct processor_config {
    lease_group group{};
    lifecycle_options lifecycle{};

    friend bool operator==(const processor_config&, const processor_config&) = default;
};

[[nodiscard]] inline std::optional<config_error> check(const processor_config& c)
{
    if (auto bad = check(c.group)) return bad;
    return check(c.lifecycle);
}

class processor {
public:
    using action = std::variant<lease_call, act::open, act::process, act::close, act::save,
                                act::wait, act::idle>;

    explicit processor(const processor_config& c) : keeper_(c.group)
    {
        for (std::uint32_t p = 0; p != keeper_.partitions(); ++p) {
            parts_.emplace_back(p, c.lifecycle);
        }
        defeats_.resize(parts_.size());
    }

    [[nodiscard]] action next(steady_time now) const
    {
        if (ended()) return act::idle{};
        if (auto call = keeper_.call(now)) return *std::move(call);
        steady_time until = steady_time::highest();
        for (std::uint32_t n = 0; n != parts_.size(); ++n) {
            const std::uint32_t p = (turn_ + n) % keeper_.partitions();
            if (auto a = step_of(p, now, until)) return *a;
        }
        const auto keeper = keeper_.next(now);
        if (const auto* w = std::get_if<act::wait>(&keeper)) until = earlier(until, w->until);
        return act::wait{until};
    }

    heard on(const lease_answer& a, steady_time now)
    {
        const heard h = keeper_.on(a, now);
        follow(now);
        return h;
    }

    heard on(const partition_opened& o, steady_time now)
    {
        partition_lifecycle* const part = find(o.partition);
        if (!part) return heard::invalid;
        const defeat& d = defeats_[o.partition];
        const bool defeated = d.times > 1 && d.epoch == o.epoch;
        const bool raise = o.how == fault_class::none && o.epoch == part->epoch() &&
                           (defeated || o.stored > o.epoch ||
                            (o.stored == o.epoch && !part->has_processed()));
        if (!raise) return passed_on(*part, o, o.partition, now);
        // Somebody has written under this epoch or a later one: the row was lost at some time.
        partition_opened too_early = o;
        if (defeated) too_early.stored = greater(o.stored, d.past());
        const bool last = too_early.stored == last_epoch;
        too_early.how = last ? fault_class::permanent : fault_class::transient;
        const heard h = part->on(too_early, now);
        if (h == heard::taken) (void)keeper_.on(outdated{o.partition, too_early.stored}, now);
        return h;
    }

    heard on(const processed& r, steady_time now)
    {
        partition_lifecycle* const part = find(r.partition);
        if (!part) return heard::invalid;
        const heard h = passed_on(*part, r, r.partition, now);
        if (h != heard::taken) return h;
        defeat& d = defeats_[r.partition];
        d = {r.epoch, r.how == batch_pass::lost ? saturating_add(d.times, 1) : 0};
        if (d.times != 0) (void)keeper_.on(doubted{r.partition}, now);
        return h;
    }

    heard on(const partition_closed& c, steady_time now) { return step_done(c, now); }
    heard on(const partition_saved& s, steady_time now) { return step_done(s, now); }

    heard on(const woken& w, steady_time now)
    {
        partition_lifecycle* const part = find(w.partition);
        return part ? part->on(w, now) : heard::invalid;
    }

    heard on(const stop_asked& s, steady_time now)
    {
        keeper_.make_room(parts_.size());
        const heard h = keeper_.on(s, now);
        if (h != heard::taken) return h;
        follow(now);
        for (std::uint32_t p = 0; p != parts_.size(); ++p) {
            if (!keeper_.epoch(p)) continue;
            (void)parts_[p].on(revoked{}, now);
            give_back(p, now);
        }
        return h;
    }

    /// Nothing is open, and all is given back.
    [[nodiscard]] bool ended() const noexcept
    {
        if (!keeper_.ended()) return false;
        for (const partition_lifecycle& part : parts_) {
            if (!part.idle()) return false;
        }
        return true;
    }
    [[nodiscard]] const lease_keeper& leases() const noexcept { return keeper_; }
    /// Why nobody can work on this partition though all stores answer; empty where that is not so.
    /// It is tried again now and then, in case somebody writes a lower epoch.
    [[nodiscard]] fault trouble(std::uint32_t partition) const
    {
        const partition_lifecycle p = part(partition);
        const bool unused =
            partition < parts_.size() && (!p.has_processed() || defeats_[partition].times != 0);
        const bool shut = p.stored() == last_epoch && unused && keeper_.epoch(partition);
        return shut || keeper_.exhausted(partition) ? epochs_used_up() : fault{};
    }
    /// An idle one for a partition that is not there.
    [[nodiscard]] partition_lifecycle part(std::uint32_t partition) const
    {
        return partition < parts_.size() ? parts_[partition] : partition_lifecycle(partition);
    }
    [[nodiscard]] partition_key key(std::uint32_t partition) const
    {
        return keeper_.key(partition);
    }

    /// To consume a partition with that is to be opened, from the checkpoint that was loaded. It
    /// says whether whoever had the partition before is taken for dead (attempt.hpp).
    [[nodiscard]] assignment assignment_of(const act::open& a,
                                           const std::optional<checkpoint>& stored) const
    {
        return keeper_.assignment_of(a.partition, a.epoch, stored);
    }

    friend bool operator==(const processor&, const processor&) = default;

private:
    /// The store has said in so many batches in a row that somebody else has the partition, and the
    /// lease is ours all the same. Once that is a checkpoint that somebody has moved. More often, the
    /// row of the lease was lost at some time, and the store knows a later epoch.
    struct defeat {
        std::uint64_t epoch = 0;
        std::uint64_t times = 0;

        /// An epoch that the next is to be above. Nobody knows how far that is: twice as far each time.
        [[nodiscard]] std::uint64_t past() const
        {
            const bool far = times > 65;
            return saturating_add(epoch, far ? highest_size : (std::uint64_t{1} << (times - 2)) - 1);
        }
        friend bool operator==(const defeat&, const defeat&) = default;
    };

    [[nodiscard]] partition_lifecycle* find(std::uint32_t partition)
    {
        return partition < parts_.size() ? &parts_[partition] : nullptr;
    }

    /// What this partition wants now, if it wants something and may.
    [[nodiscard]] std::optional<action> step_of(std::uint32_t p, steady_time now,
                                                steady_time& until) const
    {
        const bool trusted = keeper_.trusted(p, now);
        const auto only_trusted = [&](const auto& a) {
            return trusted ? std::optional<action>(a) : std::nullopt;
        };
        return match(
            parts_[p].next(now), [&](const act::open& a) { return only_trusted(a); },
            [&](const act::process& a) { return only_trusted(a); },
            [](const act::close& a) { return std::optional<action>(a); },
            [](const act::save& a) { return std::optional<action>(a); },
            [](const act::relinquish&) { return std::optional<action>(); },
            [&](const act::wait& w) {
                until = earlier(until, w.until);
                return std::optional<action>();
            },
            [](const act::idle&) { return std::optional<action>(); });
    }

    template <class Event>
    heard passed_on(partition_lifecycle& part, const Event& e, std::uint32_t p, steady_time now)
    {
        const heard h = part.on(e, now);
        if (h == heard::taken) turn_ = p + 1;
        return h;
    }

    template <class Event>
    heard step_done(const Event& e, steady_time now)
    {
        partition_lifecycle* const part = find(e.partition);
        if (!part) return heard::invalid;
        keeper_.make_room(1);
        const heard h = passed_on(*part, e, e.partition, now);
        if (keeper_.stopping()) (void)part->on(revoked{}, now);  // it was to be opened again
        give_back(e.partition, now);
        return h;
    }

    /// Whether a partition is ours is the keeper's word.
    void follow(steady_time now)
    {
        if (changes_ == keeper_.changes()) return;
        changes_ = keeper_.changes();
        for (std::uint32_t p = 0; p != parts_.size(); ++p) {
            const auto epoch = keeper_.epoch(p);
            if (!epoch) {
                (void)parts_[p].on(partition_lost{}, now);
                defeats_[p] = {};
            }
            if (epoch && !keeper_.stopping()) (void)parts_[p].on(assigned{*epoch}, now);
        }
    }

    /// Gives the lease back, if that is what comes next, or if it was never used.
    void give_back(std::uint32_t p, steady_time now)
    {
        partition_lifecycle& part = parts_[p];
        const auto step = part.next(now);
        if (const auto* r = std::get_if<act::relinquish>(&step)) {
            (void)part.on(relinquished{p, r->epoch}, now);
        } else if (!keeper_.stopping() || !part.idle()) {
            return;
        }
        (void)keeper_.on(vacated{p}, now);
    }

    lease_keeper keeper_;
    std::vector<partition_lifecycle> parts_;
    std::vector<defeat> defeats_;  // of each
    std::uint32_t turn_ = 0;
    std::uint64_t changes_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_PROCESSOR_HPP

// SPDX-License-Identifier: MIT
//
// lease_manager: takes, renews and gives back the leases of one process.
//
//     waybill::lease_manager leases({"orders", "billing", partitions, {"host-7", random_64_bits}});
//     if (auto call = leases.call(now)) leases.on(waybill::ask(store, *call, draw), now);
//     if (leases.trusted(3, now)) ...             // partition 3 is held, under leases.epoch(3)
//
// One round per interval: renew own leases, announce this owner, list all rows, take a share.
//
// Guarantees
//   1. A trusted lease has not expired for any owner. If it was stolen for balance, the next
//      renewal detects this. Until then the fence in the commit refuses writes.
//   2. An error of the store loses no lease. The next round starts sooner, after the failed row.
//   3. A claim whose result was lost is found in the next list and taken again.
//   4. Taking and giving back use an epoch above all seen, so the previous owner cannot commit. If
//      no epoch is left, the partition is not taken (`exhausted`).
//   5. The first round only announces and lists, so that owners that start together share.
//   6. After `stop_requested` no lease is taken. Each one is given back in at most three tries.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_LEASE_LEASE_MANAGER_HPP
#define WAYBILL_LEASE_LEASE_MANAGER_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/match.hpp>
#include <waybill/lease/balance.hpp>
#include <waybill/lease/detail/held_leases.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_group.hpp>
#include <waybill/lease/lease_observer.hpp>

namespace waybill::inline v0_2 {

class lease_manager : public lease_manager_types {
public:
    using action = std::variant<lease_manager::lease_call, wait_until, idle>;

    explicit lease_manager(const lease_group& g)
        : group_(detail::usable(g)),
          seen_(g.source, g.group, g.partitions, group_.leases),
          held_(g.partitions.size())
    {
    }

    /// The call to the store to make now, if any.
    [[nodiscard]] std::optional<lease_manager::lease_call> call(steady_time now) const
    {
        if (ended_) return {};
        if (aside_ == aside::chore) return claim_of(chores_.front());
        if (aside_ == aside::look) return all();
        if (aside_ == aside::leave && unsure_) return heartbeat{me(announced_ + 1)};
        if (aside_ == aside::leave) return leave{me(announced_)};
        if (now < not_before_) return {};
        const place at = current();
        switch (at.what) {
            case step::renew: return claim_of({nth(at.n), errand::renew});
            case step::announce: return heartbeat{me(announced_ + 1)};
            case step::look: return all();
            case step::take: return claim_of(errands_[at.n]);
            case step::tidy: return leave{departed_[at.n]};
            case step::none: break;
        }
        return {};
    }

    /// The call to make now, or the time until which to wait. `idle` after the end.
    [[nodiscard]] action next(steady_time now) const
    {
        if (ended_) return idle{};
        if (auto c = call(now)) return *std::move(c);
        return wait_until{detail::later(now, not_before_)};
    }

    /// The result of a call. Stale if the call is not the pending one.
    event_result on(const lease_manager::lease_answer& a, steady_time now)
    {
        return std::visit([&](const auto& e) { return on(e, now); }, a);
    }

    event_result on(const heartbeat_stored& a, steady_time now)
    {
        if (!detail::answers(a.call, call(now))) return event_result::stale;
        note(a.answer);
        ++announced_;
        unsure_ = !a.answer && aside_ != aside::leave;
        return aside_ == aside::leave ? heard_at(now) : go_on({step::look, 0}, now);
    }

    event_result on(const group_left& w, steady_time now)
    {
        if (!detail::answers(w.call, call(now))) return event_result::stale;
        const bool left = aside_ == aside::leave;
        if (left) leaving_ = false;
        return left ? heard_at(now) : go_on({step::tidy, current().n + 1}, now);
    }

    event_result on(const listed& l, steady_time now)
    {
        if (!detail::answers(all(), call(now))) return event_result::stale;
        draw_ = l.random;
        note(l.answer);
        if (aside_ == aside::look) return after_look(l, now);
        if (!l.answer) return start_over(now);
        seen_.look(*l.answer, now);
        reconcile(introduced_);
        const bool first = !std::exchange(introduced_, true);
        return first && errands_.empty() ? start_over(now) : go_on({step::take, 0}, now);
    }

    event_result on(const claimed& c, steady_time now)
    {
        if (!detail::answers(c.call, call(now))) return event_result::stale;
        note(c.answer);
        ++answered_;
        if (aside_ == aside::chore) return after_chore(c, now);
        const place at = current();
        const bool renewing = at.what == step::renew;
        const chore what = renewing ? chore{nth(at.n), errand::renew} : errands_[at.n];
        if (what.what == errand::take) held_.claimed_from(what.partition, seen_, group_.self);
        if (!c.answer) {
            held_.lose_answer(what.partition);
            if (renewing) first_ = what.partition + 1;
            return start_over(now);
        }
        const place following{at.what, at.n + 1};
        if (c.answer->outcome == claim_result::claim_outcome::won) {
            const bool new_one = !held_.mine(what.partition);
            held_.won(what.partition, *c.answer, detail::later(last_, not_before_),
                      detail::trusted_for(group_.leases));
            if (stopping_ && new_one) {
                held_.vacate(what.partition);
                chores_.push_back({what.partition, errand::give_back});
            }
            return go_on(following, now);
        }
        if (what.what == errand::renew) held_.doubt(what.partition);
        // Another owner takes partitions, too. The rows are read again before the next claim.
        return renewing ? go_on(following, now) : start_over(now);
    }

    /// Starts to give back all leases. Stale if the manager is stopping already.
    event_result on(const stop_requested&, steady_time now)
    {
        if (stopping_) return event_result::stale;
        if (now >= not_before_ && current().what == step::announce) unsure_ = true;
        stopping_ = leaving_ = true;
        return meanwhile(now);
    }

    event_result on(const lease_released& v, steady_time now)
    {
        const event_result h = add({v.partition, errand::give_back}, now);
        if (h == event_result::applied) held_.vacate(v.partition);
        return h;
    }

    event_result on(const lease_suspected& d, steady_time now)
    {
        if (!held_.mine(d.partition)) return event_result::stale;
        held_.distrust(d.partition);
        if (now < not_before_) not_before_ = now;
        return event_result::applied;
    }

    event_result on(const outdated& o, steady_time now)
    {
        if (o.partition >= partitions()) return event_result::invalid;
        if (!held_.mine(o.partition) || o.epoch < held_[o.partition].epoch)
            return event_result::stale;
        if (o.epoch == lease::max_epoch) return event_result::invalid;
        return add({o.partition, errand::raise, 0, o.epoch}, now);
    }

    /// Reserves memory for `more` leases to give back. If that throws, nothing has changed.
    void make_room(std::uint64_t more) { chores_.reserve(chores_.size() + more); }

    /// The epoch under which a partition is held; empty if it is not held or unknown.
    [[nodiscard]] std::optional<std::uint64_t> epoch(std::uint32_t partition) const
    {
        return held_.epoch(partition);
    }
    /// True if the partition is held and its lease has not expired for any owner. Another owner may
    /// have stolen it for balance a moment ago.
    [[nodiscard]] bool trusted(std::uint32_t partition, steady_time now) const
    {
        return held_.trusted(partition, now);
    }
    /// True if the partition is not held and cannot be taken: `lease::max_epoch` was seen for it.
    [[nodiscard]] bool exhausted(std::uint32_t partition) const
    {
        return !held_.mine(partition) && held_.exhausted(partition);
    }
    /// True if the manager was stopped, and each lease is given back or was tried three times.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    /// The number of held partitions.
    [[nodiscard]] std::uint32_t held() const noexcept { return held_.count(); }
    /// True if all owners had their share at the last list.
    [[nodiscard]] bool balanced() const noexcept { return balanced_; }
    /// The error of the last failed call; empty after the next list that succeeds.
    [[nodiscard]] const fault& trouble() const noexcept { return trouble_; }
    /// Increases with each change of a result of `epoch()`.
    [[nodiscard]] std::uint64_t changes() const noexcept { return held_.changes(); }
    [[nodiscard]] const lease_observer& seen() const noexcept { return seen_; }
    [[nodiscard]] std::uint32_t partitions() const { return held_.partitions(); }
    [[nodiscard]] partition_key key(std::uint32_t partition) const
    {
        return detail::key_of(group_, partition);
    }
    /// The assignment to consume a partition under `epoch` from the checkpoint `stored`.
    [[nodiscard]] assignment assignment_of(std::uint32_t partition, std::uint64_t epoch,
                                           const std::optional<checkpoint>& stored) const
    {
        const auto from = stored ? std::optional(stored->at) : std::nullopt;
        return {key(partition), from, epoch, group_.self.incarnation, held_[partition].ended};
    }

    friend bool operator==(const lease_manager&, const lease_manager&) = default;

private:
    enum class step : std::uint8_t { renew, announce, look, take, tidy, none };
    using errand = detail::lease_errand;
    using chore = detail::lease_chore;
    enum class aside : std::uint8_t { none, chore, look, leave };

    struct place {
        step what = step::renew;
        std::uint32_t n = 0;
        friend bool operator==(const place&, const place&) = default;
    };

    [[nodiscard]] owner_heartbeat me(std::uint64_t n) const
    {
        return {group_.source, group_.group, group_.self, n};
    }
    [[nodiscard]] list_leases all() const { return {group_.source, group_.group}; }

    [[nodiscard]] lease_manager::lease_call claim_of(const chore& c) const
    {
        const auto* const row = seen_.row_of(c.partition);
        const auto version = row ? std::optional(row->version) : std::nullopt;
        return claim{held_.claim(c, key(c.partition), group_.self, version), answered_};
    }

    /// After a failed renewal, the next round starts with the partition after it.
    [[nodiscard]] std::uint32_t nth(std::uint32_t n) const { return (first_ + n) % partitions(); }

    /// The current step of the round, after all steps without work.
    [[nodiscard]] place current() const
    {
        auto at = at_;
        if (at.what == step::renew) {
            while (at.n < partitions() && !held_.mine(nth(at.n))) ++at.n;
            if (at.n < partitions()) return at;
            at = {step::announce, 0};
        }
        if (stopping_ && at.what != step::take) return {step::none, 0};
        if (at.what == step::take && at.n >= errands_.size()) at = {step::tidy, 0};
        const bool tidy = !stopping_ && at.n < departed_.size();
        if (at.what == step::tidy && !tidy) return {step::none, 0};
        return at;
    }

    /// Compares the held leases with the rows that were read, and plans the claims of this round.
    void reconcile(bool introduced)
    {
        errands_ = held_.look(seen_, group_.self);
        departed_.clear();
        if (stopping_ || !introduced) return;
        const balance_plan::lease_view v = seen_.view(group_.self);
        const balance_plan plan = balance(v, draw_);
        balanced_ = plan.balanced;
        const auto take = [&](std::uint32_t p) {
            if (!held_.exhausted(p)) errands_.push_back({p, errand::take});
        };
        for (const std::uint32_t p : plan.claim) take(p);
        if (plan.steal) take(*plan.steal);
        if (v.self == 0) departed_ = seen_.departed();
    }

    event_result after_chore(const claimed& c, steady_time now)
    {
        const chore what = chores_.front();
        const bool give_back = what.what == errand::give_back;
        const bool won = c.answer && c.answer->outcome == claim_result::claim_outcome::won;
        if (!won && give_back && what.tries < 2) {
            if (c.answer) held_.doubt(what.partition);
            ++chores_.front().tries;
            return heard_at(now);
        }
        chores_.erase(chores_.begin());
        if (give_back) {
            held_.lose(what.partition);  // a lease that could not be given back expires
        } else if (won) {
            held_.won(what.partition, *c.answer, last_, detail::trusted_for(group_.leases));
        } else if (c.answer) {
            held_.doubt(what.partition);
        } else {
            held_.lose_answer(what.partition);
        }
        return heard_at(now);
    }

    /// The list that is read before uncertain rows are given back. After three failed reads the
    /// last known state of the rows is assumed.
    event_result after_look(const listed& l, steady_time now)
    {
        if (!l.answer && ++looks_ < 3) return heard_at(now);
        looks_ = 0;
        make_room(partitions());
        if (l.answer) seen_.look(*l.answer, now);
        for (std::uint32_t p = 0; p != partitions(); ++p) {
            if (!to_be_read(p)) continue;
            const bool new_one = !held_.mine(p);
            if (!l.answer) held_.stop_doubting(p);
            else if (held_.settle(p, seen_, group_.self) && new_one) {
                held_.vacate(p);
                chores_.push_back({p, errand::give_back});
            }
        }
        return heard_at(now);
    }

    /// True if the row is uncertain, and is or may have to be given back.
    [[nodiscard]] bool to_be_read(std::uint32_t p) const
    {
        return held_.in_doubt(p) && (stopping_ || held_[p].vacated);
    }
    [[nodiscard]] bool any_to_be_read() const
    {
        for (std::uint32_t p = 0; p != partitions(); ++p) {
            if (to_be_read(p)) return true;
        }
        return false;
    }

    template <class T>
    void note(const result<T>& answer)
    {
        if (!answer) trouble_ = answer.error();
        else if (std::is_same_v<T, lease_table>) trouble_ = {};
    }

    event_result add(const chore& c, steady_time now)
    {
        if (c.partition >= partitions()) return event_result::invalid;
        if (ended_ || !held_.mine(c.partition)) return event_result::stale;
        chores_.push_back(c);
        return meanwhile(now);
    }

    /// Between rounds the task starts at once. Within a round, the result of the pending call comes
    /// first.
    event_result meanwhile(steady_time now)
    {
        // While stopping, a round may have no step left.
        if (now >= not_before_ && current().what == step::none) wait_for_next_round(now);
        if (aside_ == aside::none && now < not_before_) choose();
        return event_result::applied;
    }

    void wait_for_next_round(steady_time now, double share = 1.0)
    {
        const duration pause = detail::until_next_round(group_.leases, draw_) * share;
        not_before_ = now + detail::greater(pause, duration::nanoseconds(1));
        at_ = {};
    }

    event_result go_on(const place& to, steady_time now)
    {
        at_ = to;
        if (current().what == step::none) wait_for_next_round(now);
        return heard_at(now);
    }

    /// After an error, or if another owner was faster: another round, after half of the usual
    /// pause.
    event_result start_over(steady_time now)
    {
        wait_for_next_round(now, 0.5);
        return heard_at(now);
    }

    event_result heard_at(steady_time now)
    {
        last_ = now;
        choose();
        return event_result::applied;
    }

    /// Selects the next task outside of the rounds, if there is one.
    void choose()
    {
        const auto over = [&](const chore& c) { return !held_.mine(c.partition); };
        while (!chores_.empty() && over(chores_.front())) chores_.erase(chores_.begin());
        aside_ = leaving_ ? aside::leave : chores_.empty() ? aside::none : aside::chore;
        const bool gives_back = stopping_ || !chores_.empty();
        if (!leaving_ && gives_back && any_to_be_read()) aside_ = aside::look;
        ended_ = stopping_ && aside_ == aside::none && held_.count() == 0;
    }

    lease_group group_;
    lease_observer seen_;
    detail::held_leases held_;
    std::vector<chore> chores_;   // tasks outside of the rounds
    std::vector<chore> errands_;  // claims of this round
    std::vector<owner_heartbeat> departed_;
    place at_;
    std::uint32_t first_ = 0;
    aside aside_ = aside::none;
    bool introduced_ = false;  // a first round has announced this owner to the others
    bool stopping_ = false;
    bool leaving_ = false;
    bool ended_ = false;
    // The last announcement may be written or not. Only another one settles this.
    bool unsure_ = false;
    bool balanced_ = false;
    double draw_ = 0.5;
    std::uint64_t announced_ = 0;
    std::uint64_t answered_ = 0;  // claims with a result
    std::uint32_t looks_ = 0;     // consecutive failed reads before rows are given back
    fault trouble_;
    steady_time last_ = steady_time::lowest();
    steady_time not_before_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_LEASE_MANAGER_HPP

// SPDX-License-Identifier: MIT
//
// lease_manager: takes, renews and gives back the leases of one process.
//
//     waybill::lease_manager leases({"orders", "billing", partitions, {"host-7", random_64_bits}});
//     if (auto call = leases.call(now)) leases.on(waybill::perform(store, *call, random), now);
//     if (leases.trusted(3, now)) ...             // partition 3 is held, under leases.epoch(3)
//
// One round per interval: renew, write the heartbeat, list, claim a share, remove departed owners.
//
// Guarantees
//   1. A trusted lease has not expired for any owner. If it was stolen, because this owner has
//      released nothing for an expiry, the next renewal detects this. Until then the fence in the
//      commit refuses writes.
//   2. A lease stays held after a failed renewal. The next round starts early, with the partition
//      after the failed one.
//   3. A claim whose result was lost is found in the next list and taken again.
//   4. Taking and giving back use an epoch above all seen, so the previous owner cannot commit. If
//      no epoch is left, the partition is not taken (`exhausted`).
//   5. The first round only writes the heartbeat and lists, so owners that start together share.
//      Surplus partitions are to be released (`to_release`) before others claim them.
//   6. After `stop_requested` no lease is taken. Each one is given back in at most three tries.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_LEASE_LEASE_MANAGER_HPP
#define WAYBILL_LEASE_LEASE_MANAGER_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
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

/// The state machine of one owner: it renews, claims and gives back leases.
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
        if (interruption_ == interruption::claim) return claim_of(extra_claims_.front());
        if (interruption_ == interruption::list) return list_call();
        if (interruption_ == interruption::leave && heartbeat_unknown_)
            return heartbeat{own_heartbeat(heartbeat_version_ + 1)};
        if (interruption_ == interruption::leave) return leave{own_heartbeat(heartbeat_version_)};
        if (now < not_before_) return {};
        const round_step at = current();
        switch (at.kind) {
            case step::renew: return claim_of({partition_at(at.n), purpose::renew});
            case step::announce: return heartbeat{own_heartbeat(heartbeat_version_ + 1)};
            case step::list: return list_call();
            case step::take: return claim_of(round_claims_[at.n]);
            case step::remove_departed: return leave{departed_[at.n]};
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
        if (!detail::is_result_of(a.call, call(now))) return event_result::stale;
        record_error(a.answer);
        ++heartbeat_version_;
        heartbeat_unknown_ = !a.answer && interruption_ != interruption::leave;
        return interruption_ == interruption::leave ? after_result(now)
                                                    : continue_round({step::list, 0}, now);
    }

    event_result on(const group_left& w, steady_time now)
    {
        if (!detail::is_result_of(w.call, call(now))) return event_result::stale;
        const bool left = interruption_ == interruption::leave;
        if (left) leaving_ = false;
        return left ? after_result(now)
                    : continue_round({step::remove_departed, current().n + 1}, now);
    }

    event_result on(const listed& l, steady_time now)
    {
        if (!detail::is_result_of(list_call(), call(now))) return event_result::stale;
        last_random_ = l.random;
        record_error(l.answer);
        if (interruption_ == interruption::list) return after_list(l, now);
        if (!l.answer) return begin_round_early(now);
        seen_.update(*l.answer, now);
        reconcile(announced_once_);
        const bool first = !std::exchange(announced_once_, true);
        return first && round_claims_.empty() ? begin_round_early(now)
                                              : continue_round({step::take, 0}, now);
    }

    event_result on(const claimed& c, steady_time now)
    {
        if (!detail::is_result_of(c.call, call(now))) return event_result::stale;
        record_error(c.answer);
        ++claim_results_;
        if (interruption_ == interruption::claim) return after_extra_claim(c, now);
        // The call was requested after the last result and not before `not_before_`.
        const steady_time requested_at = detail::later(last_result_time_, not_before_);
        const round_step at = current();
        const bool renewing = at.kind == step::renew;
        const planned_claim planned =
            renewing ? planned_claim{partition_at(at.n), purpose::renew} : round_claims_[at.n];
        if (planned.purpose == purpose::take)
            held_.set_expired_incarnation(planned.partition, seen_, group_.self);
        if (!c.answer) {
            held_.set_outcome_unknown(planned.partition);
            if (renewing) first_partition_ = planned.partition + 1;
            return begin_round_early(now);
        }
        const round_step following{at.kind, at.n + 1};
        if (c.answer->outcome == claim_result::claim_outcome::won) {
            const bool newly_held = !held_.holds(planned.partition);
            held_.set_won(planned.partition, *c.answer, requested_at,
                          detail::trusted_for(group_.leases));
            if (stopping_ && newly_held) {
                held_.release(planned.partition);
                extra_claims_.push_back({planned.partition, purpose::give_back});
            }
            return continue_round(following, now);
        }
        if (planned.purpose == purpose::renew) held_.suspect(planned.partition);
        // A contended take: the row was written since the list. The next round reads it again, and
        // begins early.
        if (!renewing) contended_ = true;
        return continue_round(following, now);
    }

    /// Starts to give back all leases. Stale if the manager is stopping already.
    event_result on(const stop_requested&, steady_time now)
    {
        if (stopping_) return event_result::stale;
        // The caller may have written the pending heartbeat already.
        if (now >= not_before_ && current().kind == step::announce) heartbeat_unknown_ = true;
        stopping_ = leaving_ = true;
        return start_between_rounds(now);
    }

    event_result on(const lease_released& v, steady_time now)
    {
        const event_result h = add_claim({v.partition, purpose::give_back}, now);
        if (h == event_result::applied) held_.release(v.partition);
        return h;
    }

    event_result on(const lease_suspected& d, steady_time now)
    {
        if (!held_.holds(d.partition)) return event_result::stale;
        held_.distrust(d.partition);
        if (now < not_before_) not_before_ = now;
        return event_result::applied;
    }

    event_result on(const epoch_too_low& o, steady_time now)
    {
        if (o.partition >= partitions()) return event_result::invalid;
        if (!held_.holds(o.partition) || o.epoch < held_[o.partition].epoch)
            return event_result::stale;
        if (o.epoch == lease::max_epoch) return event_result::invalid;
        return add_claim(
            {.partition = o.partition, .purpose = purpose::raise_epoch, .above_epoch = o.epoch},
            now);
    }

    /// Reserves memory for `more` leases to give back. If that throws, nothing has changed.
    void reserve_give_backs(std::uint64_t more)
    {
        extra_claims_.reserve(extra_claims_.size() + more);
    }

    /// The epoch under which a partition is held; empty if it is not held or unknown.
    [[nodiscard]] std::optional<std::uint64_t> epoch(std::uint32_t partition) const
    {
        return held_.epoch(partition);
    }
    /// True if the partition is held and its lease has not expired for any owner. Another owner may
    /// have stolen it a moment ago, if this owner has released nothing for an expiry.
    [[nodiscard]] bool trusted(std::uint32_t partition, steady_time now) const
    {
        return held_.trusted(partition, now);
    }
    /// True if this owner has more than its target and is to give this partition back: close it,
    /// save its position and report `lease_released`. Until then it is held. After an expiry others
    /// may steal it.
    [[nodiscard]] bool to_release(std::uint32_t partition) const
    {
        return held_[partition].to_release;
    }
    /// True if the partition is not held and cannot be taken: `lease::max_epoch` was seen for it.
    [[nodiscard]] bool exhausted(std::uint32_t partition) const
    {
        return !held_.holds(partition) && held_.exhausted(partition);
    }
    /// True if the manager was stopped, and each lease is given back or was tried three times.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    /// The number of held partitions.
    [[nodiscard]] std::uint32_t held() const noexcept { return held_.count(); }
    /// True if all owners had their share at the last list.
    [[nodiscard]] bool balanced() const noexcept { return balanced_; }
    /// The error of the last failed call; empty after the next list that succeeds.
    [[nodiscard]] const fault& last_error() const noexcept { return last_error_; }
    /// Increases with each change of a result of `epoch()` or `to_release()`.
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
        return {key(partition), from, epoch, group_.self.incarnation,
                held_[partition].expired_incarnation};
    }

    friend bool operator==(const lease_manager&, const lease_manager&) = default;

private:
    enum class step : std::uint8_t { renew, announce, list, take, remove_departed, none };
    using purpose = detail::claim_purpose;
    using planned_claim = detail::planned_claim;
    /// The calls outside of the rounds.
    enum class interruption : std::uint8_t { none, claim, list, leave };

    /// Tries of a give-back, and of the list before it.
    static constexpr std::uint32_t max_tries = 3;

    struct round_step {
        step kind = step::renew;
        std::uint32_t n = 0;
        friend bool operator==(const round_step&, const round_step&) = default;
    };

    [[nodiscard]] owner_heartbeat own_heartbeat(std::uint64_t n) const
    {
        return {group_.source, group_.group, group_.self, n};
    }
    [[nodiscard]] list_leases list_call() const { return {group_.source, group_.group}; }

    [[nodiscard]] lease_manager::lease_call claim_of(const planned_claim& c) const
    {
        const auto* const row = seen_.row_of(c.partition);
        const auto version = row ? std::optional(row->version) : std::nullopt;
        return claim{held_.claim(c, key(c.partition), group_.self, version), claim_results_};
    }

    /// After a failed renewal, the next round starts with the partition after it.
    [[nodiscard]] std::uint32_t partition_at(std::uint32_t n) const
    {
        return (first_partition_ + n) % partitions();
    }

    /// The current step of the round, after all steps without work.
    [[nodiscard]] round_step current() const
    {
        auto at = current_step_;
        if (at.kind == step::renew) {
            while (at.n < partitions() && !held_.holds(partition_at(at.n))) ++at.n;
            if (at.n < partitions()) return at;
            at = {step::announce, 0};
        }
        if (stopping_ && at.kind != step::take) return {step::none, 0};
        if (at.kind == step::take && at.n >= round_claims_.size()) at = {step::remove_departed, 0};
        const bool any_departed = !stopping_ && at.n < departed_.size();
        if (at.kind == step::remove_departed && !any_departed) return {step::none, 0};
        return at;
    }

    /// Compares the held leases with the rows that were read, and plans the claims of this round.
    void reconcile(bool announced_once)
    {
        round_claims_ = held_.compare(seen_, group_.self);
        departed_.clear();
        if (stopping_ || !announced_once) return;
        balance_plan::lease_view v = seen_.view(group_.self);
        v.overdue = seen_.observed_for() - waits_since_ >= group_.leases.expiry;
        const balance_plan plan = balance(v, last_random_);
        const bool waits = plan.mine < plan.target && plan.claim.empty();
        if (!waits) waits_since_ = seen_.observed_for();
        balanced_ = plan.balanced;
        const auto take = [&](std::uint32_t p) {
            if (!held_.exhausted(p)) round_claims_.push_back({p, purpose::take});
        };
        for (const std::uint32_t p : plan.claim) take(p);
        const std::uint64_t max_moves = group_.leases.max_moves.value_or(partitions());
        for (std::uint64_t n = 0; n != detail::lesser(plan.steal.size(), max_moves); ++n)
            take(plan.steal[n]);
        held_.select_releases(plan.surplus, max_moves);
        // One owner, the first of the view, removes the departed ones.
        if (v.self == 0) departed_ = seen_.departed();
    }

    event_result after_extra_claim(const claimed& c, steady_time now)
    {
        const planned_claim planned = extra_claims_.front();
        const bool give_back = planned.purpose == purpose::give_back;
        const bool won = c.answer && c.answer->outcome == claim_result::claim_outcome::won;
        if (!won && give_back && planned.tries + 1 < max_tries) {
            if (c.answer) held_.suspect(planned.partition);
            ++extra_claims_.front().tries;
            return after_result(now);
        }
        extra_claims_.erase(extra_claims_.begin());
        if (give_back) {
            held_.set_lost(planned.partition);  // a lease that could not be given back expires
        } else if (won) {
            held_.set_won(planned.partition, *c.answer, last_result_time_,
                          detail::trusted_for(group_.leases));
        } else if (c.answer) {
            held_.suspect(planned.partition);
        } else {
            held_.set_outcome_unknown(planned.partition);
        }
        return after_result(now);
    }

    /// Handles the list that is read before uncertain rows are given back. After three consecutive
    /// failed reads the last known state of the rows is assumed.
    event_result after_list(const listed& l, steady_time now)
    {
        if (!l.answer && ++failed_lists_ < max_tries) return after_result(now);
        failed_lists_ = 0;
        reserve_give_backs(partitions());
        if (l.answer) seen_.update(*l.answer, now);
        for (std::uint32_t p = 0; p != partitions(); ++p) {
            if (!must_be_read(p)) continue;
            const bool newly_held = !held_.holds(p);
            if (!l.answer)
                held_.assume_unchanged(p);
            else if (held_.resolve(p, seen_, group_.self) && newly_held) {
                held_.release(p);
                extra_claims_.push_back({p, purpose::give_back});
            }
        }
        return after_result(now);
    }

    /// True if the row is uncertain, and the lease must be given back if this owner has it.
    [[nodiscard]] bool must_be_read(std::uint32_t p) const
    {
        return held_.uncertain(p) && (stopping_ || held_[p].released);
    }
    [[nodiscard]] bool any_must_be_read() const
    {
        for (std::uint32_t p = 0; p != partitions(); ++p) {
            if (must_be_read(p)) return true;
        }
        return false;
    }

    template <class T>
    void record_error(const result<T>& answer)
    {
        if (!answer)
            last_error_ = answer.error();
        else if (std::is_same_v<T, lease_table>)
            last_error_ = {};
    }

    event_result add_claim(const planned_claim& c, steady_time now)
    {
        if (c.partition >= partitions()) return event_result::invalid;
        if (ended_ || !held_.holds(c.partition)) return event_result::stale;
        extra_claims_.push_back(c);
        return start_between_rounds(now);
    }

    /// Between rounds, the next call outside of the rounds starts at once. Within a round, the
    /// result of the pending call comes first.
    event_result start_between_rounds(steady_time now)
    {
        // While stopping, a round may have no step left.
        if (now >= not_before_ && current().kind == step::none) wait_for_next_round(now);
        if (interruption_ == interruption::none && now < not_before_) choose_interruption();
        return event_result::applied;
    }

    void wait_for_next_round(steady_time now, double fraction = 1.0)
    {
        const duration pause = detail::until_next_round(group_.leases, last_random_) * fraction;
        not_before_ = now + detail::greater(pause, duration::nanoseconds(1));
        current_step_ = {};
    }

    event_result continue_round(const round_step& to, steady_time now)
    {
        current_step_ = to;
        if (current().kind != step::none) return after_result(now);
        if (std::exchange(contended_, false)) return begin_round_early(now);
        wait_for_next_round(now);
        return after_result(now);
    }

    /// Ends this round. The next one begins after half of the usual pause, because of an error or a
    /// contended claim.
    event_result begin_round_early(steady_time now)
    {
        constexpr double half = 0.5;
        wait_for_next_round(now, half);
        return after_result(now);
    }

    event_result after_result(steady_time now)
    {
        last_result_time_ = now;
        choose_interruption();
        return event_result::applied;
    }

    /// Selects the next call outside of the rounds, if there is one.
    void choose_interruption()
    {
        const auto not_held = [&](const planned_claim& c) { return !held_.holds(c.partition); };
        while (!extra_claims_.empty() && not_held(extra_claims_.front()))
            extra_claims_.erase(extra_claims_.begin());
        const bool gives_back = stopping_ || !extra_claims_.empty();
        if (leaving_)
            interruption_ = interruption::leave;
        else if (gives_back && any_must_be_read())
            interruption_ = interruption::list;
        else if (!extra_claims_.empty())
            interruption_ = interruption::claim;
        else
            interruption_ = interruption::none;
        ended_ = stopping_ && interruption_ == interruption::none && held_.count() == 0;
    }

    lease_group group_;
    lease_observer seen_;
    detail::held_leases held_;
    std::vector<planned_claim> extra_claims_;  // outside of the rounds
    std::vector<planned_claim> round_claims_;  // of this round
    std::vector<owner_heartbeat> departed_;    // to be removed in this round
    round_step current_step_;
    std::uint32_t first_partition_ = 0;
    interruption interruption_ = interruption::none;
    bool contended_ = false;       // a claim of this round was contended
    bool announced_once_ = false;  // the first round has written the heartbeat and listed
    bool stopping_ = false;
    bool leaving_ = false;
    bool ended_ = false;
    // The outcome of the last heartbeat is unknown. It is written again before the owner leaves.
    bool heartbeat_unknown_ = false;
    bool balanced_ = false;
    double last_random_ = 0.5;
    // The observed time since which this owner has less than its target and nothing to claim.
    duration waits_since_;
    std::uint64_t heartbeat_version_ = 0;
    std::uint64_t claim_results_ = 0;  // the number of claims that had a result
    std::uint32_t failed_lists_ = 0;   // consecutive failed reads before rows are given back
    fault last_error_;
    steady_time last_result_time_ = steady_time::lowest();
    steady_time not_before_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_LEASE_MANAGER_HPP

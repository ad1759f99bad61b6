// SPDX-License-Identifier: MIT
//
// lease_manager: takes, renews and gives back the leases of one process.
//
//     waybill::lease_manager leases({"orders", "billing", partitions, {"host-7", random_64_bits}});
//     if (auto call = leases.call(now)) leases.on(waybill::perform(store, *call, random), now);
//     if (leases.trusted(3, now)) ...             // partition 3 is held, under leases.epoch(3)
//
// One round per interval: write the heartbeat and read what changed, claim a share, remove departed
// owners. Surplus partitions are released (`to_release`) before others claim them.
//
// Guarantees
//   1. A trusted lease has not expired for any owner. An owner that has released nothing for an
//      expiry can be stolen from, and detects this in its next round. Until then the fence in the
//      commit refuses writes.
//   2. A lease stays held after a failed renewal. The next round starts early.
//   3. A claim whose result was lost is found in the next round and taken again.
//   4. Taking and giving back use an epoch above all seen, so the previous owner cannot commit. If
//      no epoch is left, the partition is not taken (`exhausted`).
//   5. The first round only writes the heartbeat and reads, so owners that start together share.
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
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/variant.hpp>
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
    using action = variant<lease_manager::lease_call, wait_until, idle>;

    explicit lease_manager(const lease_group& g)
        : group_(detail::usable(g)),
          seen_(g.source, g.group, g.partitions, group_.leases),
          held_(g.partitions.size())
    {
    }

    /// The call to the store to make now, if any. Linear in the partitions.
    [[nodiscard]] std::optional<lease_manager::lease_call> call(steady_time now) const
    {
        switch (pending(now)) {
            case step::renew: return renew{own_heartbeat(heartbeat_version_ + 1), version_};
            case step::claim: return claim{claim_rows(), claim_results_};
            case step::list: return list_leases{group_.source, group_.group};
            case step::leave: return leave{own_heartbeat(heartbeat_version_)};
            case step::remove_departed: return leave{departed_.back()};
            case step::wait: break;
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
        return match(a, [&](const auto& e) { return on(e, now); });
    }

    event_result on(const renewed& r, steady_time now)
    {
        const bool is_next = r.call.row == own_heartbeat(heartbeat_version_ + 1);
        if (pending(now) != step::renew || !is_next) return event_result::stale;
        planned_.reserve(partitions());
        record_error(r.written);
        record_error(r.table);
        last_random_ = r.random;
        ++heartbeat_version_;
        heartbeat_unknown_ = !r.written;
        if (stopping_) {  // the heartbeat was repeated before `leave`
            heartbeat_unknown_ = false;
            return after_result(now);
        }
        if (!r.table) return begin_round_early(now);
        const steady_time requested_at = detail::later(last_result_time_, not_before_);
        seen_.update(*r.table, now);
        plan_claims(r, requested_at);
        version_ = r.table->version;
        const bool first = !std::exchange(announced_once_, true);
        if (first && planned_.empty()) return begin_round_early(now);
        wait_for_next_round(now);
        return after_result(now);
    }

    event_result on(const claimed& c, steady_time now)
    {
        if (pending(now) != step::claim || c.call.number != claim_results_)
            return event_result::stale;
        for (const auto& answer : c.answers) record_error(answer);
        extra_claims_.reserve(extra_claims_.size() + planned_.size());
        // The call was requested after the last result and, at the start of a round, not before
        // `not_before_`.
        const steady_time requested_at =
            step_ == step::wait ? detail::later(last_result_time_, not_before_) : last_result_time_;
        if (step_ == step::wait) wait_for_next_round(now);
        ++claim_results_;
        bool early = false;
        bool any_error = false;
        for (std::size_t n = 0; n != planned_.size(); ++n) {
            const bool answered = n < c.answers.size() && c.answers[n];
            const lease_claim::result* const answer = answered ? &*c.answers[n] : nullptr;
            if (!apply(planned_[n], answer, requested_at)) early = true;
            // The next round starts with the row after the one that failed.
            if (!answer && !any_error && planned_[n].purpose == purpose::renew)
                first_partition_ = planned_[n].partition + 1;
            any_error = any_error || !answer;
        }
        planned_.clear();
        return early ? begin_round_early(now) : after_result(now);
    }

    event_result on(const group_left& w, steady_time now)
    {
        const bool own = pending(now) == step::leave;
        if (!own && pending(now) != step::remove_departed) return event_result::stale;
        if (w.call.row != (own ? own_heartbeat(heartbeat_version_) : departed_.back()))
            return event_result::stale;
        if (own) leaving_ = false;
        else departed_.pop_back();
        return after_result(now);
    }

    /// Handles the list that is read before uncertain rows are given back. After three consecutive
    /// failed reads the last known state of the rows is assumed.
    event_result on(const listed& l, steady_time now)
    {
        if (pending(now) != step::list) return event_result::stale;
        record_error(l.answer);
        if (!l.answer && ++failed_lists_ < max_tries) return after_result(now);
        failed_lists_ = 0;
        reserve_give_backs(partitions());
        if (l.answer) seen_.update(*l.answer, now);
        for (std::uint32_t p = 0; p != partitions(); ++p) {
            if (!must_be_read(p)) continue;
            const bool newly_held = !held_.holds(p);
            if (!l.answer) held_.assume_unchanged(p);
            else if (held_.resolve(p, seen_, group_.self) && newly_held) {
                held_.release(p);
                extra_claims_.push_back({p, purpose::give_back});
            }
        }
        return after_result(now);
    }

    /// Starts to give back all leases. Stale if the manager is stopping already.
    event_result on(const stop_requested&, steady_time now)
    {
        if (stopping_) return event_result::stale;
        // The caller may have written the pending heartbeat already.
        if (pending(now) == step::renew) heartbeat_unknown_ = true;
        departed_.clear();
        stopping_ = leaving_ = true;
        if (step_ == step::wait || step_ == step::remove_departed) choose_step();
        return event_result::applied;
    }

    event_result on(const lease_released& v, steady_time now)
    {
        if (held_[v.partition].released) return event_result::stale;
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
    /// The pending call. `wait` until `not_before_`, then the first call of a round.
    enum class step : std::uint8_t { wait, renew, claim, list, leave, remove_departed };
    using purpose = detail::claim_purpose;
    using planned_claim = detail::planned_claim;

    /// Tries of a give-back, and of the list before it.
    static constexpr std::uint32_t max_tries = 3;

    [[nodiscard]] step pending(steady_time now) const
    {
        if (ended_) return step::wait;
        if (step_ != step::wait || now < not_before_) return step_;
        if (!stopping_) return step::renew;
        return planned_.empty() ? step::wait : step::claim;
    }

    [[nodiscard]] owner_heartbeat own_heartbeat(std::uint64_t n) const
    {
        return {group_.source, group_.group, group_.self, n};
    }

    [[nodiscard]] std::vector<lease_claim> claim_rows() const
    {
        std::vector<lease_claim> rows;
        rows.reserve(planned_.size());
        for (const planned_claim& c : planned_)
            rows.push_back(held_.claim(c, key(c.partition), group_.self, seen_));
        return rows;
    }

    /// Compares the held leases with the rows that were read, and plans the claims of this round.
    void plan_claims(const renewed& r, steady_time requested_at)
    {
        // Nothing is left to do for a balanced group that has not changed.
        const bool unchanged = settled_at_ == seen_.changes() && r.renews_leases && r.written;
        const bool renews_rows =
            !unchanged && (!r.renews_leases || seen_.any_renews_rows(group_.self));
        std::optional<steady_time> trusted_until;
        if (!renews_rows && r.written)
            trusted_until = requested_at + detail::trusted_for(group_.leases);
        planned_.clear();
        held_.compare(seen_, group_.self, first_partition_, trusted_until, planned_);
        departed_.clear();
        if (!announced_once_) return;
        if (unchanged && planned_.empty()) {
            waits_since_ = seen_.observed_for();
            return;
        }
        settled_at_.reset();
        balance_plan::lease_view v = seen_.view(group_.self);
        v.overdue = seen_.observed_for() - waits_since_ >= group_.leases.expiry;
        const balance_plan plan = balance(v, last_random_);
        const bool released = plan.others_surplus < others_surplus_;
        others_surplus_ = plan.others_surplus;
        if (plan.mine >= plan.target || !plan.claim.empty() || released)
            waits_since_ = seen_.observed_for();
        balanced_ = plan.balanced;
        const auto take = [&](std::uint32_t p) {
            if (!held_.exhausted(p) && !held_.holds(p)) planned_.push_back({p, purpose::take});
        };
        for (const std::uint32_t p : plan.claim) take(p);
        const std::uint64_t steals = detail::lesser(plan.steal.size(), group_.leases.max_moves);
        for (std::uint64_t n = 0; n != steals; ++n) take(plan.steal[n]);
        held_.select_releases(plan.surplus, group_.leases.max_moves);
        // One owner, the first of the view, removes the departed ones.
        if (v.self == 0) departed_ = seen_.departed();
        // Leases that are renewed by their rows can expire without a change.
        const bool settled = balanced_ && planned_.empty() && !renews_rows && seen_.all_alive();
        if (settled) settled_at_ = seen_.changes();
    }

    /// Applies the answer to a claim; null after an error. Returns false if the next round should
    /// begin early.
    bool apply(const planned_claim& c, const lease_claim::result* answer, steady_time requested_at)
    {
        const bool won = answer && answer->outcome == lease_claim::result::claim_outcome::won;
        if (c.purpose == purpose::give_back) {
            apply_give_back(c, answer, won);
            return true;
        }
        if (c.purpose == purpose::take)
            held_.set_expired_incarnation(c.partition, seen_, group_.self);
        if (!answer) {
            held_.set_outcome_unknown(c.partition);
            return false;
        }
        if (won) {
            const bool newly_held = !held_.holds(c.partition);
            held_.set_won(c.partition, *answer, requested_at, detail::trusted_for(group_.leases));
            if (stopping_ && newly_held) {
                held_.release(c.partition);
                extra_claims_.push_back({c.partition, purpose::give_back});
            }
            return true;
        }
        // A contended take: the row was written since it was read. The next round reads it again.
        if (c.purpose == purpose::take) return false;
        held_.suspect(c.partition);
        return true;
    }

    void apply_give_back(planned_claim c, const lease_claim::result* answer, bool won)
    {
        if (won || c.tries + 1 >= max_tries) {
            held_.set_lost(c.partition);  // a lease that could not be given back expires
            return;
        }
        if (answer) held_.suspect(c.partition);
        ++c.tries;
        extra_claims_.push_back(c);
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
        if (!answer) last_error_ = answer.error();
        else if (std::is_same_v<T, lease_table>) last_error_ = {};
    }

    /// Between calls, the claim is the next call. Otherwise the result of the pending call comes
    /// first.
    event_result add_claim(const planned_claim& c, steady_time now)
    {
        if (c.partition >= partitions()) return event_result::invalid;
        if (ended_ || !held_.holds(c.partition)) return event_result::stale;
        extra_claims_.push_back(c);
        if (pending(now) == step::wait) choose_step();
        return event_result::applied;
    }

    void wait_for_next_round(steady_time now, double fraction = 1.0)
    {
        const duration pause = detail::until_next_round(group_.leases, last_random_) * fraction;
        not_before_ = now + detail::greater(pause, duration::nanoseconds(1));
    }

    /// After an error or a contended claim: the next round begins after half of the usual pause.
    event_result begin_round_early(steady_time now)
    {
        constexpr double half = 0.5;
        wait_for_next_round(now, half);
        return after_result(now);
    }

    event_result after_result(steady_time now)
    {
        last_result_time_ = now;
        choose_step();
        return event_result::applied;
    }

    /// Selects the next call.
    void choose_step()
    {
        if (leaving_) {
            step_ = heartbeat_unknown_ ? step::renew : step::leave;
        } else if (step_ != step::claim && !stopping_ && !planned_.empty()) {
            step_ = step::claim;
        } else if ((stopping_ || !extra_claims_.empty()) && any_must_be_read()) {
            step_ = step::list;
        } else if (take_extra_claims()) {
            step_ = step::claim;
        } else {
            step_ = departed_.empty() ? step::wait : step::remove_departed;
        }
        if (stopping_ && step_ == step::wait) plan_renewals();
        ended_ = stopping_ && step_ == step::wait && held_.count() == 0;
    }

    /// Plans the claims that were added since the last call. Returns false if there are none.
    bool take_extra_claims()
    {
        planned_.clear();
        for (const planned_claim& c : extra_claims_) {
            if (held_.holds(c.partition)) planned_.push_back(c);
        }
        extra_claims_.clear();
        return !planned_.empty();
    }

    /// While stopping, this owner has no heartbeat any more: a round renews each row.
    void plan_renewals()
    {
        planned_.clear();
        for (std::uint32_t n = 0; n != partitions(); ++n) {
            const std::uint32_t p = (first_partition_ + n) % partitions();
            if (held_.holds(p) && !held_[p].released) planned_.push_back({p, purpose::renew});
        }
    }

    lease_group group_;
    lease_observer seen_;
    detail::held_leases held_;
    std::vector<planned_claim> planned_;       // of the pending or next claim
    std::vector<planned_claim> extra_claims_;  // added since, outside of the rounds
    std::vector<owner_heartbeat> departed_;    // to be removed in this round, the last one first
    std::uint32_t first_partition_ = 0;        // to be renewed
    step step_ = step::wait;
    bool announced_once_ = false;  // the first round has written the heartbeat and read the rows
    bool stopping_ = false;
    bool leaving_ = false;
    bool ended_ = false;
    // The outcome of the last heartbeat is unknown. It is written again before the owner leaves.
    bool heartbeat_unknown_ = false;
    bool balanced_ = false;
    double last_random_ = 0.5;
    // The observed time since which this owner misses partitions, and nothing was released.
    duration waits_since_;
    std::uint32_t others_surplus_ = 0;  // at the last plan
    // The changes that were seen when the group was balanced; empty if it is not.
    std::optional<std::uint64_t> settled_at_;
    std::uint64_t version_ = 0;  // of the group, as read last
    std::uint64_t heartbeat_version_ = 0;
    std::uint64_t claim_results_ = 0;  // the number of claim calls that had a result
    std::uint32_t failed_lists_ = 0;   // consecutive failed reads before rows are given back
    fault last_error_;
    steady_time last_result_time_ = steady_time::lowest();
    steady_time not_before_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_LEASE_MANAGER_HPP

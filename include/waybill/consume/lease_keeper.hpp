// SPDX-License-Identifier: MIT
//
// lease_keeper: the leases of one process, kept, taken and given back.
//
// It goes in rounds, one an interval: renew what is ours, announce that we are there, look at all,
// take our share. It says which call to the store comes next and is told what came of it:
//
//     waybill::lease_keeper keeper({"orders", "billing", partitions, {"host-7", random_64_bits}});
//     if (auto call = keeper.call(now)) keeper.on(waybill::ask(store, *call, draw), now);
//     if (keeper.trusted(3, now)) ...             // partition 3 is ours, under keeper.epoch(3)
//
// What holds:
//   1. a lease is trusted for less than `expiry`, counted from before its last renewal was asked
//      for, so it has not expired for anybody. Whoever is robbed for the sake of balance finds out
//      at his next renewal: the fence in the commit is what keeps him from writing until then;
//   2. a store that cannot be reached takes nothing away: the round starts over soon, behind the
//      row that failed. Only a row that somebody else has written is lost;
//   3. a claim whose answer got lost is found in the next look, and taken up again;
//   4. whoever takes a partition, or gives it back, does so under a higher epoch than any that was
//      seen of it, so that who had it before can not commit any more. Where none is left nobody
//      takes it (`exhausted`);
//   5. in the first round it only announces itself. Who starts together with others leaves them
//      their share, so that none of it has to be taken away again;
//   6. after `stop_asked` nothing more is taken. It ends when all is given back; what cannot be is
//      tried three times, and expires. A row is read first if the answer to its last claim got
//      lost, or the claim was refused: it may still be ours.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_CONSUME_LEASE_KEEPER_HPP
#define WAYBILL_CONSUME_LEASE_KEEPER_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/consume/balance.hpp>
#include <waybill/consume/held_leases.hpp>
#include <waybill/consume/lease.hpp>
#include <waybill/consume/lease_calls.hpp>
#include <waybill/consume/lease_group.hpp>
#include <waybill/consume/lease_observer.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/match.hpp>

namespace waybill::inline v0_2 {

class lease_keeper {
public:
    using action = std::variant<lease_call, act::wait, act::idle>;

    explicit lease_keeper(const lease_group& g)
        : group_(detail::usable(g)), seen_(g.source, g.group, g.partitions, group_.leases),
          held_(g.partitions.size())
    {
    }

    /// The call to make now, if there is one.
    [[nodiscard]] std::optional<lease_call> call(steady_time now) const
    {
        if (ended_) return {};
        if (aside_ == aside::chore) return claim_of(chores_.front());
        if (aside_ == aside::look) return all();
        if (aside_ == aside::leave && unsure_) return act::announce{me(announced_ + 1)};
        if (aside_ == aside::leave) return act::withdraw{me(announced_)};
        if (now < not_before_) return {};
        const place at = current();
        switch (at.what) {
            case step::renew: return claim_of({nth(at.n), errand::renew});
            case step::announce: return act::announce{me(announced_ + 1)};
            case step::look: return all();
            case step::take: return claim_of(errands_[at.n]);
            case step::tidy: return act::withdraw{departed_[at.n]};
            case step::none: break;
        }
        return {};
    }

    [[nodiscard]] action next(steady_time now) const
    {
        if (ended_) return act::idle{};
        if (auto c = call(now)) return *std::move(c);
        return act::wait{later(now, not_before_)};
    }

    heard on(const lease_answer& a, steady_time now)
    {
        return std::visit([&](const auto& e) { return on(e, now); }, a);
    }

    heard on(const announced& a, steady_time now)
    {
        if (!detail::answers(a.call, call(now))) return heard::late;
        note(a.answer);
        ++announced_;
        unsure_ = !a.answer && aside_ != aside::leave;
        return aside_ == aside::leave ? heard_at(now) : go_on({step::look, 0}, now);
    }

    heard on(const withdrawn& w, steady_time now)
    {
        if (!detail::answers(w.call, call(now))) return heard::late;
        const bool left = aside_ == aside::leave;
        if (left) leaving_ = false;
        return left ? heard_at(now) : go_on({step::tidy, current().n + 1}, now);
    }

    heard on(const listed& l, steady_time now)
    {
        if (!detail::answers(all(), call(now))) return heard::late;
        draw_ = l.draw;
        note(l.answer);
        if (aside_ == aside::look) return after_look(l, now);
        if (!l.answer) return start_over(now);
        seen_.look(*l.answer, now);
        reconcile(introduced_);
        const bool first = !std::exchange(introduced_, true);
        return first && errands_.empty() ? start_over(now) : go_on({step::take, 0}, now);
    }

    heard on(const claimed& c, steady_time now)
    {
        if (!detail::answers(c.call, call(now))) return heard::late;
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
        if (c.answer->end == claim_end::won) {
            const bool new_one = !held_.mine(what.partition);
            held_.won(what.partition, *c.answer, later(last_, not_before_),
                      trusted_for(group_.leases));
            if (stopping_ && new_one) {
                held_.vacate(what.partition);
                chores_.push_back({what.partition, errand::give_back});
            }
            return go_on(following, now);
        }
        if (what.what == errand::renew) held_.doubt(what.partition);
        // Somebody else is taking, too: look at what he leaves before going on.
        return renewing ? go_on(following, now) : start_over(now);
    }

    heard on(const stop_asked&, steady_time now)
    {
        if (stopping_) return heard::late;
        if (now >= not_before_ && current().what == step::announce) unsure_ = true;
        stopping_ = leaving_ = true;
        return meanwhile(now);
    }

    heard on(const vacated& v, steady_time now)
    {
        const heard h = add({v.partition, errand::give_back}, now);
        if (h == heard::taken) held_.vacate(v.partition);
        return h;
    }

    heard on(const doubted& d, steady_time now)
    {
        if (!held_.mine(d.partition)) return heard::late;
        held_.distrust(d.partition);
        if (now < not_before_) not_before_ = now;
        return heard::taken;
    }

    heard on(const outdated& o, steady_time now)
    {
        if (o.partition >= partitions()) return heard::invalid;
        if (!held_.mine(o.partition) || o.epoch < held_[o.partition].epoch) return heard::late;
        if (o.epoch == last_epoch) return heard::invalid;
        return add({o.partition, errand::raise, 0, o.epoch}, now);
    }

    /// Room for so many more that are given back, found before anything has changed.
    void make_room(std::uint64_t more) { chores_.reserve(chores_.size() + more); }

    /// The epoch under which a partition is ours; empty if it is not, or is not there.
    [[nodiscard]] std::optional<std::uint64_t> epoch(std::uint32_t partition) const
    {
        return held_.epoch(partition);
    }
    /// It is ours, and has not expired for anybody. Who balances may have taken it a moment ago.
    [[nodiscard]] bool trusted(std::uint32_t partition, steady_time now) const
    {
        return held_.trusted(partition, now);
    }
    /// It is not ours, and is not taken: the last epoch was seen in its row.
    [[nodiscard]] bool exhausted(std::uint32_t partition) const
    {
        return !held_.mine(partition) && held_.exhausted(partition);
    }
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    /// How many are ours.
    [[nodiscard]] std::uint32_t held() const noexcept { return held_.count(); }
    /// All have their share, as of the last look.
    [[nodiscard]] bool balanced() const noexcept { return balanced_; }
    /// What the store said when it last failed; empty once a look has worked again.
    [[nodiscard]] const fault& trouble() const noexcept { return trouble_; }
    /// Grows with each change of what epoch() answers.
    [[nodiscard]] std::uint64_t changes() const noexcept { return held_.changes(); }
    [[nodiscard]] const lease_observer& seen() const noexcept { return seen_; }
    [[nodiscard]] std::uint32_t partitions() const { return held_.partitions(); }
    [[nodiscard]] partition_key key(std::uint32_t partition) const
    {
        return key_of(group_, partition);
    }
    /// To consume it with from this checkpoint on, as its owner since `epoch`.
    [[nodiscard]] assignment assignment_of(std::uint32_t partition, std::uint64_t epoch,
                                           const std::optional<checkpoint>& stored) const
    {
        const auto from = stored ? std::optional(stored->at) : std::nullopt;
        return {key(partition), from, epoch, group_.self.incarnation, held_[partition].ended};
    }

    friend bool operator==(const lease_keeper&, const lease_keeper&) = default;

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

    [[nodiscard]] presence me(std::uint64_t n) const
    {
        return {group_.source, group_.group, group_.self, n};
    }
    [[nodiscard]] act::list_leases all() const { return {group_.source, group_.group}; }

    [[nodiscard]] lease_call claim_of(const chore& c) const
    {
        const auto* const row = seen_.row_of(c.partition);
        const auto version = row ? std::optional(row->version) : std::nullopt;
        return act::claim{held_.claim(c, key(c.partition), group_.self, version), answered_};
    }

    /// Renewals begin with another partition each time that one has failed.
    [[nodiscard]] std::uint32_t nth(std::uint32_t n) const { return (first_ + n) % partitions(); }

    /// Where the round is: past all for which there is nothing to do.
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

    /// What others have written since, and what is to be done about it.
    void reconcile(bool introduced)
    {
        errands_ = held_.look(seen_, group_.self);
        departed_.clear();
        if (stopping_ || !introduced) return;
        const lease_view v = seen_.view(group_.self);
        const balance_plan plan = balance(v, draw_);
        balanced_ = plan.balanced;
        const auto take = [&](std::uint32_t p) {
            if (!held_.exhausted(p)) errands_.push_back({p, errand::take});
        };
        for (const std::uint32_t p : plan.claim) take(p);
        if (plan.steal) take(*plan.steal);
        if (v.self == 0) departed_ = seen_.departed();
    }

    heard after_chore(const claimed& c, steady_time now)
    {
        const chore what = chores_.front();
        const bool give_back = what.what == errand::give_back;
        const bool won = c.answer && c.answer->end == claim_end::won;
        if (!won && give_back && what.tries < 2) {
            if (c.answer) held_.doubt(what.partition);
            ++chores_.front().tries;
            return heard_at(now);
        }
        chores_.erase(chores_.begin());
        if (give_back) {
            held_.lose(what.partition);  // what could not be given back expires
        } else if (won) {
            held_.won(what.partition, *c.answer, last_, trusted_for(group_.leases));
        } else if (c.answer) {
            held_.doubt(what.partition);
        } else {
            held_.lose_answer(what.partition);
        }
        return heard_at(now);
    }

    /// The look before rows in doubt are given back. After three failed looks the last known state
    /// of the rows is assumed.
    heard after_look(const listed& l, steady_time now)
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

    /// Whether the row is in doubt, and is or may have to be given back.
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

    heard add(const chore& c, steady_time now)
    {
        if (c.partition >= partitions()) return heard::invalid;
        if (ended_ || !held_.mine(c.partition)) return heard::late;
        chores_.push_back(c);
        return meanwhile(now);
    }

    /// Between rounds it is done at once. Within one the call that was asked for is answered first.
    heard meanwhile(steady_time now)
    {
        // There is no more to do in a round of who is stopping.
        if (now >= not_before_ && current().what == step::none) wait_for_next_round(now);
        if (aside_ == aside::none && now < not_before_) choose();
        return heard::taken;
    }

    void wait_for_next_round(steady_time now, double share = 1.0)
    {
        const duration pause = until_next_round(group_.leases, draw_) * share;
        not_before_ = now + greater(pause, duration::nanoseconds(1));
        at_ = {};
    }

    heard go_on(const place& to, steady_time now)
    {
        at_ = to;
        if (current().what == step::none) wait_for_next_round(now);
        return heard_at(now);
    }

    /// The round has failed, or somebody was faster: another one, sooner.
    heard start_over(steady_time now)
    {
        wait_for_next_round(now, 0.5);
        return heard_at(now);
    }

    heard heard_at(steady_time now)
    {
        last_ = now;
        choose();
        return heard::taken;
    }

    /// What comes next, if it is not the round.
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
    held_leases held_;
    std::vector<chore> chores_;   // beside the rounds
    std::vector<chore> errands_;  // of this round
    std::vector<presence> departed_;
    place at_;
    std::uint32_t first_ = 0;
    aside aside_ = aside::none;
    bool introduced_ = false;  // others have had the time to see that we are there
    bool stopping_ = false;
    bool leaving_ = false;
    bool ended_ = false;
    bool unsure_ = false;  // the last announcement may be written, or not: only another one tells
    bool balanced_ = false;
    double draw_ = 0.5;
    std::uint64_t announced_ = 0;
    std::uint64_t answered_ = 0;  // claims
    std::uint32_t looks_ = 0;     // failed ones in a row, before rows are given back
    fault trouble_;
    steady_time last_ = steady_time::lowest();
    steady_time not_before_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_LEASE_KEEPER_HPP

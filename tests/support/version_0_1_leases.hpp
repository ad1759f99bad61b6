// SPDX-License-Identifier: MIT
//
// version_0_1: the lease manager of version 0.1 (commit 6247139), with the current names.
//
// It steals one partition in a round, renews each lease by itself, and lists all rows. Tests mix it
// with the current lease manager, and bench/leases compares the two. It is unchanged, without its
// comments.

#ifndef WAYBILL_TESTS_SUPPORT_VERSION_0_1_LEASES_HPP
#define WAYBILL_TESTS_SUPPORT_VERSION_0_1_LEASES_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_group.hpp>

namespace version_0_1 {

using namespace waybill;  // NOLINT
namespace detail {
using namespace waybill::detail;  // NOLINT
}

}  // namespace version_0_1

namespace version_0_1 {

struct balance_plan {
    struct lease_view {
        static constexpr std::uint32_t free = ~std::uint32_t{0};
        static constexpr std::uint32_t free_for_long = free - 1;

        std::vector<std::uint32_t> holders{};
        std::uint32_t owners = 1;
        std::uint32_t self = 0;

        friend bool operator==(const lease_view&, const lease_view&) = default;
    };

    std::vector<std::uint32_t> claim{};
    std::optional<std::uint32_t> steal{};
    std::uint32_t mine = 0;
    std::uint32_t target = 0;
    bool balanced = false;

    friend bool operator==(const balance_plan&, const balance_plan&) = default;
};

}  // namespace version_0_1

namespace version_0_1::detail {

class shares {
public:
    explicit shares(const balance_plan::lease_view& v)
        : owners_(v.owners), held_counts_(owners_), target_counts_(owners_)
    {
        for (const std::uint32_t h : v.holders) {
            if (h < owners_) ++held_counts_[h];
        }
        const std::size_t all = v.holders.size();
        std::vector<std::uint32_t> first(all + 2);
        for (const std::uint32_t n : held_counts_) ++first[all - n + 1];
        for (std::size_t i = 1; i != first.size(); ++i) first[i] += first[i - 1];
        order_.resize(owners_);
        for (std::uint32_t o = 0; o != owners_; ++o) order_[first[all - held_counts_[o]]++] = o;
        const auto min_target = static_cast<std::uint32_t>(all / owners_);
        const std::size_t larger_targets = all % owners_;
        for (std::uint32_t i = 0; i != owners_; ++i) {
            target_counts_[order_[i]] = min_target + (i < larger_targets ? 1 : 0);
        }
    }

    [[nodiscard]] std::uint32_t held_count(std::uint32_t owner) const
    {
        return held_counts_[owner];
    }
    [[nodiscard]] std::uint32_t target_count(std::uint32_t owner) const
    {
        return target_counts_[owner];
    }
    [[nodiscard]] std::uint32_t missing_count(std::uint32_t owner) const
    {
        return held_counts_[owner] < target_counts_[owner]
                   ? target_counts_[owner] - held_counts_[owner]
                   : 0;
    }
    [[nodiscard]] std::uint32_t surplus_count(std::uint32_t owner) const
    {
        return held_counts_[owner] > target_counts_[owner]
                   ? held_counts_[owner] - target_counts_[owner]
                   : 0;
    }
    [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

private:
    std::uint32_t owners_;
    std::vector<std::uint32_t> held_counts_;
    std::vector<std::uint32_t> target_counts_;
    std::vector<std::uint32_t> order_;
};

[[nodiscard]] inline std::optional<std::uint32_t> nth_partition_of(
    const balance_plan::lease_view& v, std::uint32_t owner, std::uint32_t n)
{
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] == owner && n-- == 0) return i;
    }
    return {};
}

inline void plan_claims(const balance_plan::lease_view& v, const shares& s,
                        const std::vector<std::uint32_t>& free, std::uint32_t start,
                        balance_plan& plan)
{
    std::size_t distributed = 0;
    std::uint32_t earlier_thieves = 0;
    for (std::size_t i = s.order().size(); i-- != 0;) {
        const std::uint32_t owner = s.order()[i];
        const std::size_t remaining = free.size() - distributed;
        const std::size_t missing = s.missing_count(owner);
        const std::size_t share = missing < remaining ? missing : remaining;
        if (owner != v.self) {
            distributed += share;
            if (share == 0 && missing != 0) ++earlier_thieves;
            continue;
        }
        for (std::size_t k = 0; k != share; ++k) {
            plan.claim.push_back(free[distributed + (k + start) % share]);
        }
        if (share != 0 || missing == 0) return;
        for (const std::uint32_t victim : s.order()) {
            const std::uint32_t surplus = s.surplus_count(victim);
            if (earlier_thieves < surplus) {
                plan.steal = nth_partition_of(v, victim, earlier_thieves);
                return;
            }
            earlier_thieves -= surplus;
        }
        return;
    }
}

}  // namespace version_0_1::detail

namespace version_0_1 {

[[nodiscard]] inline balance_plan balance(const balance_plan::lease_view& v, double random)
{
    balance_plan plan;
    if (v.self >= v.owners) return plan;
    const detail::shares shares(v);
    plan.mine = shares.held_count(v.self);
    plan.target = shares.target_count(v.self);

    std::vector<std::uint32_t> free;
    std::vector<std::uint32_t> free_for_long;
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] < v.owners) continue;
        free.push_back(i);
        if (v.holders[i] == balance_plan::lease_view::free_for_long) free_for_long.push_back(i);
    }
    const double below_one = 1.0 - 0x1p-53;  // the highest valid random number
    const double bounded = random >= 0.0 ? (random < 1.0 ? random : below_one) : 0.0;
    const auto start = static_cast<std::uint32_t>(bounded * static_cast<double>(free.size()));
    detail::plan_claims(v, shares, free, start, plan);
    if (plan.claim.empty() && !plan.steal && !free_for_long.empty()) {
        const auto at =
            static_cast<std::size_t>(bounded * static_cast<double>(free_for_long.size()));
        plan.claim.push_back(free_for_long[at]);
    }
    plan.balanced = free.empty();
    for (std::uint32_t o = 0; o != v.owners; ++o) {
        if (shares.surplus_count(o) != 0) plan.balanced = false;
    }
    return plan;
}

}  // namespace version_0_1

namespace version_0_1 {

class lease_observer {
public:
    struct row {
        owner_id owner{};
        std::uint64_t epoch = 0;
        std::uint64_t version = 0;

        friend bool operator==(const row&, const row&) = default;
    };

    lease_observer(std::string source, std::string group,
                   const std::vector<std::string>& partitions, const lease_options& o = {})
        : source_(std::move(source)), group_(std::move(group)), options_(o),
          leases_(partitions.size())
    {
        std::uint32_t n = 0;
        for (const std::string& name : partitions) partition_numbers_.emplace(name, n++);
    }

    void update(const lease_table& table, steady_time now)
    {
        const duration max_step = options_.interval + options_.interval;
        if (last_read_)
            observed_for_ =
                observed_for_ +
                detail::lesser(detail::greater(now - *last_read_, duration{}), max_step);
        last_read_ = last_read_ ? detail::later(*last_read_, now) : now;

        std::vector<const lease*> rows(leases_.size());
        for (const lease& l : table.leases) {
            if (l.key.source != source_ || l.key.group != group_) continue;
            const auto found = partition_numbers_.find(l.key.partition);
            if (found == partition_numbers_.end()) continue;
            const lease*& chosen = rows[found->second];
            if (!chosen || is_newer(l, *chosen)) chosen = &l;
        }
        for (std::uint32_t i = 0; i != rows.size(); ++i) update_lease(leases_[i], rows[i]);

        for (auto& [id, seen] : owners_) seen.listed = false;
        for (const owner_heartbeat& p : table.owners) {
            if (p.source != source_ || p.group != group_ || p.owner.none()) continue;
            const auto [at, is_new] = owners_.try_emplace(p.owner);
            if (at->second.listed && p.version <= at->second.version) continue;
            if (is_new || p.version != at->second.version) at->second.last_change = observed_for_;
            at->second.version = p.version;
            at->second.listed = true;
        }
        for (auto at = owners_.begin(); at != owners_.end();) {
            if (at->second.listed) ++at;
            else at = owners_.erase(at);
        }
    }

    [[nodiscard]] const row* row_of(std::uint32_t partition) const
    {
        if (partition >= leases_.size() || !leases_[partition].stored) return nullptr;
        return &*leases_[partition].stored;
    }

    [[nodiscard]] bool expired(std::uint32_t partition) const
    {
        if (partition >= leases_.size()) return false;
        const seen_lease& l = leases_[partition];
        return l.stored && !l.stored->owner.none() && unchanged_for(l.last_change, options_.expiry);
    }

    [[nodiscard]] balance_plan::lease_view view(const owner_id& self) const
    {
        using owner_key = std::pair<std::string_view, std::uint64_t>;
        const auto id = [](const owner_id& o) { return owner_key(o.name, o.incarnation); };
        std::map<owner_key, std::uint32_t> owners{{id(self), 0}};
        for (const auto& [owner, seen] : owners_) {
            if (!unchanged_for(seen.last_change, options_.expiry)) owners.emplace(id(owner), 0);
        }
        for (std::uint32_t i = 0; i != leases_.size(); ++i) {
            const std::optional<row>& r = leases_[i].stored;
            if (r && !r->owner.none() && !expired(i)) owners.emplace(id(r->owner), 0);
        }
        balance_plan::lease_view v;
        v.owners = 0;
        for (auto& [owner, number] : owners) number = v.owners++;
        v.self = owners.find(id(self))->second;
        for (std::uint32_t i = 0; i != leases_.size(); ++i) {
            const std::optional<row>& r = leases_[i].stored;
            const bool own = r && r->owner == self;
            if (own || (r && !r->owner.none() && !expired(i))) {
                v.holders.push_back(owners.find(id(r->owner))->second);
            } else {
                const bool free_for_long =
                    unchanged_for(leases_[i].last_change, options_.expiry + options_.expiry);
                v.holders.push_back(free_for_long ? balance_plan::lease_view::free_for_long
                                                  : balance_plan::lease_view::free);
            }
        }
        return v;
    }

    [[nodiscard]] std::vector<owner_heartbeat> departed() const
    {
        std::vector<owner_heartbeat> departed_owners;
        for (const auto& [owner, seen] : owners_) {
            if (!unchanged_for(seen.last_change, options_.expiry + options_.expiry)) continue;
            departed_owners.push_back({source_, group_, owner, seen.version});
        }
        return departed_owners;
    }

    friend bool operator==(const lease_observer&, const lease_observer&) = default;

private:
    struct seen_lease {
        std::optional<row> stored{};
        duration last_change{};  // the value of `observed_for_` at its last change

        friend bool operator==(const seen_lease&, const seen_lease&) = default;
    };
    struct seen_owner {
        std::uint64_t version = 0;
        duration last_change{};  // the value of `observed_for_` at its last change
        bool listed = false;

        friend bool operator==(const seen_owner&, const seen_owner&) = default;
    };

    static bool is_newer(const lease& a, const lease& b)
    {
        return a.epoch != b.epoch ? a.epoch > b.epoch : a.version > b.version;
    }

    void update_lease(seen_lease& seen, const lease* l) const
    {
        if (!l) {
            if (seen.stored) seen = {std::nullopt, observed_for_};
            return;
        }
        const bool same = seen.stored && seen.stored->version == l->version &&
                          seen.stored->epoch == l->epoch && seen.stored->owner == l->owner;
        if (!same) seen = {row{l->owner, l->epoch, l->version}, observed_for_};
    }

    [[nodiscard]] bool unchanged_for(duration last_change, duration period) const
    {
        return observed_for_ - last_change >= period;
    }

    std::string source_;
    std::string group_;
    lease_options options_;
    std::map<std::string, std::uint32_t> partition_numbers_;
    std::vector<seen_lease> leases_;
    std::map<owner_id, seen_owner> owners_;
    std::optional<steady_time> last_read_;
    duration observed_for_;  // since the first update, with at most two intervals for each
};

}  // namespace version_0_1

namespace version_0_1 {

struct lease_manager_types {
    struct heartbeat {
        owner_heartbeat row{};
        friend bool operator==(const heartbeat&, const heartbeat&) = default;
    };

    struct leave {
        owner_heartbeat row{};
        friend bool operator==(const leave&, const leave&) = default;
    };

    struct list_leases {
        std::string source{};
        std::string group{};
        friend bool operator==(const list_leases&, const list_leases&) = default;
    };

    struct claim {
        lease_claim row{};
        std::uint64_t number = 0;
        friend bool operator==(const claim&, const claim&) = default;
    };

    struct heartbeat_stored {
        heartbeat call{};
        result<void> answer{};
        friend bool operator==(const heartbeat_stored&, const heartbeat_stored&) = default;
    };

    struct group_left {
        leave call{};
        result<void> answer{};
        friend bool operator==(const group_left&, const group_left&) = default;
    };

    struct listed {
        result<lease_table> answer{};
        double random = 0.5;
        friend bool operator==(const listed&, const listed&) = default;
    };

    struct claimed {
        claim call{};
        result<lease_claim::result> answer{};
        friend bool operator==(const claimed&, const claimed&) = default;
    };

    struct lease_released {
        std::uint32_t partition = 0;

        friend bool operator==(const lease_released&, const lease_released&) = default;
    };

    struct lease_suspected {
        std::uint32_t partition = 0;

        friend bool operator==(const lease_suspected&, const lease_suspected&) = default;
    };

    struct epoch_too_low {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;

        friend bool operator==(const epoch_too_low&, const epoch_too_low&) = default;
    };

    using lease_call = waybill::variant<heartbeat, leave,
                                    list_leases, claim>;

    using lease_answer =
        waybill::variant<heartbeat_stored, group_left,
                     listed, claimed>;

    friend bool operator==(const lease_manager_types&, const lease_manager_types&) = default;
};

namespace detail {

template <class Call>
[[nodiscard]] bool is_result_of(const Call& reported,
                                const std::optional<lease_manager_types::lease_call>& pending)
{
    const Call* const pending_call = pending ? waybill::get_if<Call>(&*pending) : nullptr;
    return pending_call && *pending_call == reported;
}

}  // namespace detail

template <class S>
[[nodiscard]] lease_manager_types::lease_answer perform(S& store,
                                                        const lease_manager_types::lease_call& call,
                                                        double random)
{
    return match(
        call,
        [&](const lease_manager_types::heartbeat& a) {
            return lease_manager_types::lease_answer(
                lease_manager_types::heartbeat_stored{a, store.heartbeat(a.row)});
        },
        [&](const lease_manager_types::leave& a) {
            return lease_manager_types::lease_answer(
                lease_manager_types::group_left{a, store.leave(a.row)});
        },
        [&](const lease_manager_types::list_leases& a) {
            return lease_manager_types::lease_answer(
                lease_manager_types::listed{store.list(a.source, a.group), random});
        },
        [&](const lease_manager_types::claim& a) {
            return lease_manager_types::lease_answer(
                lease_manager_types::claimed{a, store.claim(a.row)});
        });
}

}  // namespace version_0_1

namespace version_0_1::detail {

enum class claim_purpose : std::uint8_t { renew, take, raise_epoch, give_back };

struct planned_claim {
    std::uint32_t partition = 0;
    claim_purpose purpose = claim_purpose::renew;
    std::uint32_t tries = 0;
    std::uint64_t above_epoch = 0;

    friend bool operator==(const planned_claim&, const planned_claim&) = default;
};

class held_leases {
public:
    struct entry {
        bool held = false;
        bool released = false;
        bool suspected = false;
        bool outcome_unknown = false;
        std::uint64_t epoch = 0;
        std::uint64_t version = 0;
        std::uint64_t highest_epoch = 0;
        std::optional<std::uint64_t> expired_incarnation{};
        steady_time trusted_until = steady_time::lowest();

        friend bool operator==(const entry&, const entry&) = default;
    };

    explicit held_leases(std::uint64_t partitions) : entries_(partitions) {}

    void set_won(std::uint32_t partition, const lease_claim::result& o, steady_time requested_at,
                 duration trusted)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (!e.held || e.epoch != o.epoch) ++changes_;
        if (!e.held) ++count_;
        e.held = true;
        e.suspected = e.outcome_unknown = false;
        e.epoch = o.epoch;
        e.version = o.version;
        if (!e.released) e.trusted_until = requested_at + trusted;
        record_epoch(partition, o.epoch);
    }

    void suspect(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].suspected = true;
        distrust(partition);
    }
    void set_outcome_unknown(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].outcome_unknown = true;
    }
    void distrust(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].trusted_until = steady_time::lowest();
    }

    void release(std::uint32_t partition)
    {
        if (partition < partitions()) entries_[partition].released = true;
        distrust(partition);
    }

    void set_lost(std::uint32_t partition)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (e.held) {
            ++changes_;
            --count_;
        }
        e.held = e.released = e.suspected = e.outcome_unknown = false;
        distrust(partition);
    }

    [[nodiscard]] bool uncertain(std::uint32_t partition) const
    {
        const entry& e = (*this)[partition];
        return e.suspected || e.outcome_unknown;
    }

    template <class Observer>
    bool resolve(std::uint32_t partition, const Observer& seen, const owner_id& self)
    {
        const auto* const stored = seen.row_of(partition);
        if (stored) record_epoch(partition, stored->epoch);
        if (!stored || stored->owner != self) {
            set_lost(partition);
            return false;
        }
        set_won(partition, {lease_claim::result::claim_outcome::won, stored->epoch, stored->version},
                steady_time::lowest(), duration{});
        return true;
    }

    void assume_unchanged(std::uint32_t partition)
    {
        if (partition < partitions()) {
            entries_[partition].suspected = entries_[partition].outcome_unknown = false;
        }
    }

    template <class Observer>
    [[nodiscard]] std::vector<detail::planned_claim> compare(const Observer& seen,
                                                             const owner_id& self)
    {
        std::vector<detail::planned_claim> claims;
        for (std::uint32_t p = 0; p != partitions(); ++p) {
            if (const auto purpose = claim_after_read(p, seen.row_of(p), self))
                claims.push_back({p, *purpose});
            entries_[p].outcome_unknown = false;
        }
        return claims;
    }

    template <class Observer>
    void set_expired_incarnation(std::uint32_t partition, const Observer& seen,
                                 const owner_id& self)
    {
        if (partition >= partitions()) return;
        std::optional<std::uint64_t>& expired_incarnation = entries_[partition].expired_incarnation;
        const auto* const stored = seen.row_of(partition);
        if (!stored) {
            expired_incarnation.reset();
        } else if (stored->owner != self) {
            expired_incarnation = seen.expired(partition) ? stored->owner.incarnation : 0;
        }
    }

    void record_epoch(std::uint32_t partition, std::uint64_t epoch)
    {
        if (partition >= partitions()) return;
        entry& e = entries_[partition];
        if (e.highest_epoch < epoch) e.highest_epoch = epoch;
    }

    [[nodiscard]] lease_claim claim(const detail::planned_claim& c, partition_key key,
                                    const owner_id& self, std::optional<std::uint64_t> stored) const
    {
        using detail::claim_purpose;
        const entry& e = (*this)[c.partition];
        const std::uint64_t highest =
            e.highest_epoch < c.above_epoch ? c.above_epoch : e.highest_epoch;
        const std::uint64_t next = highest == lease::max_epoch ? highest : highest + 1;
        return {.key = std::move(key),
                .owner = c.purpose == claim_purpose::give_back ? owner_id{} : self,
                .epoch = c.purpose == claim_purpose::renew ? e.epoch : next,
                .expected = c.purpose == claim_purpose::take ? stored : std::optional(e.version)};
    }

    [[nodiscard]] const entry& operator[](std::uint32_t partition) const
    {
        return partition < partitions() ? entries_[partition] : unheld_entry_;
    }
    [[nodiscard]] bool holds(std::uint32_t partition) const { return (*this)[partition].held; }
    [[nodiscard]] std::optional<std::uint64_t> epoch(std::uint32_t partition) const
    {
        const entry& e = (*this)[partition];
        return e.held ? std::optional(e.epoch) : std::nullopt;
    }
    [[nodiscard]] bool exhausted(std::uint32_t partition) const
    {
        return (*this)[partition].highest_epoch == lease::max_epoch;
    }
    [[nodiscard]] bool trusted(std::uint32_t partition, steady_time now) const
    {
        const entry& e = (*this)[partition];
        return e.held && now < e.trusted_until;
    }
    [[nodiscard]] std::uint32_t partitions() const
    {
        return static_cast<std::uint32_t>(entries_.size());
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

    friend bool operator==(const held_leases&, const held_leases&) = default;

private:
    template <class Row>
    std::optional<detail::claim_purpose> claim_after_read(std::uint32_t partition,
                                                          const Row* stored, const owner_id& self)
    {
        using detail::claim_purpose;
        entry& e = entries_[partition];
        const bool ours = stored && stored->owner == self;
        if (stored) record_epoch(partition, stored->epoch);
        if (e.held && ours && stored->epoch == e.epoch) {
            if (uncertain(partition)) e.version = stored->version;
            if (!e.suspected) return {};
            return claim_purpose::renew;
        }
        if (e.held && !e.suspected) {
            suspect(partition);
            return claim_purpose::renew;
        }
        set_lost(partition);
        return ours && !exhausted(partition) ? std::optional(claim_purpose::take) : std::nullopt;
    }

    std::vector<entry> entries_;
    entry unheld_entry_;  // the state of an unknown partition
    std::uint32_t count_ = 0;
    std::uint64_t changes_ = 0;
};

}  // namespace version_0_1::detail

namespace version_0_1 {

class lease_manager : public lease_manager_types {
public:
    using action = waybill::variant<lease_manager::lease_call, wait_until, idle>;

    explicit lease_manager(const lease_group& g)
        : group_(detail::usable(g)),
          seen_(g.source, g.group, g.partitions, group_.leases),
          held_(g.partitions.size())
    {
    }

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

    [[nodiscard]] action next(steady_time now) const
    {
        if (ended_) return idle{};
        if (auto c = call(now)) return *std::move(c);
        return wait_until{detail::later(now, not_before_)};
    }

    event_result on(const lease_manager::lease_answer& a, steady_time now)
    {
        return waybill::match(a, [&](const auto& e) { return on(e, now); });
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
        if (c.answer->outcome == lease_claim::result::claim_outcome::won) {
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
        return renewing ? continue_round(following, now) : begin_round_early(now);
    }

    event_result on(const stop_requested&, steady_time now)
    {
        if (stopping_) return event_result::stale;
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

    void reserve_give_backs(std::uint64_t more)
    {
        extra_claims_.reserve(extra_claims_.size() + more);
    }

    [[nodiscard]] std::optional<std::uint64_t> epoch(std::uint32_t partition) const
    {
        return held_.epoch(partition);
    }
    [[nodiscard]] bool trusted(std::uint32_t partition, steady_time now) const
    {
        return held_.trusted(partition, now);
    }
    [[nodiscard]] bool exhausted(std::uint32_t partition) const
    {
        return !held_.holds(partition) && held_.exhausted(partition);
    }
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    [[nodiscard]] std::uint32_t held() const noexcept { return held_.count(); }
    [[nodiscard]] bool balanced() const noexcept { return balanced_; }
    [[nodiscard]] const fault& last_error() const noexcept { return last_error_; }
    [[nodiscard]] std::uint64_t changes() const noexcept { return held_.changes(); }
    [[nodiscard]] const lease_observer& seen() const noexcept { return seen_; }
    [[nodiscard]] std::uint32_t partitions() const { return held_.partitions(); }
    [[nodiscard]] partition_key key(std::uint32_t partition) const
    {
        return detail::key_of(group_, partition);
    }
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
    enum class interruption : std::uint8_t { none, claim, list, leave };

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

    [[nodiscard]] std::uint32_t partition_at(std::uint32_t n) const
    {
        return (first_partition_ + n) % partitions();
    }

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

    void reconcile(bool announced_once)
    {
        round_claims_ = held_.compare(seen_, group_.self);
        departed_.clear();
        if (stopping_ || !announced_once) return;
        const balance_plan::lease_view v = seen_.view(group_.self);
        const balance_plan plan = balance(v, last_random_);
        balanced_ = plan.balanced;
        const auto take = [&](std::uint32_t p) {
            if (!held_.exhausted(p)) round_claims_.push_back({p, purpose::take});
        };
        for (const std::uint32_t p : plan.claim) take(p);
        if (plan.steal) take(*plan.steal);
        if (v.self == 0) departed_ = seen_.departed();
    }

    event_result after_extra_claim(const claimed& c, steady_time now)
    {
        const planned_claim planned = extra_claims_.front();
        const bool give_back = planned.purpose == purpose::give_back;
        const bool won = c.answer && c.answer->outcome == lease_claim::result::claim_outcome::won;
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

    event_result start_between_rounds(steady_time now)
    {
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
        if (current().kind == step::none) wait_for_next_round(now);
        return after_result(now);
    }

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
    bool announced_once_ = false;  // the first round has written the heartbeat and listed
    bool stopping_ = false;
    bool leaving_ = false;
    bool ended_ = false;
    bool heartbeat_unknown_ = false;
    bool balanced_ = false;
    double last_random_ = 0.5;
    std::uint64_t heartbeat_version_ = 0;
    std::uint64_t claim_results_ = 0;  // the number of claims that had a result
    std::uint32_t failed_lists_ = 0;   // consecutive failed reads before rows are given back
    fault last_error_;
    steady_time last_result_time_ = steady_time::lowest();
    steady_time not_before_ = steady_time::lowest();
};

}  // namespace version_0_1

#endif  // WAYBILL_TESTS_SUPPORT_VERSION_0_1_LEASES_HPP

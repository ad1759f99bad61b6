// SPDX-License-Identifier: MIT
//
// Two or three owners and one lease store, call by call, in every order.
//
// Each owner drives a lease_manager. A call can fail before or after it takes effect. It can also
// be given up, and its answer then arrives at any later time. An owner can sleep while time passes,
// be killed and restarted, or stop and release its leases. After each call:
//
//   - no two owners can commit: no two hold the same epoch, and the store has only one epoch;
//   - no two owners trust the same lease at the same time, although each reads only its own clock.
//     Exception: an owner that did not release its surplus for an expiry and was just robbed;
//   - the epoch in the store never falls, and grows with every change of owner;
//   - no owner gives up a lease that the store still has as its own: an outage is not a rival;
//   - an owner that has stopped and ended leaves no row of its own, even if answers were lost.
//
// After the faults end, all partitions are owned and balanced within a few rounds. Stores and
// settings that break one of these laws are the mutants. A heartbeat and the following read are one
// step here, which halves the number of orders. No owner relies on heartbeats alone.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/every_schedule.hpp>
#include <support/failed_call.hpp>
#include <support/row_leases.hpp>

#include <waybill/lease/lease_manager.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/memory_leases.hpp>

namespace leases_test {
namespace {

using waybill::duration;
using waybill::lease_claim;
using waybill::lease_manager;
using waybill::testing::choices;

constexpr duration interval = duration::seconds(10);
constexpr waybill::lease_options options{interval, duration::seconds(30)};

enum class flaw : std::uint8_t {
    none,
    ignores_version,
    ignores_heartbeat,
    forgets_epoch,
    swallows_errors
};

struct extent {
    std::uint32_t owners = 2;
    std::uint32_t partitions = 1;
    std::uint32_t rounds = 5;  // rounds in which all faults are possible
    std::uint32_t faults = 0;  // calls that fail, before or after they take effect
    std::uint32_t late = 0;    // calls that take effect and are given up; the answer arrives later
    std::uint32_t naps = 0;    // pauses of two rounds in which no due owner acts
    std::uint32_t kills = 0;
    std::uint32_t stops = 0;
    bool same_incarnation = false;  // a killed owner restarts with the same incarnation
    bool row_by_row = false;        // a store without the calls `renew` and `claim_all`
    // owners do not release their surplus, and lose it after an expiry
    bool never_releases = false;
    bool any_answer = false;  // the mutant: any answer counts as the answer to the open call
    // the mutant: an owner that stops does not read the table again
    bool never_reads_again = false;
    flaw of_store = flaw::none;
    waybill::lease_options of_first = options;
};

class simulation {
public:
    simulation(const extent& x, choices& c) : x_(x), c_(c)
    {
        for (std::uint32_t p = 0; p != x.partitions; ++p) names_.push_back(std::to_string(p));
        for (std::uint32_t o = 0; o != x.owners; ++o) {
            owners_.push_back(keeper(o, o + 1));
            incarnations_.push_back(o + 1);
        }
        epochs_.resize(x.partitions);
        holders_.resize(x.partitions);
        given_up_.resize(x.owners);
    }

    /// The law that was broken, or nothing.
    std::string run()
    {
        const auto end = waybill::steady_time::at(interval * static_cast<double>(x_.rounds));
        while (now_ < end && broken_.empty()) choose();
        left_ = {};
        const auto quiet = now_ + interval * 12.0;
        for (std::uint32_t o = 0; o != x_.owners; ++o) arrives(o);
        while (now_ < quiet && broken_.empty()) calm();
        if (broken_.empty()) settled();
        return broken_;
    }

private:
    struct budget {
        std::uint32_t faults = 0, late = 0, naps = 0, kills = 0, stops = 0;
    };
    enum class fate : std::uint8_t { fine, refused, answer_lost, answer_late };

    lease_manager keeper(std::uint32_t owner, std::uint64_t incarnation) const
    {
        return lease_manager({"log",
                              "test",
                              names_,
                              {std::string(1, static_cast<char>('a' + owner)), incarnation},
                              owner == 0 ? x_.of_first : options});
    }

    [[nodiscard]] bool due(std::uint32_t owner) const
    {
        return owners_[owner].call(now_).has_value();
    }

    void choose()
    {
        std::vector<std::uint32_t> awake;
        for (std::uint32_t o = 0; o != owners_.size(); ++o) {
            if (due(o)) awake.push_back(o);
        }
        if (awake.empty()) {
            tick();
            return;
        }
        // A due owner acts (its call may fail), is killed or stops. Or time passes for all of them.
        // Or the answer to an abandoned call arrives.
        const auto n = static_cast<std::uint32_t>(awake.size());
        const std::uint32_t each = 1 + (left_.faults != 0 ? 2U : 0U) + (left_.late != 0 ? 1U : 0U) +
                                   (left_.kills != 0 ? 1U : 0U) + (left_.stops != 0 ? 1U : 0U);
        std::vector<std::uint32_t> waiting;  // owners whose abandoned call has no answer yet
        for (std::uint32_t o = 0; o != owners_.size(); ++o) {
            if (given_up_[o]) waiting.push_back(o);
        }
        const std::uint32_t naps = left_.naps != 0 ? 1U : 0U;
        std::uint32_t what = c_.pick(n * each + naps + static_cast<std::uint32_t>(waiting.size()));
        if (what >= n * each + naps) return arrives(waiting[what - n * each - naps]);
        if (what == n * each) {
            --left_.naps;
            now_ = now_ + interval * 2.0;
            return;
        }
        const std::uint32_t owner = awake[what / each];
        what %= each;
        if (what == 0) return step(owner, fate::fine);
        if (left_.faults != 0 && what <= 2) {
            --left_.faults;
            return step(owner, what == 1 ? fate::refused : fate::answer_lost);
        }
        if (left_.faults != 0) what -= 2;
        if (left_.late != 0 && what == 1) {
            --left_.late;
            return step(owner, fate::answer_late);
        }
        if (left_.late != 0) --what;
        if (left_.kills != 0 && what == 1) {
            --left_.kills;
            if (!x_.same_incarnation) incarnations_[owner] += 100;
            owners_[owner] = keeper(owner, incarnations_[owner]);
            given_up_[owner].reset();
            return;
        }
        --left_.stops;
        owners_[owner].on(waybill::stop_requested{}, now_);
        for (std::uint32_t p = 0; p != x_.partitions; ++p)
            owners_[owner].on(waybill::lease_manager::lease_released{p}, now_);
        look(owner, {});
    }

    void calm()
    {
        bool any = false;
        for (std::uint32_t o = 0; o != owners_.size(); ++o) {
            while (due(o) && broken_.empty()) {
                any = true;
                step(o, fate::fine);
            }
        }
        if (!any) tick();
    }

    void tick() { now_ = now_ + interval * 0.5; }

    void step(std::uint32_t owner, fate f)
    {
        lease_manager& k = owners_[owner];
        const auto call = k.call(now_);
        if (!call) return;
        const std::vector<std::optional<std::uint64_t>> before = held(k);
        note_theft(owner, *call);
        if (x_.never_reads_again && k.stopping() &&
            waybill::holds_alternative<lease_manager::list_leases>(*call))
            f = fate::refused;
        if (f == fate::answer_late) {
            given_up_[owner] = effect(*call);
            f = fate::refused;
        }
        answer(k, *call, f);
        release(k);
        look(owner, before);
    }

    /// Notes that a lease that has not expired is claimed by another owner.
    void note_theft(std::uint32_t owner, const lease_manager::lease_call& call)
    {
        const auto* claim = waybill::get_if<lease_manager::claim>(&call);
        if (!claim) return;
        const auto& seen = owners_[owner].seen();
        for (const lease_claim& c : claim->rows) {
            const auto p = static_cast<std::uint32_t>(c.key.partition[0] - '0');
            const auto* const row = seen.row_of(p);
            if (!row || c.owner.none() || row->owner == c.owner || row->owner.none()) continue;
            if (seen.expired(p)) continue;
            if (x_.naps == 0 && x_.kills == 0 && !x_.never_releases)
                breaks("a lease is stolen from an owner that responds");
            robbed_.insert({p, row->epoch});
        }
    }

    /// Releases each lease with `to_release`, unless owners never release.
    void release(lease_manager& k)
    {
        if (x_.never_releases) return;
        for (std::uint32_t p = 0; p != x_.partitions; ++p) {
            if (k.to_release(p) && k.trusted(p, now_)) k.on(lease_manager::lease_released{p}, now_);
        }
    }

    /// The answer to an abandoned call arrives, after its effect and all later changes.
    void arrives(std::uint32_t owner)
    {
        if (!given_up_[owner]) return;
        auto a = *std::exchange(given_up_[owner], {});
        lease_manager& k = owners_[owner];
        if (x_.any_answer) relabelled(a, k.call(now_));
        // An older table is as good as a new one: claims of rows that have changed since are
        // contended.
        const bool of_a_row = !waybill::holds_alternative<waybill::lease_manager::listed>(a);
        const std::vector<std::optional<std::uint64_t>> before = held(k);
        if (k.on(a, now_) != waybill::event_result::stale && of_a_row && !x_.any_answer)
            breaks("an answer of an abandoned call is applied");
        look(owner, before);
    }
    static void relabelled(waybill::lease_manager::lease_answer& a,
                           const std::optional<lease_manager::lease_call>& open)
    {
        auto* const of_claim = waybill::get_if<waybill::lease_manager::claimed>(&a);
        const auto* const claim = open ? waybill::get_if<lease_manager::claim>(&*open) : nullptr;
        if (of_claim && claim) of_claim->call = *claim;
    }

    /// The store with its flaws, as `perform` sees it.
    struct flawed_rows {
        simulation& w;
        auto list(const std::string& source, const std::string& group)
        {
            return w.store_.list(source, group);
        }
        auto claim(const lease_claim& c) { return w.written(c); }
        auto heartbeat(const waybill::owner_heartbeat& p) { return w.store_.heartbeat(p); }
        auto leave(const waybill::owner_heartbeat& p) { return w.store_.leave(p); }
    };
    struct flawed_store : flawed_rows {
        auto renew(const waybill::owner_heartbeat& own, std::uint64_t since)
        {
            return this->w.store_.renew(own, since);
        }
        waybill::result<std::vector<waybill::lease_claim::result>> claim_all(
            std::vector<lease_claim> claims)
        {
            for (lease_claim& c : claims) this->w.apply_flaws(c);
            return this->w.store_.claim_all(claims);
        }
    };

    waybill::lease_manager::lease_answer effect(const lease_manager::lease_call& call)
    {
        flawed_rows rows{*this};
        flawed_store all{{*this}};
        return x_.row_by_row ? waybill::perform(rows, call, 0.5) : waybill::perform(all, call, 0.5);
    }

    void answer(lease_manager& k, const lease_manager::lease_call& call, fate f)
    {
        if (f == fate::fine) {
            k.on(effect(call), now_);
            return;
        }
        if (f == fate::answer_lost) (void)effect(call);
        auto lost = tests_support::failed(call);
        auto* const claims = waybill::get_if<lease_manager::claimed>(&lost);
        if (claims && x_.of_store == flaw::swallows_errors)
            claims->answers.assign(claims->answers.size(), waybill::lease_claim::result{});
        k.on(lost, now_);
    }

    void apply_flaws(lease_claim& c) const
    {
        if (x_.of_store == flaw::ignores_version) {
            c.expired_owner = {};
            const auto table = *store_.list("log", "test");
            for (const auto& row : table.leases) {
                if (row.key == c.key) c.expected = row.version;
            }
        }
        if (x_.of_store == flaw::ignores_heartbeat) c.expired_owner = {};
        if (x_.of_store == flaw::forgets_epoch) c.epoch = 1;
    }
    waybill::result<waybill::lease_claim::result> written(lease_claim c)
    {
        apply_flaws(c);
        return store_.claim(c);
    }

    [[nodiscard]] std::vector<std::optional<std::uint64_t>> held(const lease_manager& k) const
    {
        std::vector<std::optional<std::uint64_t>> all;
        for (std::uint32_t p = 0; p != x_.partitions; ++p) all.push_back(k.epoch(p));
        return all;
    }

    // Checks all laws after a step of `owner`. `before` has the epochs that it held before the
    // step.
    void look(std::uint32_t owner, const std::vector<std::optional<std::uint64_t>>& before)
    {
        const auto table = *store_.list("log", "test");
        for (const auto& row : table.leases) {
            const auto p = static_cast<std::uint32_t>(row.key.partition[0] - '0');
            if (row.epoch < epochs_[p]) breaks("the epoch has gone back");
            if (!row.owner.none() && row.owner != holders_[p]) {
                if (row.epoch == epochs_[p])
                    breaks("another owner has the lease under the same epoch");
                holders_[p] = row.owner;
            }
            epochs_[p] = row.epoch;
            std::uint32_t can_commit = 0;
            std::uint32_t trust = 0;
            for (const lease_manager& k : owners_) {
                if (k.epoch(p) == row.epoch) ++can_commit;
                if (k.trusted(p, now_) && !robbed_.contains({p, *k.epoch(p)})) ++trust;
            }
            if (can_commit > 1) breaks("two owners can commit");
            if (trust > 1) breaks("two owners trust their lease at the same time");
            const bool still_his = row.owner.name[0] == 'a' + static_cast<char>(owner) &&
                                   row.owner.incarnation == incarnations_[owner];
            if (has_left(row.owner)) breaks("a lease was not given back");
            const bool stopping = owners_[owner].stopping();
            if (!before.empty() && !stopping && still_his && before[p] == row.epoch &&
                owners_[owner].epoch(p) != before[p]) {
                breaks("an owner has lost its own lease");
            }
        }
    }

    [[nodiscard]] bool has_left(const waybill::owner_id& id) const
    {
        for (std::uint32_t o = 0; o != owners_.size(); ++o) {
            const bool his = id == waybill::owner_id{std::string(1, static_cast<char>('a' + o)),
                                                     incarnations_[o]};
            if (his && owners_[o].ended()) return true;
        }
        return false;
    }

    void breaks(const char* law)
    {
        if (broken_.empty()) broken_ = law;
    }

    void settled()
    {
        std::uint32_t alive = 0;
        for (const lease_manager& k : owners_) {
            if (!k.stopping()) ++alive;
            if (k.stopping() && !k.ended()) breaks("an owner that stops does not end");
        }
        for (std::uint32_t p = 0; p != x_.partitions && alive != 0; ++p) {
            std::uint32_t trust = 0;
            for (const lease_manager& k : owners_) {
                if (k.trusted(p, now_)) ++trust;
            }
            if (trust != 1) breaks("a partition has no owner in the end");
        }
        for (const lease_manager& k : owners_) {
            const std::uint32_t least = alive == 0 ? 0 : x_.partitions / alive;
            if (!k.stopping() && (k.held() < least || k.held() > least + 1))
                breaks("the partitions are not balanced at the end");
        }
    }

    extent x_;
    choices& c_;
    std::vector<std::string> names_;
    std::vector<lease_manager> owners_;
    std::vector<std::uint64_t> incarnations_;
    waybill::testing::memory_leases store_;
    waybill::steady_time now_;
    budget left_{x_.faults, x_.late, x_.naps, x_.kills, x_.stops};
    std::vector<std::optional<waybill::lease_manager::lease_answer>> given_up_;
    std::vector<std::uint64_t> epochs_;
    std::vector<waybill::owner_id> holders_;
    // partition, epoch of the robbed owner
    std::set<std::pair<std::uint32_t, std::uint64_t>> robbed_;
    std::string broken_;
};

/// A schedule must break this law. If it is empty, no schedule breaks one.
void is_caught(const char* what, const extent& x, const char* law)
{
    const auto v = tests_support::every_schedule(
        "leases", what, [&](choices& c) { return simulation(x, c).run(); }, law);
    CHECK(v.rule == law);
}

/// Runs with calls for all rows, and then row by row.
void holds(const char* what, extent x)
{
    is_caught(what, x, "");
    x.row_by_row = true;
    is_caught((std::string(what) + ", row by row").c_str(), x, "");
}

constexpr bool few = tests_support::brief;

TEST_CASE("leases: two or three owners in every order: all invariants hold")
{
    holds("two owners", {.rounds = 4});
    holds("two owners, two partitions", {.partitions = 2, .rounds = few ? 2U : 3U});
    holds("three owners", {.owners = 3, .rounds = few ? 1U : 2U});
}

TEST_CASE("leases: owners that do not release their surplus lose it after an expiry")
{
    holds("no owner releases", {.rounds = few ? 2U : 4U, .never_releases = true});
    holds("no owner releases, two partitions",
          {.partitions = 2, .rounds = few ? 1U : 3U, .never_releases = true});
    holds("no owner releases, one sleeps",
          {.rounds = few ? 2U : 4U, .naps = 2, .never_releases = true});
}

TEST_CASE("leases: calls fail before or after their effect: all invariants hold")
{
    holds("one call fails", {.rounds = few ? 2U : 4U, .faults = 1});
    holds("two calls fail", {.rounds = few ? 1U : 3U, .faults = 2});
    holds("two partitions, one call fails",
          {.partitions = 2, .rounds = few ? 2U : 3U, .faults = 1});
}

TEST_CASE("leases: abandoned calls end at any later time: all invariants hold")
{
    holds("one is answered late", {.rounds = few ? 2U : 4U, .late = 1});
    holds("one is answered late, one sleeps", {.rounds = few ? 2U : 4U, .late = 1, .naps = 1});
    holds("one is answered late, one stops", {.rounds = few ? 1U : 2U, .late = 1, .stops = 1});
    holds("two partitions, one is answered late",
          {.partitions = 2, .rounds = few ? 1U : 2U, .late = 1});
}

TEST_CASE("leases: mutant caught: a late answer is applied to another call")
{
    if (tests_support::sanitized) return;  // about logic, not about memory
    is_caught("mutant: any answer", {.rounds = 5, .late = 1, .naps = 2, .any_answer = true},
              "an owner has lost its own lease");
    is_caught("mutant: any answer, one stops",
              {.rounds = 3, .late = 1, .naps = 1, .stops = 1, .any_answer = true},
              "a lease was not given back");
}

TEST_CASE("leases: owners sleep past their leases: all invariants hold")
{
    holds("one sleeps", {.rounds = few ? 3U : 6U, .naps = 3});
    holds("one sleeps, a call fails",
          {.rounds = few ? 2U : 5U, .faults = 1, .naps = few ? 1U : 2U});
}

TEST_CASE("leases: owners are killed and restart: all invariants hold")
{
    holds("one is killed", {.rounds = few ? 2U : 5U, .kills = 1});
    holds("one is killed, a call fails", {.rounds = few ? 1U : 3U, .faults = 1, .kills = 1});
    holds("one is killed, and is the same again",
          {.rounds = few ? 1U : 4U, .faults = 1, .kills = 1, .same_incarnation = true});
}

TEST_CASE("leases: owners that stop leave no leases of their own")
{
    holds("one stops", {.partitions = 2, .rounds = few ? 2U : 3U, .stops = 1});
    holds("both stop", {.rounds = few ? 2U : 4U, .stops = 2});
    holds("one stops, a call fails", {.rounds = few ? 1U : 4U, .faults = 1, .stops = 1});
}

TEST_CASE("leases: mutant caught: an owner that stops does not read its own rows again")
{
    is_caught("mutant: never reads again",
              {.rounds = 2, .faults = 1, .stops = 1, .never_reads_again = true},
              "a lease was not given back");
}

TEST_CASE("leases: mutant caught: a store that ignores versions")
{
    is_caught("mutant: versions ignored",
              {.rounds = 5, .naps = 3, .of_store = flaw::ignores_version},
              "the epoch has gone back");
}

TEST_CASE("leases: mutant caught: a store that ignores the heartbeat of the previous owner")
{
    is_caught("mutant: heartbeats ignored",
              {.rounds = 5, .late = 1, .naps = 3, .of_store = flaw::ignores_heartbeat},
              "two owners trust their lease at the same time");
}

TEST_CASE("leases: mutant caught: a store that forgets epochs")
{
    is_caught("mutant: epochs forgotten", {.rounds = 5, .naps = 3, .of_store = flaw::forgets_epoch},
              "another owner has the lease under the same epoch");
}

// Not a mutant that must be caught: the next read of the table shows that there is no rival.
TEST_CASE("leases: a store that reports an outage as contention costs no owner its lease")
{
    holds("errors read as contention",
          {.rounds = few ? 1U : 3U, .faults = 2, .of_store = flaw::swallows_errors});
}

TEST_CASE("leases: mutant caught: owners with different lease expiries")
{
    is_caught("mutant: one expects a longer expiry",
              {.rounds = 6, .naps = 3, .of_first = {interval, duration::seconds(90)}},
              "two owners trust their lease at the same time");
}

// Seeded runs. Clocks differ in rate and by years. Calls take effect late; answers arrive late,
// twice or after the call was given up. Owners sleep between any two steps, are killed and stop.
// The store is down for a while. Most of it happens at random times, so that the owners do not act
// in step. In a group, all owners make calls for all rows, or all row by row, or some of them. As a
// mutant, the heartbeat of an owner that works row by row is marked as one that renews its leases.
class weather {
public:
    explicit weather(std::uint64_t seed, bool marks_all = false)
        : dice_(seed), marks_all_(marks_all)
    {
        rows_in_three_ = marks_all ? 1 + dice_.below(2) : dice_.below(4);
        partitions_ = 1 + static_cast<std::uint32_t>(dice_(6));
        for (std::uint32_t p = 0; p != partitions_; ++p) names_.push_back(std::to_string(p));
        epochs_.resize(partitions_);
        holders_.resize(partitions_);
        const std::uint64_t owners = 2 + dice_(3);
        for (std::uint64_t o = 0; o != owners; ++o) join();
    }

    std::string run()
    {
        for (t_ = 0; t_ < 600'000 && broken_.empty(); t_ += 1 + dice_.below(2'000)) {
            if (dice_.one_in(300)) down_until_ = t_ + dice_.below(90'000);
            if (dice_.one_in(400)) kill();
            if (dice_.one_in(600)) stop();
            for (process& o : owners_) act_once(o, false);
            look();
        }
        down_until_ = 0;
        for (const std::int64_t end = t_ + 400'000; t_ < end && broken_.empty(); t_ += 250) {
            for (process& o : owners_) act_once(o, true);
            look();
        }
        if (broken_.empty()) settled();
        return broken_;
    }

private:
    struct process {
        lease_manager keeper;
        waybill::owner_id id;
        duration offset;
        double rate;
        std::int64_t asleep_until = 0;
        std::optional<lease_manager::lease_call> in_flight{};
        std::optional<waybill::lease_manager::lease_answer> answer{};
        std::optional<waybill::lease_manager::lease_answer> given_up{};
        bool dead = false;
        bool responds = true;
        bool row_by_row = false;
    };

    void join()
    {
        const waybill::owner_id id{std::string(1, static_cast<char>('a' + dice_(4))), dice_.bits()};
        const duration offset = duration::seconds(dice_.below(1'000'000'000));
        const double rate = 0.96 + 0.001 * static_cast<double>(dice_(81));
        owners_.push_back({lease_manager({"log", "test", names_, id, options}), id, offset, rate});
        owners_.back().responds = !dice_.one_in(8);
        owners_.back().row_by_row = dice_.below(3) < rows_in_three_;
    }
    [[nodiscard]] waybill::steady_time clock_of(const process& o) const
    {
        return waybill::steady_time::at(o.offset + duration::milliseconds(t_) * o.rate);
    }
    void kill()
    {
        process& o = owners_[dice_(owners_.size())];
        if (o.dead || o.keeper.stopping()) return;
        o.dead = true;
        join();
    }
    void stop()
    {
        process& o = owners_[dice_(owners_.size())];
        if (o.dead || owners_.size() > 12) return;
        if (o.keeper.on(waybill::stop_requested{}, clock_of(o)) != waybill::event_result::applied)
            return;
        for (std::uint32_t p = 0; p != partitions_; ++p)
            o.keeper.on(waybill::lease_manager::lease_released{p}, clock_of(o));
        join();
    }

    // Ask, take effect, read the answer: three steps. Other owners may act between them.
    void act_once(process& o, bool calm)
    {
        if (o.dead || (!calm && t_ < o.asleep_until)) return;
        if (!calm && dice_.one_in(200)) o.asleep_until = t_ + dice_.below(90'000);
        if (o.given_up && !o.in_flight && dice_.one_in(20))
            once_more(o, *std::exchange(o.given_up, {}));
        do {
            if (o.answer) {
                o.keeper.on(*o.answer, clock_of(o));
                release(o);
                if (dice_.one_in(8)) once_more(o, *o.answer);
                o.answer.reset();
                o.in_flight.reset();
            } else if (o.in_flight) {
                effect(o);
            } else {
                o.in_flight = o.keeper.call(clock_of(o));
            }
        } while (o.in_flight && (calm || !dice_.one_in(4)));
    }

    /// Releases each lease with `to_release`, unless the owner does not respond.
    void release(process& o)
    {
        for (std::uint32_t p = 0; p != partitions_ && o.responds; ++p) {
            if (o.keeper.to_release(p) && o.keeper.trusted(p, clock_of(o)))
                o.keeper.on(lease_manager::lease_released{p}, clock_of(o));
        }
    }

    void once_more(process& o, const waybill::lease_manager::lease_answer& a)
    {
        const auto h = o.keeper.on(a, clock_of(o));
        if (h != waybill::event_result::stale &&
            !waybill::holds_alternative<waybill::lease_manager::listed>(a))
            breaks("an answer of an ended call is applied");
    }

    void effect(process& o)
    {
        note_theft(o);
        const bool down = t_ < down_until_;
        const bool lost = down && dice_.one_in(8);
        if (!down || lost) o.answer = performed(o, 0.001 * static_cast<double>(dice_(1'000)));
        if (!down) return;
        if (lost) o.given_up = o.answer;
        o.answer = tests_support::failed(*o.in_flight);
    }

    waybill::lease_manager::lease_answer performed(const process& o, double random)
    {
        tests_support::row_view rows{store_};
        auto answer = o.row_by_row ? waybill::perform(rows, *o.in_flight, random)
                                   : waybill::perform(store_, *o.in_flight, random);
        if (marks_all_) mark_all();
        return answer;
    }
    void mark_all()
    {
        const auto table = *store_.list("log", "test");
        for (waybill::owner_heartbeat p : table.owners) {
            if (std::exchange(p.renews_leases, true)) continue;
            (void)store_.heartbeat(p);
        }
    }

    /// Notes a lease that is stolen for balance from an owner that still trusts it.
    void note_theft(const process& o)
    {
        const auto* claim = waybill::get_if<lease_manager::claim>(&*o.in_flight);
        if (!claim) return;
        for (const lease_claim& c : claim->rows) {
            const auto p = static_cast<std::uint32_t>(c.key.partition[0] - '0');
            const auto* const row = o.keeper.seen().row_of(p);
            if (!row || row->owner == o.id || row->owner.none()) continue;
            if (!o.keeper.seen().expired(p)) robbed_.insert({p, row->epoch});
        }
    }

    void breaks(const char* law)
    {
        if (broken_.empty()) broken_ = law;
    }

    void look()
    {
        const auto table = *store_.list("log", "test");
        for (const auto& row : table.leases) {
            const auto p = static_cast<std::uint32_t>(row.key.partition[0] - '0');
            if (row.epoch < epochs_[p]) breaks("the epoch has gone back");
            if (!row.owner.none() && row.owner != holders_[p]) {
                if (row.epoch == epochs_[p])
                    breaks("another owner has the lease under the same epoch");
                holders_[p] = row.owner;
            }
            epochs_[p] = row.epoch;
            std::uint32_t can_commit = 0;
            std::uint32_t trust = 0;
            for (const process& o : owners_) {
                if (o.dead) continue;
                if (o.keeper.epoch(p) == row.epoch) ++can_commit;
                if (!o.keeper.trusted(p, clock_of(o))) continue;
                if (!robbed_.contains({p, *o.keeper.epoch(p)})) ++trust;
            }
            if (can_commit > 1) breaks("two owners can commit");
            if (trust > 1) breaks("two owners trust their lease at the same time");
        }
    }

    void settled()
    {
        std::uint32_t alive = 0;
        for (const process& o : owners_) {
            if (o.keeper.stopping() && !o.dead && !o.keeper.ended())
                breaks("an owner that stops does not end");
            if (!o.dead && !o.keeper.stopping()) ++alive;
        }
        std::uint32_t held = 0;
        for (const process& o : owners_) {
            if (o.dead || o.keeper.stopping()) continue;
            held += o.keeper.held();
            if (o.keeper.held() < partitions_ / alive ||
                o.keeper.held() > partitions_ / alive + 1) {
                breaks("the partitions are not balanced at the end");
            }
        }
        if (held != partitions_) breaks("a partition has no owner in the end");
    }

    tests_support::dice dice_;
    bool marks_all_;
    std::int64_t rows_in_three_ = 0;  // of three owners, the number that work row by row
    std::uint32_t partitions_ = 0;
    std::vector<std::string> names_;
    std::vector<process> owners_;
    waybill::testing::memory_leases store_;
    std::int64_t t_ = 0;  // milliseconds of the simulation
    std::int64_t down_until_ = 0;
    std::vector<std::uint64_t> epochs_;
    std::vector<waybill::owner_id> holders_;
    // partition, epoch of the robbed owner
    std::set<std::pair<std::uint32_t, std::uint64_t>> robbed_;
    std::string broken_;
};

TEST_CASE(
    "leases: seeded runs with clock drift, late calls, outages and sleep: all invariants "
    "hold")
{
    const std::uint64_t seeds = few ? 30 : 3'000;
    std::uint64_t broken = 0;
    for (std::uint64_t seed = 0; seed != seeds; ++seed) {
        const std::string law = weather(seed).run();
        if (law.empty()) continue;
        if (++broken <= 5) MESSAGE("seed ", seed, ": ", law);
    }
    std::printf("leases: %llu seeded runs of a thousand seconds, %llu broken\n",
                static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(broken));
    CHECK(broken == 0);
}

TEST_CASE("leases: mutant caught: an owner that renews its rows is not detected")
{
    std::uint64_t seed = 0;
    while (seed != 500 &&
           weather(seed, true).run() != "two owners trust their lease at the same time")
        ++seed;
    CHECK(seed != 500);
}

}  // namespace
}  // namespace leases_test

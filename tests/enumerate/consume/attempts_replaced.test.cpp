// SPDX-License-Identifier: MIT
//
// Replaced owners that do not know it, together with later owners that die.
//
// The first owner lives all the time and delivers up to three times. At any of its calls, and in
// its handler, later owners may deliver; a deadly event ends each of them. The leases show which
// owner has died; the first owner never has. Its store and its handler may fail.
//
// No good event becomes a dead letter. The records that the first owner stores and clears never
// hide the deaths of later owners. Exception: a later owner delivers between the first owner's read
// of the record and its commit. Then the deaths so far may be lost; these runs are counted
// separately.

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <enumerate/consume/batch_simulation.hpp>
#include <enumerate/consume/wrong_attempts.hpp>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

namespace attempts_replaced_test {
namespace {

using namespace batch_simulation;
using namespace wrong_attempts;
using tests_support::brief;

struct trial {
    std::uint64_t events;
    std::uint32_t later;                           // deliveries of later owners
    std::uint32_t faults;                          // of the first owner's store and handler
    keeps_attempts how = keeps_attempts::rightly;  // the first owner
};

class owners {
public:
    owners(const trial& t, choices& c) : trial_(t), choices_(c), later_(t.later), faults_(t.faults)
    {
        for (std::uint64_t n = 1; n <= t.events; ++n) log_.push_back({10 * n});
        policy_.deaths = 1 + c.pick(2);
        deadly_ = 10 * c.pick(static_cast<std::uint32_t>(t.events) + 1);  // 0: no event is deadly
    }

    std::string run()
    {
        first_owner();
        later_ = 0;
        for (int n = 0; reached() != log_.back().sequence; ++n) {
            if (n == 60) return "the log is not drained";
            later_owner();
        }
        for (const auto& [at, letter] : kept_.letters()) {
            if (at.second != deadly_) return "a good event is a dead letter";
            if (letter.tries != policy_.deaths) return "a dead letter has wrong fields";
        }
        std::vector<std::uint64_t> effects;
        for (const event& e : log_) {
            if (!kept_.letters().contains({key, e.sequence})) effects.push_back(e.sequence);
        }
        if (kept_.records() != effects)
            return "the effects are not those of each event once, in order";
        const std::uint64_t most = waybill::detail::deaths_at_most(trial_.events, policy_.deaths);
        if (deaths_ > most && between_ == 0) return "deaths were forgotten";
        if (deaths_ > most * (between_ + 1)) return "more deaths were forgotten than can be";
        return "";
    }

    [[nodiscard]] bool raced() const { return between_ != 0; }

private:
    std::uint64_t reached() const
    {
        const auto stored = *kept_.load(key);
        return stored ? stored->at.sequence : 0;
    }
    std::vector<event> rest_after(const std::optional<waybill::position>& from) const
    {
        std::vector<event> rest;
        for (const event& e : log_) {
            if (!from || e.sequence > from->sequence) rest.push_back(e);
        }
        return rest;
    }

    void first_owner()
    {
        waybill::assignment mine{key, {}, 1, 101, 0};
        waybill::testing::faulty store(kept_, [this](store_call call) { return at_call(call); });
        const auto handle = [this](auto& tx, const event& e) -> fault {
            others_come();
            tx.inner()->record(e.sequence);
            if (faults_ == 0 || choices_.pick(2) == 0) return {};
            --faults_;
            return choices_.pick(2) == 0 ? waybill::infrastructure("down")
                                         : waybill::ownership_lost("robbed");
        };
        for (int n = 0; n != 3; ++n) {
            const auto events = rest_after(mine.from);
            if (events.empty()) return;
            looked_ = false;
            std::map<waybill::partition_key, crash_record> unused;
            attempts_elsewhere<decltype(store)> own{store, trial_.how, mine, events, unused};
            const auto r = waybill::process_batch(own, mine, events, handle, parked_at, policy_);
            if (r.outcome == batch_outcome::committed) mine.from = r.reached;
        }
    }

    void later_owner()
    {
        const std::uint64_t n = ++owners_;
        const auto from = waybill::position_of(*kept_.load(key));
        const auto events = rest_after(from);
        if (events.empty()) return;
        waybill::testing::faulty store(kept_, [](store_call) { return injected_fault::none; });
        const auto handle = [&](auto& tx, const event& e) -> fault {
            if (e.sequence == deadly_) return store.die();
            tx.inner()->record(e.sequence);
            return {};
        };
        const waybill::assignment mine{key, from, 1 + n, 200 + n, died_};
        (void)waybill::process_batch(store, mine, events, handle, parked_at, policy_);
        died_ = store.alive() ? 0 : mine.incarnation;
        if (!store.alive()) ++deaths_;
    }

    void others_come()
    {
        while (later_ != 0 && choices_.pick(2) != 0) {
            --later_;
            if (looked_) ++between_;
            later_owner();
        }
    }

    injected_fault at_call(store_call call)
    {
        others_come();
        if (call == store_call::load_crash_record) looked_ = true;
        if (call == store_call::commit) looked_ = false;
        if (faults_ == 0) return injected_fault::none;
        std::vector<injected_fault> alive;
        for (const injected_fault m : waybill::testing::faults_of(call)) {
            if (m != injected_fault::dies_before && m != injected_fault::dies_after)
                alive.push_back(m);
        }
        const injected_fault m = alive[choices_.pick(static_cast<std::uint32_t>(alive.size()))];
        if (m != injected_fault::none) --faults_;
        return m;
    }

    const trial& trial_;
    choices& choices_;
    std::uint32_t later_;
    std::uint32_t faults_;
    std::vector<event> log_;
    right_store kept_;
    batch_policy policy_;
    std::uint64_t deadly_ = 0;
    std::uint64_t owners_ = 0;
    std::uint64_t died_ = 0;  // the incarnation whose lease has expired
    std::uint64_t deaths_ = 0;
    std::uint64_t between_ = 0;  // later deliveries between a read of the record and its commit
    bool looked_ = false;
};

struct verdict : tests_support::verdict {
    std::uint64_t raced = 0;  // schedules with a race
};

verdict enumerate(const char* what, const trial& t)
{
    std::uint64_t raced = 0;
    const auto v = tests_support::every_schedule("replaced", what, [&](choices& c) {
        owners w(t, c);
        const std::string broken = w.run();
        if (w.raced()) ++raced;
        return broken;
    });
    return {v, raced};
}

void holds(const char* what, const trial& t, std::uint64_t at_least)
{
    const verdict v = enumerate(what, t);
    CHECK(v.rule == "");
    CHECK(v.raced != 0);
    CHECK(v.raced != v.schedules);
    if (!brief) CHECK(v.schedules >= at_least);
}

TEST_CASE("crash records: a replaced owner does not hide the deaths of later owners")
{
    holds("one event, three later owners", {1, brief ? 2U : 3U, 0}, 14'000);
    holds("one event, two later owners, a fault", {1, brief ? 1U : 2U, 1}, 75'000);
    holds("one event, one later owner, two faults", {1, 1, brief ? 1U : 2U}, 140'000);
    holds("two events, two later owners, a fault", {2, brief ? 1U : 2U, 1}, 150'000);
    holds("three events, three later owners", {3, brief ? 2U : 3U, 0}, 45'000);
}

void is_caught(const char* what, keeps_attempts how, std::uint32_t faults)
{
    CHECK(enumerate(what, {1, 2, faults, how}).rule.starts_with("deaths were forgotten"));
}

TEST_CASE("crash records: mutant caught: a record is cleared without a new read")
{
    is_caught("called off without a look", keeps_attempts::without_a_look, 1);
}

TEST_CASE("crash records: mutant caught: epochs of records are not compared")
{
    is_caught("epochs of rows not compared", keeps_attempts::without_epochs, 1);
}

}  // namespace
}  // namespace attempts_replaced_test

// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/failed_call.hpp>
#include <support/held.hpp>
#include <support/row_leases.hpp>

#include <waybill/lease/lease_manager.hpp>
#include <waybill/testing/memory_leases.hpp>

namespace lease_keeper_test {
namespace {

using waybill::lease_claim;
using claimed = waybill::lease_manager::claimed;
using waybill::duration;
using waybill::event_result;
using waybill::lease_group;
using waybill::lease_manager;
using listed = waybill::lease_manager::listed;
using tests_support::row_leases;
using waybill::owner_id;
using waybill::steady_time;
using waybill::testing::memory_leases;

constexpr duration ms(std::int64_t n)
{
    return duration::milliseconds(n);
}
steady_time at(std::int64_t n)
{
    return steady_time::at(ms(n));
}

TEST_CASE("lease_manager: validate refuses an invalid group")
{
    CHECK(validate(lease_group{"log", "g", {"0"}, {}})->field == "group.self.name");
    CHECK(validate(lease_group{"log", "g", {"0"}, {"a", 1}, {ms(10), ms(20)}})->field ==
          "leases.expiry");
    const auto twice = validate(lease_group{"log", "g", {"0", "1", "0"}, {"a", 1}});
    CHECK(describe(*twice) == "group.partitions is 2: must not have the same key as partition (0)");
    CHECK(waybill::make<lease_manager>(lease_group{"log", "g", {"0"}, {"a", 1}}).has_value());
}

// A lease_manager with its store, one call at a time, and the result of each call.
template <class Store>
class owner_of {
public:
    owner_of(Store& s, const char* name, std::uint64_t incarnation, std::uint32_t partitions = 1)
        : store_(s)
    {
        lease_group g{"log", "g", {}, {name, incarnation}, {ms(10), ms(40)}};
        for (std::uint32_t p = 0; p != partitions; ++p) g.partitions.push_back(std::to_string(p));
        keeper = lease_manager(g);
    }

    /// A short text for the next call.
    std::string next_action(std::int64_t now) const
    {
        const auto c = keeper->call(at(now));
        if (!c) return keeper->ended() ? "ended" : "wait";
        return waybill::match(
            *c,
            [](const lease_manager::renew& a) { return "renew " + std::to_string(a.row.version); },
            [](const lease_manager::leave& a) {
                return "withdraw " + a.row.owner.name + " " + std::to_string(a.row.version);
            },
            [](const lease_manager::list_leases&) { return std::string("list"); },
            [](const lease_manager::claim& a) {
                std::string text;
                for (const waybill::lease_claim& row : a.rows) {
                    text += text.empty() ? "" : ", ";
                    text += (row.owner.none() ? "give back " : "claim ") + row.key.partition;
                    text += " epoch " + std::to_string(row.epoch) + (row.expected ? "" : " new");
                }
                return text;
            });
    }
    event_result go(std::int64_t now)
    {
        return keeper->on(waybill::perform(store_, *keeper->call(at(now)), 1.0), at(now));
    }
    /// The call takes effect or does not; its answer is an error.
    void fail(std::int64_t now, bool takes_effect)
    {
        const auto c = *keeper->call(at(now));
        if (takes_effect) (void)waybill::perform(store_, c, 1.0);
        keeper->on(tests_support::failed(c), at(now));
    }
    void all(std::int64_t now)
    {
        for (int n = 0; n != 100 && keeper->call(at(now)); ++n) go(now);
    }

    std::optional<lease_manager> keeper;

private:
    Store& store_;
};

using owner = owner_of<row_leases>;

const waybill::partition_key zero{"log", "g", "0"};

TEST_CASE("lease_manager: one round with a heartbeat only, then list, renew and claim")
{
    row_leases store;
    owner a(store, "a", 1, 2);
    CHECK(a.next_action(0) == "renew 1");
    CHECK(a.next_action(0) == "renew 1");  // a repeated query returns the same
    CHECK(a.keeper->on(claimed{}, at(0)) == event_result::stale);
    CHECK(a.go(0) == event_result::applied);
    CHECK(a.next_action(0) == "wait");
    CHECK(a.next_action(5) == "renew 2");
    a.go(5);
    // The random number selects the first one.
    CHECK(a.next_action(5) == "claim 1 epoch 1 new, claim 0 epoch 1 new");
    a.all(5);
    CHECK(a.keeper->held() == 2);
    CHECK(!a.keeper->balanced());  // as of the last read
    CHECK(tests_support::held<waybill::wait_until>(a.keeper->next(at(6))).time == at(15));
    CHECK(a.keeper->on(waybill::lease_manager::renewed{}, at(6)) == event_result::stale);
    CHECK(a.next_action(15) == "renew 3");
    a.go(15);
    CHECK(a.next_action(15) == "claim 0 epoch 1, claim 1 epoch 1");
    a.all(15);
    CHECK(a.keeper->balanced());
    CHECK(a.next_action(15) == "wait");
}

TEST_CASE("lease_manager: with a store that renews all at once, a round is one call")
{
    memory_leases store;
    owner_of<memory_leases> a(store, "a", 1, 2);
    a.all(0);
    a.all(5);
    REQUIRE(a.keeper->held() == 2);
    for (std::int64_t now = 15; now != 95; now += 10) {
        CHECK(a.next_action(now).starts_with("renew "));
        a.go(now);
        CHECK(a.next_action(now) == "wait");
        CHECK(a.keeper->trusted(1, at(now + 34)));
        CHECK(!a.keeper->trusted(1, at(now + 35)));
    }
    const auto rows = store.list("log", "g")->leases;
    CHECK(rows[0].version <= 2);  // written once
    CHECK(rows[1].version <= 2);

    // A heartbeat that fails renews nothing, whether it took effect or not.
    a.fail(95, true);
    CHECK(!a.keeper->trusted(1, at(85 + 35)));
    CHECK(a.keeper->trusted(1, at(85 + 34)));
}

TEST_CASE("lease_manager: rows are renewed while an owner is there that looks at the rows")
{
    memory_leases store;
    owner_of<memory_leases> a(store, "a", 1, 1);
    a.all(0);
    a.all(5);
    a.go(15);
    CHECK(a.next_action(15) == "wait");
    (void)store.heartbeat({"log", "g", {"z", 9}, 1});  // renews no lease
    a.go(25);
    CHECK(a.next_action(25) == "claim 0 epoch 1");
    CHECK(!a.keeper->trusted(0, at(50)));  // the heartbeat alone renews nothing now
    a.go(25);
    CHECK(a.keeper->trusted(0, at(50)));
    for (std::int64_t now = 35; now != 65; now += 10) {
        a.go(now);
        CHECK(a.next_action(now) == "claim 0 epoch 1");
        a.go(now);
    }
    a.go(65);  // the other one has expired
    CHECK(a.next_action(65) == "wait");
    CHECK(a.keeper->trusted(0, at(99)));
}

TEST_CASE(
    "lease_manager: a lease whose owner has no heartbeat expires in a group that seems balanced")
{
    memory_leases store;
    REQUIRE(store.claim({zero, {"a", 9}, 1, {}}));  // and its heartbeat was removed
    owner_of<memory_leases> b(store, "b", 2);
    for (std::int64_t now = 0; now != 200; ++now) b.all(now);
    CHECK(b.keeper->held() == 1);
    CHECK(b.keeper->epoch(0) == 2U);
}

TEST_CASE("lease_manager: an owner that was late but is alive keeps its leases")
{
    memory_leases store;
    owner_of<memory_leases> a(store, "a", 1);
    a.all(0);
    a.all(5);
    owner_of<memory_leases> b(store, "b", 2);
    for (std::int64_t now = 6; now != 200 && b.next_action(now).substr(0, 5) != "claim"; ++now) {
        if (b.keeper->call(at(now))) b.go(now);
    }
    const std::int64_t then = 60;
    REQUIRE(b.next_action(then) == "claim 0 epoch 2");  // a seems to be dead
    a.all(then);
    b.go(then);  // contended
    CHECK(b.keeper->held() == 0);
    for (std::int64_t now = then; now != then + 30; ++now) {
        a.all(now);
        b.all(now);
    }
    CHECK(a.keeper->trusted(0, at(then + 30)));
    CHECK(a.keeper->epoch(0) == 1U);
}

TEST_CASE("lease_manager: a repeated answer is not taken for that of another call")
{
    row_leases store;
    owner a(store, "a", 1, 2);
    for (std::int64_t now = 0; now != 60; ++now) {
        while (const auto call = a.keeper->call(at(now))) {
            const auto answer = waybill::perform(store, *call, 1.0);
            REQUIRE(a.keeper->on(answer, at(now)) == event_result::applied);
            const lease_manager before = *a.keeper;
            CHECK(a.keeper->on(answer, at(now)) == event_result::stale);
            CHECK(*a.keeper == before);
        }
    }
    CHECK(a.keeper->held() == 2);
    a.keeper->on(waybill::stop_requested{}, at(60));
    for (std::uint32_t p = 0; p != 2; ++p)
        a.keeper->on(waybill::lease_manager::lease_released{p}, at(60));
    while (const auto call = a.keeper->call(at(60))) {
        const auto answer = waybill::perform(store, *call, 1.0);
        REQUIRE(a.keeper->on(answer, at(60)) == event_result::applied);
        CHECK(a.keeper->on(answer, at(60)) == event_result::stale);
    }
    CHECK(a.keeper->ended());
    const auto table = *store.list("log", "g");
    for (const auto& row : table.leases) CHECK(row.owner.none());
}

TEST_CASE("lease_manager: a result that arrives after its call has failed is stale")
{
    row_leases store;
    owner a(store, "a", 1, 2);
    a.all(0);
    a.all(5);
    a.go(15);
    const auto given_up = *a.keeper->call(at(15));
    const auto its_answer = waybill::perform(store, given_up, 1.0);
    REQUIRE(a.next_action(15) == "claim 0 epoch 1, claim 1 epoch 1");
    a.fail(15, false);
    CHECK(a.keeper->on(its_answer, at(15)) == event_result::stale);  // nothing is open
    CHECK(a.next_action(20) == "renew 4");
    CHECK(a.keeper->on(its_answer, at(20)) == event_result::stale);
    a.go(20);
    CHECK(a.next_action(20) == "claim 1 epoch 1, claim 0 epoch 1");
    CHECK(a.keeper->on(its_answer, at(20)) ==
          event_result::stale);  // or it would be trusted for too long
    a.all(20);
    a.all(30);
    CHECK(a.keeper->held() == 2);
    CHECK(a.keeper->epoch(0) == 1U);
    CHECK(a.keeper->trusted(0, at(30)));
}

TEST_CASE("lease_manager: a heartbeat that may not be written is repeated before the owner leaves")
{
    for (const bool takes_effect : {false, true}) {
        row_leases store;
        owner a(store, "a", 1);
        a.all(0);
        a.go(5);
        a.all(5);
        REQUIRE(a.next_action(15) == "renew 3");
        a.fail(15, takes_effect);
        a.keeper->on(waybill::stop_requested{}, at(15));
        CHECK(a.next_action(15) == "renew 4");
        a.go(15);
        CHECK(a.next_action(15) == "withdraw a 4");
        a.go(15);
        CHECK(store.list("log", "g")->owners.empty());
        a.keeper->on(waybill::lease_manager::lease_released{0}, at(16));
        a.all(16);
        CHECK(a.next_action(16) == "ended");
    }
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    const auto open = *a.keeper->call(at(5));
    REQUIRE(a.next_action(5) == "renew 2");
    a.keeper->on(waybill::stop_requested{}, at(5));  // before its answer is there
    CHECK(a.keeper->on(waybill::perform(store, open, 1.0), at(5)) == event_result::applied);
    CHECK(a.next_action(5) == "withdraw a 2");
    a.go(5);
    CHECK(a.next_action(5) == "ended");
    CHECK(store.list("log", "g")->owners.empty());
}

TEST_CASE("lease_manager: a partition without a free epoch is not taken")
{
    row_leases store;
    const auto row = *store.claim({zero, {"z", 9}, waybill::lease::max_epoch, {}});
    (void)store.claim({zero, {}, waybill::lease::max_epoch, row.version});
    owner a(store, "a", 1, 2);
    for (std::int64_t now = 0; now != 200; ++now) a.all(now);
    CHECK(a.keeper->held() == 1);
    CHECK(!a.keeper->epoch(0));
    CHECK(a.keeper->exhausted(0));
    CHECK(!a.keeper->exhausted(1));
    owner z(store, "z", 9, 2);  // not even the owner in the row gets it
    (void)store.claim(
        {zero, {"z", 9}, waybill::lease::max_epoch, store.list("log", "g")->leases[0].version});
    for (std::int64_t now = 200; now != 210; ++now) z.all(now);
    CHECK(!z.keeper->epoch(0));
    CHECK(z.keeper->exhausted(0));
    CHECK(store.list("log", "g")->leases[0].epoch == waybill::lease::max_epoch);
    CHECK(waybill::detail::epochs_used_up().text.find(std::to_string(waybill::lease::max_epoch)) !=
          std::string::npos);
}

TEST_CASE("lease_manager: an unknown partition is reported like a free one")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    lease_manager& k = *a.keeper;
    const lease_manager before = k;
    for (const std::uint32_t p : {1U, 99U, ~std::uint32_t{0}}) {
        CHECK(k.epoch(p) == std::nullopt);
        CHECK(!k.trusted(p, at(5)));
        CHECK(!k.exhausted(p));
        CHECK(k.key(p) == waybill::partition_key{"log", "g", ""});
        CHECK(k.assignment_of(p, 3, {}) == waybill::assignment{{"log", "g", ""}, {}, 3, 1, {}});
        CHECK(k.seen().row_of(p) == nullptr);
        CHECK(!k.seen().expired(p));
        CHECK(k.on(waybill::lease_manager::lease_released{p}, at(5)) == event_result::invalid);
        CHECK(k.on(waybill::lease_manager::lease_suspected{p}, at(5)) == event_result::stale);
        CHECK(k.on(waybill::lease_manager::epoch_too_low{p, 7}, at(5)) == event_result::invalid);
    }
    CHECK(k == before);

    waybill::detail::held_leases held(1);
    const waybill::detail::held_leases untouched = held;
    held.set_won(7, {waybill::lease_claim::result::claim_outcome::won, 1, 1}, at(0), ms(1));
    held.suspect(7);
    held.distrust(7);
    held.release(7);
    held.set_lost(7);
    held.record_epoch(7, 7);
    held.set_expired_incarnation(7, k.seen(), {"a", 1});
    CHECK(held == untouched);
    CHECK(!held.holds(7));
    CHECK(held[7] == waybill::detail::held_leases::entry{});
    CHECK(held.claim({7}, zero, {"a", 1}, k.seen()).epoch == 0);
}

TEST_CASE("lease_manager: the trust in a lease is counted from the request of its renewal")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    CHECK(a.keeper->trusted(0, at(39)));
    CHECK(!a.keeper->trusted(0, at(40)));  // 5 + 40 - 5
    // The process sleeps; the answer to the request at 15 arrives at 1000.
    a.go(15);
    const auto call = *a.keeper->call(at(15));
    a.keeper->on(waybill::perform(store, call, 1.0), at(1'000));
    CHECK(a.keeper->epoch(0) == 1U);
    CHECK(!a.keeper->trusted(0, at(1'000)));
    a.all(1'000);  // the next round
    CHECK(a.keeper->trusted(0, at(1'000)));
}

TEST_CASE("lease_manager: a claim whose answer got lost is taken up, under a new epoch")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.go(5);
    a.fail(5, true);
    CHECK(a.keeper->held() == 0);
    CHECK(a.keeper->last_error() == waybill::infrastructure("down"));
    CHECK(a.next_action(5) == "wait");
    a.go(10);
    CHECK(a.keeper->last_error() == waybill::fault{});
    CHECK(a.next_action(10) == "claim 0 epoch 2");
    a.go(10);
    CHECK(a.keeper->epoch(0) == 2U);
}

TEST_CASE("lease_manager: a renewal whose answer got lost keeps the lease and its epoch")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    a.go(15);
    a.fail(15, true);
    CHECK(a.keeper->epoch(0) == 1U);
    CHECK(a.keeper->trusted(0, at(20)));
    a.go(20);  // reads the new version
    CHECK(a.next_action(20) == "claim 0 epoch 1");
    const std::uint64_t changes = a.keeper->changes();
    a.all(20);
    CHECK(a.keeper->trusted(0, at(20)));
    CHECK(a.keeper->changes() == changes);
}

TEST_CASE("lease_manager: a round continues after the row that failed")
{
    row_leases store;
    owner a(store, "a", 1, 3);
    a.all(0);
    a.all(5);
    a.go(15);
    CHECK(a.next_action(15) == "claim 0 epoch 1, claim 1 epoch 1, claim 2 epoch 1");
    a.fail(15, false);
    CHECK(a.next_action(15) == "wait");
    a.go(20);
    CHECK(a.next_action(20) == "claim 1 epoch 1, claim 2 epoch 1, claim 0 epoch 1");
    auto answer =
        tests_support::held<claimed>(waybill::perform(store, *a.keeper->call(at(20)), 1.0));
    answer.answers[1] = waybill::unexpected(waybill::infrastructure("down"));
    answer.answers.pop_back();  // a missing answer is an error
    a.keeper->on(answer, at(20));
    a.go(25);
    CHECK(a.next_action(25) == "claim 0 epoch 1, claim 1 epoch 1, claim 2 epoch 1");
    a.go(25);
    CHECK(a.keeper->held() == 3);
    for (std::uint32_t p = 0; p != 3; ++p) CHECK(a.keeper->trusted(p, at(59)));
}

TEST_CASE("lease_manager: a deleted row is created again, under a higher epoch")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    store.erase(zero);
    a.go(15);
    CHECK(a.next_action(15) == "claim 0 epoch 1");
    a.go(15);
    CHECK(!a.keeper->trusted(0, at(15)));
    a.go(25);
    CHECK(!a.keeper->epoch(0));
    CHECK(a.next_action(25) == "claim 0 epoch 2 new");
    a.all(25);
    CHECK(a.keeper->epoch(0) == 2U);
}

TEST_CASE("lease_manager: an epoch below that of the checkpoint is raised at once")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    CHECK(a.keeper->on(waybill::lease_manager::epoch_too_low{7, 1}, at(6)) ==
          event_result::invalid);
    CHECK(a.keeper->on(waybill::lease_manager::epoch_too_low{0, 0}, at(6)) == event_result::stale);
    CHECK(a.keeper->on(waybill::lease_manager::epoch_too_low{0, 41}, at(6)) ==
          event_result::applied);
    CHECK(a.next_action(6) == "claim 0 epoch 42");
    a.go(6);
    CHECK(a.keeper->epoch(0) == 42U);
    CHECK(a.keeper->on(waybill::lease_manager::epoch_too_low{0, waybill::lease::max_epoch - 1},
                       at(7)) == event_result::applied);
    CHECK(a.next_action(7) == "claim 0 epoch 18446744073709551615");
    a.go(7);
    CHECK(a.keeper->on(waybill::lease_manager::epoch_too_low{0, waybill::lease::max_epoch},
                       at(8)) == event_result::invalid);
    CHECK(a.next_action(8) == "wait");
    CHECK(a.keeper->trusted(0, at(8)));
    CHECK(!a.keeper->exhausted(0));  // it is ours
}

TEST_CASE("lease_manager: a killed owner is replaced after expiry, by its own incarnation at once")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    owner twin(store, "a", 2);
    owner same(store, "a", 1);
    same.go(6);
    CHECK(same.next_action(6) == "claim 0 epoch 2");
    same.all(6);
    CHECK(same.keeper->trusted(0, at(6)));
    for (int n = 0; n != 4; ++n) {
        twin.all(10 * n);
        CHECK(twin.keeper->held() == 0);
    }
    twin.all(40);
    CHECK(twin.keeper->epoch(0) == 3U);
    a.all(60);
    CHECK(a.keeper->held() == 0);
}

TEST_CASE("lease_manager: free partitions are taken, and departed owners are removed")
{
    row_leases store;
    owner a(store, "a", 1, 4);
    const waybill::owner_heartbeat hung{"log", "g", {"h", 1}, 1};
    const waybill::owner_heartbeat dead{"log", "g", {"d", 1}, 1};
    (void)store.heartbeat(dead);
    std::uint64_t n = 0;
    for (std::int64_t now = 0; now != 200; now += 10) {
        auto again = hung;
        again.version = ++n;
        (void)store.heartbeat(again);  // it is present, and does nothing
        a.all(now);
        if (now == 20) CHECK(a.keeper->held() == 2);
    }
    CHECK(a.keeper->held() == 4);
    const auto owners = store.list("log", "g")->owners;
    CHECK(owners.size() == 2);
    CHECK(owners[0].owner.name == "a");
    CHECK(owners[1].owner.name == "h");
}

TEST_CASE("lease_manager: a stop leaves the group, renews open leases and gives back released ones")
{
    row_leases store;
    owner a(store, "a", 1, 2);
    a.all(0);
    a.all(5);
    CHECK(a.keeper->on(waybill::stop_requested{}, at(6)) == event_result::applied);
    CHECK(a.keeper->on(waybill::stop_requested{}, at(6)) == event_result::stale);
    CHECK(a.next_action(6) == "withdraw a 2");
    a.go(6);
    CHECK(store.list("log", "g")->owners.empty());
    CHECK(a.next_action(6) == "wait");
    a.all(15);
    CHECK(a.keeper->held() == 2);  // a long way to close
    CHECK(a.keeper->on(waybill::lease_manager::lease_released{1}, at(16)) == event_result::applied);
    CHECK(a.next_action(16) == "give back 1 epoch 2");
    CHECK(!a.keeper->trusted(1, at(16)));
    CHECK(a.keeper->trusted(0, at(16)));
    a.go(16);
    CHECK(a.keeper->on(waybill::lease_manager::lease_released{1}, at(16)) == event_result::stale);
    a.keeper->on(waybill::lease_manager::lease_released{0}, at(16));
    a.fail(16, false);
    a.fail(16, false);
    CHECK(!a.keeper->ended());
    a.fail(16, false);
    CHECK(a.next_action(16) == "ended");
    CHECK(waybill::get_if<waybill::idle>(
              &static_cast<const lease_manager::action&>(a.keeper->next(at(16)))) != nullptr);
    CHECK(a.keeper->on(waybill::lease_manager::lease_released{0}, at(16)) == event_result::stale);
    CHECK(a.keeper->on(claimed{}, at(16)) == event_result::stale);
    CHECK(a.keeper->on(listed{}, at(16)) == event_result::stale);
    const auto rows = store.list("log", "g")->leases;
    CHECK(rows[0].owner == owner_id{"a", 1});  // it expires
    CHECK(rows[1].owner.none());
}

TEST_CASE("lease_manager: a lease won during a stop is given back")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.go(5);
    const auto claim = *a.keeper->call(at(5));
    a.keeper->on(waybill::stop_requested{}, at(5));
    CHECK(a.keeper->call(at(5)) == claim);  // a requested claim is completed first
    a.go(5);
    CHECK(!a.keeper->trusted(0, at(5)));
    a.all(5);
    CHECK(a.next_action(5) == "ended");
    CHECK(store.list("log", "g")->leases[0].owner.none());
}

// This call takes effect, and its answer is lost; then it stops, with all closed.
bool gives_back_after(const char* lost_call)
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    bool lost = false;
    for (int now = 5; now <= 40 && !lost; ++now) {
        while (!lost && a.keeper->call(at(now))) {
            lost = a.next_action(now) == lost_call;
            if (lost) a.fail(now, true);
            else a.go(now);
        }
    }
    a.keeper->on(waybill::stop_requested{}, at(41));
    a.keeper->on(waybill::lease_manager::lease_released{0}, at(41));
    a.all(41);
    return a.next_action(41) == "ended" && store.list("log", "g")->leases[0].owner.none();
}

TEST_CASE("lease_manager: a stop after a lost result lists the rows, and gives the lease back")
{
    CHECK(gives_back_after("claim 0 epoch 1"));      // a renewal
    CHECK(gives_back_after("claim 0 epoch 1 new"));  // it does not know that it has it
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    REQUIRE(a.keeper->held() == 1);
    a.go(15);
    a.fail(15, true);
    a.keeper->on(waybill::stop_requested{}, at(15));
    CHECK(a.keeper->epoch(0));  // no other owner has written the row
    a.keeper->on(waybill::lease_manager::lease_released{0}, at(15));
    REQUIRE(a.next_action(15).starts_with("withdraw"));
    a.go(15);
    CHECK(a.next_action(15) == "list");
    a.all(15);
    CHECK(a.next_action(15) == "ended");
    CHECK(store.list("log", "g")->leases[0].owner.none());
}

TEST_CASE("lease_manager: a stop after a lost result leaves the row of another owner")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    a.go(15);
    a.fail(15, false);
    const auto row = store.list("log", "g")->leases[0];
    REQUIRE(store.claim({row.key, {"b", 1}, 2, row.version})->outcome ==
            lease_claim::result::claim_outcome::won);
    a.keeper->on(waybill::stop_requested{}, at(16));
    a.keeper->on(waybill::lease_manager::lease_released{0}, at(16));
    a.go(16);
    CHECK(a.next_action(16) == "list");
    a.go(16);
    CHECK(a.next_action(16) == "ended");
    CHECK(store.list("log", "g")->leases[0].owner.name == "b");
}

TEST_CASE("lease_manager: it stops in an outage in a bounded number of calls")
{
    row_leases store;
    owner a(store, "a", 1, 3);
    a.all(0);
    a.all(5);
    REQUIRE(a.keeper->held() == 3);
    a.go(15);
    a.fail(15, true);
    a.keeper->on(waybill::stop_requested{}, at(16));
    for (std::uint32_t p = 0; p != 3; ++p)
        a.keeper->on(waybill::lease_manager::lease_released{p}, at(16));
    int calls = 0;
    for (; calls != 100 && a.keeper->call(at(16)); ++calls) a.fail(16, false);
    CHECK(a.next_action(16) == "ended");
    CHECK(calls == 1 + 3 + 3);  // to leave, to read, to release
}

TEST_CASE("lease_manager: with invalid options the number of calls is bounded")
{
    row_leases store;
    for (const duration none : {duration{}, ms(-5), duration::nanoseconds(1)}) {
        lease_manager k({"log", "g", {"0"}, {"b", 2}, {.interval = none, .expiry = duration{}}});
        int calls = 0;
        for (; calls != 100 && k.call(at(0)); ++calls)
            k.on(waybill::perform(store, *k.call(at(0)), 0.5), at(0));
        CHECK(calls < 10);
    }
    lease_manager k({"log", "g", {"0"}, {"b", 2}, {.interval = ms(10), .expiry = {}}});
    for (int now = 0; now != 100; ++now) {
        while (const auto c = k.call(at(now))) k.on(waybill::perform(store, *c, 0.5), at(now));
    }
    CHECK(k.trusted(0, at(100)));  // as if it expired after three rounds
}

TEST_CASE("lease_manager: the previous owner counts as dead only if its lease has expired")
{
    const auto ended_of = [](const owner& o) {
        return o.keeper->assignment_of(0, *o.keeper->epoch(0), {}).expired_incarnation;
    };
    {
        row_leases store;  // the lease has no row
        owner a(store, "a", 1);
        a.all(0);
        a.all(5);
        const auto m = a.keeper->assignment_of(0, 1, waybill::checkpoint{{7, "seven"}, 1});
        CHECK(m == waybill::assignment{zero, waybill::position{7, "seven"}, 1, 1, {}});
        CHECK(ended_of(a) == std::nullopt);

        owner b(store, "b", 22);  // a is silent from now on
        for (int now = 10; now != 120; ++now) b.all(now);
        REQUIRE(b.keeper->held() == 1);
        CHECK(ended_of(b) == 1);

        b.keeper->on(waybill::lease_manager::lease_released{0}, at(120));  // released
        b.all(120);
        owner c(store, "c", 3);
        for (int now = 120; now != 200; ++now) c.all(now);
        REQUIRE(c.keeper->held() == 1);
        CHECK(ended_of(c) == 0);
    }
    {
        row_leases store;  // stolen, because its owner does not release one of two
        owner a(store, "a", 1, 2);
        owner b(store, "b", 2, 2);
        a.all(0);
        a.all(5);
        REQUIRE(a.keeper->held() == 2);
        for (int now = 6; now != 80; ++now) {
            a.all(now);
            b.all(now);
        }
        REQUIRE(b.keeper->held() == 1);
        const std::uint32_t p = b.keeper->epoch(0) ? 0 : 1;
        CHECK(b.keeper->assignment_of(p, 2, {}).expired_incarnation == 0);
    }
    for (const bool takes_effect : {false, true}) {
        row_leases store;  // taken after an expiry by a claim whose answer gets lost
        owner a(store, "a", 1);
        a.all(0);
        a.all(5);
        owner b(store, "b", 22);
        bool lost = false;
        for (int now = 10; now != 200; ++now) {
            while (b.keeper->call(at(now))) {
                if (!lost && b.next_action(now).starts_with("claim")) {
                    b.fail(now, takes_effect);
                    lost = true;
                } else {
                    b.go(now);
                }
            }
        }
        REQUIRE(lost);
        REQUIRE(b.keeper->held() == 1);
        CHECK(ended_of(b) == 1);
    }
}

TEST_CASE("lease_manager: an owner releases its surplus when another joins, the last claimed first")
{
    row_leases store;
    owner a(store, "a", 1, 4);
    owner b(store, "b", 2, 4);
    a.all(0);
    a.all(5);
    REQUIRE(a.keeper->held() == 4);
    for (std::uint32_t p = 0; p != 4; ++p) CHECK(!a.keeper->to_release(p));
    b.all(6);
    const std::uint64_t before = a.keeper->changes();
    a.all(15);
    CHECK(a.keeper->changes() > before);
    // With the random number 1.0 the claims began with partition 3: 3, 0, 1, 2.
    CHECK(a.keeper->to_release(1));
    CHECK(a.keeper->to_release(2));
    CHECK(!a.keeper->to_release(0));
    CHECK(!a.keeper->to_release(3));
    CHECK(!a.keeper->to_release(4));
    CHECK(a.keeper->trusted(1, at(16)));  // until it is released
    b.all(16);
    CHECK(b.keeper->held() == 0);
    a.all(25);  // the same two
    CHECK(!a.keeper->to_release(0));
    CHECK(!a.keeper->to_release(3));
    for (const std::uint32_t p : {1U, 2U}) {
        CHECK(a.keeper->on(lease_manager::lease_released{p}, at(26)) == event_result::applied);
        CHECK(!a.keeper->trusted(p, at(26)));
        a.all(26);
        CHECK(!a.keeper->to_release(p));
        CHECK(!a.keeper->epoch(p));
    }
    b.all(27);
    CHECK(b.keeper->held() == 2);
    a.all(35);
    CHECK(a.keeper->held() == 2);
    CHECK(a.keeper->balanced());
}

TEST_CASE("lease_manager: max_moves limits the releases and the steals of a round")
{
    const auto releases = [](const lease_manager& m) {
        std::uint32_t n = 0;
        for (std::uint32_t p = 0; p != m.partitions(); ++p) n += m.to_release(p) ? 1U : 0U;
        return n;
    };
    for (const std::uint32_t max_moves : {0U, 1U, 3U, waybill::lease_options::no_limit}) {
        const std::uint32_t limit = max_moves == 0 ? 1 : max_moves < 4 ? max_moves : 4;
        row_leases store;
        lease_group g{"log", "g", {"0", "1", "2", "3", "4", "5", "6", "7"}, {"a", 1}};
        g.leases = {ms(10), ms(40), max_moves};
        owner a(store, "a", 1);
        owner b(store, "b", 2);
        a.keeper = lease_manager(g);
        g.self = {"b", 2};
        b.keeper = lease_manager(g);
        a.all(0);
        a.all(5);
        b.all(6);
        a.all(15);
        CHECK(releases(*a.keeper) == limit);
        a.all(25);
        CHECK(releases(*a.keeper) == (2 * limit < 4 ? 2 * limit : 4));
        std::int64_t now = 26;
        while (b.keeper->held() == 0 && now != 100) b.all(++now), a.all(now);
        CHECK(b.keeper->held() == limit);  // stolen
        CHECK(now > 40);
    }
    CHECK(validate(waybill::lease_options{.max_moves = 0})->field == "leases.max_moves");
    CHECK(!validate(waybill::lease_options{.max_moves = 1}));
}

TEST_CASE("lease_manager: an owner that releases slowly is not stolen from")
{
    memory_leases store;
    lease_group g{"log", "g", {}, {"a", 1}, {ms(10), ms(40), 1}};
    for (int p = 0; p != 30; ++p) g.partitions.push_back(std::to_string(p));
    owner_of<memory_leases> a(store, "a", 1);
    owner_of<memory_leases> z(store, "z", 9);
    owner_of<memory_leases> b(store, "b", 2);
    a.keeper = lease_manager(g);
    g.self = {"z", 9};
    z.keeper = lease_manager(g);
    g.self = {"b", 2};
    b.keeper = lease_manager(g);
    a.all(0);
    a.all(5);
    z.all(6);  // writes one heartbeat and dies; its share is left to it until it expires
    std::uint64_t released = 0;
    for (std::int64_t now = 7; now != 400; ++now) {
        a.all(now);
        for (std::uint32_t p = 0; p != 30; ++p) {
            if (!a.keeper->to_release(p)) continue;
            if (a.keeper->on(lease_manager::lease_released{p}, at(now)) == event_result::applied)
                ++released;
            CHECK(a.keeper->on(lease_manager::lease_released{p}, at(now)) == event_result::stale);
        }
        const auto call = b.keeper->call(at(now));
        if (const auto* c = call ? waybill::get_if<lease_manager::claim>(&*call) : nullptr) {
            for (const waybill::lease_claim& row : c->rows) {
                const auto* const seen = b.keeper->seen().row_of(
                    static_cast<std::uint32_t>(std::stoi(row.key.partition)));
                CHECK((!seen || seen->owner.none()));
            }
        }
        b.all(now);
    }
    CHECK(a.keeper->held() == 15);
    CHECK(b.keeper->held() == 15);
    CHECK(released == 15);
}

TEST_CASE("lease_manager: a copy does not change with the original")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    lease_manager copy = *a.keeper;
    CHECK(copy == *a.keeper);
    a.all(5);
    CHECK(copy != *a.keeper);
    CHECK(copy.held() == 0);
}

TEST_CASE("lease_manager: after a stop within a round, leases are renewed until all are released")
{
    row_leases store;
    owner a(store, "a", 1);
    a.all(0);
    a.all(5);
    REQUIRE(a.keeper->trusted(0, at(5)));
    REQUIRE(a.next_action(15) == "renew 3");
    a.go(15);  // the renewal of the row is next
    a.keeper->on(waybill::stop_requested{}, at(15));
    std::uint64_t calls = 0;
    for (std::int64_t t = 15; t != 300; ++t) {
        for (; a.keeper->call(at(t)); ++calls) {
            REQUIRE(calls < 1'000);
            a.go(t);
        }
        const auto next = a.keeper->next(at(t));
        REQUIRE(tests_support::held<waybill::wait_until>(next).time > at(t));
        CHECK(a.keeper->trusted(0, at(t)));
    }
    CHECK(calls > 20);
    a.keeper->on(waybill::lease_manager::lease_released{0}, at(300));
    a.all(300);
    CHECK(a.next_action(300) == "ended");
}

}  // namespace
}  // namespace lease_keeper_test

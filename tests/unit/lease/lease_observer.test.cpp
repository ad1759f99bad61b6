// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_observer.hpp>

namespace lease_observer_test {
namespace {

using waybill::balance_plan;
using waybill::duration;
using waybill::lease;
using waybill::lease_observer;
using waybill::lease_options;
using waybill::lease_table;
using waybill::owner_heartbeat;
using waybill::owner_id;
using waybill::steady_time;
using waybill::detail::trusted_for;
using waybill::detail::until_next_round;

constexpr duration ms(std::int64_t n)
{
    return duration::milliseconds(n);
}
steady_time at(duration d)
{
    return steady_time::at(d);
}

static_assert(!validate(lease_options{}));
static_assert(!validate(lease_options{ms(10), ms(30)}));
static_assert(validate(lease_options{ms(10), duration::nanoseconds(29'999'999)})->field ==
              "leases.expiry");
static_assert(validate(lease_options{ms(10), duration::nanoseconds(29'999'999)})->bound ==
              30'000'000);
static_assert(validate(lease_options{ms(0), ms(30)})->field == "leases.interval");
static_assert(validate(lease_options{ms(-5), ms(30)})->negative);
static_assert(validate(lease_options{duration::lowest(), ms(30)})->value == std::uint64_t{1}
                                                                                << 63U);
static_assert(validate(lease_options{ms(10), ms(-1)})->value == 1'000'000);
static_assert(!validate(lease_options{duration::highest(), duration::highest()}), "sums saturate");

// An owner stops trusting before others may take, by an eighth, to the nanosecond.
static_assert(trusted_for(lease_options{ms(10), ms(80)}) == ms(70));
static_assert(trusted_for(lease_options{ms(10), duration::highest()}) < duration::highest());
static_assert(until_next_round(lease_options{ms(10), ms(80)}, 0.0) == ms(8));
static_assert(until_next_round(lease_options{ms(10), ms(80)}, 0.5) == ms(9));
static_assert(until_next_round(lease_options{ms(10), ms(80)}, 7.0) == ms(10));
static_assert(until_next_round(lease_options{ms(10), ms(80)}, -1.0) == ms(8));
static_assert(name(waybill::lease_claim::result::claim_outcome::contended) == "contended");

const owner_id a{"a", 1};
const owner_id b{"b", 2};
constexpr lease_options options{ms(10), ms(30)};

lease row(std::string partition, owner_id owner, std::uint64_t epoch, std::uint64_t version)
{
    return {{"log", "group", std::move(partition)}, std::move(owner), epoch, version};
}
owner_heartbeat here(owner_id owner, std::uint64_t version)
{
    return {"log", "group", std::move(owner), version};
}

lease_observer observer(std::uint32_t partitions = 2)
{
    std::vector<std::string> names;
    for (std::uint32_t p = 0; p != partitions; ++p) names.push_back(std::to_string(p));
    return {"log", "group", names, options};
}

TEST_CASE(
    "lease_observer: a lease expires if its version is unchanged for the expiry time, to "
    "the ns")
{
    lease_observer o = observer();
    const lease_table t{{row("0", a, 1, 7)}, {}};
    o.update(t, at(ms(100)));
    CHECK(!o.expired(0));
    o.update(t, at(ms(115)));
    o.update(t, at(ms(130) - duration::nanoseconds(1)));
    CHECK(!o.expired(0));
    o.update(t, at(ms(130)));
    CHECK(o.expired(0));
    o.update({{row("0", a, 1, 8)}, {}}, at(ms(131)));
    CHECK(!o.expired(0));
    CHECK(o.row_of(0)->version == 8);
    CHECK(!o.row_of(1));
}

TEST_CASE("lease_observer: after an outage of the observer, other owners have time to renew")
{
    lease_observer o = observer();
    const lease_table t{{row("0", a, 1, 7)}, {}};
    o.update(t, at(ms(0)));
    o.update(t, at(ms(1'000'000)));  // an outage: two intervals count
    CHECK(!o.expired(0));
    o.update(t, at(ms(1'000'009)));
    CHECK(!o.expired(0));
    o.update(t, at(ms(1'000'010)));
    CHECK(o.expired(0));

    lease_observer back = observer();
    back.update(t, at(ms(50)));
    back.update(t, at(ms(20)));  // a clock that jumps
    back.update(t, at(ms(60)));
    CHECK(!back.expired(0));
    back.update(t, at(steady_time::highest().since_epoch()));
    back.update(t, at(duration::lowest()));
    CHECK(back.expired(0));
}

TEST_CASE("lease_observer: removed rows are forgotten, and unknown or foreign rows are ignored")
{
    lease_observer o = observer();
    lease other = row("0", b, 9, 9);
    other.key.group = "other";
    lease elsewhere = row("0", b, 9, 9);
    elsewhere.key.source = "other";
    o.update({{other, elsewhere, row("7", b, 1, 1), row("0", a, 1, 7)}, {{"log", "other", b, 1}}},
             at(ms(0)));
    CHECK(o.row_of(0)->owner == a);
    CHECK(o.view(a).owners == 1);
    o.update({}, at(ms(10)));
    CHECK(!o.row_of(0));
    o.update({{row("0", a, 1, 7)}, {}}, at(ms(20)));
    o.update({{row("0", a, 1, 7)}, {}}, at(ms(40)));
    CHECK(!o.expired(0));  // it was created again at 20
    o.update({{row("0", a, 1, 7)}, {}}, at(ms(50)));
    CHECK(o.expired(0));
}

TEST_CASE("lease_observer: of two rows for one partition the later epoch counts, in any order")
{
    for (const bool swapped : {false, true}) {
        lease_observer o = observer();
        for (int n = 0; n != 4; ++n) {
            lease_table t{{row("0", a, 1, 9), row("0", b, 2, 3)}, {here(b, 1), here(b, 2)}};
            if (swapped) std::swap(t.leases[0], t.leases[1]);
            if (swapped) std::swap(t.owners[0], t.owners[1]);
            o.update(t, at(ms(10 * n)));
            CHECK(o.row_of(0)->owner == b);
        }
        CHECK(o.expired(0));  // they do not keep each other alive
    }
}

TEST_CASE("lease_observer: a view contains the live owners and the free partitions")
{
    lease_observer o = observer(5);
    const lease_table t{
        {row("0", b, 1, 1), row("1", {}, 4, 1), row("2", {"a", 9}, 1, 1), row("3", a, 1, 1)},
        {here({"joiner", 5}, 1)}};
    o.update(t, at(ms(0)));
    // In the order of names and incarnations: a 1, a 9, b 2, joiner 5.
    balance_plan::lease_view v = o.view(a);
    CHECK(v.owners == 4);
    CHECK(v.self == 0);
    CHECK(v.holders == std::vector<std::uint32_t>{2, balance_plan::lease_view::free, 1, 0,
                                                  balance_plan::lease_view::free});
    CHECK(o.view({"a", 9}).self == 1);
    CHECK(o.view({"z", 1}).owners == 5);

    o.update(t, at(ms(20)));
    o.update(t, at(ms(30)));
    v = o.view(a);  // no owner has renewed; `a` still holds its own lease
    CHECK(v.owners == 1);
    CHECK(v.holders[0] == balance_plan::lease_view::free);
    CHECK(v.holders[3] == 0);
    CHECK(o.departed().empty());
    o.update(t, at(ms(50)));
    o.update(t, at(ms(60)));
    CHECK(o.view(a).holders[0] == balance_plan::lease_view::free_for_long);
    CHECK(o.view(a).holders[1] == balance_plan::lease_view::free_for_long);
    CHECK(o.departed() == std::vector<owner_heartbeat>{here({"joiner", 5}, 1)});
}

/// A heartbeat that renews all leases of its owner.
owner_heartbeat renewing(const owner_id& who, std::uint64_t version)
{
    owner_heartbeat p = here(who, version);
    p.renews_leases = true;
    return p;
}

TEST_CASE("lease_observer: a heartbeat renews all leases of its owner")
{
    lease_observer o = observer();
    lease_table t{{row("0", a, 1, 7)}, {renewing(a, 1)}};
    for (std::uint64_t n = 0; n != 10; ++n) {
        t.owners[0].version = n + 1;
        o.update(t, at(ms(10 * static_cast<std::int64_t>(n))));
        CHECK(!o.expired(0));
        CHECK(o.expired_heartbeat(0) == 0);
    }
    CHECK(o.all_alive());
    const std::uint64_t before = o.changes();
    o.update(t, at(ms(110)));
    CHECK(!o.expired(0));
    CHECK(o.changes() == before);
    o.update(t, at(ms(120)));
    CHECK(o.expired(0));
    CHECK(o.expired_heartbeat(0) == 10);
    CHECK(!o.all_alive());
    CHECK(o.changes() > before);
    CHECK(o.view(b).owners == 1);
    CHECK(o.expired_heartbeat(7) == 0);
}

TEST_CASE("lease_observer: an owner that renews its rows from now on gets a new expiry")
{
    for (const bool leaves : {false, true}) {
        lease_observer o = observer();
        lease_table t{{row("0", a, 1, 7)}, {renewing(a, 1)}};
        o.update(t, at(ms(0)));
        for (std::int64_t now = 10; now != 60; now += 10) {
            ++t.owners[0].version;
            o.update(t, at(ms(now)));
        }
        ++t.owners[0].version;
        t.owners[0].renews_leases = false;
        if (leaves) t.owners.clear();
        o.update(t, at(ms(60)));
        CHECK(o.any_renews_rows(b));
        CHECK(!o.any_renews_rows(a));
        o.update(t, at(ms(80)));
        CHECK(!o.expired(0));
        o.update(t, at(ms(90)));
        CHECK(o.expired(0));
        CHECK(o.expired_heartbeat(0) == 0);
        CHECK(!o.any_renews_rows(b));
    }
}

TEST_CASE("lease_observer: a lease is free_for_long two expiries after the last heartbeat")
{
    for (const bool removed : {false, true}) {
        lease_observer o = observer();
        lease_table t{{row("0", a, 1, 7)}, {renewing(a, 1)}};
        std::int64_t now = 0;
        for (; now != 100; now += 10) {
            ++t.owners[0].version;
            o.update(t, at(ms(now)));
        }
        const auto holder_at = [&](std::int64_t end) {
            for (; now <= end; now += 10) o.update(t, at(ms(now)));
            return o.view(b).holders[0];
        };
        CHECK(holder_at(110) == 0);  // the last heartbeat was seen at 90
        CHECK(holder_at(120) == balance_plan::lease_view::free);
        CHECK(!o.any_renews_rows(b));
        if (removed) t.owners.clear();  // by another owner, which tidies up
        CHECK(holder_at(140) == balance_plan::lease_view::free);
        CHECK(o.expired(0));
        CHECK(!o.any_renews_rows(b));
        CHECK(holder_at(150) == balance_plan::lease_view::free_for_long);
    }
}

TEST_CASE("lease_observer: a partial table has the leases that changed, and all owners")
{
    lease_observer o = observer();
    o.update({{row("0", a, 1, 1), row("1", b, 1, 2)}, {renewing(a, 1), renewing(b, 1)}}, at(ms(0)));
    const lease_table part{{row("1", a, 2, 3)}, {renewing(a, 2)}, 3, true};
    o.update(part, at(ms(10)));
    CHECK(o.row_of(0)->owner == a);
    CHECK(o.row_of(1)->owner == a);
    CHECK(o.view(a).owners == 1);
    CHECK(!o.any_renews_rows(a));
    o.update({{}, {renewing(a, 3)}, 3, true}, at(ms(20)));
    CHECK(o.row_of(0)->owner == a);
    o.update({{}, {renewing(a, 4)}, 3, false}, at(ms(30)));
    CHECK(!o.row_of(0));
}

}  // namespace
}  // namespace lease_observer_test

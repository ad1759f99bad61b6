// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/core/detail/broker_sequence.hpp>
#include <waybill/queue/deferred_messages.hpp>

namespace deferred_messages_test {
namespace {

using namespace waybill;

using numbers = std::vector<std::uint64_t>;

wall_time wall(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

steady_time steady(std::int64_t s)
{
    return steady_time::at(duration::seconds(s));
}

numbers of(const std::vector<deferred_messages::taken>& all)
{
    numbers n;
    for (const deferred_messages::taken& h : all) n.push_back(h.entry.sequence);
    return n;
}

std::uint64_t in_partition(std::uint64_t p, std::uint64_t n)
{
    return (p << 48U) + n;
}

static_assert(sizeof(deferred_messages({})) != 0, "braces are default options, not a copy");
static_assert(name(deferred_messages::defer_result::added) == "added");
static_assert(name(deferred_messages::defer_result::replaced) == "replaced");
static_assert(name(deferred_messages::defer_result::full) == "full");
static_assert(name(static_cast<deferred_messages::defer_result>(9)) == "?");
static_assert(name(deferral_options::hand_out_order::by_due) == "by_due");
static_assert(name(deferral_options::hand_out_order::group_by_partition) == "group_by_partition");
static_assert(name(static_cast<deferral_options::hand_out_order>(9)) == "?");
static_assert(waybill::detail::partition_of(0) == 0);
static_assert(waybill::detail::partition_of(0x0007'0000'0000'0001U) == 7);
static_assert(waybill::detail::partition_of(UINT64_MAX) == 0xFFFF);

static_assert(!validate(deferral_options{}));
static_assert(validate(deferral_options{.max_messages = 0})->field == "deferral.max_messages");
static_assert(validate(deferral_options{.hold = duration{}})->field == "deferral.hold");
static_assert(validate(deferral_options{.hold = duration::nanoseconds(-5)})->value == 5);
static_assert(validate(deferral_options{.hold = duration::nanoseconds(-5)})->negative);

}  // namespace

TEST_CASE("take returns due entries by due time, then by sequence number")
{
    deferred_messages b;
    CHECK(b.empty());
    CHECK_FALSE(b.next_due());
    CHECK(b.defer({.sequence = 5, .due = wall(20)}) == deferred_messages::defer_result::added);
    CHECK(b.defer({.sequence = 9, .due = wall(10)}) == deferred_messages::defer_result::added);
    CHECK(b.defer({.sequence = 4, .due = wall(20)}) == deferred_messages::defer_result::added);
    CHECK(b.defer({.sequence = 1, .due = wall(30)}) == deferred_messages::defer_result::added);
    CHECK(b.size() == 4);
    CHECK(*b.next_due() == wall(10));
    CHECK(b.take(wall(9), {}, 10).empty());
    CHECK(of(b.take(wall(20), {}, 10)) == numbers{9, 4, 5});
    CHECK(b.in_hand() == 3);
    CHECK(*b.next_due() == wall(30));
}

TEST_CASE("take returns at most the requested count, and no entry twice")
{
    deferred_messages b;
    for (std::uint64_t n = 0; n != 5; ++n) b.defer({.sequence = n});
    CHECK(b.take(wall(1), {}, 0).empty());
    CHECK(of(b.take(wall(1), {}, 2)) == numbers{0, 1});
    CHECK(of(b.take(wall(1), {}, 2)) == numbers{2, 3});
    CHECK(of(b.take(wall(1), {}, UINT64_MAX)) == numbers{4});
    CHECK(b.take(wall(1), {}, 9).empty());
    CHECK(b.is_in_hand(3));
    CHECK_FALSE(b.is_in_hand(7));
}

TEST_CASE("settled removes an entry, in hand or not, and is stale for an unknown entry")
{
    deferred_messages b;
    b.defer({.sequence = 5});
    b.defer({.sequence = 6});
    (void)b.take(wall(1), {}, 1);
    CHECK(b.settled(5) == event_result::applied);
    CHECK(b.settled(6) == event_result::applied);
    CHECK(b.settled(6) == event_result::stale);
    CHECK(b == deferred_messages());
}

TEST_CASE("an entry deferred again is replaced, and its earlier ticket is stale")
{
    deferred_messages b;
    b.defer({.sequence = 5, .due = wall(1), .attempts = 1, .session = "s"});
    const auto first = b.take(wall(1), {}, 1);
    CHECK(b.defer({.sequence = 5, .due = wall(9), .attempts = 2}) ==
          deferred_messages::defer_result::replaced);
    CHECK(b.size() == 1);
    CHECK(b.in_hand() == 0);
    CHECK(b.find(5)->attempts == 2);
    CHECK(b.find(5)->session.empty());
    CHECK(*b.next_due() == wall(9));
    // The previous holder does not have it any more.
    CHECK(b.give_back(5, first[0].ticket) == event_result::stale);
    const auto second = b.take(wall(9), {}, 1);
    CHECK(second[0].ticket != first[0].ticket);
    CHECK(b.give_back(5, first[0].ticket) == event_result::stale);
    CHECK(b.is_in_hand(5));
    CHECK(b.find(4) == nullptr);
}

TEST_CASE("tickets never repeat, so an earlier ticket is stale for a later entry")
{
    deferred_messages b;
    b.defer({.sequence = 5});
    const auto first = b.take(wall(0), {}, 1);
    SUBCASE("settled and deferred again")
    {
        b.settled(5);
    }
    SUBCASE("replaced by a new object")
    {
        b = deferred_messages();
    }
    SUBCASE("replaced by a copy")
    {
        const deferred_messages other;
        b = other;
    }
    b.defer({.sequence = 5});
    CHECK(b.settled(5, first[0].ticket) == event_result::stale);
    const auto second = b.take(wall(0), {}, 1);
    REQUIRE(second.size() == 1);
    CHECK(second[0].ticket > first[0].ticket);
    CHECK(b.give_back(5, first[0].ticket) == event_result::stale);
    CHECK(b.hold_on(5, first[0].ticket, steady(500)) == event_result::stale);
    CHECK(b.settled(5, first[0].ticket) == event_result::stale);
    CHECK(b.is_in_hand(5));
    CHECK(*b.next_release() == steady(60));
    CHECK(b.settled(5, second[0].ticket) == event_result::applied);
    CHECK(b.settled(5, second[0].ticket) == event_result::stale);
    CHECK(b.empty());
}

TEST_CASE("settled with a ticket that is no longer in hand is stale")
{
    deferred_messages b;
    b.defer({.sequence = 5});
    const auto h = b.take(wall(0), {}, 1);
    SUBCASE("deferred again")
    {
        b.defer({.sequence = 5});
    }
    SUBCASE("given back")
    {
        b.give_back(5, h[0].ticket);
    }
    SUBCASE("taken again after its hold expired")
    {
        (void)b.take(wall(0), steady(60), 1);
    }
    CHECK(b.settled(5, h[0].ticket) == event_result::stale);
    CHECK(b.settled(6, h[0].ticket) == event_result::stale);
    CHECK(b.size() == 1);
}

TEST_CASE("a full object accepts only replacements and restored entries")
{
    deferred_messages b{{.max_messages = 2}};
    b.defer({.sequence = 1});
    b.defer({.sequence = 2});
    const deferred_messages before = b;
    CHECK(b.defer({.sequence = 3}) == deferred_messages::defer_result::full);
    CHECK(b == before);
    CHECK(b.defer({.sequence = 2, .due = wall(5)}) == deferred_messages::defer_result::replaced);
    b.restore({.sequence = 3});
    CHECK(b.size() == 3);
    b.settled(1);
    CHECK(b.defer({.sequence = 4}) == deferred_messages::defer_result::full);
    b.settled(2);
    CHECK(b.defer({.sequence = 4}) == deferred_messages::defer_result::added);
}

TEST_CASE("an entry given back can be taken again at once")
{
    deferred_messages b;
    b.defer({.sequence = 5, .due = wall(3)});
    const auto h = b.take(wall(3), {}, 1);
    CHECK(b.give_back(5, h[0].ticket + 1) == event_result::stale);
    CHECK(b.give_back(6, h[0].ticket) == event_result::stale);
    CHECK(b.give_back(5, h[0].ticket) == event_result::applied);
    CHECK(b.give_back(5, h[0].ticket) == event_result::stale);
    CHECK(*b.next_due() == wall(3));
    CHECK(of(b.take(wall(3), {}, 1)) == numbers{5});
}

TEST_CASE("a hold expires on the steady clock, and its ticket is stale after that")
{
    deferred_messages b{{.hold = duration::seconds(60)}};
    b.defer({.sequence = 5});
    const auto slow = b.take(wall(0), steady(100), 1);
    CHECK(*b.next_release() == steady(160));
    CHECK(b.take(wall(1'000'000), steady(159), 1).empty());  // no wall clock ends a hold
    const auto next = b.take(wall(0), steady(160), 1);
    CHECK(of(next) == numbers{5});
    CHECK(b.give_back(5, slow[0].ticket) == event_result::stale);
    CHECK(b.hold_on(5, slow[0].ticket, steady(170)) == event_result::stale);
    CHECK(b.take(wall(0), steady(170), 1).empty());
    CHECK(b.hold_on(5, next[0].ticket, steady(200)) == event_result::applied);
    CHECK(*b.next_release() == steady(260));
    CHECK(b.settled(5) == event_result::applied);
    CHECK_FALSE(b.next_release());
}

TEST_CASE("of a session, the entry with the lowest number is taken first, and alone")
{
    deferred_messages b;
    b.defer({.sequence = 5, .due = wall(10), .session = "s"});
    b.defer({.sequence = 7, .due = wall(1), .session = "s"});
    b.defer({.sequence = 9, .due = wall(2), .session = "other"});
    CHECK(*b.next_due() == wall(2));
    CHECK(of(b.take(wall(5), {}, 9)) == numbers{9});  // 7 is due, but after 5
    CHECK(of(b.take(wall(10), {}, 9)) == numbers{5});
    CHECK(b.take(wall(10), {}, 9).empty());  // 7 waits for the outcome of 5
    b.settled(5);
    CHECK(of(b.take(wall(10), {}, 9)) == numbers{7});
}

TEST_CASE("an earlier entry of a session waits for the entry in hand, and is taken next")
{
    deferred_messages b;
    b.defer({.sequence = 5, .session = "s"});
    const auto h = b.take(wall(0), {}, 9);
    b.defer({.sequence = 3, .session = "s"});
    CHECK(b.take(wall(0), {}, 9).empty());
    SUBCASE("given back")
    {
        CHECK(b.give_back(5, h[0].ticket) == event_result::applied);
    }
    SUBCASE("deferred again")
    {
        b.defer({.sequence = 5, .session = "s"});
    }
    SUBCASE("settled")
    {
        b.settled(5);
    }
    SUBCASE("its hold expired")
    {
        CHECK(of(b.take(wall(0), steady(60), 9)) == numbers{3});
        return;
    }
    SUBCASE("moved to another session")
    {
        b.defer({.sequence = 5, .due = wall(9), .session = "t"});
    }
    CHECK(of(b.take(wall(0), {}, 9)) == numbers{3});
}

TEST_CASE("an earlier entry of a session is taken before a later entry that is not in hand")
{
    deferred_messages b;
    b.defer({.sequence = 5, .due = wall(1), .session = "s"});
    b.defer({.sequence = 3, .due = wall(8), .session = "s"});
    CHECK(b.take(wall(7), {}, 9).empty());
    CHECK(*b.next_due() == wall(8));
    CHECK(of(b.take(wall(8), {}, 9)) == numbers{3});
    b.settled(5);  // from the end
    b.settled(3);
    CHECK(b.empty());
}

TEST_CASE("without session order, entries of a session are independent")
{
    deferred_messages b{{.session_order = false}};
    b.defer({.sequence = 5, .due = wall(10), .session = "s"});
    b.defer({.sequence = 7, .due = wall(1), .session = "s"});
    CHECK(of(b.take(wall(10), {}, 9)) == numbers{7, 5});
}

TEST_CASE("group_by_partition groups entries by partition, ordered by the first due entry")
{
    deferred_messages b;
    b.defer({.sequence = in_partition(2, 1), .due = wall(1)});
    b.defer({.sequence = in_partition(1, 1), .due = wall(2)});
    b.defer({.sequence = in_partition(2, 0), .due = wall(3)});
    b.defer({.sequence = in_partition(0, 9), .due = wall(4)});
    b.defer({.sequence = in_partition(1, 0), .due = wall(5)});
    deferred_messages other = b;
    CHECK(of(b.take(wall(9), {}, 9, deferral_options::hand_out_order::group_by_partition)) ==
          numbers{in_partition(2, 1), in_partition(2, 0), in_partition(1, 1), in_partition(1, 0),
                  in_partition(0, 9)});
    // The messages are the same as without grouping.
    CHECK(of(other.take(wall(9), {}, 2, deferral_options::hand_out_order::group_by_partition)) ==
          numbers{in_partition(2, 1), in_partition(1, 1)});
}

TEST_CASE("clock jumps make entries early or late, and lose none")
{
    deferred_messages b;
    b.defer({.sequence = 1, .due = wall(100)});
    b.defer({.sequence = 2, .due = wall_time::highest()});
    b.defer({.sequence = 3, .due = wall_time::lowest()});
    CHECK(of(b.take(wall(-1'000'000), steady(50), 9)) == numbers{3});
    CHECK(of(b.take(wall_time::highest(), steady(-50), 9)) == numbers{1, 2});
    CHECK(b.take(wall(0), steady(-50), 9).empty());
    CHECK(b.size() == 3);
    CHECK(of(b.take(wall_time::highest(), steady_time::highest(), 9)) == numbers{3, 1, 2});
    CHECK(of(b.take(wall_time::highest(), steady_time::highest(), 9)) == numbers{3, 1, 2});
}

TEST_CASE("copies are independent, and equal until one of them changes")
{
    deferred_messages a;
    a.defer({.sequence = 1, .session = "s"});
    a.defer({.sequence = 2, .session = "s"});
    deferred_messages b = a;
    CHECK(a == b);
    (void)b.take(wall(0), {}, 1);
    CHECK_FALSE(a == b);
    CHECK(of(a.take(wall(0), {}, 1)) == numbers{1});
    CHECK(a == b);
    a.settled(1);
    b = a;
    CHECK(of(b.take(wall(0), {}, 1)) == numbers{2});
    const deferred_messages moved = std::move(a);
    CHECK(moved.size() == 1);
    CHECK_FALSE(deferred_messages{{.max_messages = 1}} == deferred_messages{});
}

TEST_CASE("objects with equal entries are equal, also if an entry was in hand before")
{
    deferred_messages a;
    a.defer({.sequence = 1});
    deferred_messages b = a;
    const auto h = b.take(wall(0), {}, 1);
    CHECK_FALSE(a == b);
    b.give_back(1, h[0].ticket);
    CHECK(a == b);
    (void)a.take(wall(0), {}, 1);
    (void)b.take(wall(0), {}, 1);
    CHECK_FALSE(a == b);  // by other tickets
}

TEST_CASE("group_by_partition orders entries of all 65,536 partitions")
{
    deferred_messages b;
    constexpr std::uint64_t most = tests_support::slow_removals ? 0x1000 : 0x1'0000;
    for (std::uint64_t n = 0; n != 2 * most; ++n) {
        b.defer({.sequence = in_partition(n % most, n), .due = wall(n < most ? 0 : 1)});
    }
    const auto all =
        b.take(wall(1), {}, UINT64_MAX, deferral_options::hand_out_order::group_by_partition);
    REQUIRE(all.size() == 2 * most);
    bool ok = true;
    for (std::uint64_t n = 0; n != all.size(); ++n) {
        ok = ok && all[n].entry.sequence == in_partition(n / 2, n / 2 + n % 2 * most);
    }
    CHECK(ok);
}

TEST_CASE("each visits sequence numbers up to 2^64 - 1 in order")
{
    deferred_messages b;
    for (const std::uint64_t n : {UINT64_MAX, std::uint64_t{0}, UINT64_MAX - 1}) {
        b.defer({.sequence = n, .attempts = UINT32_MAX});
    }
    numbers seen;
    b.each([&](const deferred& d) { seen.push_back(d.sequence); });
    CHECK(seen == numbers{0, UINT64_MAX - 1, UINT64_MAX});
}

}  // namespace deferred_messages_test

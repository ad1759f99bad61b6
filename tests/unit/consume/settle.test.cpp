// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <waybill/consume/settle.hpp>
#include <waybill/consume/settle_batch.hpp>

namespace settle_test {
namespace {

namespace act = waybill::act;
using waybill::duration;
using waybill::fault_class;
using waybill::left_for;
using waybill::parked_for;
using waybill::queue_delivery;
using waybill::settle_policy;
using waybill::settlement;
using waybill::wall_time;
using waybill::when_down;

constexpr wall_time now = wall_time::at(duration::seconds(1'000));
constexpr fault_class all_faults[] = {fault_class::none,           fault_class::transient,
                                      fault_class::permanent,      fault_class::infrastructure,
                                      fault_class::ownership_lost, fault_class::cancelled};

// Two retries at once, then twice that after ten seconds, and again after twenty.
constexpr settle_policy queue{
    .levels = {.immediate = 2,
               .delayed = 2,
               .pauses = {.base = duration::seconds(10),
                          .cap = duration::seconds(3'600),
                          .factor = 2,
                          .spread = waybill::jitter::none}},
    .max_deliveries = 20,
};

constexpr settlement after(std::uint64_t count, fault_class how, const settle_policy& p = queue,
                           duration left = duration::seconds(30))
{
    return settle(p, {.count = count, .lock_left = left}, how, 0.5, now);
}

constexpr settlement parked(parked_for why, fault_class how, std::uint64_t used, std::uint64_t most)
{
    return act::dead_letter_message{why, how, used, most};
}

// Each class has its answer.
static_assert(after(1, fault_class::none) == settlement(act::complete{}));
static_assert(after(3, fault_class::permanent) == parked(parked_for::permanent, fault_class::permanent, 3, 3));
static_assert(after(1, fault_class::infrastructure) == settlement(act::leave{left_for::outage}));
static_assert(after(1, fault_class::ownership_lost) == settlement(act::leave{left_for::lock_lost}));
static_assert(after(1, fault_class::cancelled) == settlement(act::abandon{false}));

// What is transient goes through the levels: two at once, ten seconds, two at once, twenty, two.
static_assert(after(0, fault_class::transient) == after(1, fault_class::transient));
static_assert(after(1, fault_class::transient) == settlement(act::abandon{}));
static_assert(after(2, fault_class::transient) == settlement(act::abandon{}));
static_assert(after(3, fault_class::transient) == settlement(act::defer{now + duration::seconds(10)}));
static_assert(after(4, fault_class::transient) == settlement(act::abandon{}));
static_assert(after(6, fault_class::transient) == settlement(act::defer{now + duration::seconds(20)}));
static_assert(after(8, fault_class::transient) == settlement(act::abandon{}));
static_assert(after(9, fault_class::transient) == parked(parked_for::exhausted, fault_class::transient, 9, 9));

// Tries may be another number than deliveries: a copy is counted from 1 again.
static_assert(settle(queue, {.count = 1, .tries = 6}, fault_class::transient, 0.5, now) ==
              settlement(act::defer{now + duration::seconds(20)}));

// The last delivery is parked by us, with the reason, whatever failed; but for what has worked.
constexpr settle_policy few = [] {
    settle_policy p = queue;
    p.max_deliveries = 2;
    return p;
}();
static_assert(after(1, fault_class::transient, few) == settlement(act::abandon{}));
static_assert(after(2, fault_class::transient, few) == parked(parked_for::last_delivery, fault_class::transient, 2, 2));
static_assert(after(2, fault_class::infrastructure, few) ==
              parked(parked_for::last_delivery, fault_class::infrastructure, 2, 2));
static_assert(after(2, fault_class::none, few) == settlement(act::complete{}));
static_assert(after(7, fault_class::permanent, few) == parked(parked_for::permanent, fault_class::permanent, 7, 7));

// Where a copy takes its place, its deliveries are counted anew, and there is no last one.
constexpr settle_policy copies = [] {
    settle_policy p = few;
    p.defer_renews = true;
    return p;
}();
static_assert(after(2, fault_class::infrastructure, copies) == settlement(act::defer{now + duration::seconds(20)}));
static_assert(after(2, fault_class::cancelled, copies) == settlement(act::defer{now}));
static_assert(settle(copies, {.count = 2, .tries = 3}, fault_class::transient, 0.5, now) ==
              settlement(act::defer{now + duration::seconds(10)}));

// Nor is there one where what is given back without a failure does not count.
constexpr settle_policy released = [] {
    settle_policy p = few;
    p.release_counts = false;
    return p;
}();
static_assert(after(2, fault_class::infrastructure, released) == settlement(act::abandon{false}));
static_assert(after(2, fault_class::cancelled, released) == settlement(act::abandon{false}));
// But a pause, where one can be had without being counted, comes before giving it back at once.
constexpr settle_policy released_copies(when_down w, bool can_defer = true)
{
    settle_policy p = released;
    p.on_outage = w;
    p.can_defer = can_defer;
    p.defer_renews = true;
    return p;
}
static_assert(after(2, fault_class::infrastructure, released_copies(when_down::defer)) ==
              settlement(act::defer{now + duration::seconds(20)}));
static_assert(after(2, fault_class::infrastructure, released_copies(when_down::leave)) ==
              settlement(act::defer{now + duration::seconds(20)}));
static_assert(after(2, fault_class::infrastructure, released_copies(when_down::leave, false)) ==
              settlement(act::abandon{false}));
static_assert(after(2, fault_class::infrastructure, released_copies(when_down::abandon)) ==
              settlement(act::abandon{false}));

static_assert(after(2, fault_class::cancelled, [] {
                  settle_policy p = few;
                  p.can_defer = false;
                  return p;
              }()) == parked(parked_for::last_delivery, fault_class::cancelled, 2, 2));

// An outage by choice, and a pause where the queue cannot put anything off.
constexpr settle_policy down(when_down w)
{
    settle_policy p = queue;
    p.on_outage = w;
    return p;
}
static_assert(after(1, fault_class::infrastructure, down(when_down::abandon)) == settlement(act::abandon{false}));
static_assert(after(1, fault_class::infrastructure, down(when_down::defer)) ==
              settlement(act::defer{now + duration::seconds(10)}));
constexpr settle_policy stubborn = [] {
    settle_policy p = queue;
    p.can_defer = false;
    return p;
}();
static_assert(after(3, fault_class::transient, stubborn) == settlement(act::leave{left_for::pause}));
static_assert(after(1, fault_class::transient, stubborn) == settlement(act::abandon{}));

// A queue puts off only so far: SQS twelve hours after the message was received.
static_assert(after(3, fault_class::transient, [] {
                  settle_policy p = queue;
                  p.longest_defer = duration::seconds(4);
                  return p;
              }()) == settlement(act::defer{now + duration::seconds(4)}));

// A server's own "come back after" is kept to.
static_assert(settle(queue, {.count = 1}, fault_class::transient, 0.5, now, duration::seconds(77)) ==
              settlement(act::defer{now + duration::seconds(77)}));

// Time does not wrap.
static_assert(settle(queue, {.count = 3}, fault_class::transient, 0.5, wall_time::highest()) ==
              settlement(act::defer{wall_time::highest()}));

// No limit at the queue: there is no last delivery, and the levels end it.
constexpr settle_policy endless = [] {
    settle_policy p = queue;
    p.max_deliveries = waybill::highest_size;
    return p;
}();
static_assert(after(waybill::highest_size, fault_class::infrastructure, endless) ==
              settlement(act::leave{left_for::outage}));
static_assert(after(waybill::highest_size, fault_class::transient, endless) ==
              parked(parked_for::exhausted, fault_class::transient, waybill::highest_size, 9));

// Too late, or nearly so: nothing is said but success.
constexpr bool only_success_is_told(duration left, left_for why)
{
    for (const fault_class how : all_faults) {
        const settlement s = after(1, how, queue, left);
        if (how == fault_class::none && !(s == settlement(act::complete{}))) return false;
        if (how == fault_class::none) continue;
        const left_for expected = how == fault_class::ownership_lost ? left_for::lock_lost : why;
        if (!(s == settlement(act::leave{expected}))) return false;
    }
    return true;
}
static_assert(only_success_is_told(duration{}, left_for::lock_lost));
static_assert(only_success_is_told(duration::lowest(), left_for::lock_lost));
static_assert(only_success_is_told(duration::nanoseconds(1), left_for::lock_short));
static_assert(only_success_is_told(duration::seconds(1), left_for::lock_short));
static_assert(!only_success_is_told(duration::nanoseconds(1'000'000'001), left_for::lock_short));

// Whatever the policy is, no message is given back on its last delivery where that counts: the broker
// would park it. And none is lost: what has not worked is never completed.
TEST_CASE("settle: every policy, every fault, every delivery")
{
    std::uint64_t cases = 0;
    for (const when_down w : {when_down::leave, when_down::defer, when_down::abandon}) {
        for (unsigned bits = 0; bits != 8; ++bits) {
            settle_policy p = queue;
            p.max_deliveries = 4;
            p.on_outage = w;
            p.can_defer = (bits & 1U) != 0;
            p.defer_renews = (bits & 2U) != 0;
            p.release_counts = (bits & 4U) != 0;
            for (std::uint64_t count = 0; count != 8; ++count) {
                for (std::uint64_t tries = 0; tries != 12; ++tries) {
                    for (const fault_class how : all_faults) {
                        const auto s = settle(p, {.count = count, .tries = tries}, how, 0.5, now);
                        ++cases;
                        CHECK(std::holds_alternative<act::complete>(s) == (how == fault_class::none));
                        if (std::holds_alternative<act::defer>(s)) CHECK(p.can_defer);
                        const bool parks = std::holds_alternative<act::dead_letter_message>(s);
                        if (how == fault_class::permanent) CHECK(parks);
                        if (parks && how != fault_class::permanent && how != fault_class::transient) {
                            CHECK(count >= p.max_deliveries);
                        }
                        if (count < p.max_deliveries) continue;
                        if (const auto* a = std::get_if<act::abandon>(&s)) CHECK((!a->failed && !p.release_counts));
                        if (std::holds_alternative<act::defer>(s)) CHECK(p.defer_renews);
                        if (const auto* l = std::get_if<act::leave>(&s)) CHECK(l->why == left_for::lock_lost);
                    }
                }
            }
        }
    }
    MESSAGE("settle: ", cases, " cases");
}

TEST_CASE("settle: the reason says what is used up, and is cut between characters")
{
    const act::dead_letter_message d{parked_for::last_delivery, fault_class::infrastructure, 10, 10};
    CHECK(waybill::text(d, "the database is down") == "last_delivery: infrastructure, 10 of 10: the database is down");
    CHECK(waybill::text(d, std::string(10'000'000, 'x')).size() == 1'024);
    CHECK(waybill::text(d, "\xC3\xBC\xC3\xBC", 43) == "last_delivery: infrastructure, 10 of 10: \xC3\xBC");
    CHECK(waybill::text(d, "\xC3\xBC\xC3\xBC", 44) == "last_delivery: infrastructure, 10 of 10: \xC3\xBC");
    CHECK(waybill::text(d, "anything", 0).empty());
}

static_assert(!check(settle_policy{}));
static_assert(check(settle_policy{.max_deliveries = 0})->field == "max_deliveries");
static_assert(check(settle_policy{.to_settle = duration::seconds(-1)})->negative);
static_assert(check(settle_policy{.longest_defer = {}})->field == "longest_defer");
static_assert(check(settle_policy{.on_outage = when_down::defer, .can_defer = false})->field == "can_defer");
// Given back at once, all of its deliveries would be used up in an outage: unless that does not count.
static_assert(check(settle_policy{.on_outage = when_down::abandon})->field == "release_counts");
static_assert(!check(settle_policy{.on_outage = when_down::abandon, .release_counts = false}));
static_assert(!check(settle_policy{.max_deliveries = waybill::highest_size, .on_outage = when_down::abandon}));
static_assert(name(parked_for::exhausted) == "exhausted");
static_assert(name(left_for::lock_short) == "lock_short");
static_assert(name(when_down::defer) == "defer");

// Each answer is of the kind that is called like it.
static_assert(waybill::kind_of(act::complete{}) == waybill::settle_kind::complete);
static_assert(waybill::kind_of(act::abandon{}) == waybill::settle_kind::abandon);
static_assert(waybill::kind_of(act::defer{}) == waybill::settle_kind::defer);
static_assert(waybill::kind_of(act::dead_letter_message{}) == waybill::settle_kind::dead_letter);
static_assert(!waybill::kind_of(act::leave{}));

}  // namespace
}  // namespace settle_test

// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <doctest/doctest.h>
#include <support/held.hpp>

#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>

namespace settle_test {
namespace {

using waybill::dead_letter_message;
using waybill::duration;
using waybill::fault_kind;
using waybill::let_lock_expire;
using waybill::queue_delivery;
using waybill::settle_policy;
using waybill::settlement;

constexpr fault_kind all_faults[] = {fault_kind::none,           fault_kind::transient,
                                     fault_kind::permanent,      fault_kind::infrastructure,
                                     fault_kind::ownership_lost, fault_kind::cancelled};

// Two retries at once, then twice that after ten seconds, and again after twenty.
constexpr settle_policy queue{
    .levels = {.immediate = 2,
               .delayed = 2,
               .pauses = {.base = duration::seconds(10),
                          .cap = duration::seconds(3'600),
                          .factor = 2,
                          .spread = waybill::backoff::jitter::none}},
    .max_deliveries = 20,
};

constexpr settlement after(std::uint64_t count, fault_kind how, const settle_policy& p = queue,
                           duration left = duration::seconds(30))
{
    return settle(p, {.count = count, .lock_left = left}, how, 0.5);
}

constexpr settlement parked(dead_letter_message::cause why, fault_kind how, std::uint64_t used,
                            std::uint64_t most)
{
    return waybill::dead_letter_message{why, how, used, most};
}

// Each class has its answer.
static_assert(after(1, fault_kind::none) == settlement(waybill::complete{}));
static_assert(after(3, fault_kind::permanent) ==
              parked(dead_letter_message::cause::permanent, fault_kind::permanent, 3, 3));
static_assert(after(1, fault_kind::infrastructure) ==
              settlement(waybill::let_lock_expire{let_lock_expire::cause::outage}));
static_assert(after(1, fault_kind::ownership_lost) ==
              settlement(waybill::let_lock_expire{let_lock_expire::cause::lock_lost}));
static_assert(after(1, fault_kind::cancelled) == settlement(waybill::abandon{false}));

// Transient faults go through the levels: two at once, ten seconds, two at once, twenty, two.
static_assert(after(0, fault_kind::transient) == after(1, fault_kind::transient));
static_assert(after(1, fault_kind::transient) == settlement(waybill::abandon{}));
static_assert(after(2, fault_kind::transient) == settlement(waybill::abandon{}));
static_assert(after(3, fault_kind::transient) == settlement(waybill::defer{duration::seconds(10)}));
static_assert(after(4, fault_kind::transient) == settlement(waybill::abandon{}));
static_assert(after(6, fault_kind::transient) == settlement(waybill::defer{duration::seconds(20)}));
static_assert(after(8, fault_kind::transient) == settlement(waybill::abandon{}));
static_assert(after(9, fault_kind::transient) ==
              parked(dead_letter_message::cause::exhausted, fault_kind::transient, 9, 9));

// Tries may be another number than deliveries: a copy is counted from 1 again.
static_assert(settle(queue, {.count = 1, .tries = 6}, fault_kind::transient, 0.5) ==
              settlement(waybill::defer{duration::seconds(20)}));

// The last delivery is dead-lettered with the reason, for any fault. A success is not.
constexpr settle_policy few = [] {
    settle_policy p = queue;
    p.max_deliveries = 2;
    return p;
}();
static_assert(after(1, fault_kind::transient, few) == settlement(waybill::abandon{}));
static_assert(after(2, fault_kind::transient, few) ==
              parked(dead_letter_message::cause::last_delivery, fault_kind::transient, 2, 2));
static_assert(after(2, fault_kind::infrastructure, few) ==
              parked(dead_letter_message::cause::last_delivery, fault_kind::infrastructure, 2, 2));
static_assert(after(2, fault_kind::none, few) == settlement(waybill::complete{}));
static_assert(after(7, fault_kind::permanent, few) ==
              parked(dead_letter_message::cause::permanent, fault_kind::permanent, 7, 7));

// If a copy replaces the message, its deliveries start at 1, and there is no last one.
constexpr settle_policy copies = [] {
    settle_policy p = few;
    p.defer_renews = true;
    return p;
}();
static_assert(after(2, fault_kind::infrastructure, copies) ==
              settlement(waybill::defer{duration::seconds(20)}));
static_assert(after(2, fault_kind::cancelled, copies) == settlement(waybill::defer{}));
static_assert(settle(copies, {.count = 2, .tries = 3}, fault_kind::transient, 0.5) ==
              settlement(waybill::defer{duration::seconds(10)}));

// Nor is there one if a return without a failure does not count.
constexpr settle_policy released = [] {
    settle_policy p = few;
    p.release_counts = false;
    return p;
}();
static_assert(after(2, fault_kind::infrastructure, released) ==
              settlement(waybill::abandon{false}));
static_assert(after(2, fault_kind::cancelled, released) == settlement(waybill::abandon{false}));
// But a pause that does not count is better than a return at once.
constexpr settle_policy released_copies(settle_policy::when_down w, bool can_defer = true)
{
    settle_policy p = released;
    p.on_outage = w;
    p.can_defer = can_defer;
    p.defer_renews = true;
    return p;
}
static_assert(after(2, fault_kind::infrastructure,
                    released_copies(settle_policy::when_down::defer)) ==
              settlement(waybill::defer{duration::seconds(20)}));
static_assert(after(2, fault_kind::infrastructure,
                    released_copies(settle_policy::when_down::let_lock_expire)) ==
              settlement(waybill::defer{duration::seconds(20)}));
static_assert(after(2, fault_kind::infrastructure,
                    released_copies(settle_policy::when_down::let_lock_expire, false)) ==
              settlement(waybill::abandon{false}));
static_assert(after(2, fault_kind::infrastructure,
                    released_copies(settle_policy::when_down::abandon)) ==
              settlement(waybill::abandon{false}));

static_assert(after(2, fault_kind::cancelled,
                    [] {
                        settle_policy p = few;
                        p.can_defer = false;
                        return p;
                    }()) ==
              parked(dead_letter_message::cause::last_delivery, fault_kind::cancelled, 2, 2));

// The policy for outages; and a pause if the queue cannot defer.
constexpr settle_policy down(settle_policy::when_down w)
{
    settle_policy p = queue;
    p.on_outage = w;
    return p;
}
static_assert(after(1, fault_kind::infrastructure, down(settle_policy::when_down::abandon)) ==
              settlement(waybill::abandon{false}));
static_assert(after(1, fault_kind::infrastructure, down(settle_policy::when_down::defer)) ==
              settlement(waybill::defer{duration::seconds(10)}));
constexpr settle_policy stubborn = [] {
    settle_policy p = queue;
    p.can_defer = false;
    return p;
}();
static_assert(after(3, fault_kind::transient, stubborn) ==
              settlement(waybill::let_lock_expire{let_lock_expire::cause::pause}));
static_assert(after(1, fault_kind::transient, stubborn) == settlement(waybill::abandon{}));

// A queue has a maximum deferral: SQS twelve hours after the message was received.
static_assert(after(3, fault_kind::transient, [] {
                  settle_policy p = queue;
                  p.longest_defer = duration::seconds(4);
                  return p;
              }()) == settlement(waybill::defer{duration::seconds(4)}));

// A server's retry_after is kept.
static_assert(settle(queue, {.count = 1}, fault_kind::transient, 0.5, duration::seconds(77)) ==
              settlement(waybill::defer{duration::seconds(77)}));

// Times do not overflow.
static_assert(settle(queue, {.count = 1}, fault_kind::transient, 0.5, duration::highest()) ==
              settlement(waybill::defer{queue.levels.pauses.highest_hint}));

// No limit at the queue: there is no last delivery, and the levels end it.
constexpr settle_policy endless = [] {
    settle_policy p = queue;
    p.max_deliveries = waybill::detail::highest_size;
    return p;
}();
static_assert(after(waybill::detail::highest_size, fault_kind::infrastructure, endless) ==
              settlement(waybill::let_lock_expire{let_lock_expire::cause::outage}));
static_assert(after(waybill::detail::highest_size, fault_kind::transient, endless) ==
              parked(dead_letter_message::cause::exhausted, fault_kind::transient,
                     waybill::detail::highest_size, 9));

// Too late, or nearly so: only a success is settled.
constexpr bool only_success_is_told(duration left, let_lock_expire::cause why)
{
    for (const fault_kind how : all_faults) {
        const settlement s = after(1, how, queue, left);
        if (how == fault_kind::none && !(s == settlement(waybill::complete{}))) return false;
        if (how == fault_kind::none) continue;
        const let_lock_expire::cause expected =
            how == fault_kind::ownership_lost ? let_lock_expire::cause::lock_lost : why;
        if (!(s == settlement(waybill::let_lock_expire{expected}))) return false;
    }
    return true;
}
static_assert(only_success_is_told(duration{}, let_lock_expire::cause::lock_lost));
static_assert(only_success_is_told(duration::lowest(), let_lock_expire::cause::lock_lost));
static_assert(only_success_is_told(duration::nanoseconds(1), let_lock_expire::cause::lock_short));
static_assert(only_success_is_told(duration::seconds(1), let_lock_expire::cause::lock_short));
static_assert(!only_success_is_told(duration::nanoseconds(1'000'000'001),
                                    let_lock_expire::cause::lock_short));

// For any policy, no message is returned on its last delivery if that counts: the broker would
// dead-letter it. And none is lost: only a success is completed.
TEST_CASE("settle: no last delivery is returned if that counts, and only a success is completed")
{
    std::uint64_t cases = 0;
    for (const settle_policy::when_down w :
         {settle_policy::when_down::let_lock_expire, settle_policy::when_down::defer,
          settle_policy::when_down::abandon}) {
        for (unsigned bits = 0; bits != 8; ++bits) {
            settle_policy p = queue;
            p.max_deliveries = 4;
            p.on_outage = w;
            p.can_defer = (bits & 1U) != 0;
            p.defer_renews = (bits & 2U) != 0;
            p.release_counts = (bits & 4U) != 0;
            for (std::uint64_t count = 0; count != 8; ++count) {
                for (std::uint64_t tries = 0; tries != 12; ++tries) {
                    for (const fault_kind how : all_faults) {
                        const auto s = settle(p, {.count = count, .tries = tries}, how, 0.5);
                        ++cases;
                        CHECK(waybill::holds_alternative<waybill::complete>(s) ==
                              (how == fault_kind::none));
                        if (waybill::holds_alternative<waybill::defer>(s)) CHECK(p.can_defer);
                        const bool parks =
                            waybill::holds_alternative<waybill::dead_letter_message>(s);
                        if (how == fault_kind::permanent) CHECK(parks);
                        if (parks && how != fault_kind::permanent && how != fault_kind::transient) {
                            CHECK(count >= p.max_deliveries);
                        }
                        if (count < p.max_deliveries) continue;
                        if (const auto* a = waybill::get_if<waybill::abandon>(&s))
                            CHECK((!a->failed && !p.release_counts));
                        if (waybill::holds_alternative<waybill::defer>(s)) CHECK(p.defer_renews);
                        if (const auto* l = waybill::get_if<waybill::let_lock_expire>(&s))
                            CHECK(l->reason == let_lock_expire::cause::lock_lost);
                    }
                }
            }
        }
    }
    MESSAGE("settle: ", cases, " cases");
}

TEST_CASE("settle: the reason contains the exhausted limit, and is cut between characters")
{
    const waybill::dead_letter_message d{dead_letter_message::cause::last_delivery,
                                         fault_kind::infrastructure, 10, 10};
    const std::string limit = "last_delivery: infrastructure, 10 of 10 deliveries (max_deliveries)";
    CHECK(waybill::describe(d, "the database is down") == limit + ": the database is down");
    CHECK(waybill::describe(d, "") == limit);
    CHECK(waybill::describe(d, std::string(10'000'000, 'x')).size() == 1'024);
    CHECK(waybill::describe(d, "\xC3\xBC\xC3\xBC", limit.size() + 4) == limit + ": \xC3\xBC");
    CHECK(waybill::describe(d, "\xC3\xBC\xC3\xBC", limit.size() + 5) == limit + ": \xC3\xBC");
    CHECK(waybill::describe(d, "anything", 0).empty());
}

TEST_CASE("settle: a reason contains its limit, and a permanent fault only once")
{
    const auto reason = [](const settlement& s, const char* why) {
        return waybill::describe(tests_support::held<waybill::dead_letter_message>(s), why);
    };
    CHECK(reason(after(1, fault_kind::permanent), "550 no such user") ==
          "permanent: 550 no such user");
    CHECK(reason(after(3, fault_kind::permanent), "") == "permanent");
    CHECK(reason(after(9, fault_kind::transient), "timed out") ==
          "exhausted: transient, 9 of 9 tries (levels): timed out");
    CHECK(reason(after(2, fault_kind::transient, few), "timed out") ==
          "last_delivery: transient, 2 of 2 deliveries (max_deliveries): timed out");
    CHECK(reason(after(961, fault_kind::transient, {}), "timed out") ==
          "last_delivery: transient, 961 of 961 deliveries (max_deliveries): timed out");
}

/// When a message that fails in this way is dead-lettered, counted from its first delivery.
duration dead_lettered_after(const settle_policy& p, fault_kind how, double draw, duration lock)
{
    duration at{};
    for (std::uint64_t count = 1; count != 1'000'000; ++count) {
        const auto s = settle(p, {.count = count, .lock_left = lock}, how, draw);
        if (waybill::holds_alternative<waybill::dead_letter_message>(s)) return at;
        if (waybill::holds_alternative<waybill::let_lock_expire>(s)) at = at + lock;
        if (const auto* d = waybill::get_if<waybill::defer>(&s)) at = at + d->delay;
    }
    return duration::highest();
}

TEST_CASE(
    "settle: the default policy retries for at least a day, with locks of 90 s and any random "
    "number")
{
    settle_policy no_pauses;
    no_pauses.can_defer = false;
    for (const double draw : {0.0, 0.5, 0.999}) {
        for (const fault_kind how : {fault_kind::transient, fault_kind::infrastructure}) {
            CHECK(dead_lettered_after({}, how, draw, duration::seconds(90)) >=
                  duration::seconds(86'400));
            CHECK(dead_lettered_after({}, how, draw, duration::seconds(90)) <
                  duration::seconds(2 * 86'400));
            CHECK(dead_lettered_after(no_pauses, how, draw, duration::seconds(90)) ==
                  duration::seconds(86'400));
        }
    }
    CHECK(dead_lettered_after({.max_deliveries = 10}, fault_kind::transient, 0.0,
                              duration::seconds(90)) > duration::seconds(180));
}

// The levels of a policy fit into the deliveries of the queue.
constexpr settle_policy tries_of(std::uint32_t immediate, std::uint32_t delayed,
                                 std::uint64_t deliveries, bool renews = false)
{
    settle_policy p;
    p.levels = {.immediate = immediate, .delayed = delayed};
    p.max_deliveries = deliveries;
    p.defer_renews = renews;
    return p;
}
constexpr std::uint32_t no_limit = waybill::retry_levels::unlimited;

TEST_CASE("settle: validate compares the tries of the levels with the deliveries")
{
    REQUIRE(validate(tries_of(5, 3, 10)));
    CHECK(waybill::describe(*validate(tries_of(5, 3, 10))) ==
          "levels is 24: tries in total must be at most max_deliveries, or levels.delayed "
          "unlimited (10)");
    CHECK(validate(tries_of(5, 3, 23)));
    CHECK(!validate(tries_of(5, 3, 24)));
    CHECK(validate(tries_of(0, 1, 1)));
    CHECK(!validate(tries_of(0, 0, 1)));
    // Without a limit of their own, they end at the last delivery.
    CHECK(!validate(tries_of(5, no_limit, 10)));
    CHECK(!validate(tries_of(5, 3, waybill::detail::highest_size)));
    REQUIRE(validate(tries_of(5, no_limit, waybill::detail::highest_size)));
    CHECK(validate(tries_of(5, no_limit, waybill::detail::highest_size))->field ==
          "levels.delayed");
    // A copy renews the deliveries: one round must fit, and only the levels end the tries.
    CHECK(!validate(tries_of(5, 3, 6, true)));
    REQUIRE(validate(tries_of(5, 3, 5, true)));
    CHECK(validate(tries_of(5, 3, 5, true))->field == "levels.immediate");
    CHECK(validate(tries_of(5, no_limit, 10, true))->field == "levels.delayed");
}

constexpr settlement after_outage(std::uint64_t count, std::uint64_t outage_deliveries,
                                  const settle_policy& p, std::uint64_t tries = 0)
{
    return settle(p, {.count = count, .tries = tries, .outage_deliveries = outage_deliveries},
                  fault_kind::transient, 0.5);
}

TEST_CASE("settle: deliveries in an outage use up no tries")
{
    settle_policy p = tries_of(5, 3, 1'000);
    CHECK(after_outage(31, 0, p) ==
          parked(dead_letter_message::cause::exhausted, fault_kind::transient, 31, 24));
    CHECK(after_outage(31, 30, p) == settlement(waybill::abandon{}));
    CHECK(after_outage(53, 30, p) == settlement(waybill::abandon{}));
    CHECK(after_outage(54, 30, p) ==
          parked(dead_letter_message::cause::exhausted, fault_kind::transient, 24, 24));
    CHECK(after_outage(36, 30, p) == after(6, fault_kind::transient, p));  // the first pause
    // More than there were: this delivery is the first try.
    for (const std::uint64_t too_many : {31ULL, 32ULL, ~0ULL}) {
        CHECK(after_outage(31, too_many, p) == settlement(waybill::abandon{}));
    }
    CHECK(after_outage(0, 0, p) == settlement(waybill::abandon{}));
    CHECK(after_outage(0, ~0ULL, p) == settlement(waybill::abandon{}));
    CHECK(after_outage(~0ULL, ~0ULL, tries_of(5, 3, ~0ULL)) == settlement(waybill::abandon{}));
    // The tries that the caller counts are reduced alike; the deliveries of the broker are not.
    CHECK(after_outage(1, 30, p, 54) ==
          parked(dead_letter_message::cause::exhausted, fault_kind::transient, 24, 24));
    CHECK(after_outage(1, 30, p, 31) == settlement(waybill::abandon{}));
    CHECK(after_outage(1'000, 990, p) ==
          parked(dead_letter_message::cause::last_delivery, fault_kind::transient, 1'000, 1'000));
}

using waybill::delivery_terms;
using settle_check = waybill::settle_policy::check;
constexpr duration day = duration::seconds(86'400);
constexpr delivery_terms lock_90{.lock = duration::seconds(90), .max_deliveries = 961};

constexpr settle_check found(const settle_policy& p, const delivery_terms& t)
{
    return validate(p, t);
}

// As often as the lock runs out before the last delivery, and with the levels as the limit if the
// deliveries of the outage are not counted.
static_assert(found({}, lock_90) == settle_check{{}, day, day, 961, waybill::detail::highest_size});
static_assert(found(tries_of(5, 3, 961), lock_90) ==
              settle_check{{}, day, duration::seconds(23 * 90), 961, 24});
static_assert(found({.max_deliveries = 1}, lock_90).longest_outage == duration{});
static_assert(found({.max_deliveries = 2}, lock_90).longest_outage == duration::seconds(90));

// The broker's maximum counts, where the policy expects more.
static_assert(found({}, {}).error->field == "max_deliveries" && found({}, {}).error->bound == 10);
static_assert(found({}, {}).longest_outage == duration::seconds(9 * 60));
static_assert(found({.max_deliveries = 10}, {}).longest_outage == duration::seconds(9 * 60));
static_assert(!found({.max_deliveries = 10}, {}).error);
static_assert(found({.max_deliveries = 0}, {}).error->field == "max_deliveries");
static_assert(found({}, {.lock = {}}).error->field == "delivery.lock");
static_assert(found({.max_deliveries = 10}, {.lock = duration::seconds(1)}).error->field ==
              "to_settle");

// The time to live ends it, one lock before the last delivery may begin.
constexpr settle_check hour = found({}, {.lock = duration::seconds(90),
                                         .max_deliveries = 961,
                                         .time_to_live = duration::seconds(3'600)});
static_assert(!hour.error && hour.longest_outage == duration::seconds(3'510));
static_assert(hour.limited_by == delivery_terms::lifetime::delivery_limit::time_to_live);

// If no delivery is the last one, there is no end.
constexpr delivery_terms no_maximum{.lock = duration::seconds(90),
                                    .max_deliveries = waybill::detail::highest_size};
static_assert(found(tries_of(5, 3, waybill::detail::highest_size), no_maximum).longest_outage ==
              duration::highest());
static_assert(found(tries_of(5, 3, 961, true), lock_90).longest_outage == duration::highest());
static_assert(found({.release_counts = false}, lock_90).longest_outage == duration::highest());
static_assert(found({.on_outage = settle_policy::when_down::abandon, .release_counts = false},
                    lock_90)
                  .longest_outage_if_counted == duration::highest());
// Returned at once, and counted, it takes no time.
static_assert(found({.on_outage = settle_policy::when_down::abandon}, lock_90).longest_outage ==
              duration{});
static_assert(found(tries_of(5, 3, waybill::detail::highest_size), no_maximum)
                  .longest_outage_if_counted == duration::seconds(23 * 90));

// Deferred, it takes at least the pauses with the lowest random numbers.
constexpr duration put_off(const waybill::backoff& pauses, std::uint64_t deliveries,
                           duration longest = duration::highest())
{
    settle_policy p = down(settle_policy::when_down::defer);
    p.levels = {.immediate = 0, .delayed = no_limit, .pauses = pauses};
    p.max_deliveries = deliveries;
    p.longest_defer = longest;
    return found(p, {.max_deliveries = waybill::detail::highest_size}).longest_outage;
}
constexpr waybill::backoff doubling{.base = duration::seconds(10),
                                    .cap = duration::seconds(60),
                                    .spread = waybill::backoff::jitter::none};
static_assert(put_off(doubling, 5) == duration::seconds(10 + 20 + 40 + 60));
static_assert(put_off(doubling, 103) == duration::seconds(10 + 20 + 40 + 99 * 60));
static_assert(put_off(doubling, 103, duration::seconds(15)) == duration::seconds(10 + 101 * 15));
static_assert(put_off({.base = duration::seconds(10), .spread = waybill::backoff::jitter::full},
                      103) == duration{});
static_assert(put_off(doubling, waybill::detail::highest_size - 1) == duration::highest());

TEST_CASE("settle: describe contains the longest survived outage")
{
    CHECK(waybill::describe(found({}, lock_90)) ==
          "survives an outage of 24h: max_deliveries is 961");
    CHECK(waybill::describe(found({.max_deliveries = 10}, {})) ==
          "survives an outage of 9min: max_deliveries is 10");
    CHECK(waybill::describe(found(tries_of(5, 3, 961), lock_90)) ==
          "survives an outage of 24h: max_deliveries is 961; of 2070s if outage_deliveries is not "
          "passed: levels allow 24 tries");
    CHECK(waybill::describe(hour) == "survives an outage of 3510s: time_to_live ends it");
    CHECK(waybill::describe(found({.release_counts = false}, lock_90)) ==
          "survives an outage of any length");
    CHECK(waybill::describe(found({}, {})) ==
          "max_deliveries is 961: must be at most the limit of the queue, delivery.max_deliveries "
          "(10)");
}

// The reported outage is survived. One that ends just after the last delivery is not.
TEST_CASE("settle: an outage of the reported length dead-letters no message, a longer one does")
{
    struct row {
        settle_policy policy;
        bool counted;
    };
    const row rows[] = {{{}, true},
                        {{}, false},
                        {tries_of(5, 3, 100), true},
                        {tries_of(5, 3, 100), false},
                        {tries_of(0, no_limit, 2), false},
                        {tries_of(0, 0, 1), true}};
    for (const row& r : rows) {
        const settle_check c =
            found(r.policy, {.lock = duration::seconds(90), .max_deliveries = 961});
        REQUIRE(!c.error);
        const duration reported = r.counted ? c.longest_outage : c.longest_outage_if_counted;
        for (const duration outage : {reported, reported + duration::nanoseconds(1)}) {
            duration at{};
            std::uint64_t count = 1;
            bool dead = false;
            for (; at < outage && !dead; ++count) {
                const auto s = settle(
                    r.policy, {.count = count, .outage_deliveries = r.counted ? count - 1 : 0},
                    fault_kind::infrastructure, 0.5);
                dead = waybill::holds_alternative<waybill::dead_letter_message>(s);
                at = at + duration::seconds(90);
            }
            // The first delivery after the outage still has a try.
            const std::uint64_t tries = r.counted ? 1 : count;
            CHECK((!dead && tries <= c.max_tries) == (outage == reported));
        }
    }
}

static_assert(!validate(settle_policy{}));
static_assert(validate(settle_policy{.max_deliveries = 0})->field == "max_deliveries");
static_assert(validate(settle_policy{.to_settle = duration::seconds(-1)})->negative);
static_assert(validate(settle_policy{.longest_defer = {}})->field == "longest_defer");
static_assert(validate(settle_policy{.on_outage = settle_policy::when_down::defer,
                                     .can_defer = false})
                  ->field == "can_defer");
// Returned at once, all of its deliveries would be used up in an outage, unless they do not count.
static_assert(validate(settle_policy{.on_outage = settle_policy::when_down::abandon})->field ==
              "release_counts");
static_assert(!validate(settle_policy{.on_outage = settle_policy::when_down::abandon,
                                      .release_counts = false}));
static_assert(!validate(settle_policy{.levels = {},
                                      .max_deliveries = waybill::detail::highest_size,
                                      .on_outage = settle_policy::when_down::abandon}));
static_assert(name(dead_letter_message::cause::exhausted) == "exhausted");
static_assert(name(let_lock_expire::cause::lock_short) == "lock_short");
static_assert(name(settle_policy::when_down::defer) == "defer");

// Each result has the kind of its name.
static_assert(waybill::settle_batches::kind_of(waybill::complete{}) ==
              waybill::settle_batches::settle_kind::complete);
static_assert(waybill::settle_batches::kind_of(waybill::abandon{}) ==
              waybill::settle_batches::settle_kind::abandon);
static_assert(waybill::settle_batches::kind_of(waybill::defer{}) ==
              waybill::settle_batches::settle_kind::defer);
static_assert(waybill::settle_batches::kind_of(waybill::dead_letter_message{}) ==
              waybill::settle_batches::settle_kind::dead_letter);
static_assert(!waybill::settle_batches::kind_of(waybill::let_lock_expire{}));

}  // namespace
}  // namespace settle_test

// SPDX-License-Identifier: MIT
//
// Locks at a broker with lost, delayed and refused renewals and lost locks. The machine never
// assumes more than the broker grants. It does not renew more often than documented. Its end is
// final.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/core/match.hpp>
#include <waybill/queue/lock_renewal.hpp>

namespace lock_renewal_prop {
namespace {

using namespace waybill;
using tests_support::dice;

constexpr int episodes = tests_support::brief ? 2'000 : 40'000;

constexpr duration ms(std::int64_t n)
{
    return duration::milliseconds(n);
}

lock_renewal::config any_options(dice& roll)
{
    constexpr double shares[] = {0.1, 0.3, 0.5, 0.9};
    lock_renewal::config o{.lock = ms(1'000 + roll.below(60'000))};
    o.renew_left = roll.any_of(shares);
    if (roll.one_in(3)) o.margin = ms(roll.below(o.lock.count() / 1'000'000));
    if (roll.one_in(3)) o.max_duration = ms(1 + roll.below(300'000));
    o.pauses = {.base = ms(50 + roll.below(500)), .cap = ms(1'000 + roll.below(9'000))};
    constexpr backoff::jitter spreads[] = {backoff::jitter::none, backoff::jitter::equal,
                                           backoff::jitter::full};
    o.pauses.spread = roll.any_of(spreads);
    o.answer_timeout = ms(100 + roll.below(20'000));
    // Shortens the timeout until there is time for another try.
    while (const auto bad = validate(o)) {
        if (bad->field == "lock_renewal.answer_timeout") o.answer_timeout = o.answer_timeout * 0.5;
        else o.pauses.base = o.pauses.base * 0.5;
    }
    return o;
}

double draw(dice& roll)
{
    return static_cast<double>(roll(1'000)) / 1'000;
}

// An answer in transit.
struct answer {
    steady_time arrives{};
    std::uint32_t attempt = 0;
    fault_kind how = fault_kind::none;
};

struct run {
    dice& roll;
    lock_renewal machine;
    lock_renewal::config o;
    std::uint64_t trouble;  // one in `trouble` calls or answers has a fault
    steady_time now = steady_time::at(duration::seconds(1'000));
    steady_time truth{};  // the lock is held at the broker until then
    bool lost = false;    // the lock was lost at the broker
    std::vector<answer> answers{};
    std::uint64_t renewals = 0;

    void renew(std::uint32_t attempt)
    {
        ++renewals;
        REQUIRE(machine.on(lock_renewal::renewal_started{attempt, draw(roll)}, now) ==
                event_result::applied);
        REQUIRE(waybill::holds_alternative<wait_until>(machine.next(now)));
        // The call arrives later, succeeds or fails, and its answer may get lost.
        const steady_time there = now + ms(roll.below(roll.one_in(trouble) ? 30'000 : 200));
        const steady_time back = there + ms(roll.below(roll.one_in(trouble) ? 30'000 : 200));
        answer a{back, attempt};
        if (roll.one_in(trouble)) {
            constexpr fault_kind faults[] = {fault_kind::transient, fault_kind::infrastructure,
                                             fault_kind::cancelled, fault_kind::permanent};
            a.how = faults[roll(roll.one_in(10) ? 4 : 3)];
        } else if (lost || there >= truth) {
            lost = true;
            a.how = fault_kind::ownership_lost;
        } else {
            truth = later(truth, there + o.lock);
        }
        if (!roll.one_in(trouble * 2)) answers.push_back(a);
    }

    void deliver()
    {
        for (std::size_t n = 0; n != answers.size();) {
            if (answers[n].arrives > now) {
                ++n;
                continue;
            }
            const answer a = answers[n];
            answers.erase(answers.begin() + static_cast<std::ptrdiff_t>(n));
            const lock_renewal before = machine;
            const bool over = machine.ended(now).has_value();
            const event_result h =
                a.how == fault_kind::none
                    ? machine.on(lock_renewal::lock_renewed{a.attempt}, now)
                    : machine.on(lock_renewal::renewal_failed{a.attempt, a.how, draw(roll)}, now);
            REQUIRE((h == event_result::stale) == (over || a.attempt != before.attempts()));
            if (!over && h == event_result::stale) REQUIRE(machine == before);
        }
    }

    void check() const
    {
        // The remaining time of the machine never exceeds that of the broker.
        if (!lost && !machine.ended(now)) REQUIRE(now + machine.left(now) <= truth);
        const auto asked = machine.next(now);
        REQUIRE(asked == machine.next(now));
        if (const auto* w = waybill::get_if<wait_until>(&asked)) REQUIRE(w->time > now);
        REQUIRE(waybill::holds_alternative<idle>(asked) == machine.ended(now).has_value());
    }
};

}  // namespace

TEST_CASE("lock_renewal: the remaining time never exceeds that at the broker, and an end is final")
{
    dice roll(7'256);
    std::uint64_t ends[4] = {};
    std::uint64_t kept = 0;
    for (int episode = 0; episode != episodes; ++episode) {
        const lock_renewal::config o = any_options(roll);
        REQUIRE_FALSE(validate(o).has_value());
        run r{.roll = roll, .machine = lock_renewal(o), .o = o, .trouble = 2 + roll(12)};
        r.machine.on(lock_renewal::lock_taken{}, r.now);
        r.truth = r.now + ms(roll.below(100)) + o.lock;
        const steady_time begun = r.now;
        const steady_time over = r.now + ms(roll.below(400'000));
        std::optional<lock_renewal::lock_outcome> end;
        while (!end) {
            r.deliver();
            if (!r.lost && roll.one_in(300)) r.lost = true;
            if (r.now >= over) r.machine.on(lock_renewal::lock_released{}, r.now);
            r.check();
            end = r.machine.ended(r.now);
            match(
                r.machine.next(r.now), [&](lock_renewal::renew a) { r.renew(a.attempt); },
                [&](wait_until w) {
                    // Until then, or until an earlier answer or the end.
                    steady_time next = earlier(w.time, later(over, r.now + ms(1)));
                    for (const answer& a : r.answers) next = earlier(next, later(a.arrives, r.now));
                    r.now = next;
                },
                [&](idle) {});
        }
        ++ends[static_cast<std::size_t>(*end)];
        if (*end == lock_renewal::lock_outcome::too_long) REQUIRE(r.now >= begun + o.max_duration);
        if (*end == lock_renewal::lock_outcome::released) REQUIRE(r.now >= over);
        if (r.now - begun > o.lock) ++kept;
        // At least a quarter of a lock between two successes, and the base pause between two
        // failures.
        const double most =
            static_cast<double>((r.now - begun).count()) /
            static_cast<double>(o.pauses.spread == backoff::jitter::none
                                    ? detail::lesser(o.pauses.base, o.lock * 0.25).count()
                                    : 1);
        REQUIRE(static_cast<double>(r.renewals) <= most + 1);
        // No event after the end changes it.
        r.now = r.now + ms(60'000);
        const lock_renewal::lock_outcome was = *end;
        r.deliver();
        REQUIRE(r.machine.on(lock_renewal::lock_taken{}, r.now) == event_result::stale);
        REQUIRE(r.machine.ended(r.now) == was);
    }
    for (const std::uint64_t n : ends) CHECK(n > 10);
    CHECK(kept > episodes / 4);
}

TEST_CASE("lock_renewal: a renewal without an answer is retried before the lock expires")
{
    dice roll(5'010);
    for (int episode = 0; episode != episodes; ++episode) {
        lock_renewal::config o = any_options(roll);
        o.max_duration = duration::highest();
        lock_renewal m(o);
        m.on(lock_renewal::lock_taken{}, steady_time::at({}));
        steady_time now = steady_time::at({});
        std::uint32_t started = 0;
        for (int steps = 0; steps != 9 && started != 2; ++steps) {
            const auto next = m.next(now);
            if (const auto* w = waybill::get_if<wait_until>(&next)) now = w->time;
            if (!waybill::holds_alternative<lock_renewal::renew>(next)) continue;
            REQUIRE(m.on(lock_renewal::renewal_started{++started, draw(roll)}, now) ==
                    event_result::applied);
        }
        REQUIRE(started == 2);
        REQUIRE(m.left(now) > duration{});
    }
}

TEST_CASE("lock_renewal: with any options and events, no time overflows, and an end is final")
{
    dice roll(3'227);
    constexpr std::int64_t odd[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    const auto any_time = [&] {
        return duration::nanoseconds(roll.one_in(3) ? roll.any_of(odd) : roll.below(1'000));
    };
    for (int episode = 0; episode != episodes; ++episode) {
        lock_renewal::config o{any_time(), draw(roll) * 3 - 1, any_time(), any_time(), any_time()};
        o.pauses.base = any_time();
        o.pauses.cap = any_time();
        lock_renewal m(o);
        std::optional<lock_renewal::lock_outcome> end;
        for (int n = 0; n != 12; ++n) {
            const steady_time now = steady_time::at(any_time());
            const auto attempt = static_cast<std::uint32_t>(roll(4));
            std::optional<duration> lasts;
            if (roll.one_in(2)) lasts = any_time();
            switch (roll(7)) {
                case 0: m.on(lock_renewal::lock_released{}, now); break;
                case 1: m.on(lock_renewal::renewal_started{attempt, draw(roll)}, now); break;
                case 2: m.on(lock_renewal::lock_renewed{attempt, lasts}, now); break;
                case 3: {
                    const auto how = static_cast<fault_kind>(roll(6));
                    m.on(lock_renewal::renewal_failed{attempt, how, draw(roll) * 3 - 1, any_time()},
                         now);
                    break;
                }
                case 4: m.on(lock_lost{}, now); break;
                default: m.on(lock_renewal::lock_taken{lasts}, now); break;
            }
            const auto next = m.next(now);
            if (const auto* w = waybill::get_if<wait_until>(&next)) REQUIRE(w->time > now);
            REQUIRE(m.left(now) >= duration{});
            if (end && n > 1) REQUIRE(m.ended(steady_time::lowest()) == end);
            // The end stays only after an event.
            end = m.ended(steady_time::lowest());
        }
    }
}

}  // namespace lock_renewal_prop

// SPDX-License-Identifier: MIT
//
// Every schedule of up to six items with up to two attempts in flight. Each answer is any answer,
// from the first to the last. There are too many schedules to walk them one by one. The number of
// different simulations is small enough.
//
// "Any answer" is any without numbers: this includes partial answers with each set of entries and
// each kind; see `plan::all_kinds`. Two senders that got different sizes or limits from a broker (true or false) are never
// equal. So answers with numbers are used only with fewer simulations: with one attempt in flight,
// with batches of one, and with three items. A broker may throttle without end; here the number of
// throttled answers is limited. The plans with most simulations are in `tests/run deep`.

#include <cstddef>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <enumerate/batch/send_mutants.hpp>
#include <enumerate/batch/send_schedules.hpp>
#include <support/brief.hpp>

namespace sender_six_enumeration {

using namespace waybill;
using send_mutants::mutant;
using send_mutants::wrong;
using send_schedules::enumeration;
using send_schedules::hearing;
using send_schedules::holds;
using send_schedules::plan;
using send_schedules::policy_of;

namespace {

plan any_answers(const char* name, std::size_t items, std::uint64_t a_batch,
                 std::uint32_t in_flight)
{
    plan p{.name = name,
           .policy = policy_of(in_flight),
           .wide = -1,
           .noise = hearing::noise,
           .at_once = false,
           .throttles = 0,
           .numbers = false};
    p.policy.limit.items = a_batch;
    p.policy.limit.bytes = 10 * a_batch + 5;
    p.policy.exact_sizes = true;
    p.policy.retry.pauses.factor = 1;
    p.sizes.assign(items, 10);
    return p;
}

plan in_threes(const char* name, std::size_t items)
{
    plan p = any_answers(name, items, 3, 2);
    p.policy.retry.pauses.base = {};
    p.noise = hearing::answers;
    return p;
}

}  // namespace

TEST_CASE("sender: up to six items, two in flight, any answers to the end: all guarantees hold")
{
    plan p = any_answers("six in twos, any answers but some", 6, 2, 2);
    p.all_kinds = false;
    holds(p, 1'000'000'000'000'000'000);
    holds(in_threes("four in threes, any answers", 4), 1'000'000'000'000);
    p = any_answers("six, one by one, any answers and any numbers", 6, 1, 2);
    p.throttles = 2;
    p.numbers = true;
    holds(p, 1'000'000'000'000'000'000);
}

// Six items in threes have more than five times as many simulations.
TEST_CASE("deep: sender: five items in threes, six throttled: all guarantees hold" *
          doctest::skip())
{
    holds(any_answers("six in twos, any answers", 6, 2, 2), 1'000'000'000'000'000'000);
    holds(in_threes("five in threes, any answers", 5), 1'000'000'000'000'000'000);
    plan p = any_answers("six in twos, throttled", 6, 2, 2);
    p.throttles = 1;
    p.noise = hearing::answers;
    holds(p, 1'000'000'000'000'000'000);
}

TEST_CASE("sender: up to six items, one in flight, any answers and sizes: all guarantees hold")
{
    // A batch may be refused after an unknown outcome, and its items may then be in any smaller
    // batch. With numbers, each further item has about four times as many simulations.
    plan p = any_answers("four in one batch, any answers and any numbers", 4, 4, 1);
    p.numbers = true;
    holds(p, 1'000'000'000);
    holds(any_answers("six in one batch, any answers", 6, 6, 1), 1'000'000'000'000);
    p = any_answers("five in threes, any answers and any numbers", 5, 3, 1);
    p.numbers = true;
    holds(p, 1'000'000'000'000);
}

TEST_CASE("deep: sender: one in flight, five in one batch, six in threes: all guarantees hold" *
          doctest::skip())
{
    plan p = any_answers("five in one batch, any answers and any numbers", 5, 5, 1);
    p.numbers = true;
    p.noise = hearing::answers;
    holds(p, 1'000'000'000'000);
    p = any_answers("six in threes, any answers and any numbers", 6, 3, 1);
    p.numbers = true;
    holds(p, 1'000'000'000'000);
}

TEST_CASE("sender: up to four items, throttling, stops and learnt headers: all guarantees hold")
{
    plan p = any_answers("four in twos, throttled, stopped", 4, 2, 2);
    p.throttles = 1;
    p.stops = true;
    p.all_kinds = false;
    holds(p, 1'000'000'000'000);
    p.name = "three in twos, throttled, stopped";
    p.sizes.pop_back();
    p.all_kinds = true;
    holds(p, 1'000'000'000);
    p = any_answers("four in twos, headers to be learnt", 4, 2, 2);
    p.policy.exact_sizes = false;
    p.all_kinds = false;
    p.noise = hearing::noise;
    holds(p, 1'000'000'000'000);
    p = any_answers("three in twos, any numbers, headers to be learnt", 3, 2, 2);
    p.policy.exact_sizes = false;
    p.policy.retry.pauses.base = {};
    p.numbers = true;
    holds(p, 1'000'000'000);
}

// The canonical form assumes that attempt numbers are only names, and that time is relative. A run
// without the canonical form must have the same result.
TEST_CASE("sender: the canonical form of simulations keeps the number of schedules")
{
    for (const bool stops : {false, true}) {
        plan p = any_answers("names", 3, 2, 2);
        p.stops = stops;
        p.throttles = stops ? 1 : 0;
        if (stops) p.sizes.pop_back();
        if (tests_support::brief) p.wide = 2;
        enumeration<batch_sender> merged(p);
        merged.run();
        p.canonical = false;
        p.noise = hearing::answers;
        enumeration<batch_sender> apart(p);
        apart.run();
        MESSAGE(apart.schedules.text(), " schedules, ", merged.simulations, " simulations for ",
                apart.simulations);
        CHECK(apart.broken.empty());
        CHECK(merged.schedules == apart.schedules);
        CHECK(merged.most_sends == apart.most_sends);
        CHECK(merged.simulations < apart.simulations);
    }
}

namespace {

template <wrong W>
std::string caught_with_six()
{
    plan p = any_answers("six", 6, 2, 2);
    p.noise = hearing::answers;
    p.throttles = W == wrong::does_not_rest ? 1 : 0;
    enumeration<mutant<W>> e(p);
    e.run();
    MESSAGE(e.edges, " steps");
    return e.broken.empty() ? std::string() : e.broken.front();
}

}  // namespace

TEST_CASE("sender: mutants are caught with six items")
{
    if (tests_support::sanitized) return;  // about logic, not about memory
    const auto by = [](const std::string& how, const char* promise) {
        MESSAGE(how);
        CHECK(how.rfind(promise, 0) == 0);
    };
    by(caught_with_six<wrong::cuts_unknown_anew>(), "a sent item was waiting");
    by(caught_with_six<wrong::repeats_what_arrived>(), "an item in doubt may have arrived");
    by(caught_with_six<wrong::takes_partial_for_all>(), "an accepted item has arrived");
    by(caught_with_six<wrong::does_not_shrink>(), "a refused batch is sent again with fewer items");
    by(caught_with_six<wrong::fails_the_refused>(), "a failed item has not arrived");
    by(caught_with_six<wrong::sends_too_many_at_a_time>(), "at most in_flight attempts are open");
    by(caught_with_six<wrong::takes_unknown_for_accepted>(),
       "no item is settled while it is in flight");
    by(caught_with_six<wrong::does_not_rest>(), "nothing is sent before the end of a pause");
    if (!tests_support::brief) {  // it takes a million steps
        by(caught_with_six<wrong::loses_one_of_six>(), "an accepted item has arrived");
    }
}

}  // namespace sender_six_enumeration

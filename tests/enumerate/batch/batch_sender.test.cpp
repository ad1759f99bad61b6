// SPDX-License-Identifier: MIT
//
// Every small schedule of a sender: each answer at each step, reported at once or after `started`,
// out of order, with a stop at any step. Mutants must be caught.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <enumerate/batch/send_mutants.hpp>
#include <enumerate/batch/send_schedules.hpp>
#include <support/brief.hpp>

namespace sender_enumeration {

using namespace waybill;
using send_audit::audit;
using send_mutants::mutant;
using send_mutants::wrong;
using send_schedules::enumeration;
using send_schedules::hearing;
using send_schedules::holds;
using send_schedules::plan;
using send_schedules::policy_of;

TEST_CASE("sender: one batch in flight, any first answers: all guarantees hold")
{
    holds({.name = "three items",
           .policy = policy_of(1),
           .sizes = {10, 10, 10},
           .wide = 3,
           .narrow = 1},
          30'000);
    plan p{.name = "four items in one batch",
           .policy = policy_of(1),
           .sizes = {10, 10, 10, 10},
           .wide = 2,
           .narrow = 1};
    p.policy.limit = {.bytes = 45};
    holds(p, 6'000);
    p.name = "nothing is repeated";
    p.policy.on_unknown = send_policy::when_unknown::hand_back;
    holds(p, 5'000);
}

TEST_CASE("sender: a stop at any step, with late answers: all guarantees hold")
{
    holds({.name = "stopped",
           .policy = policy_of(1),
           .sizes = {10, 10, 10},
           .stops = true,
           .wide = 2,
           .narrow = 2,
           .at_once = false},
          20'000);
}

TEST_CASE("sender: answers from a short list in every order: all guarantees hold")
{
    holds({.name = "three items to the end",
           .policy = policy_of(1),
           .sizes = {10, 10, 10},
           .narrow = 100},
          20'000);
    plan p{
        .name = "four in twos", .policy = policy_of(1), .sizes = {10, 20, 10, 10}, .narrow = 100};
    p.policy.limit.items = 2;
    holds(p, 20'000);
    p.name = "six in threes";
    p.sizes = {10, 10, 10, 10, 10, 10};
    p.policy.limit.items = 3;
    p.narrow = 7;
    holds(p, 20'000);
}

TEST_CASE("sender: three attempts, any answer after an unknown outcome: all guarantees hold")
{
    plan p{.name = "three tries",
           .policy = policy_of(1),
           .sizes = {10, 10, 10},
           .wide = 3,
           .narrow = 2};
    p.policy.retry.max_attempts = 3;
    holds(p, 100'000);
    p.name = "three tries in order, to the end";
    p.policy.ordered = true;
    p.keys = {1, 2, 1};
    p.wide = 0;
    p.narrow = 100;
    holds(p, 100'000);
    p.name = "three tries, two in flight, stopped";
    p.policy.ordered = false;
    p.policy.in_flight = 2;
    p.policy.limit.items = 2;
    p.stops = true;
    p.narrow = 6;
    holds(p, 100'000);
}

TEST_CASE("sender: two batches in flight, answers out of order: all guarantees hold")
{
    plan p{.name = "two in flight",
           .policy = policy_of(2),
           .sizes = {10, 10, 10, 10},
           .wide = 2,
           .at_once = false};
    p.policy.limit.items = 2;
    holds(p, 20'000);
    p.name = "six in twos, two in flight";
    p.sizes = {10, 10, 10, 10, 10, 10};
    p.wide = 0;
    p.narrow = 3;
    holds(p, 20'000);
    plan q{.name = "two in flight, stopped",
           .policy = policy_of(2),
           .sizes = {10, 10, 10},
           .stops = true,
           .narrow = 5};
    q.policy.limit.items = 1;
    holds(q, 250'000);
}

TEST_CASE("sender: items queued between other steps, with and without linger: all guarantees hold")
{
    plan p{.name = "streaming",
           .policy = policy_of(1),
           .sizes = {10, 40, 10},
           .streaming = true,
           .wide = 1,
           .narrow = 2};
    p.policy.linger = duration::milliseconds(3);
    holds(p, 5'000);
    p.name = "nothing waits";
    p.policy.linger = {};
    holds(p, 3'000);
    plan q{.name = "streaming, two in flight",
           .policy = policy_of(2),
           .sizes = {10, 0, 26, 10},
           .streaming = true,
           .stops = true,
           .narrow = 3};
    holds(q, 40'000);
}

TEST_CASE("sender: contradictory limits and extreme sizes: all guarantees hold")
{
    for (const batch_limits& l :
         {batch_limits{0, 0, 0, 0}, batch_limits{10, 0, 10, 10}, batch_limits{5, 1, unlimited, 9},
          batch_limits{unlimited, unlimited, unlimited, unlimited}}) {
        plan p{.name = "no sense",
               .policy = policy_of(0),
               .sizes = {0, 1, unlimited},
               .wide = 2,
               .narrow = 1};
        p.policy.limit = l;
        p.policy.retry.max_attempts = 0;
        holds(p, 1);
    }
    plan p{
        .name = "zero bytes", .policy = policy_of(1), .sizes = {0, 0, 0}, .wide = 2, .narrow = 1};
    p.policy.limit = {.bytes = 0};
    holds(p, 100);
    p.name = "wild sizes";
    p.policy.limit = {};
    p.sizes = {unlimited - 1, unlimited - 1, unlimited};
    holds(p, 100);
}

namespace {

template <wrong W>
std::string caught()
{
    // Four items of ten bytes: three a batch by the limit of bytes, then two by the limit of items.
    plan p{.policy = policy_of(1),
           .sizes = {10, 10, 10, 10},
           .stops = W == wrong::does_not_stop,
           .wide = 2,
           .narrow = 1,
           .noise = W == wrong::hears_what_is_late ? hearing::noise : hearing::answers,
           .at_once = false};
    // An unknown answer and a failure are two tries.
    if (W == wrong::gives_up_a_part_of_a_repetition) p.policy.retry.max_attempts = 3;
    for (const std::uint64_t items : {4U, 2U}) {
        p.policy.limit.items = items;
        enumeration<mutant<W>> e(p);
        e.run();
        if (!e.broken.empty()) return e.broken.front();
    }
    return "";
}

}  // namespace

TEST_CASE("sender: mutants are caught")
{
    if (tests_support::sanitized) return;  // about logic, not about memory
    CHECK(caught<wrong::none>() == "");
    const auto by = [](const std::string& how, const char* promise) {
        MESSAGE(how);
        CHECK(how.rfind(promise, 0) == 0);
    };
    by(caught<wrong::cuts_unknown_anew>(), "at most in_flight attempts are open");
    by(caught<wrong::repeats_what_arrived>(), "an item in doubt may have arrived");
    by(caught<wrong::takes_partial_for_all>(), "an accepted item has arrived");
    by(caught<wrong::does_not_shrink>(), "a refused batch is sent again with fewer items");
    by(caught<wrong::settles_twice>(), "no item is settled twice");
    by(caught<wrong::fails_the_refused>(), "a failed item has not arrived");
    by(caught<wrong::does_not_stop>(), "nothing is sent once it is stopped");
    by(caught<wrong::sends_too_many_at_a_time>(), "at most in_flight attempts are open");
    by(caught<wrong::takes_one_item_too_many>(), "no batch has more items");
    by(caught<wrong::takes_ten_bytes_too_many>(), "no batch of several is over");
    by(caught<wrong::takes_unknown_for_accepted>(), "no item is settled while it is in flight");
    by(caught<wrong::gives_up_a_refused_repetition>(), "undecided was tried enough");
    by(caught<wrong::gives_up_a_part_of_a_repetition>(), "undecided was tried enough");
    by(caught<wrong::does_not_rest>(), "nothing is sent before the end of a pause");
    by(caught<wrong::hears_what_is_late>(), "accepted what is over");
    by(caught<wrong::changes_its_mind>(), "next is the same when called again");
    by(caught<wrong::forgets_an_item>(), "every item is settled");
    by(caught<wrong::fails_neighbours>(), "an item in doubt may have arrived");
}

TEST_CASE("sender: the audit reports the violations of sequences written by hand")
{
    const send_policy p = policy_of(2);
    const steady_time now{};
    const item_range first{0, 1}, second{1, 1}, both{0, 2};
    const auto said = [&](auto&& story) {
        audit a(p);
        a.queued(10);
        a.queued(10);
        story(a);
        return a.broken.empty() ? std::string() : a.broken.front();
    };
    CHECK(said([&](audit& a) { a.sent({0, {&both, 1}, 20, batch_close_reason::end}, now); }) == "");
    CHECK(said([&](audit& a) { a.sent({0, {&second, 1}, 10, batch_close_reason::end}, now); }) ==
          "batches are cut from the head of the queue");
    CHECK(said([&](audit& a) { a.sent({99, {&both, 1}, 20, batch_close_reason::end}, now); }) ==
          "attempt numbers ascend, few left out");
    CHECK(said([&](audit& a) { a.sent({0, {}, 0, batch_close_reason::end}, now); }) ==
          "no batch is empty");
    CHECK(said([&](audit& a) {
              a.sent({0, {&both, 1}, 20, batch_close_reason::end}, now);
              a.answered(batch_sender::outcome_unknown{0}, now);
              a.sent({0, {&first, 1}, 10, batch_close_reason::end}, now);
          }) == "what may have arrived is repeated as it was");
    CHECK(said([&](audit& a) {
              a.sent({0, {&both, 1}, 20, batch_close_reason::end}, now);
              a.answered(batch_sender::outcome_unknown{0}, now);
              a.sent({1, {&both, 1}, 20, batch_close_reason::end}, now);
          }) == "a sent item was waiting");
    CHECK(said([&](audit& a) { a.end(); }) == "every item is settled");
    CHECK(said([&](audit& a) { a.settle({first, item_outcome::unsent}); }) ==
          "an unsent item has not arrived");
    CHECK(said([&](audit& a) { a.settle({first, item_outcome::too_large}); }) ==
          "an oversized item was refused alone or exceeds the limit");
}

}  // namespace sender_enumeration

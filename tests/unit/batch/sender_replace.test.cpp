// SPDX-License-Identifier: MIT

#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/held.hpp>
#include <support/send_said.hpp>

#include <waybill/batch/batch_sender.hpp>

namespace sender_replace_test {

using namespace waybill;
using send_said::attempt;
using send_said::numbers;
using send_said::sending;

namespace {

const steady_time now{};

batch_sender with(send_policy::when_too_large how, const std::vector<std::uint64_t>& sizes,
                  batch_limits l = {.bytes = 100})
{
    batch_sender s({.limit = l, .in_flight = 2, .on_too_large = how, .retry = {.max_attempts = 1}});
    for (const std::uint64_t n : sizes) s.on(batch_sender::queued(n), now);
    s.on(batch_sender::flushed{}, now);
    return s;
}

batch_sender::replace asked(const batch_sender& s)
{
    const auto a = s.next(now);
    const auto* r = waybill::get_if<batch_sender::replace>(&a);
    return r ? *r : batch_sender::replace{unlimited};
}

batch_sender::report settle(batch_sender& s)
{
    const auto a = s.next(now);
    const auto* x = waybill::get_if<batch_sender::report>(&a);
    if (!x) return {};
    const batch_sender::report copy = *x;
    CHECK(s.on(batch_sender::reported{copy.items}, now) == event_result::applied);
    return copy;
}

constexpr item_outcome too_large_ = item_outcome::too_large;

}  // namespace

static_assert(name(send_policy::when_too_large::report) == "report");
static_assert(name(send_policy::when_too_large::replace) == "replace");
static_assert(name(send_policy::when_too_large::send_alone) == "send_alone");
static_assert(name(static_cast<send_policy::when_too_large>(9)) == "?");

TEST_CASE("sender: requests a replacement with the item's size, and sends nothing until it arrives")
{
    batch_sender s =
        with(send_policy::when_too_large::replace, {10, 95, 20}, {.bytes = 100, .envelope = 10});
    CHECK(asked(s) == batch_sender::replace{1, 105, 100, 10});
    CHECK(asked(s) == batch_sender::replace{1, 105, 100, 10});
    CHECK(s.on(batch_sender::replaced{0, 5}, now) == event_result::invalid);
    CHECK(s.on(batch_sender::not_replaced{2}, now) == event_result::invalid);
    CHECK(sending(s).empty());
    CHECK(s.on(batch_sender::replaced{1, 30}, now) == event_result::applied);
    CHECK(s.on(batch_sender::replaced{1, 30}, now) == event_result::stale);
    CHECK(sending(s) == numbers{0, 1, 2});
    CHECK(tests_support::held<batch_sender::send>(s.next(now)).bytes == 70);

    batch_sender t = with(send_policy::when_too_large::replace, {40}, {.bytes = 100, .single = 30});
    CHECK(asked(t) == batch_sender::replace{0, 40, 30, 0});
    CHECK(t.on(batch_sender::not_replaced{0}, now) == event_result::applied);
    CHECK(settle(t) == batch_sender::report{{0, 1}, too_large_, fault_kind::permanent, 40, 30, 0});
    CHECK(t.finished());
}

TEST_CASE("sender: an oversized replacement is too_large, and is not replaced again")
{
    batch_sender s = with(send_policy::when_too_large::replace, {200, 1});
    s.on(batch_sender::replaced{0, 150}, now);
    CHECK(settle(s) ==
          batch_sender::report{{0, 1}, too_large_, fault_kind::permanent, 150, 100, 0});
    CHECK(sending(s) == numbers{1});

    batch_sender t = with(send_policy::when_too_large::replace, {200});
    t.on(batch_sender::replaced{0, 90}, now);
    CHECK(sending(t) == numbers{0});
    t.on(batch_sender::too_large{attempt(t)}, now);
    CHECK(settle(t).outcome == too_large_);
    CHECK(t.finished());
}

TEST_CASE("sender: an item refused alone is replaced, and its refusal leaves no cap")
{
    batch_sender s({.exact_sizes = true, .on_too_large = send_policy::when_too_large::replace});
    for (int i = 0; i != 2; ++i) s.on(batch_sender::queued(10), now);
    s.on(batch_sender::flushed{}, now);
    s.on(batch_sender::too_large{attempt(s)}, now);
    CHECK(sending(s) == numbers{0});
    s.on(batch_sender::too_large{attempt(s), 170, 150}, now);
    CHECK(asked(s) == batch_sender::replace{0, 170, 150, 0});
    s.on(batch_sender::replaced{0, 0}, now);
    CHECK(sending(s) == numbers{0, 1});
}

TEST_CASE("sender: two items refused alone are replaced one after the other")
{
    batch_sender s = with(send_policy::when_too_large::replace, {90, 90, 90});
    const std::uint64_t first = attempt(s);
    s.on(batch_sender::started{first}, now);
    const std::uint64_t second = attempt(s);
    s.on(batch_sender::started{second}, now);
    s.on(batch_sender::too_large{second}, now);
    CHECK(asked(s).item == 1);
    s.on(batch_sender::too_large{first}, now);
    CHECK(asked(s).item == 1);  // the first request stays
    s.on(batch_sender::not_replaced{1}, now);
    CHECK(settle(s).items == item_range{1, 1});
    CHECK(asked(s).item == 0);
    s.on(batch_sender::replaced{0, 9}, now);
    CHECK(sending(s) == numbers{0, 2});
}

TEST_CASE("sender: results and stopped are applied while a replacement is awaited")
{
    batch_sender s = with(send_policy::when_too_large::replace, {30, 30, 200, 1});
    const std::uint64_t first = attempt(s);
    CHECK(first == unlimited);  // it is requested before the earlier items are sent
    CHECK(asked(s).item == 2);
    s.on(batch_sender::stopped{}, now);
    CHECK(s.on(batch_sender::replaced{2, 1}, now) == event_result::stale);
    CHECK(s.on(batch_sender::not_replaced{2}, now) == event_result::stale);
    std::uint64_t unsent = 0;
    for (batch_sender::report x = settle(s); x.items.count != 0; x = settle(s)) {
        CHECK(x.outcome == item_outcome::unsent);
        unsent += x.items.count;
    }
    CHECK(unsent == 4);
    CHECK(s.finished());

    batch_sender t = with(send_policy::when_too_large::replace, {60, 60});
    const std::uint64_t a = attempt(t);
    t.on(batch_sender::started{a}, now);
    t.on(batch_sender::queued(200U), now);
    CHECK(asked(t).item == 2);
    CHECK(t.on(batch_sender::accepted{a}, now) == event_result::applied);
    CHECK(settle(t).items == item_range{0, 1});
    CHECK(asked(t).item == 2);
}

TEST_CASE("sender: an oversized item is reported at once or sent alone, as the policy states")
{
    batch_sender s = with(send_policy::when_too_large::report, {10, 200, 10});
    CHECK(settle(s).outcome == too_large_);
    CHECK(sending(s) == numbers{0, 2});
    CHECK(s.on(batch_sender::replaced{1, 1}, now) == event_result::stale);

    // Alone also if only the limit of single items is exceeded, and others would fit.
    batch_sender t = with(send_policy::when_too_large::send_alone, {10, 200, 10, 40, 10},
                          {.bytes = 100, .single = 30});
    std::vector<numbers> sent;
    while (attempt(t) != unlimited) {
        sent.push_back(sending(t));
        t.on(batch_sender::accepted{attempt(t)}, now);
        while (settle(t).items.count != 0) {
        }
    }
    CHECK(sent == std::vector<numbers>{{0}, {1}, {2}, {3}, {4}});
    CHECK(t.finished());
    batch_sender u = with(send_policy::when_too_large::send_alone, {unlimited, 200});
    CHECK(settle(u).items == item_range{0, 1});  // an item of unlimited size cannot be sent
    CHECK(sending(u) == numbers{1});
    u.on(batch_sender::too_large{attempt(u)}, now);
    CHECK(settle(u).outcome == too_large_);
}

TEST_CASE("sender: an oversized item that is accepted alone does not change the item estimates")
{
    batch_sender s({.limit = {.bytes = 1'000},
                    .item_overhead = 54,
                    .on_too_large = send_policy::when_too_large::send_alone});
    s.on(batch_sender::queued(5'000U), now);
    s.on(batch_sender::flushed{}, now);
    const calibration before = s.learnt();
    s.on(batch_sender::accepted{attempt(s)}, now);
    CHECK(s.learnt().items == before.items);
    CHECK(s.learnt().limit == 1'000);
}

TEST_CASE("sender: exact sizes get no overhead, nor does the size of a replacement")
{
    batch_sender s({.limit = {.bytes = 100},
                    .item_overhead = 1'000,
                    .exact_sizes = true,
                    .on_too_large = send_policy::when_too_large::replace});
    for (const std::uint64_t n : {50U, 101U, 30U}) s.on(batch_sender::queued(n), now);
    s.on(batch_sender::flushed{}, now);
    CHECK(asked(s).bytes == 101);
    s.on(batch_sender::replaced{1, 20}, now);
    CHECK(sending(s) == numbers{0, 1, 2});
    CHECK(tests_support::held<batch_sender::send>(s.next(now)).bytes == 100);
}

TEST_CASE("sender: zero and unlimited limits end all items for each when_too_large")
{
    for (const send_policy::when_too_large how :
         {send_policy::when_too_large::report, send_policy::when_too_large::send_alone,
          send_policy::when_too_large::replace}) {
        for (const batch_limits& l :
             {batch_limits{0, 0, 0, 0}, batch_limits{unlimited, unlimited, unlimited, 0},
              batch_limits{unlimited, 1, 0, unlimited}, batch_limits{1, 2, 1, 1}}) {
            batch_sender s = with(how, {0, 1, unlimited, 0}, l);
            std::uint64_t ended = 0, steps = 0;
            while (!s.finished() && ++steps != 100) {
                if (const batch_sender::report x = settle(s); x.items.count != 0) {
                    ended += x.items.count;
                } else if (const batch_sender::replace r = asked(s); r.item != unlimited) {
                    s.on(batch_sender::replaced{r.item, steps % 2 == 0 ? 0 : unlimited}, now);
                } else {
                    s.on(batch_sender::too_large{attempt(s)}, now);
                }
            }
            CHECK(ended == 4);
            CHECK(s.finished());
        }
    }
}

}  // namespace sender_replace_test

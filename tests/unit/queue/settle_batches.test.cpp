// SPDX-License-Identifier: MIT

#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/held.hpp>

#include <waybill/queue/settle_batches.hpp>

namespace settle_batch_test {
namespace {

using batch_settled = waybill::settle_batches::batch_settled;
using batch_started = waybill::settle_batches::batch_started;
using decided = waybill::settle_batches::decided;
using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using last_decided = waybill::settle_batches::last_decided;
using reported = waybill::settle_batches::reported;
using waybill::settle_batches;
using waybill::steady_time;

using action = settle_batches::action;
using items = std::vector<std::uint64_t>;

constexpr steady_time at(std::int64_t seconds)
{
    return steady_time::at(duration::seconds(seconds));
}

constexpr waybill::backoff one_second{.base = duration::seconds(1),
                                      .cap = duration::seconds(1),
                                      .spread = waybill::backoff::jitter::none};

action call(settle_batches::settle_kind k, items which, std::uint64_t number = 0)
{
    return settle_batches::settle_batch{number, k, std::move(which)};
}
action said(std::uint64_t item, settle_batches::settle_outcome end, fault_kind how,
            std::uint32_t tries,
            settle_batches::settle_kind kind = settle_batches::settle_kind::complete)
{
    return settle_batches::report{item, kind, end, how, tries};
}

static_assert(sizeof(settle_batches({})) != 0, "braces are default options, not a copy");

TEST_CASE("settle_batches: all decided items are settled in one call, with a report for each")
{
    settle_batches m;
    CHECK(m.next(at(0)) == action(waybill::idle{}));
    m.on(decided{settle_batches::settle_kind::complete, duration::seconds(30)}, at(0));
    m.on(decided{settle_batches::settle_kind::complete, duration::seconds(30)}, at(0));
    CHECK(m.next(at(0)) == call(settle_batches::settle_kind::complete, {0, 1}));
    CHECK(m.on(batch_settled{0, {0, 1}}, at(0)) == event_result::applied);
    CHECK(m.next(at(0)) == said(0, settle_batches::settle_outcome::done, fault_kind::none, 1));
    CHECK(m.on(reported{0}, at(0)) == event_result::applied);
    CHECK(m.next(at(0)) == said(1, settle_batches::settle_outcome::done, fault_kind::none, 1));
    CHECK(m.on(reported{1}, at(0)) == event_result::applied);
    CHECK(m.next(at(0)) == action(waybill::idle{}));
    CHECK(m.empty());
    CHECK(m.decided_items() == 2);
}

TEST_CASE("settle_batches: waits for further items at most for its linger and the locks")
{
    settle_batches m({.items = 2, .linger = duration::seconds(5)});
    m.on(decided{settle_batches::settle_kind::complete, duration::seconds(30)}, at(0));
    CHECK(m.next(at(0)) == action(waybill::wait_until{at(5)}));
    CHECK(m.next(at(5)) == call(settle_batches::settle_kind::complete, {0}));
    auto full = m;
    full.on(decided{settle_batches::settle_kind::complete, duration::seconds(30)}, at(1));
    CHECK(full.next(at(1)) == call(settle_batches::settle_kind::complete, {0, 1}));
    auto closing = m;
    CHECK(closing.on(last_decided{}, at(1)) == event_result::applied);
    CHECK(closing.next(at(1)) == call(settle_batches::settle_kind::complete, {0}));
    auto urgent = m;
    urgent.on(decided{settle_batches::settle_kind::abandon, duration::seconds(3)}, at(1));
    CHECK(urgent.next(at(1)) ==
          action(waybill::wait_until{at(3)}));  // a second before its lock ends
    CHECK(urgent.next(at(3)) == call(settle_batches::settle_kind::abandon, {1}));
    CHECK(settle_batches().on(last_decided{}, at(1)) == event_result::stale);
}

TEST_CASE("settle_batches: the call with the least time left is first")
{
    settle_batches m;
    m.on(decided{settle_batches::settle_kind::complete, duration::seconds(30)}, at(0));
    m.on(decided{settle_batches::settle_kind::dead_letter, duration::seconds(9)}, at(0));
    m.on(decided{settle_batches::settle_kind::defer, duration::seconds(20)}, at(0));
    CHECK(m.next(at(0)) == call(settle_batches::settle_kind::dead_letter, {1}));
    m.on(batch_started{0, {1}}, at(0));
    CHECK(m.next(at(0)) == call(settle_batches::settle_kind::defer, {2}, 1));
    m.on(batch_started{1, {2}}, at(0));
    CHECK(m.next(at(0)) == call(settle_batches::settle_kind::complete, {0}, 2));
    m.on(batch_started{2, {0}}, at(0));
    CHECK(m.next(at(0)) == action(waybill::idle{}));
    // all locks have expired, and the answers decide
    CHECK(m.next(at(100)) == action(waybill::idle{}));
    m.on(batch_settled{0, {1}}, at(100));
    CHECK(m.next(at(100)) == said(1, settle_batches::settle_outcome::done, fault_kind::none, 1,
                                  settle_batches::settle_kind::dead_letter));
}

TEST_CASE("settle_batches: after a partial failure, only the failed items are retried")
{
    settle_batches m({.tries = 2, .pauses = one_second});
    for (int i = 0; i != 5; ++i)
        m.on(decided{settle_batches::settle_kind::complete, duration::seconds(30)}, at(0));
    CHECK(m.on(batch_settled{0,
                             {0, 1, 2, 3, 4},
                             fault_kind::none,
                             {{1, fault_kind::transient},
                              {2, fault_kind::permanent},
                              {3, fault_kind::ownership_lost},
                              {4, fault_kind::none}}},
               at(0)) == event_result::applied);
    CHECK(m.next(at(0)) == said(0, settle_batches::settle_outcome::done, fault_kind::none, 1));
    m.on(reported{0}, at(0));
    CHECK(m.next(at(0)) ==
          said(2, settle_batches::settle_outcome::given_up, fault_kind::permanent, 1));
    m.on(reported{2}, at(0));
    CHECK(m.next(at(0)) ==
          said(3, settle_batches::settle_outcome::lost, fault_kind::ownership_lost, 1));
    m.on(reported{3}, at(0));
    CHECK(m.next(at(0)) == action(waybill::wait_until{at(1)}));
    // an error that claims to be none is one
    CHECK(m.next(at(1)) == call(settle_batches::settle_kind::complete, {1, 4}, 1));
    m.on(batch_settled{1, {1, 4}, fault_kind::infrastructure}, at(1));
    CHECK(m.next(at(1)) ==
          said(1, settle_batches::settle_outcome::given_up, fault_kind::infrastructure, 2));
    m.on(reported{1}, at(1));
    CHECK(m.next(at(1)) ==
          said(4, settle_batches::settle_outcome::given_up, fault_kind::infrastructure, 2));
}

TEST_CASE(
    "settle_batches: a pause leaves time for one more call; without that time the item is lost")
{
    settle_batches m(
        {.tries = 9, .pauses = {.base = duration::seconds(60), .cap = duration::seconds(60)}});
    m.on(decided{settle_batches::settle_kind::abandon, duration::seconds(10)}, at(0));
    m.on(batch_settled{0, {0}, fault_kind::transient, {}, 0.999}, at(0));
    CHECK(m.next(at(0)) == action(waybill::wait_until{at(9)}));
    CHECK(m.next(at(9)) == call(settle_batches::settle_kind::abandon, {0}, 1));
    auto over = m;
    m.on(batch_settled{1, {0}, fault_kind::transient}, at(9));
    CHECK(m.next(at(9)) == said(0, settle_batches::settle_outcome::lost, fault_kind::transient, 2,
                                settle_batches::settle_kind::abandon));
    CHECK(over.next(at(10)) == said(0, settle_batches::settle_outcome::lost, fault_kind::transient,
                                    1, settle_batches::settle_kind::abandon));
}

TEST_CASE("settle_batches: an item whose call fails within to_settle of its lock's end is lost")
{
    settle_batches m({.to_settle = duration::seconds(2), .tries = 9, .pauses = one_second});
    m.on(decided{settle_batches::settle_kind::complete, duration::seconds(10)}, at(0));
    auto in_time = m;
    in_time.on(batch_settled{0, {0}, fault_kind::transient}, at(7));
    CHECK(in_time.next(at(7)) == action(waybill::wait_until{at(8)}));
    m.on(batch_settled{0, {0}, fault_kind::transient}, at(8));
    CHECK(m.next(at(8)) == said(0, settle_batches::settle_outcome::lost, fault_kind::transient, 1));
}

TEST_CASE("settle_batches: only a completion is tried after its lock has expired, and only once")
{
    settle_batches m;
    m.on(decided{settle_batches::settle_kind::abandon, duration{}}, at(0));
    m.on(decided{settle_batches::settle_kind::complete, duration::seconds(-5)}, at(0));
    CHECK(m.next(at(0)) == said(0, settle_batches::settle_outcome::lost, fault_kind::none, 0,
                                settle_batches::settle_kind::abandon));
    CHECK(m.on(reported{0}, at(0)) == event_result::applied);
    CHECK(m.next(at(0)) == call(settle_batches::settle_kind::complete, {1}));
    m.on(batch_settled{0, {1}, fault_kind::transient}, at(0));
    CHECK(m.next(at(0)) == said(1, settle_batches::settle_outcome::lost, fault_kind::transient, 1));
}

TEST_CASE("settle_batches: a lost item is reported once, also if the clock goes back")
{
    settle_batches m;
    m.on(decided{settle_batches::settle_kind::abandon, duration::seconds(5)}, at(0));
    CHECK(m.next(at(6)) == said(0, settle_batches::settle_outcome::lost, fault_kind::none, 0,
                                settle_batches::settle_kind::abandon));
    CHECK(m.on(reported{0}, at(4)) == event_result::applied);
    CHECK(m.empty());
}

TEST_CASE("settle_batches: events after an item's end are stale, an early `reported` is invalid")
{
    settle_batches m;
    m.on(decided{}, at(0));
    CHECK(m.on(reported{0}, at(0)) == event_result::invalid);  // it is not over
    m.on(batch_settled{0, {0}}, at(0));
    const auto over = m;
    CHECK(m.on(batch_settled{0, {0}, fault_kind::permanent}, at(0)) == event_result::stale);
    CHECK(m.on(batch_started{0, {0}}, at(0)) == event_result::stale);
    CHECK(m == over);
    m.on(reported{0}, at(0));
    CHECK(m.on(reported{0}, at(0)) == event_result::stale);
    CHECK(m.on(batch_settled{0, {0}}, at(0)) == event_result::stale);
    CHECK(m.on(batch_settled{0, {0}, {}, {{1}}}, at(0)) == event_result::invalid);
}

TEST_CASE("settle_batches: a call contains at most its limit of items, in the order of decisions")
{
    settle_batches m({.items = 0});  // reads as 1
    m.on(decided{}, at(0));
    m.on(decided{}, at(0));
    CHECK(m.next(at(0)) == call(settle_batches::settle_kind::complete, {0}));
    CHECK(m.next(steady_time::highest()) == call(settle_batches::settle_kind::complete, {0}));
}

TEST_CASE("settle_batches: a full call contains the items with the shortest locks")
{
    settle_batches m;
    for (int i = 0; i != 25; ++i) {
        m.on(decided{settle_batches::settle_kind::abandon, duration::seconds(i == 24   ? 2
                                                                             : i == 20 ? 20
                                                                                       : 60)},
             at(0));
    }
    CHECK(m.next(at(0)) ==
          call(settle_batches::settle_kind::abandon, {0, 1, 2, 3, 4, 5, 6, 7, 20, 24}));
    m.on(batch_started{0, {0, 1, 2, 3, 4, 5, 6, 7, 20, 24}}, at(0));
    CHECK(m.next(at(0)) ==
          call(settle_batches::settle_kind::abandon, {8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, 1));
    m.on(batch_settled{1, {8, 9, 10, 11, 12, 13, 14, 15, 16, 17}}, at(1));
    m.on(batch_settled{0, {0, 1, 2, 3, 4, 5, 6, 7, 20, 24}}, at(1));
    std::uint64_t reports = 0;
    for (auto a = m.next(at(1)); waybill::holds_alternative<settle_batches::report>(a);
         a = m.next(at(1))) {
        const auto r = tests_support::held<settle_batches::report>(a);
        CHECK(r.outcome == settle_batches::settle_outcome::done);
        ++reports;
        m.on(reported{r.item}, at(1));
    }
    CHECK(reports == 20);
    CHECK(m.next(at(1)) == call(settle_batches::settle_kind::abandon, {18, 19, 21, 22, 23}, 2));
}

TEST_CASE("settle_batches: a repeated result counts once")
{
    settle_batches m({.tries = 3, .pauses = one_second});
    m.on(decided{settle_batches::settle_kind::complete, duration::seconds(30)}, at(0));
    const batch_settled failed{0, {0}, fault_kind::transient};
    CHECK(m.on(failed, at(0)) == event_result::applied);
    auto before = m;
    CHECK(m.on(failed, at(0)) == event_result::stale);
    CHECK(m.on(batch_started{0, {0}}, at(0)) == event_result::stale);
    CHECK(m.on(batch_settled{2, {0}}, at(0)) == event_result::stale);  // no call has that number
    CHECK(m == before);
    // Nor while the next call about it is under way.
    CHECK(m.next(at(1)) == call(settle_batches::settle_kind::complete, {0}, 1));
    CHECK(m.on(batch_started{1, {0}}, at(1)) == event_result::applied);
    CHECK(m.on(failed, at(1)) == event_result::stale);
    CHECK(m.on(batch_settled{1, {0}}, at(1)) == event_result::applied);
    CHECK(m.next(at(1)) == said(0, settle_batches::settle_outcome::done, fault_kind::none, 2));
}

TEST_CASE("settle_batches: a result that contains an item twice is invalid")
{
    settle_batches m({.tries = 3});
    m.on(decided{}, at(0));
    m.on(decided{}, at(0));
    const auto before = m;
    CHECK(m.on(batch_settled{0, {0, 0, 0}, fault_kind::transient}, at(0)) == event_result::invalid);
    CHECK(m.on(batch_settled{0, {0, 1, 0}}, at(0)) == event_result::invalid);
    CHECK(m == before);
    CHECK(m.on(batch_settled{0, {1, 0}, {}, {{0, fault_kind::permanent}}}, at(0)) ==
          event_result::applied);
    CHECK(m.next(at(0)) == said(0, settle_batches::settle_outcome::done, fault_kind::none, 1));
}

TEST_CASE(
    "settle_batches: a negative to_settle reads as zero, and a clock that goes back delays no call")
{
    settle_batches m({.linger = duration::seconds(1'000), .to_settle = duration::seconds(-100)});
    m.on(decided{settle_batches::settle_kind::complete, duration::seconds(10)}, at(0));
    CHECK(m.next(at(0)) == action(waybill::wait_until{at(10)}));
    CHECK(m.next(at(10)) == call(settle_batches::settle_kind::complete, {0}));
    // A clock that jumps back.
    settle_batches back;
    back.on(decided{settle_batches::settle_kind::complete, duration::seconds(-50)}, at(100));
    CHECK(back.next(at(90)) == call(settle_batches::settle_kind::complete, {0}));
}

TEST_CASE("settle_batches: a result of 500,000 failed items is applied")
{
    // Looked for one by one from the first this takes minutes.
    constexpr std::uint64_t many = 500'000;
    settle_batches m({.items = waybill::detail::highest_size, .tries = 1});
    for (std::uint64_t i = 0; i != many; ++i) m.on(decided{}, at(0));
    const auto b = tests_support::held<settle_batches::settle_batch>(m.next(at(0)));
    REQUIRE(b.items.size() == many);
    batch_settled s{b.call, b.items};
    for (std::uint64_t i = 0; i != many; ++i) s.failed.push_back({i, fault_kind::permanent});
    CHECK(m.on(s, at(0)) == event_result::applied);
    CHECK(m.next(at(0)) ==
          said(0, settle_batches::settle_outcome::given_up, fault_kind::permanent, 1));
}

static_assert(!validate(settle_batches::config{}));
static_assert(validate(settle_batches::config{.items = 0})->field == "items");
static_assert(validate(settle_batches::config{.linger = duration::seconds(-1)})->negative);
static_assert(validate(settle_batches::config{.to_settle = duration::seconds(-1)})->field ==
              "to_settle");
static_assert(validate(settle_batches::config{.tries = 0})->field == "tries");
static_assert(name(settle_batches::settle_outcome::given_up) == "given_up");
static_assert(name(settle_batches::settle_kind::dead_letter) == "dead_letter");

}  // namespace
}  // namespace settle_batch_test

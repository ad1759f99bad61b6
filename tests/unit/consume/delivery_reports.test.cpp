// SPDX-License-Identifier: MIT
//
// process_batch: questions, skipped events, dead processes, and wrong stores and checkpoints.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace delivery_reports_test {
namespace {

using waybill::assignment;
using waybill::batch_outcome;
using waybill::batch_policy;
using waybill::event_outcome;
using waybill::fault;
using waybill::fault_kind;
using waybill::position;
using waybill::process_batch;
using waybill::testing::injected_fault;
using waybill::testing::store_call;
using store = waybill::testing::memory_store<std::string>;

const waybill::partition_key key{"orders", "billing", "0"};
constexpr waybill::wall_time noon{};

struct event {
    std::uint64_t sequence;
    std::string body;
};

std::vector<event> events_of(std::initializer_list<const char*> bodies)
{
    std::vector<event> events;
    for (const char* b : bodies) events.push_back({10 * (events.size() + 1), b});
    return events;
}

event_outcome handle(store::transaction& tx, const event& e)
{
    tx.record(e.body);
    if (e.body == "bad") return waybill::permanent("cannot be");
    if (e.body == "foreign") return waybill::skipped("not ours");
    if (e.body == "down") return waybill::infrastructure("no answer");
    return {};
}

// A lambda that always returns skipped() is a handler, too.
static_assert(waybill::detail::event_handler<decltype([](store::transaction&, const event&) {
                                                 return waybill::skipped();
                                             }),
                                             store::transaction, event>);
static_assert(waybill::detail::event_handler<decltype(&handle), store::transaction, event>);
static_assert(
    !waybill::detail::event_handler<decltype([](store::transaction&, const event&) { return 7; }),
                                    store::transaction, event>);

TEST_CASE(
    "process_batch: skipped events have no effects and no dead letters, and are counted "
    "separately")
{
    store s;
    const auto r =
        process_batch(s, {key, {}, 1}, events_of({"foreign", "a", "bad", "foreign"}), handle, noon);
    CHECK(r == waybill::batch_report{.outcome = batch_outcome::committed,
                                     .reached = position{40, ""},
                                     .handled = 1,
                                     .dead_lettered = 1,
                                     .skipped = 2});
    CHECK(s.records() == std::vector<std::string>{"a"});
    CHECK(s.letters().size() == 1);
    const auto all =
        process_batch(s, {key, r.reached, 1}, std::vector<event>{{50, "foreign"}}, handle, noon);
    CHECK(all.skipped == 1);
    CHECK((*s.load(key))->at.sequence == 50);
}

TEST_CASE("process_batch: decide_all_failed decides about a batch in which every event failed")
{
    for (const auto answer :
         {batch_policy::if_all_failed::go_on, batch_policy::if_all_failed::redeliver}) {
        store s;
        std::uint64_t failed = 0;
        const auto ask = [&](std::uint64_t n) {
            failed = n;
            return answer;
        };
        const auto bad = events_of({"bad", "foreign", "bad"});
        const auto r = process_batch(s, {key, {}, 1}, bad, handle, noon, {}, ask);
        CHECK(failed == 2);
        if (answer == batch_policy::if_all_failed::go_on) {
            CHECK(r.dead_lettered == 2);
            continue;
        }
        CHECK(r.outcome == batch_outcome::redeliver);
        CHECK(r.reason == waybill::infrastructure("each of 2 events failed, the last: cannot be"));
        CHECK(s.letters().empty());
        // With iterators, and an ask that is not const.
        CHECK(process_batch(s, {key, {}, 1}, bad.begin(), bad.end(), handle, noon, {},
                            [n = 0](std::uint64_t) mutable {
                                return ++n == 1 ? batch_policy::if_all_failed::go_on
                                                : batch_policy::if_all_failed::redeliver;
                            })
                  .dead_lettered == 2);
    }
    // Without a question: a batch of bad events must not be repeated without end.
    store s;
    CHECK(process_batch(s, {key, {}, 1}, events_of({"bad", "bad"}), handle, noon).dead_lettered ==
          2);
}

// A store with one fault at each of these calls.
struct at_calls {
    std::vector<std::pair<store_call, injected_fault>> what;
    injected_fault operator()(store_call c)
    {
        if (what.empty() || what.front().first != c) return injected_fault::none;
        const injected_fault m = what.front().second;
        what.erase(what.begin());
        return m;
    }
};
const auto through = [](auto& tx, const event& e) { return handle(*tx.inner(), e); };

TEST_CASE("process_batch: a wrong commit result is found at the next advance, or by commit_check")
{
    for (const bool always : {false, true}) {
        const waybill::batch_policy p{.check_commit =
                                          always ? waybill::batch_policy::commit_check::always
                                                 : waybill::batch_policy::commit_check::unknown};
        store said_done;
        waybill::testing::faulty s(said_done,
                                   at_calls{{{store_call::commit, injected_fault::says_applied}}});
        const auto r = process_batch(s, {key, {}, 1}, events_of({"a", "bad"}), through, noon, p);
        if (always) {
            CHECK(r.outcome == batch_outcome::redeliver);
            CHECK(r.reason ==
                  waybill::infrastructure("the store confirmed a commit that it does not contain"));
        } else {
            CHECK(r.outcome == batch_outcome::committed);
            const auto next = process_batch(s, {key, r.reached, 1}, std::vector<event>{{30, "c"}},
                                            through, noon, p);
            CHECK(next.outcome == batch_outcome::ownership_lost);
            CHECK(next.reason ==
                  waybill::ownership_lost("checkpoint conflict: another owner has moved it, "
                                          "expected " +
                                          std::to_string(r.reached->sequence)));
        }
        CHECK(said_done.records().empty());

        store said_not;
        waybill::testing::faulty t(
            said_not, at_calls{{{store_call::commit, injected_fault::says_not_applied}}});
        const auto u = process_batch(t, {key, {}, 1}, events_of({"a"}), through, noon, p);
        CHECK(u.outcome == (always ? batch_outcome::committed : batch_outcome::redeliver));
        const auto next = process_batch(t, {key, {}, 1}, events_of({"a"}), through, noon, p);
        CHECK(next.outcome == batch_outcome::ownership_lost);
        CHECK(said_not.records() == std::vector<std::string>{"a"});
    }
}

TEST_CASE("process_batch: a checkpoint that cannot be read is unknown, not absent and not 0")
{
    // The error of a store that finds a newer format.
    store kept;
    waybill::testing::faulty s(kept,
                               at_calls{{{store_call::commit, injected_fault::unknown_applied},
                                         {store_call::load, injected_fault::fails}}});
    const auto r = process_batch(s, {key, {}, 1}, events_of({"a"}), through, noon);
    CHECK(r.outcome == batch_outcome::unknown);
    CHECK(r.reason == waybill::infrastructure("store failed"));
    CHECK(!r.reached);
}

TEST_CASE("process_batch: with a checkpoint ahead of the log, all events count as repeated")
{
    store s;
    const auto r =
        process_batch(s, {key, position{1'000, ""}, 1}, events_of({"a", "b"}), handle, noon);
    CHECK(r == waybill::batch_report{
                   .outcome = batch_outcome::empty, .reached = position{1'000, ""}, .repeated = 2});
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    CHECK(process_batch(s, {key, position{largest, ""}, 1}, events_of({"a"}), handle, noon)
              .repeated == 1);
}

TEST_CASE("process_batch: an event that ends its process is found, and the others take effect")
{
    store kept;
    waybill::testing::faulty s(kept, [](store_call) { return injected_fault::none; });
    const auto log = events_of({"a", "b", "deadly", "d", "e", "f", "g", "h"});
    std::uint64_t processes = 0;
    std::uint64_t shortest = 0;
    const auto or_die = [&](auto& tx, const event& e) -> event_outcome {
        tx.inner()->record(e.body);
        if (e.body == "deadly") return s.die();
        return {};
    };
    assignment mine{key, {}, 1, 100};
    const waybill::batch_policy p{.deaths = 2};
    for (int deliveries = 0; deliveries != 40; ++deliveries) {
        std::vector<event> rest;
        for (const event& e : log) {
            if (!mine.from || e.sequence > mine.from->sequence) rest.push_back(e);
        }
        if (rest.empty()) break;
        const auto r = process_batch(s, mine, rest, or_die, noon, p);
        if (!s.alive()) {
            s.revive();
            ++processes;
            ++mine.incarnation;
            mine.from = waybill::position_of(*s.load(key));
            continue;
        }
        CHECK(r.outcome == batch_outcome::committed);
        CHECK(r.not_delivered + r.handled + r.dead_lettered == rest.size());
        if (r.not_delivered != 0) ++shortest;
        mine.from = r.reached;
    }
    CHECK(kept.records() == std::vector<std::string>{"a", "b", "d", "e", "f", "g", "h"});
    const auto letter = **kept.find(key, 30);
    CHECK(letter.reason ==
          "its handler did not return 2 times: it threw an exception or its process ended");
    CHECK(letter.kind == fault_kind::permanent);
    CHECK(letter.tries == 2);
    CHECK(processes <= waybill::detail::deaths_at_most(8, 2));
    CHECK(shortest > 0);
    CHECK(!*kept.load_crash_record(key));
}

TEST_CASE("process_batch: live owners do not count as crashed, after any number of moves")
{
    for (const bool alive : {true, false}) {
        store kept;
        batch_outcome last = batch_outcome::empty;
        for (std::uint64_t n = 1; n <= 5 && last != batch_outcome::committed; ++n) {
            // The store stores the record, and is down then. In the last delivery it works.
            int begins = 0;
            waybill::testing::faulty s(kept, [&](store_call c) {
                return c == store_call::begin && n != 5 && ++begins > 1 ? injected_fault::fails
                                                                        : injected_fault::none;
            });
            const std::optional<std::uint64_t> ended =
                alive ? std::optional<std::uint64_t>(0) : std::nullopt;
            last = process_batch(s, {key, {}, n, 100 + n, ended}, events_of({"a"}), through, noon)
                       .outcome;
            CHECK(last ==
                  (n == (alive ? 5 : 4) ? batch_outcome::committed : batch_outcome::redeliver));
        }
        CHECK(kept.letters().empty() == alive);
    }
}

TEST_CASE("process_batch: without an incarnation, or by policy, no crash record is stored")
{
    for (const bool by_policy : {false, true}) {
        store kept;
        std::vector<store_call> calls;
        waybill::testing::faulty s(kept, [&](store_call c) {
            calls.push_back(c);
            return injected_fault::none;
        });
        const assignment mine{key, {}, 1, by_policy ? 7U : 0U};
        CHECK(process_batch(s, mine, events_of({"a"}), through, noon, {.crash_records = !by_policy})
                  .outcome == batch_outcome::committed);
        for (const store_call c : calls) {
            CHECK(c != store_call::load_crash_record);
            CHECK(c != store_call::store_crash_record);
            CHECK(c != store_call::clear_crash_record);
        }
    }
}

TEST_CASE("process_batch: the reason of a failed delivery is not replaced by a later failure")
{
    store kept;
    waybill::testing::faulty s(kept,
                               at_calls{{{store_call::load_crash_record, injected_fault::none},
                                         {store_call::clear_crash_record, injected_fault::fails}}});
    const auto r = process_batch(s, {key, {}, 1, 7}, events_of({"a", "down"}), through, noon);
    CHECK(r.outcome == batch_outcome::redeliver);
    CHECK(r.reason == waybill::infrastructure("no answer"));
    CHECK((*kept.load_crash_record(key))->incarnation == 7);  // it could not be cleared
}

// Stores a crash record as another owner would.
void stands(store& kept, const waybill::crash_record& row)
{
    auto tx = *kept.begin();
    CHECK(kept.store_crash_record(tx, key, row));
    CHECK(tx.commit());
}

TEST_CASE(
    "process_batch: a crash record of a higher epoch is ownership_lost, and no event is "
    "handled")
{
    store kept;
    const waybill::crash_record row{{}, 20, 2, 1, 9, 5};
    stands(kept, row);
    const auto r = process_batch(kept, {key, {}, 4, 7}, events_of({"a"}), handle, noon);
    CHECK(r.outcome == batch_outcome::ownership_lost);
    CHECK(r.reason == waybill::ownership_lost("the crash record has the higher epoch 5"));
    CHECK(kept.records().empty());
    CHECK(*kept.load_crash_record(key) == row);
    CHECK(process_batch(kept, {key, {}, 5, 7}, events_of({"a"}), handle, noon).outcome ==
          batch_outcome::committed);
}

TEST_CASE("process_batch: an owner whose lease is stolen in its handler does not count as crashed")
{
    store kept;
    const auto robbed = [](auto&, const event&) {
        return waybill::ownership_lost("the lease is gone");
    };
    for (std::uint64_t n = 1; n <= 5; ++n) {
        const auto r = process_batch(kept, {key, {}, n, 100 + n}, events_of({"a"}), robbed, noon);
        CHECK(r.outcome == batch_outcome::ownership_lost);
        CHECK(r.reason.text == "the lease is gone");
        CHECK(!*kept.load_crash_record(key));
    }
}

TEST_CASE(
    "process_batch: a crash record identifies events by sequence, not by position in the "
    "batch")
{
    // The suspects are 10, 20 and 30, which ended three processes together.
    for (const std::uint64_t first : {10U, 20U, 30U, 40U}) {
        store kept;
        stands(kept, {{}, 30, 3, 2, 100, 1});
        std::vector<event> events = events_of({"a", "b", "c", "d", "e"});
        while (events.front().sequence != first) events.erase(events.begin());
        const auto r = process_batch(kept, {key, {}, 1, 7}, events, handle, noon);
        CHECK(r.outcome == batch_outcome::committed);
        CHECK(r.dead_lettered == 0);
        CHECK(r.handled == (first == 40 ? 2 : 1));
        const auto row = *kept.load_crash_record(key);
        CHECK(row.has_value() == (first < 30));
        if (row)
            CHECK(*row ==
                  waybill::crash_record{first, 30, 3 - first / 10, first == 20 ? 0U : 3U, 0, 1});
    }
    // Event 30 alone did, and is gone.
    store kept;
    stands(kept, {20, 30, 1, 9, 100, 1});
    std::vector<event> events = events_of({"a", "b", "c", "d"});
    events.erase(events.begin() + 2);
    auto r = process_batch(kept, {key, {}, 1, 7}, events, handle, noon);
    CHECK(r.handled == 3);
    stands(kept, {40, 50, 1, 9, 100, 1});
    r = process_batch(kept, {key, waybill::position{40, ""}, 1, 7},
                      std::vector<event>{{45, "x"}, {60, "y"}}, handle, noon);
    CHECK(r.handled == 1);
    CHECK(r.not_delivered == 1);
    CHECK(r.dead_lettered == 0);
}

}  // namespace
}  // namespace delivery_reports_test

// SPDX-License-Identifier: MIT
//
// The machine step by step, and the driver over stores in memory. Every fault at every call is in
// tests/enumerate/consume/at_least_once.test.cpp.

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/memory_store.hpp>

namespace at_least_once_test {
namespace {

using waybill::advance_outcome;
using advanced = waybill::at_least_once_machine::advanced;
using all_failed_decided = waybill::at_least_once_machine::all_failed_decided;
using waybill::at_least_once_machine;
using waybill::at_least_once_policy;
using waybill::at_least_once_report;
using waybill::batch_outcome;
using waybill::checkpoint;
using done = waybill::at_least_once_machine::done;
using waybill::event_result;
using waybill::fault;
using waybill::fault_kind;
using handled = waybill::at_least_once_machine::handled;
using waybill::position;
using commit_checked = waybill::at_least_once_machine::commit_checked;

using action = at_least_once_machine::action;

constexpr handled good{};
constexpr handled bad{fault_kind::permanent};
constexpr advanced applied{};
constexpr advanced no_answer{advance_outcome::conflict, fault_kind::infrastructure};

action dead(std::uint64_t event, std::uint32_t tries = 1, fault_kind how = fault_kind::permanent)
{
    return waybill::at_least_once_machine::write_dead_letter{event, how, tries};
}

TEST_CASE("at_least_once: handles in order, dead-letters a failure, commits after the last event")
{
    at_least_once_machine m(3);
    CHECK(m.next() == action(waybill::at_least_once_machine::handle{0}));
    CHECK(m.on(good) == event_result::applied);
    CHECK(m.on(bad) == event_result::applied);
    CHECK(m.next() == dead(1));
    CHECK(m.next() == dead(1));  // a repeated query returns the same
    CHECK(m.on(done{}) == event_result::applied);
    CHECK(m.next() == action(waybill::at_least_once_machine::handle{2}));
    CHECK(m.on(good) == event_result::applied);
    CHECK(m.next() == action(at_least_once_machine::commit_to{2}));
    CHECK(m.committed_events() == 0);
    CHECK(m.on(applied) == event_result::applied);
    CHECK(m.ended() == batch_outcome::committed);
    CHECK(m.handled_events() == 2);
    CHECK(m.dead_lettered() == 1);
    CHECK(m.reason() == fault_kind::none);
    CHECK(m.next() == action(waybill::idle{}));
}

TEST_CASE("at_least_once: results for other steps, or after the end, are stale and change nothing")
{
    at_least_once_machine m(1);
    const auto untouched = m;
    CHECK(m.on(done{}) == event_result::stale);
    CHECK(m.on(applied) == event_result::stale);
    CHECK(m.on(commit_checked{}) == event_result::stale);
    CHECK(m.on(all_failed_decided{}) == event_result::stale);
    CHECK(m == untouched);
    m.on(good);
    m.on(applied);
    const auto over = m;
    CHECK(m.on(good) == event_result::stale);
    CHECK(m.on(bad, waybill::steady_time{}) == event_result::stale);
    CHECK(m.on(done{}) == event_result::stale);
    CHECK(m.on(applied) == event_result::stale);
    CHECK(m.on(commit_checked{}) == event_result::stale);
    CHECK(m == over);
    CHECK(at_least_once_machine(0).ended() == batch_outcome::empty);
}

TEST_CASE("at_least_once: a fault of a dependency stops at its event; earlier events are committed")
{
    for (const fault_kind how :
         {fault_kind::infrastructure, fault_kind::cancelled, fault_kind::transient}) {
        at_least_once_machine m(3, {.tries = 1});
        m.on(good);
        m.on(handled{how});
        CHECK(m.next() == action(at_least_once_machine::commit_to{0}));
        CHECK_FALSE(m.ended());
        m.on(applied);
        CHECK(m.ended() ==
              (how == fault_kind::cancelled ? batch_outcome::cancelled : batch_outcome::redeliver));
        CHECK(m.reason() == how);
        CHECK(m.committed_events() == 1);
    }
    at_least_once_machine first(3);
    first.on(handled{fault_kind::infrastructure});
    CHECK(first.ended() == batch_outcome::redeliver);
    at_least_once_machine lost(3);
    lost.on(good);
    lost.on(handled{fault_kind::ownership_lost});
    CHECK(lost.ended() == batch_outcome::ownership_lost);  // and writes nothing
    CHECK(lost.committed_events() == 0);
}

TEST_CASE("at_least_once: a transient fault is retried up to `tries`, then on_exhausted applies")
{
    const handled late{fault_kind::transient};
    at_least_once_machine m(
        1, {.tries = 3, .on_exhausted = waybill::batch_policy::when_exhausted::dead_letter});
    m.on(late);
    m.on(late);
    CHECK(m.next() == action(waybill::at_least_once_machine::handle{0}));
    m.on(late);
    CHECK(m.next() == dead(0, 3, fault_kind::transient));
    at_least_once_machine again(1, {.tries = 2});
    again.on(late);
    again.on(good);
    again.on(applied);
    CHECK(again.ended() == batch_outcome::committed);
}

TEST_CASE("at_least_once: an event whose dead letter is not stored is not committed")
{
    at_least_once_machine m(3);
    m.on(good);
    m.on(bad);
    m.on(done{fault_kind::permanent});
    CHECK(m.next() == action(at_least_once_machine::commit_to{0}));
    m.on(applied);
    CHECK(m.ended() == batch_outcome::redeliver);
    CHECK(m.reason() == fault_kind::permanent);

    at_least_once_machine busy(1, {.tries = 2});
    busy.on(bad);
    busy.on(done{fault_kind::transient});
    CHECK(busy.next() == dead(0));
    busy.on(done{fault_kind::transient});
    CHECK(busy.ended() == batch_outcome::redeliver);
}

TEST_CASE("at_least_once: a commit of unknown outcome is checked")
{
    at_least_once_machine m(1, {.tries = 2});
    m.on(good);
    m.on(no_answer);
    CHECK(m.next() == action(waybill::at_least_once_machine::check_commit{}));
    auto there = m;
    there.on(commit_checked{at_least_once_machine::checkpoint_found::after});
    CHECK(there.ended() == batch_outcome::committed);
    auto stolen = m;
    stolen.on(commit_checked{at_least_once_machine::checkpoint_found::elsewhere});
    CHECK(stolen.ended() == batch_outcome::ownership_lost);
    CHECK(stolen.reason() == fault_kind::ownership_lost);
    auto moved = m;
    moved.on(commit_checked{at_least_once_machine::checkpoint_found::earlier_commit});
    CHECK(moved.ended() == batch_outcome::unknown);
    auto dark = m;
    dark.on(commit_checked{{}, fault_kind::infrastructure});
    CHECK(dark.ended() == batch_outcome::unknown);
    CHECK(dark.committed_events() == 0);
    CHECK(dark.done_events() == 1);
    m.on(commit_checked{at_least_once_machine::checkpoint_found::before});
    CHECK(m.next() == action(at_least_once_machine::commit_to{0}));  // once more
    m.on(no_answer);
    m.on(commit_checked{at_least_once_machine::checkpoint_found::before});
    CHECK(m.ended() == batch_outcome::redeliver);
    CHECK(m.reason() == fault_kind::infrastructure);
}

TEST_CASE("at_least_once: a stale_epoch commit is ownership_lost, a conflict is checked first")
{
    at_least_once_machine m(1);
    m.on(good);
    auto stale = m;
    stale.on(advanced{advance_outcome::stale_epoch});
    CHECK(stale.ended() == batch_outcome::ownership_lost);
    m.on(advanced{advance_outcome::conflict});
    CHECK(m.next() ==
          action(waybill::at_least_once_machine::check_commit{}));  // it may be a late one of ours
    auto ours = m;
    ours.on(commit_checked{at_least_once_machine::checkpoint_found::after});
    CHECK(ours.ended() == batch_outcome::committed);
    m.on(commit_checked{at_least_once_machine::checkpoint_found::elsewhere});
    CHECK(m.ended() == batch_outcome::ownership_lost);
}

TEST_CASE("at_least_once: a cancelled commit is checked, and not repeated")
{
    const advanced cancelled{advance_outcome::conflict, fault_kind::cancelled};
    at_least_once_machine m(1);
    m.on(good);
    m.on(cancelled);
    auto there = m;
    there.on(commit_checked{at_least_once_machine::checkpoint_found::after});
    CHECK(there.ended() == batch_outcome::committed);  // the commit is stored: nothing is repeated
    CHECK(there.committed_events() == 1);
    CHECK(there.reason() == fault_kind::none);
    m.on(commit_checked{at_least_once_machine::checkpoint_found::before});
    CHECK(m.ended() == batch_outcome::cancelled);
    CHECK(m.reason() == fault_kind::cancelled);
    // A part is committed: the rest remains.
    at_least_once_machine part(2, {.commit_every = 1});
    part.on(good);
    part.on(cancelled);
    part.on(commit_checked{at_least_once_machine::checkpoint_found::after});
    CHECK(part.ended() == batch_outcome::cancelled);
    CHECK(part.committed_events() == 1);
    CHECK(part.reason() == fault_kind::cancelled);
    CHECK(part.checkpoint_failed());
}

TEST_CASE("at_least_once: reason() is that of the step that ended it")
{
    const handled lost{fault_kind::ownership_lost};
    const commit_checked there{at_least_once_machine::checkpoint_found::after};
    at_least_once_machine m(2);
    m.on(good);
    m.on(lost);
    CHECK(m.ended() == batch_outcome::ownership_lost);
    CHECK(m.reason() == fault_kind::ownership_lost);
    CHECK_FALSE(m.checkpoint_failed());

    // answers to an earlier commit are stale
    at_least_once_machine earlier(3, {.commit_every = 1});
    earlier.on(good);
    earlier.on(no_answer);
    earlier.on(there);
    CHECK(earlier.reason() == fault_kind::none);
    earlier.on(good);
    earlier.on(no_answer);
    auto stolen = earlier;
    earlier.on(there);
    earlier.on(lost);
    CHECK(earlier.reason() == fault_kind::ownership_lost);
    CHECK_FALSE(earlier.checkpoint_failed());
    stolen.on(commit_checked{at_least_once_machine::checkpoint_found::elsewhere});
    CHECK(stolen.reason() == fault_kind::ownership_lost);
    CHECK(stolen.checkpoint_failed());

    at_least_once_machine asked(3);
    asked.on(bad);
    asked.on(bad);
    asked.on(handled{fault_kind::none, true});
    asked.on(all_failed_decided{waybill::batch_policy::if_all_failed::redeliver});
    CHECK(asked.ended() == batch_outcome::redeliver);
    CHECK(asked.reason() == fault_kind::permanent);

    at_least_once_machine sink(2, {.tries = 1});
    sink.on(good);
    sink.on(bad);
    sink.on(done{fault_kind::transient});
    auto not_there = sink;
    sink.on(advanced{advance_outcome::conflict, fault_kind::cancelled});
    sink.on(there);
    CHECK(sink.ended() == batch_outcome::cancelled);
    CHECK(sink.reason() == fault_kind::cancelled);
    // The sink stops it. The covered events show that the commit is missing, too.
    not_there.on(no_answer);
    not_there.on(commit_checked{at_least_once_machine::checkpoint_found::before});
    CHECK(not_there.ended() == batch_outcome::redeliver);
    CHECK(not_there.reason() == fault_kind::transient);
    CHECK(not_there.committed_events() == 0);

    at_least_once_machine refused(1, {.tries = 1});  // without a conflict
    refused.on(good);
    refused.on(advanced{advance_outcome::conflict});
    refused.on(commit_checked{at_least_once_machine::checkpoint_found::before});
    CHECK(refused.ended() == batch_outcome::redeliver);
    CHECK(refused.reason() == fault_kind::infrastructure);
}

TEST_CASE(
    "at_least_once: failures are held up to commit_every, and until decide_all_failed is "
    "possible")
{
    const handled down{fault_kind::infrastructure};
    at_least_once_machine m(5, {.commit_every = 1});
    m.on(bad);
    CHECK(m.next() ==
          action(waybill::at_least_once_machine::handle{1}));  // one is not enough for a question
    m.on(bad);
    CHECK(m.next() == action(waybill::at_least_once_machine::decide_all_failed{2}));
    m.on(all_failed_decided{});
    m.on(done{});
    CHECK(m.next() == dead(1));
    m.on(done{});
    CHECK(m.next() == action(at_least_once_machine::commit_to{1}));
    m.on(applied);
    m.on(bad);
    CHECK(m.next() ==
          // still none has succeeded
          action(waybill::at_least_once_machine::decide_all_failed{3}));
    auto stays = m;
    stays.on(all_failed_decided{waybill::batch_policy::if_all_failed::redeliver});
    CHECK(stays.ended() == batch_outcome::redeliver);
    CHECK(stays.committed_events() == 2);
    m.on(all_failed_decided{});
    m.on(done{});
    m.on(applied);
    m.on(down);
    CHECK(m.ended() == batch_outcome::redeliver);
    CHECK(m.committed_events() == 3);
    CHECK(m.dead_lettered() == 3);

    // A skipped event waits, too, and counts.
    at_least_once_machine skips(9, {.commit_every = 4});
    skips.on(handled{fault_kind::none, true});
    skips.on(bad);
    skips.on(bad);
    skips.on(handled{fault_kind::none, true});
    CHECK(skips.next() == action(waybill::at_least_once_machine::decide_all_failed{2}));
    skips.on(all_failed_decided{});
    skips.on(done{});
    skips.on(done{});
    CHECK(skips.next() == action(at_least_once_machine::commit_to{3}));
    skips.on(applied);
    CHECK(skips.skipped_events() == 2);
    CHECK(skips.next() == action(waybill::at_least_once_machine::handle{4}));
}

TEST_CASE("at_least_once: commits every commit_every events, and after the last")
{
    at_least_once_machine m(5, {.commit_every = 2});
    m.on(good);
    m.on(good);
    CHECK(m.next() == action(at_least_once_machine::commit_to{1}));
    m.on(applied);
    m.on(good);
    m.on(good);
    CHECK(m.next() == action(at_least_once_machine::commit_to{3}));
    m.on(applied);
    m.on(good);
    CHECK(m.next() == action(at_least_once_machine::commit_to{4}));
    m.on(applied);
    CHECK(m.ended() == batch_outcome::committed);
    CHECK(m.handled_events() == 5);
}

TEST_CASE("at_least_once: if all events failed, no dead letter is written before the decision")
{
    at_least_once_machine m(2);
    m.on(bad);
    CHECK(m.next() ==
          action(waybill::at_least_once_machine::handle{1}));  // this fault may affect all events
    auto mixed = m;
    m.on(bad);
    CHECK(m.next() == action(waybill::at_least_once_machine::decide_all_failed{2}));
    auto down = m;
    down.on(all_failed_decided{waybill::batch_policy::if_all_failed::redeliver});
    CHECK(down.ended() == batch_outcome::redeliver);
    m.on(all_failed_decided{waybill::batch_policy::if_all_failed::go_on});
    CHECK(m.next() == dead(0));
    m.on(done{});
    CHECK(m.next() == dead(1));
    m.on(done{});
    CHECK(m.next() == action(at_least_once_machine::commit_to{1}));
    m.on(applied);
    CHECK(m.dead_lettered() == 2);

    mixed.on(good);
    CHECK(mixed.next() == dead(0));  // one has succeeded: no question is needed
    auto stuck = mixed;
    mixed.on(done{});
    CHECK(mixed.next() == action(at_least_once_machine::commit_to{1}));
    mixed.on(applied);
    CHECK(mixed.handled_events() == 1);
    CHECK(mixed.dead_lettered() == 1);
    stuck.on(done{fault_kind::infrastructure});
    CHECK(stuck.ended() == batch_outcome::redeliver);  // the good event is repeated
    CHECK(stuck.done_events() == 0);
}

TEST_CASE("at_least_once: an outage while no event has succeeded writes no dead letters")
{
    at_least_once_machine m(3);
    m.on(bad);
    m.on(handled{fault_kind::infrastructure});
    CHECK(m.ended() == batch_outcome::redeliver);
    CHECK(m.dead_lettered() == 0);
}

TEST_CASE("at_least_once: skipped events are committed, and do not count as handled")
{
    const handled skipped{fault_kind::none, true};
    at_least_once_machine m(4);
    m.on(skipped);
    m.on(bad);
    m.on(skipped);
    m.on(bad);
    CHECK(m.next() == action(waybill::at_least_once_machine::decide_all_failed{2}));
    m.on(all_failed_decided{});
    m.on(done{});
    m.on(done{});
    m.on(applied);
    CHECK(m.skipped_events() == 2);
    CHECK(m.dead_lettered() == 2);
    CHECK(m.handled_events() == 0);
}

TEST_CASE("at_least_once: with discard, no dead letter is written, and the event counts as dropped")
{
    at_least_once_machine m(2, {.dead_letters = {.keeps = waybill::dead_letter_body::discard}});
    m.on(good);
    m.on(bad);
    CHECK(m.next() == action(at_least_once_machine::commit_to{1}));
    m.on(applied);
    CHECK(m.dropped() == 1);
    CHECK(m.dead_lettered() == 0);
}

TEST_CASE("at_least_once: with commit_check::always, a confirmed commit is checked")
{
    at_least_once_machine m(1, {.check_commit = waybill::batch_policy::commit_check::always});
    m.on(good);
    m.on(applied);
    CHECK(m.next() == action(waybill::at_least_once_machine::check_commit{}));
    auto there = m;
    there.on(commit_checked{at_least_once_machine::checkpoint_found::after});
    CHECK(there.ended() == batch_outcome::committed);
    m.on(commit_checked{at_least_once_machine::checkpoint_found::before});
    CHECK(m.next() == action(at_least_once_machine::commit_to{0}));
}

TEST_CASE("at_least_once: classify compares a found checkpoint with the commit")
{
    const checkpoint five{{5, "here"}, 3};
    using std::nullopt;
    CHECK(waybill::at_least_once_machine::classify(five, nullopt, {5, "there"}, 3) ==
          at_least_once_machine::checkpoint_found::after);
    CHECK(waybill::at_least_once_machine::classify(five, nullopt, {5, ""}, 4) ==
          at_least_once_machine::checkpoint_found::elsewhere);
    CHECK(waybill::at_least_once_machine::classify(five, position{5, ""}, {7, ""}, 4) ==
          at_least_once_machine::checkpoint_found::before);
    CHECK(waybill::at_least_once_machine::classify(five, position{4, ""}, {7, ""}, 4) ==
          at_least_once_machine::checkpoint_found::elsewhere);
    CHECK(waybill::at_least_once_machine::classify(five, position{4, ""}, {7, ""}, 3) ==
          at_least_once_machine::checkpoint_found::earlier_commit);
    CHECK(waybill::at_least_once_machine::classify(nullopt, nullopt, {7, ""}, 3) ==
          at_least_once_machine::checkpoint_found::before);
    CHECK(waybill::at_least_once_machine::classify(nullopt, position{4, ""}, {7, ""}, 3) ==
          at_least_once_machine::checkpoint_found::elsewhere);
    CHECK(waybill::at_least_once_machine::classify(checkpoint{{0, ""}, 3}, nullopt, {7, ""}, 4) ==
          at_least_once_machine::checkpoint_found::elsewhere);
}

static_assert(!validate(at_least_once_policy{}));
static_assert(validate(at_least_once_policy{.tries = 0})->field == "tries");
static_assert(validate(at_least_once_policy{.commit_every = 0})->field == "commit_every");
static_assert(validate(at_least_once_policy{.decide_all_failed_from = 0})->field ==
              "decide_all_failed_from");
static_assert(validate(at_least_once_policy{.keys = {.max_bytes = 1}})->field ==
              "idempotency.max_bytes");

// ---------------------------------------------------------------------------------------------
// The driver.

struct event {
    std::uint64_t sequence = 0;
    std::string body;
    std::string offset;
};

using store = waybill::testing::memory_store<std::uint64_t>;
const waybill::partition_key key{"log", "mail", "3"};
constexpr auto now = waybill::wall_time::at(waybill::duration::seconds(9));

static_assert(waybill::checkpoint_writer<waybill::checkpoint_writer_for<store>>);
static_assert(waybill::dead_letter_sink<waybill::dead_letter_sink_for<store>>);
static_assert(!waybill::checkpoint_writer<store>);
static_assert(!waybill::dead_letter_sink<store>);

TEST_CASE("process_at_least_once: works with both halves of a transactional store")
{
    store s;
    waybill::checkpoint_writer_for offsets(s);
    waybill::dead_letter_sink_for letters(s);
    const std::vector<event> events = {{3, "a", "x3"}, {7, "bad", "x7"}, {8, "c", "x8"}};
    std::vector<std::string> keys;
    const auto handle = [&](const event& e, std::string_view k) -> fault {
        keys.emplace_back(k);
        if (e.body == "bad") return waybill::permanent("no good");
        return {};
    };
    const waybill::assignment mine{key, {}, 4, 0};
    const at_least_once_report r =
        waybill::process_at_least_once(offsets, letters, mine, events, handle, now);
    CHECK(r == at_least_once_report{.outcome = batch_outcome::committed,
                                    .reached = position{8, "x8"},
                                    .handled = 2,
                                    .dead_lettered = 1});
    CHECK(keys == std::vector<std::string>{"log/mail/3/3", "log/mail/3/7", "log/mail/3/8"});
    CHECK(*s.load(key) == std::optional(checkpoint{{8, "x8"}, 4}));
    const auto letter = s.find(key, 7);
    REQUIRE((letter && *letter));
    CHECK((*letter)->reason == "no good");
    CHECK((*letter)->body == "bad");
    CHECK((*letter)->dead_lettered_at == now);

    // The same events again: they are done.
    const auto again = waybill::process_at_least_once(offsets, letters, {key, r.reached, 4, 0},
                                                      events, handle, now);
    CHECK(again == at_least_once_report{.outcome = batch_outcome::empty,
                                        .reached = position{8, "x8"},
                                        .repeated = 3});
    CHECK(keys.size() == 3);

    // An owner with an older checkpoint cannot overwrite this one.
    const std::vector<event> more = {{9, "d", ""}};
    const auto zombie = waybill::process_at_least_once(
        offsets, letters, {key, position{3, ""}, 3, 0}, more, handle, now);
    CHECK(zombie.outcome == batch_outcome::ownership_lost);
    CHECK(zombie.reached == position{3, ""});
    CHECK(zombie.not_committed == 1);
    CHECK(zombie.reason.kind == fault_kind::ownership_lost);
}

TEST_CASE("process_at_least_once: stops at an outage, and reports the position reached")
{
    store s;
    waybill::checkpoint_writer_for offsets(s);
    waybill::dead_letter_sink_for letters(s);
    const std::list<event> events = {{1, "a", ""}, {2, "b", ""}, {3, "c", ""}};
    bool down = true;
    std::vector<std::uint64_t> seen;
    const auto handle = [&](const event& e, std::string_view) -> fault {
        seen.push_back(e.sequence);
        if (e.sequence == 2 && down) return waybill::infrastructure("the mail server is down");
        return {};
    };
    auto r = waybill::process_at_least_once(offsets, letters, {key, {}, 1, 0}, events, handle, now);
    CHECK(r.outcome == batch_outcome::redeliver);
    CHECK(r.reached == position{1, ""});
    CHECK(r.handled == 1);
    CHECK(r.reason == waybill::infrastructure("the mail server is down"));
    down = false;
    r = waybill::process_at_least_once(offsets, letters, {key, r.reached, 1, 0}, events, handle,
                                       now);
    CHECK(r.outcome == batch_outcome::committed);
    CHECK(r.repeated == 1);
    CHECK(seen == std::vector<std::uint64_t>{1, 2, 2, 3});
}

TEST_CASE("process_at_least_once: sequences that do not ascend are invalid, and nothing is called")
{
    store s;
    waybill::checkpoint_writer_for offsets(s);
    waybill::dead_letter_sink_for letters(s);
    const std::vector<event> events = {{1, "", ""}, {1, "", ""}};
    const auto r = waybill::process_at_least_once(
        offsets, letters, {key, {}, 1, 0}, events,
        [](const event&, std::string_view) -> fault {
            FAIL("it is not handled");
            return {};
        },
        now);
    CHECK(r.outcome == batch_outcome::invalid);
    CHECK(r.reason.text == "event 1 has sequence 1, which must be greater than 1 before it");
    CHECK_FALSE(*s.load(key));
}

TEST_CASE("process_at_least_once: calls decide_all_failed, and counts skipped events")
{
    store s;
    waybill::checkpoint_writer_for offsets(s);
    waybill::dead_letter_sink_for letters(s);
    const std::vector<event> events = {{1, "skip", ""}, {2, "bad", ""}, {3, "bad", ""}};
    const auto handle = [](const event& e, std::string_view) -> waybill::event_outcome {
        if (e.body == "skip") return waybill::skipped("none of ours");
        return waybill::permanent("every one fails");
    };
    std::vector<std::uint64_t> asked;
    auto answer = waybill::batch_policy::if_all_failed::redeliver;
    const auto ask = [&](std::uint64_t failed) {
        asked.push_back(failed);
        return answer;
    };
    auto r = waybill::process_at_least_once(offsets, letters, {key, {}, 1, 0}, events, handle, now,
                                            {}, ask);
    CHECK(r.outcome == batch_outcome::redeliver);
    CHECK(r.reached == position{1, ""});
    CHECK(r.skipped == 1);
    CHECK(r.reason == waybill::permanent("every one fails"));
    CHECK_FALSE(*s.find(key, 2));
    answer = waybill::batch_policy::if_all_failed::go_on;
    r = waybill::process_at_least_once(offsets, letters, {key, r.reached, 1, 0}, events, handle,
                                       now, {}, ask);
    CHECK(r.outcome == batch_outcome::committed);
    CHECK(r.dead_lettered == 2);
    CHECK(asked == std::vector<std::uint64_t>{2, 2});
}

TEST_CASE("process_at_least_once: the reported text belongs to the fault that ended the call")
{
    const auto deliver = [](auto& offsets, auto&& handle, const at_least_once_policy& p) {
        store s;
        waybill::dead_letter_sink_for letters(s);
        const std::vector<event> events = {{1, "", ""}, {2, "", ""}, {3, "", ""}, {4, "", ""}};
        const auto stay = [](std::uint64_t) {
            return waybill::batch_policy::if_all_failed::redeliver;
        };
        return waybill::process_at_least_once(offsets, letters, {key, {}, 1, 0}, events, handle,
                                              now, p, stay);
    };
    // Each commit is applied, and its answer is lost.
    struct {
        std::optional<checkpoint> stored;
        fault answer = waybill::infrastructure("no answer");
        waybill::result<std::optional<checkpoint>> load(const waybill::partition_key&) const
        {
            return stored;
        }
        waybill::result<advance_outcome> commit(const waybill::partition_key&,
                                                const std::optional<position>&, const position& to,
                                                std::uint64_t epoch)
        {
            stored = checkpoint{to, epoch};
            return waybill::unexpected(answer);
        }
    } mute;
    const fault gone = waybill::ownership_lost("the lease is gone");
    const auto lose = [&](const event& e, std::string_view) {
        return e.sequence == 4 ? gone : fault{};
    };
    auto r = deliver(mute, lose, {.commit_every = 2});
    CHECK(r.outcome == batch_outcome::ownership_lost);
    CHECK(r.not_committed == 1);
    CHECK(r.reason == gone);

    mute = {};
    mute.answer = waybill::cancelled("shutting down");
    r = deliver(mute, lose, {.commit_every = 2});
    CHECK(r.outcome == batch_outcome::cancelled);
    CHECK(r.reached == position{2, ""});
    CHECK(r.reason == waybill::cancelled("shutting down"));
    mute.stored = {};
    r = deliver(mute, [](const event&, std::string_view) { return fault{}; }, {});
    CHECK(r == at_least_once_report{
                   .outcome = batch_outcome::committed, .reached = position{4, ""}, .handled = 4});

    // The reason for a question about two failures is not that of a third event that was busy once
    // and then skipped.
    int calls = 0;
    const auto odd = [&](const event& e, std::string_view) -> waybill::event_outcome {
        if (e.sequence <= 2) return waybill::permanent("bad " + std::to_string(e.sequence));
        if (++calls == 1) return waybill::transient("busy");
        return waybill::skipped();
    };
    r = deliver(mute, odd, {});
    CHECK(r.outcome == batch_outcome::redeliver);
    CHECK(r.reason == waybill::permanent("bad 2"));
}

TEST_CASE("process_at_least_once: reasons are bounded, and keys have the scope of the policy")
{
    store s;
    waybill::checkpoint_writer_for offsets(s);
    waybill::dead_letter_sink_for letters(s);
    const std::vector<event> events = {{~std::uint64_t{0}, "", ""}};
    std::string seen;
    const auto r = waybill::process_at_least_once(
        offsets, letters, {key, {}, 1, 0}, events,
        [&](const event&, std::string_view k) {
            seen = k;
            return waybill::permanent(std::string(10'000'000, '\xFF'));
        },
        now,
        {.dead_letters = {.reason_bytes = 10},
         .keys = {.scope = waybill::idempotency_keys::options::scope_type::event}});
    CHECK(r.dead_lettered == 1);
    CHECK(seen == "log/3/18446744073709551615");
    CHECK((*s.find(key, ~std::uint64_t{0}))->reason.size() == 10);
}

// Stores without transactions, such as offsets and a topic. An error with the kind `none` is an
// error.
struct odd_sink {
    std::vector<waybill::dead_letter> letters;
    int failures = 0;
    fault error;
    waybill::result<void> put(const waybill::dead_letter& l)
    {
        if (failures-- > 0) return waybill::unexpected(error);
        letters.push_back(l);
        return {};
    }
};

TEST_CASE(
    "process_at_least_once: a dead letter that the sink refuses is retried, or delivered "
    "again")
{
    store s;
    waybill::checkpoint_writer_for offsets(s);
    const std::vector<event> events = {{1, "", ""}, {2, "", ""}};
    const auto handle = [](const event& e, std::string_view) -> fault {
        if (e.sequence == 2) return waybill::permanent("bad");
        return {};
    };
    odd_sink none{{}, 1, {}};
    auto r = waybill::process_at_least_once(offsets, none, {key, {}, 1, 0}, events, handle, now);
    CHECK(r.outcome == batch_outcome::redeliver);
    CHECK(r.reached == position{1, ""});
    CHECK(r.reason.kind == fault_kind::infrastructure);
    odd_sink busy{{}, 2, waybill::transient("too many requests")};
    r = waybill::process_at_least_once(offsets, busy, {key, r.reached, 1, 0}, events, handle, now);
    CHECK(r.outcome == batch_outcome::committed);
    CHECK(busy.letters.size() == 1);
}

}  // namespace
}  // namespace at_least_once_test

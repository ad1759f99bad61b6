// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/batch_machine.hpp>
#include <waybill/core/match.hpp>

namespace batch_machine_test {
namespace {

using waybill::advance_outcome;
using advanced = waybill::batch_machine::advanced;
using waybill::batch_machine;
using waybill::batch_outcome;
using waybill::batch_policy;
using waybill::checkpoint;
using waybill::commit_outcome;
using committed = waybill::batch_machine::committed;
using done = waybill::batch_machine::done;
using waybill::event_result;
using waybill::fault_kind;
using handled = waybill::batch_machine::handled;
using loaded = waybill::batch_machine::loaded;
using waybill::position;

const position from{10, "10"};
const position to{30, "30"};
constexpr std::uint64_t epoch = 4;

static_assert(!waybill::validate(batch_policy{}));
static_assert(waybill::validate(batch_policy{.tries = 0})->field == "tries");
static_assert(name(batch_outcome::ownership_lost) == "ownership_lost" &&
              name(batch_outcome::unknown) == "unknown");

constexpr fault_kind every_fault[] = {fault_kind::transient, fault_kind::permanent,
                                      fault_kind::infrastructure, fault_kind::ownership_lost,
                                      fault_kind::cancelled};

batch_outcome end_of(fault_kind how)
{
    if (how == fault_kind::ownership_lost) return batch_outcome::ownership_lost;
    return how == fault_kind::cancelled ? batch_outcome::cancelled : batch_outcome::redeliver;
}

batch_machine fresh(std::uint64_t events = 2, batch_policy p = {})
{
    return {events, from, to, epoch, p};
}

/// The name of an action, with its numbers.
std::string next_action(const batch_machine& m)
{
    struct action_name {
        std::string operator()(const batch_machine::load_crash_record&) const { return "recall"; }
        std::string operator()(const batch_machine::shorten& a) const
        {
            return "shorten " + std::to_string(a.events);
        }
        std::string operator()(const batch_machine::begin&) const { return "begin"; }
        std::string operator()(const batch_machine::store_crash_record& a) const
        {
            return "note " + std::to_string(a.row.suspects) + " suspects, " +
                   std::to_string(a.row.deaths) + " deaths, by " +
                   std::to_string(a.row.incarnation);
        }
        std::string operator()(const batch_machine::clear_crash_record&) const { return "forget"; }
        std::string operator()(const batch_machine::decide_all_failed& a) const
        {
            return "ask " + std::to_string(a.failed);
        }
        std::string operator()(const batch_machine::savepoint&) const { return "savepoint"; }
        std::string operator()(const batch_machine::handle& a) const
        {
            return "handle " + std::to_string(a.event);
        }
        std::string operator()(const batch_machine::release_savepoint&) const { return "release"; }
        std::string operator()(const batch_machine::rollback_to_savepoint&) const { return "undo"; }
        std::string operator()(const batch_machine::write_dead_letter& a) const
        {
            return "dead_letter " + std::to_string(a.event) + " " + std::string(name(a.kind)) +
                   " " + std::to_string(a.tries);
        }
        std::string operator()(const batch_machine::advance&) const { return "advance"; }
        std::string operator()(const batch_machine::commit&) const { return "commit"; }
        std::string operator()(const batch_machine::rollback&) const { return "rollback"; }
        std::string operator()(const batch_machine::check_commit&) const { return "read_back"; }
        std::string operator()(const waybill::idle&) const { return "idle"; }
    };
    return waybill::match(m.next(), action_name{});
}

/// Answers each step as a good simulation would, up to (not including) the action called `stop`.
void go_to(batch_machine& m, const std::string& stop)
{
    for (int steps = 0; steps != 100 && next_action(m) != stop && next_action(m) != "idle";
         ++steps) {
        const auto a = m.next();
        event_result h = event_result::stale;
        if (waybill::holds_alternative<batch_machine::handle>(a)) h = m.on(handled{});
        else if (waybill::holds_alternative<batch_machine::advance>(a)) h = m.on(advanced{});
        else if (waybill::holds_alternative<batch_machine::commit>(a)) h = m.on(committed{});
        else if (waybill::holds_alternative<batch_machine::check_commit>(a)) h = m.on(loaded{});
        else h = m.on(done{});
        CHECK(h == event_result::applied);
    }
    CHECK(next_action(m) == stop);
}

/// All events that do not answer the machine's action are stale and change nothing. Queries change
/// nothing either.
void only_takes(const batch_machine& m, const std::string& what)
{
    const batch_machine before = m;
    CHECK(m.next() == m.next());
    CHECK(m.next(waybill::steady_time{}) == m.next());
    CHECK(m == before);
    const auto late = [&](const auto& event) {
        batch_machine copy = m;
        const bool taken = copy.on(event) == event_result::applied;
        if (!taken) CHECK(copy == before);
        batch_machine timed = m;
        CHECK((timed.on(event, waybill::steady_time{}) == event_result::applied) == taken);
        CHECK(timed == copy);
        return !taken;
    };
    INFO(next_action(m), " takes ", what);
    CHECK(late(done{}) == (what != "done"));
    CHECK(late(done{fault_kind::infrastructure}) == (what != "done"));
    CHECK(late(handled{}) == (what != "handled"));
    CHECK(late(handled{fault_kind::permanent}) == (what != "handled"));
    CHECK(late(advanced{}) == (what != "advanced"));
    CHECK(late(committed{}) == (what != "committed"));
    CHECK(late(loaded{}) == (what != "loaded"));
    CHECK(m == before);
}

TEST_CASE("batch_machine: the steps of a batch without faults")
{
    batch_machine m = fresh();
    const char* steps[] = {"begin",    "savepoint", "handle 0", "release", "savepoint",
                           "handle 1", "release",   "advance",  "commit"};
    for (const char* step : steps) {
        CHECK(next_action(m) == step);
        CHECK(!m.ended());
        const std::string s = step;
        only_takes(m, s == "advance"            ? "advanced"
                      : s == "commit"           ? "committed"
                      : s.starts_with("handle") ? "handled"
                                                : "done");
        if (s == "advance") CHECK(m.on(advanced{}) == event_result::applied);
        else if (s == "commit") CHECK(m.on(committed{}) == event_result::applied);
        else if (s.starts_with("handle")) CHECK(m.on(handled{}) == event_result::applied);
        else CHECK(m.on(done{}) == event_result::applied);
    }
    CHECK(m.ended() == batch_outcome::committed);
    CHECK(m.reason() == fault_kind::none);
    CHECK(m.handled_events() == 2);
    CHECK(m.dead_lettered() == 0);
    CHECK(next_action(m) == "idle");
    only_takes(m, "nothing");
}

TEST_CASE("batch_machine: a failed step rolls back, and ends with that fault")
{
    for (const fault_kind how : every_fault) {
        INFO(std::string(name(how)));
        batch_machine begin = fresh();
        CHECK(begin.on(done{how}) == event_result::applied);
        CHECK(begin.ended() == end_of(how));
        CHECK(begin.reason() == how);
        for (const char* step : {"savepoint", "release", "undo", "dead_letter 0 permanent 1"}) {
            batch_machine m = fresh();
            const bool failing = std::string(step) == "undo" || std::string(step)[0] == 'd';
            go_to(m, failing ? "handle 0" : step);
            if (failing) {
                CHECK(m.on(handled{fault_kind::permanent}) == event_result::applied);
                go_to(m, step);
            }
            CHECK(m.on(done{how}) == event_result::applied);
            CHECK(next_action(m) == "rollback");
            only_takes(m, "done");
            CHECK(m.on(done{fault_kind::infrastructure}) == event_result::applied);
            CHECK(m.ended() == end_of(how));
            CHECK(m.reason() == how);
            only_takes(m, "nothing");
        }
        batch_machine m = fresh();
        go_to(m, "advance");
        CHECK(m.on(advanced{advance_outcome::applied, how}) == event_result::applied);
        CHECK(next_action(m) == "rollback");
        CHECK(m.on(done{}) == event_result::applied);
        CHECK(m.ended() == end_of(how));
    }
}

TEST_CASE("batch_machine: a conflict or stale epoch at advance is ownership_lost")
{
    for (const auto outcome : {advance_outcome::conflict, advance_outcome::stale_epoch}) {
        batch_machine m = fresh();
        go_to(m, "advance");
        CHECK(m.on(advanced{outcome}) == event_result::applied);
        CHECK(next_action(m) == "rollback");
        CHECK(m.on(done{}) == event_result::applied);
        CHECK(m.ended() == batch_outcome::ownership_lost);
        CHECK(m.reason() == fault_kind::ownership_lost);
    }
}

TEST_CASE(
    "batch_machine: a permanent fault is rolled back and dead-lettered, and the next event "
    "follows")
{
    batch_machine m = fresh();
    go_to(m, "handle 0");
    CHECK(m.on(handled{fault_kind::permanent}) == event_result::applied);
    CHECK(next_action(m) == "undo");
    only_takes(m, "done");
    CHECK(m.on(done{}) == event_result::applied);
    CHECK(next_action(m) == "dead_letter 0 permanent 1");
    only_takes(m, "done");
    CHECK(m.on(done{}) == event_result::applied);
    go_to(m, "handle 1");
    go_to(m, "commit");
    CHECK(m.on(committed{}) == event_result::applied);
    CHECK(m.handled_events() == 1);
    CHECK(m.dead_lettered() == 1);
}

TEST_CASE("batch_machine: a transient fault is retried, then dead-lettered or delivered again")
{
    for (const auto then :
         {batch_policy::when_exhausted::dead_letter, batch_policy::when_exhausted::redeliver}) {
        batch_machine m = fresh(1, {.tries = 3, .on_exhausted = then});
        for (int tries = 1; tries <= 3; ++tries) {
            go_to(m, "handle 0");
            CHECK(m.on(handled{fault_kind::transient}) == event_result::applied);
            if (tries < 3) CHECK(next_action(m) == "undo");
        }
        if (then == batch_policy::when_exhausted::redeliver) {
            CHECK(next_action(m) == "rollback");
            CHECK(m.on(done{}) == event_result::applied);
            CHECK(m.ended() == batch_outcome::redeliver);
            CHECK(m.reason() == fault_kind::transient);
        } else {
            go_to(m, "dead_letter 0 transient 3");
            go_to(m, "idle");
            CHECK(m.dead_lettered() == 1);
        }
    }
    batch_machine none =
        fresh(1, {.tries = 0, .on_exhausted = batch_policy::when_exhausted::dead_letter});
    go_to(none, "handle 0");
    CHECK(none.on(handled{fault_kind::transient}) == event_result::applied);
    go_to(none, "dead_letter 0 transient 1");
}

TEST_CASE("batch_machine: a fault of a dependency, reported by the handler, ends the delivery")
{
    for (const auto how :
         {fault_kind::infrastructure, fault_kind::ownership_lost, fault_kind::cancelled}) {
        for (const bool savepoints : {true, false}) {
            batch_machine m = fresh(2, {.savepoints = savepoints});
            go_to(m, "handle 1");
            CHECK(m.on(handled{how}) == event_result::applied);
            CHECK(next_action(m) == "rollback");
            CHECK(m.on(done{}) == event_result::applied);
            CHECK(m.ended() == end_of(how));
            CHECK(m.reason() == how);
        }
    }
}

TEST_CASE("batch_machine: without savepoints the batch restarts without the failed event")
{
    batch_machine m = fresh(3, {.tries = 2, .savepoints = false});
    go_to(m, "handle 1");
    CHECK(m.on(handled{fault_kind::permanent}) == event_result::applied);
    CHECK(next_action(m) == "rollback");
    CHECK(m.on(done{}) == event_result::applied);
    CHECK(!m.ended());
    CHECK(m.restarts() == 1);
    go_to(m, "handle 0");
    CHECK(m.on(handled{fault_kind::permanent}) == event_result::applied);
    CHECK(m.on(done{}) == event_result::applied);
    CHECK(next_action(m) == "begin");
    go_to(m, "handle 2");
    CHECK(m.on(handled{}) == event_result::applied);
    CHECK(next_action(m) == "dead_letter 0 permanent 1");
    only_takes(m, "done");
    CHECK(m.on(done{}) == event_result::applied);
    CHECK(next_action(m) == "dead_letter 1 permanent 1");
    CHECK(m.on(done{}) == event_result::applied);
    go_to(m, "idle");
    CHECK(m.ended() == batch_outcome::committed);
    CHECK(m.handled_events() == 1);
    CHECK(m.dead_lettered() == 2);
}

TEST_CASE("batch_machine: without savepoints, two events that fail in turns exhaust their tries")
{
    batch_machine m = fresh(2, {.tries = 3,
                                .on_exhausted = batch_policy::when_exhausted::dead_letter,
                                .savepoints = false,
                                .decide_all_failed_from = 3});
    std::uint32_t calls[2] = {0, 0};
    int steps = 0;
    for (; steps != 1'000 && !m.ended(); ++steps) {
        const auto a = m.next();
        if (const auto* h = waybill::get_if<batch_machine::handle>(&a)) {
            // The first fails at every odd call, the second whenever it is reached.
            const bool fails = h->event == 1 || calls[0] % 2 == 0;
            ++calls[h->event];
            CHECK(m.on(handled{fails ? fault_kind::transient : fault_kind::none}) ==
                  event_result::applied);
        } else if (waybill::holds_alternative<batch_machine::advance>(a)) {
            CHECK(m.on(advanced{}) == event_result::applied);
        } else if (waybill::holds_alternative<batch_machine::commit>(a)) {
            CHECK(m.on(committed{}) == event_result::applied);
        } else {
            CHECK(m.on(done{}) == event_result::applied);
        }
    }
    CHECK(m.ended() == batch_outcome::committed);
    CHECK(steps < 100);
    CHECK(m.restarts() <= 6);
}

TEST_CASE("batch_machine: after a commit of unknown outcome the checkpoint is loaded")
{
    const auto ended_with = [](const loaded& r) {
        batch_machine m = fresh();
        go_to(m, "commit");
        CHECK(m.on(committed{commit_outcome::unknown}) == event_result::applied);
        CHECK(next_action(m) == "read_back");
        only_takes(m, "loaded");
        CHECK(m.on(r) == event_result::applied);
        only_takes(m, "nothing");
        return *m.ended();
    };
    CHECK(ended_with({checkpoint{to, epoch}}) == batch_outcome::committed);
    CHECK(ended_with({checkpoint{position{30, "another spelling"}, epoch}}) ==
          batch_outcome::committed);
    CHECK(ended_with({checkpoint{from, epoch}}) == batch_outcome::redeliver);
    CHECK(ended_with({checkpoint{from, epoch - 1}}) == batch_outcome::redeliver);
    CHECK(ended_with({checkpoint{to, epoch + 1}}) == batch_outcome::ownership_lost);
    CHECK(ended_with({checkpoint{position{31, ""}, epoch}}) == batch_outcome::ownership_lost);
    CHECK(ended_with({checkpoint{position{20, ""}, epoch}}) == batch_outcome::ownership_lost);
    CHECK(ended_with({std::nullopt}) == batch_outcome::ownership_lost);
    CHECK(ended_with({std::nullopt, fault_kind::infrastructure}) == batch_outcome::unknown);

    // For a first checkpoint, "absent" is the state before.
    batch_machine first(1, {}, to, epoch);
    go_to(first, "commit");
    CHECK(first.on(committed{commit_outcome::unknown}) == event_result::applied);
    batch_machine other = first;
    CHECK(first.on(loaded{std::nullopt}) == event_result::applied);
    CHECK(first.ended() == batch_outcome::redeliver);
    CHECK(other.on(loaded{checkpoint{position{0, ""}, epoch}}) == event_result::applied);
    CHECK(other.ended() == batch_outcome::ownership_lost);
}

TEST_CASE("batch_machine: a commit that was not applied is delivered again")
{
    batch_machine m = fresh();
    go_to(m, "commit");
    CHECK(m.on(committed{commit_outcome::not_applied}) == event_result::applied);
    CHECK(m.ended() == batch_outcome::redeliver);
    CHECK(m.reason() == fault_kind::infrastructure);
}

TEST_CASE("batch_machine: a batch without events ends at once")
{
    batch_machine m = fresh(0);
    CHECK(m.ended() == batch_outcome::empty);
    CHECK(next_action(m) == "idle");
    only_takes(m, "nothing");
}

TEST_CASE("batch_machine: a copy is a snapshot")
{
    batch_machine m = fresh();
    go_to(m, "handle 1");
    const batch_machine before = m;
    batch_machine copy = m;
    CHECK(copy.on(handled{fault_kind::permanent}) == event_result::applied);
    CHECK(m == before);
    CHECK(copy != before);
    m = copy;
    CHECK(next_action(m) == "undo");
}

}  // namespace
}  // namespace batch_machine_test

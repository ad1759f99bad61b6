// SPDX-License-Identifier: MIT
//
// batch_machine: crash records, questions, skipped events, and other exceptional steps.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include <waybill/consume/batch_machine.hpp>
#include <waybill/core/match.hpp>

namespace batch_steps_test {
namespace {

using waybill::batch_machine;
using waybill::batch_outcome;
using waybill::batch_policy;
using waybill::checkpoint;
using waybill::commit_outcome;
using waybill::crash_record;
using waybill::dead_letter_body;
using waybill::event_result;
using waybill::fault_kind;
using handled = waybill::batch_machine::handled;
using waybill::position;

static_assert(waybill::validate(batch_policy{.decide_all_failed_from = 0})->field ==
              "decide_all_failed_from");
static_assert(waybill::validate(batch_policy{.deaths = 0})->field == "deaths");
static_assert(name(batch_policy::if_all_failed::redeliver) == "redeliver" &&
              name(dead_letter_body::summary) == "summary");
static_assert(name(batch_policy::commit_check::always) == "always");

const position from{10, "10"};
const position to{30, "30"};
constexpr std::uint64_t me = 8;
constexpr batch_policy one_try{.tries = 1,
                               .on_exhausted = waybill::batch_policy::when_exhausted::dead_letter};

batch_machine fresh(std::uint64_t events = 2, batch_policy p = {}, std::uint64_t incarnation = me)
{
    return {events, from, to, 4, p, incarnation};
}

std::string next_action(const batch_machine& m)
{
    return waybill::match(
        m.next(), [](batch_machine::load_crash_record) { return std::string("recall"); },
        [](batch_machine::shorten a) { return "shorten " + std::to_string(a.events); },
        [](batch_machine::begin) { return std::string("begin"); },
        [](const batch_machine::store_crash_record& a) {
            return "note " + std::to_string(a.row.suspects) + "/" + std::to_string(a.row.deaths) +
                   "/" + std::to_string(a.row.incarnation);
        },
        [](batch_machine::clear_crash_record) { return std::string("forget"); },
        [](batch_machine::savepoint) { return std::string("savepoint"); },
        [](batch_machine::handle a) { return "handle " + std::to_string(a.event); },
        [](batch_machine::release_savepoint) { return std::string("release"); },
        [](batch_machine::rollback_to_savepoint) { return std::string("undo"); },
        [](batch_machine::write_dead_letter a) {
            return "dead_letter " + std::to_string(a.event) + " " + std::to_string(a.tries) +
                   (a.poison_message ? " condemned" : "");
        },
        [](batch_machine::decide_all_failed a) { return "ask " + std::to_string(a.failed); },
        [](batch_machine::advance) { return std::string("advance"); },
        [](batch_machine::commit) { return std::string("commit"); },
        [](batch_machine::rollback) { return std::string("rollback"); },
        [](batch_machine::check_commit) { return std::string("read_back"); },
        [](waybill::idle) { return std::string("idle"); });
}

// The results of a correct store. The row that is found and the results of handlers are given.
struct simulation {
    std::optional<crash_record> row{};  // the stored record, once it was stored
    handled each{};
    batch_policy::if_all_failed answer = batch_policy::if_all_failed::go_on;
    std::string steps{};

    /// Answers up to (not including) the step `stop`.
    void run(batch_machine& m, const std::string& stop)
    {
        for (int n = 0; n != 200 && next_action(m) != stop && next_action(m) != "idle"; ++n)
            step(m);
        CHECK(next_action(m) == stop);
    }
    void step(batch_machine& m)
    {
        steps += next_action(m) + ", ";
        const auto a = m.next();
        event_result h = event_result::stale;
        if (waybill::holds_alternative<batch_machine::load_crash_record>(a))
            h = m.on(waybill::batch_machine::crash_record_loaded{row, fault_kind::none, within()});
        else if (waybill::holds_alternative<batch_machine::shorten>(a))
            h = m.on(waybill::batch_machine::shortened{{20, "20"}});
        else if (waybill::holds_alternative<batch_machine::handle>(a)) h = m.on(each);
        else if (waybill::holds_alternative<batch_machine::decide_all_failed>(a))
            h = m.on(waybill::batch_machine::all_failed_decided{answer});
        else if (waybill::holds_alternative<batch_machine::advance>(a))
            h = m.on(waybill::batch_machine::advanced{});
        else if (waybill::holds_alternative<batch_machine::commit>(a))
            h = m.on(waybill::batch_machine::committed{});
        else if (waybill::holds_alternative<batch_machine::check_commit>(a))
            h = m.on(waybill::batch_machine::loaded{checkpoint{to, 4}});
        else h = m.on(waybill::batch_machine::done{});
        if (const auto* noted = waybill::get_if<batch_machine::store_crash_record>(&a))
            row = noted->row;
        if (waybill::holds_alternative<batch_machine::clear_crash_record>(a)) row.reset();
        CHECK(h == event_result::applied);
    }
    /// Of two events, 20 and 30.
    std::uint64_t within() const
    {
        if (!row) return 0;
        return row->to < 20 ? 0 : row->to < 30 ? 1 : 2;
    }
};

TEST_CASE(
    "batch_machine: the crash record is stored and committed before the first event is "
    "handled")
{
    batch_machine m = fresh(1);
    simulation w;
    w.run(m, "idle");
    CHECK(w.steps ==
          "recall, begin, note 1/0/8, commit, begin, savepoint, handle 0, release, advance, "
          "forget, commit, ");
    CHECK(m.ended() == batch_outcome::committed);

    batch_machine off = fresh(1, {.crash_records = false});
    CHECK(next_action(off) == "begin");
    batch_machine nameless = fresh(1, {}, 0);
    CHECK(next_action(nameless) == "begin");
    CHECK(fresh(0).ended() == batch_outcome::empty);
}

TEST_CASE("batch_machine: stale events about crash records change nothing")
{
    batch_machine m = fresh(1);
    const batch_machine before = m;
    CHECK(m.on(waybill::batch_machine::shortened{}) == event_result::stale);
    CHECK(m.on(waybill::batch_machine::all_failed_decided{}) == event_result::stale);
    CHECK(m.on(waybill::batch_machine::done{}) == event_result::stale);
    CHECK(m == before);
    simulation w;
    w.run(m, "handle 0");
    const batch_machine at_handle = m;
    CHECK(m.on(waybill::batch_machine::crash_record_loaded{}) == event_result::stale);
    CHECK(m == at_handle);
}

TEST_CASE(
    "batch_machine: a crash record that cannot be read or stored ends the delivery before "
    "handling")
{
    batch_machine unread = fresh();
    CHECK(unread.on(waybill::batch_machine::crash_record_loaded{{}, fault_kind::infrastructure}) ==
          event_result::applied);
    CHECK(unread.ended() == batch_outcome::redeliver);
    CHECK(unread.reason() == fault_kind::infrastructure);

    simulation w;
    batch_machine unwritten = fresh();
    w.run(unwritten, "note 2/0/8");
    CHECK(unwritten.on(waybill::batch_machine::done{fault_kind::infrastructure}) ==
          event_result::applied);
    CHECK(next_action(unwritten) == "rollback");
    w.steps.clear();
    w.run(unwritten, "idle");
    CHECK(w.steps == "rollback, ");  // it is not stored, so it need not be cleared

    for (const auto outcome : {commit_outcome::not_applied, commit_outcome::unknown}) {
        batch_machine m = fresh();
        w = {};
        w.run(m, "commit");
        CHECK(m.on(waybill::batch_machine::committed{outcome}) == event_result::applied);
        w.steps.clear();
        w.run(m, "idle");
        CHECK(w.steps ==
              (outcome == commit_outcome::unknown ? "recall, begin, forget, commit, " : ""));
        CHECK(m.ended() == batch_outcome::redeliver);
    }
}

TEST_CASE("batch_machine: after an orderly end, the crash record is cleared or restored")
{
    for (const auto how :
         {fault_kind::infrastructure, fault_kind::cancelled, fault_kind::ownership_lost}) {
        for (const bool known : {false, true}) {
            batch_machine m = fresh();
            simulation w;
            if (known) w.row = crash_record{10, 30, 2, 1, 7, 3};
            w.run(m, "handle 1");
            CHECK(m.on(handled{how}) == event_result::applied);
            CHECK(!m.restoring_record());
            w.steps.clear();
            const auto end = how == fault_kind::infrastructure ? batch_outcome::redeliver
                             : how == fault_kind::cancelled    ? batch_outcome::cancelled
                                                               : batch_outcome::ownership_lost;
            w.run(m, "idle");
            CHECK(m.ended() == end);
            CHECK(m.reason() == how);
            CHECK(w.steps == (known ? "rollback, recall, begin, note 2/2/0, commit, "
                                    : "rollback, recall, begin, forget, commit, "));
            CHECK(w.row ==
                  (known ? std::optional(crash_record{10, 30, 2, 2, 0, 4}) : std::nullopt));
        }
    }
}

TEST_CASE("batch_machine: a crash record that differs from the stored one is left unchanged")
{
    const crash_record noted{10, 30, 2, 0, me, 4};
    const std::optional<crash_record> rows[] = {std::nullopt,
                                                crash_record{30, 30, 2, 0, me, 4},
                                                crash_record{10, 20, 2, 0, me, 4},
                                                crash_record{10, 30, 1, 0, me, 4},
                                                crash_record{10, 30, 2, 1, me, 4},
                                                crash_record{10, 30, 2, 0, me + 1, 4},
                                                crash_record{10, 30, 2, 0, me, 5}};
    for (const auto& row : rows) {
        batch_machine m = fresh();
        simulation w;
        w.run(m, "handle 1");
        CHECK(w.row == noted);
        w.row = row;
        CHECK(m.on(handled{fault_kind::infrastructure}) == event_result::applied);
        w.steps.clear();
        w.run(m, "idle");
        CHECK(w.steps == "rollback, recall, ");
        CHECK(m.ended() == batch_outcome::redeliver);
        CHECK(m.reason() == fault_kind::infrastructure);
    }
}

TEST_CASE("batch_machine: the crash record is also cleared if the checkpoint cannot be loaded")
{
    batch_machine m = fresh();
    simulation w;
    w.run(m, "advance");
    w.step(m);
    w.step(m);
    w.row = crash_record{10, 30, 2, 0, me, 4};  // the clearing was not committed
    CHECK(m.on(waybill::batch_machine::committed{commit_outcome::unknown}) ==
          event_result::applied);
    CHECK(m.on(waybill::batch_machine::loaded{{}, fault_kind::transient}) == event_result::applied);
    w.steps.clear();
    w.run(m, "idle");
    CHECK(w.steps == "recall, begin, forget, commit, ");
    CHECK(m.ended() == batch_outcome::unknown);
    CHECK(m.reason() == fault_kind::transient);
}

TEST_CASE(
    "batch_machine: a crash record of a higher epoch is ownership_lost, and no event is "
    "handled")
{
    for (const std::uint64_t epoch : {3U, 4U, 5U}) {
        for (const std::optional<std::uint64_t> at : {std::optional<std::uint64_t>(10), {}}) {
            batch_machine m = fresh();
            CHECK(m.on(waybill::batch_machine::crash_record_loaded{
                      crash_record{at, 30, 2, 0, 7, epoch}}) == event_result::applied);
            CHECK((m.ended() == batch_outcome::ownership_lost) == (epoch == 5));
            CHECK(next_action(m) == (epoch == 5 ? "idle" : "begin"));
            if (epoch == 5) CHECK(m.reason() == fault_kind::ownership_lost);
        }
    }
}

TEST_CASE("batch_machine: a failure to clear the crash record does not change the outcome")
{
    for (const char* step : {"recall", "begin", "forget", "commit"}) {
        batch_machine m = fresh();
        simulation w;
        w.run(m, "handle 1");
        CHECK(m.on(handled{fault_kind::cancelled}) == event_result::applied);
        w.step(m);
        w.run(m, step);
        CHECK(m.restoring_record());
        if (std::string(step) == "commit")
            CHECK(m.on(waybill::batch_machine::committed{commit_outcome::unknown}) ==
                  event_result::applied);
        else if (std::string(step) == "recall")
            CHECK(m.on(waybill::batch_machine::crash_record_loaded{
                      w.row, fault_kind::ownership_lost}) == event_result::applied);
        else
            CHECK(m.on(waybill::batch_machine::done{fault_kind::ownership_lost}) ==
                  event_result::applied);
        if (std::string(step) == "forget") w.step(m);
        CHECK(m.ended() == batch_outcome::cancelled);
        CHECK(m.reason() == fault_kind::cancelled);
    }
}

TEST_CASE("batch_machine: without a count of suspects, the recorded number of suspects is used")
{
    for (const std::uint64_t suspects : {1U, 2U, 3U}) {
        batch_machine m = fresh(2, {.deaths = 9});
        CHECK(m.on(waybill::batch_machine::crash_record_loaded{
                  crash_record{10, 30, suspects, 5, 7, 3}}) == event_result::applied);
        CHECK(next_action(m) == (suspects == 1 ? "shorten 1" : "begin"));
    }
    // A single event is a poison message only if it is the recorded one, for any count.
    for (const std::uint64_t at : {15U, 20U}) {
        batch_machine m = fresh(2, {.deaths = 2});
        CHECK(m.on(waybill::batch_machine::crash_record_loaded{crash_record{10, at, 1, 5, 7, 3}}) ==
              event_result::applied);
        CHECK(m.on(waybill::batch_machine::shortened{{20, "20"}}) == event_result::applied);
        simulation w;
        w.run(m, at == 20 ? "dead_letter 0 6 condemned" : "note 1/0/8");
    }
}

TEST_CASE("batch_machine: another event than the single suspect is handled")
{
    batch_machine m = fresh(2, {.deaths = 2});
    CHECK(m.on(waybill::batch_machine::crash_record_loaded{
              crash_record{10, 25, 1, 5, 7, 3}, fault_kind::none, 1}) == event_result::applied);
    CHECK(next_action(m) == "shorten 1");
    CHECK(m.on(waybill::batch_machine::shortened{{20, "20"}}) == event_result::applied);
    simulation w;
    w.run(m, "note 1/0/8");
    w.run(m, "idle");
    CHECK(m.handled_events() == 1);
}

TEST_CASE(
    "batch_machine: after too many crashes half of the batch is handled, the rest stays "
    "suspected")
{
    batch_machine m = fresh(2, {.deaths = 2});
    simulation w;
    w.row = crash_record{10, 30, 2, 1, 7, 3};
    w.run(m, "idle");
    CHECK(w.steps ==
          "recall, shorten 1, begin, note 1/0/8, commit, begin, savepoint, handle 0, release, "
          "advance, "
          "note 1/0/0, commit, ");
    CHECK(m.events() == 1);
    CHECK(m.handled_events() == 1);

    // The commit of a shortened batch is read back with its new last event.
    batch_machine unknown = fresh(2, {.deaths = 2});
    w.row = crash_record{10, 30, 2, 1, 7, 3};
    w.run(unknown, "advance");
    w.run(unknown, "commit");
    CHECK(unknown.on(waybill::batch_machine::committed{commit_outcome::unknown}) ==
          event_result::applied);
    CHECK(unknown.on(waybill::batch_machine::loaded{checkpoint{{20, ""}, 4}}) ==
          event_result::applied);
    CHECK(unknown.ended() == batch_outcome::committed);
}

TEST_CASE("batch_machine: an event with too many crashes is dead-lettered without being handled")
{
    for (const bool savepoints : {true, false}) {
        batch_machine m =
            fresh(2, {.savepoints = savepoints, .decide_all_failed_from = 1, .deaths = 2});
        simulation w;
        w.row = crash_record{10, 20, 1, 1, 7, 3};
        w.run(m, "idle");
        CHECK(w.steps ==
              "recall, shorten 1, begin, dead_letter 0 2 condemned, advance, forget, commit, ");
        CHECK(m.ended() == batch_outcome::committed);
        CHECK(m.dead_lettered() == 1);
        CHECK(m.handled_events() == 0);
    }
}

TEST_CASE(
    "batch_machine: if every event failed, the caller decides before dead letters are "
    "written")
{
    for (const auto answer :
         {batch_policy::if_all_failed::go_on, batch_policy::if_all_failed::redeliver}) {
        for (const bool savepoints : {true, false}) {
            batch_policy p = one_try;
            p.savepoints = savepoints;
            batch_machine m = fresh(3, p, 0);
            simulation w;
            w.each = {fault_kind::permanent};
            w.answer = answer;
            w.run(m, "ask 3");
            const batch_machine before = m;
            CHECK(m.on(waybill::batch_machine::done{}) == event_result::stale);
            CHECK(m == before);
            w.run(m, "idle");
            CHECK(m.ended() == (answer == batch_policy::if_all_failed::go_on
                                    ? batch_outcome::committed
                                    : batch_outcome::redeliver));
            if (answer == batch_policy::if_all_failed::redeliver)
                CHECK(m.reason() == fault_kind::infrastructure);
        }
    }
}

TEST_CASE(
    "batch_machine: no decision is requested after a success, below the limit, or if it is "
    "off")
{
    const auto asks = [](std::uint64_t events, handled each, std::uint64_t decide_all_failed_from,
                         bool last_is_good) {
        batch_machine m = fresh(events, {.decide_all_failed_from = decide_all_failed_from}, 0);
        simulation w;
        w.each = each;
        bool asked = false;
        while (next_action(m) != "idle") {
            asked = asked || next_action(m).starts_with("ask");
            if (last_is_good && next_action(m) == "handle " + std::to_string(events - 1))
                w.each = {};
            w.step(m);
        }
        return asked;
    };
    const handled bad{fault_kind::permanent};
    CHECK(asks(2, bad, 2, false));
    CHECK(!asks(2, bad, 2, true));
    CHECK(!asks(1, bad, 2, false));
    CHECK(asks(1, bad, 1, false));
    CHECK(!asks(5, bad, waybill::detail::highest_size, false));
    CHECK(!asks(5, handled{}, 1, false));
    CHECK(!asks(5, handled{fault_kind::none, true}, 1, false));  // a skipped event is no failure
}

TEST_CASE("batch_machine: a skipped event is rolled back and counted separately")
{
    batch_machine m = fresh(2, {}, 0);
    simulation w;
    w.each = {fault_kind::none, true};
    w.run(m, "idle");
    CHECK(w.steps ==
          "begin, savepoint, handle 0, undo, savepoint, handle 1, undo, advance, commit, ");
    CHECK(m.skipped_events() == 2);
    CHECK(m.handled_events() == 0);
    CHECK(m.dead_lettered() == 0);

    batch_machine plain = fresh(2, {.savepoints = false}, 0);
    simulation v;
    v.each = {fault_kind::none, true};
    v.run(plain, "idle");
    CHECK(v.steps ==
          "begin, handle 0, rollback, begin, handle 1, rollback, begin, advance, commit, ");
    CHECK(plain.skipped_events() == 2);
    CHECK(plain.restarts() == 2);

    // A fault counts as a fault, together with any other result.
    batch_machine both = fresh(1, one_try, 0);
    simulation u;
    u.each = {fault_kind::permanent, true};
    u.run(both, "idle");
    CHECK(both.dead_lettered() == 1);
    CHECK(both.skipped_events() == 0);
}

TEST_CASE("batch_machine: with discard, no dead letter is written, and events count as dropped")
{
    for (const bool savepoints : {true, false}) {
        batch_machine m = fresh(
            2, {.savepoints = savepoints, .dead_letters = {.keeps = dead_letter_body::discard}}, 0);
        simulation w;
        w.each = {fault_kind::permanent};
        w.run(m, "ask 2");
        w.run(m, "idle");
        CHECK(w.steps.find("dead_letter") == std::string::npos);
        CHECK(m.dropped() == 2);
        CHECK(m.dead_lettered() == 0);
    }
}

TEST_CASE("batch_machine: with commit_check::always, the checkpoint is loaded after every commit")
{
    const struct {
        commit_outcome said;
        std::optional<checkpoint> stored;
        batch_outcome end;
    } cases[] = {
        {commit_outcome::applied, checkpoint{to, 4}, batch_outcome::committed},
        {commit_outcome::applied, checkpoint{from, 4}, batch_outcome::redeliver},  // a wrong result
        {commit_outcome::applied, checkpoint{to, 5}, batch_outcome::ownership_lost},
        {commit_outcome::not_applied, checkpoint{to, 4},
         batch_outcome::committed},  // the other wrong result
        {commit_outcome::not_applied, checkpoint{from, 4}, batch_outcome::redeliver},
        {commit_outcome::unknown, checkpoint{to, 4}, batch_outcome::committed},
    };
    for (const auto& c : cases) {
        batch_machine m = fresh(1, {.check_commit = batch_policy::commit_check::always}, 0);
        simulation w;
        w.run(m, "commit");
        CHECK(m.on(waybill::batch_machine::committed{c.said}) == event_result::applied);
        CHECK(next_action(m) == "read_back");
        CHECK(m.on(waybill::batch_machine::loaded{c.stored}) == event_result::applied);
        CHECK(m.ended() == c.end);
    }
    batch_machine m = fresh(1, {.check_commit = batch_policy::commit_check::always}, 0);
    simulation w;
    w.run(m, "read_back");
    CHECK(m.on(waybill::batch_machine::loaded{{}, fault_kind::infrastructure}) ==
          event_result::applied);
    CHECK(m.ended() == batch_outcome::unknown);
}

}  // namespace
}  // namespace batch_steps_test

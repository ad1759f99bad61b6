// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <waybill/consume/batch_machine.hpp>

namespace batch_machine_test {
namespace {

namespace act = waybill::act;
using waybill::advance_outcome;
using waybill::advanced;
using waybill::batch_end;
using waybill::batch_machine;
using waybill::batch_policy;
using waybill::checkpoint;
using waybill::commit_outcome;
using waybill::committed;
using waybill::done;
using waybill::fault_class;
using waybill::handled;
using waybill::heard;
using waybill::loaded;
using waybill::position;
using waybill::when_exhausted;

const position from{10, "10"};
const position to{30, "30"};
constexpr std::uint64_t epoch = 4;

static_assert(!waybill::check(batch_policy{}));
static_assert(waybill::check(batch_policy{.tries = 0})->field == "tries");
static_assert(name(batch_end::abandoned) == "abandoned" && name(batch_end::unknown) == "unknown");

constexpr fault_class every_fault[] = {fault_class::transient, fault_class::permanent, fault_class::infrastructure,
                                       fault_class::ownership_lost, fault_class::cancelled};

batch_end end_of(fault_class how)
{
    if (how == fault_class::ownership_lost) return batch_end::abandoned;
    return how == fault_class::cancelled ? batch_end::cancelled : batch_end::redeliver;
}

batch_machine fresh(std::uint64_t events = 2, batch_policy p = {}) { return {events, from, to, epoch, p}; }

/// Says what an action is, with its numbers.
std::string told(const batch_machine& m)
{
    struct teller {
        std::string operator()(const act::recall&) const { return "recall"; }
        std::string operator()(const act::shorten& a) const { return "shorten " + std::to_string(a.events); }
        std::string operator()(const act::begin&) const { return "begin"; }
        std::string operator()(const act::note& a) const
        {
            return "note " + std::to_string(a.row.suspects) + " suspects, " + std::to_string(a.row.deaths) +
                   " deaths, by " + std::to_string(a.row.by);
        }
        std::string operator()(const act::forget&) const { return "forget"; }
        std::string operator()(const act::ask& a) const { return "ask " + std::to_string(a.failed); }
        std::string operator()(const act::savepoint&) const { return "savepoint"; }
        std::string operator()(const act::handle& a) const { return "handle " + std::to_string(a.event); }
        std::string operator()(const act::release&) const { return "release"; }
        std::string operator()(const act::undo&) const { return "undo"; }
        std::string operator()(const act::dead_letter& a) const
        {
            return "dead_letter " + std::to_string(a.event) + " " + std::string(name(a.how)) + " " +
                   std::to_string(a.tries);
        }
        std::string operator()(const act::advance&) const { return "advance"; }
        std::string operator()(const act::commit&) const { return "commit"; }
        std::string operator()(const act::rollback&) const { return "rollback"; }
        std::string operator()(const act::read_back&) const { return "read_back"; }
        std::string operator()(const act::idle&) const { return "idle"; }
    };
    return std::visit(teller{}, m.next());
}

/// Answers each step as a good world would, up to (not including) the action called `stop`.
void go_to(batch_machine& m, const std::string& stop)
{
    for (int steps = 0; steps != 100 && told(m) != stop && told(m) != "idle"; ++steps) {
        const auto a = m.next();
        heard h = heard::late;
        if (std::holds_alternative<act::handle>(a)) h = m.on(handled{});
        else if (std::holds_alternative<act::advance>(a)) h = m.on(advanced{});
        else if (std::holds_alternative<act::commit>(a)) h = m.on(committed{});
        else if (std::holds_alternative<act::read_back>(a)) h = m.on(loaded{});
        else h = m.on(done{});
        CHECK(h == heard::taken);
    }
    CHECK(told(m) == stop);
}

/// All events that do not answer what the machine asks for are late, and change nothing. Asking
/// changes nothing either.
void only_takes(const batch_machine& m, const std::string& what)
{
    const batch_machine before = m;
    CHECK(m.next() == m.next());
    CHECK(m.next(waybill::steady_time{}) == m.next());
    CHECK(m == before);
    const auto late = [&](const auto& event) {
        batch_machine copy = m;
        const bool taken = copy.on(event) == heard::taken;
        if (!taken) CHECK(copy == before);
        batch_machine timed = m;
        CHECK((timed.on(event, waybill::steady_time{}) == heard::taken) == taken);
        CHECK(timed == copy);
        return !taken;
    };
    INFO(told(m), " takes ", what);
    CHECK(late(done{}) == (what != "done"));
    CHECK(late(done{fault_class::infrastructure}) == (what != "done"));
    CHECK(late(handled{}) == (what != "handled"));
    CHECK(late(handled{fault_class::permanent}) == (what != "handled"));
    CHECK(late(advanced{}) == (what != "advanced"));
    CHECK(late(committed{}) == (what != "committed"));
    CHECK(late(loaded{}) == (what != "loaded"));
    CHECK(m == before);
}

TEST_CASE("batch_machine: a good batch, step by step")
{
    batch_machine m = fresh();
    const char* steps[] = {"begin", "savepoint", "handle 0", "release", "savepoint", "handle 1", "release", "advance", "commit"};
    for (const char* step : steps) {
        CHECK(told(m) == step);
        CHECK(!m.ended());
        const std::string s = step;
        only_takes(m, s == "advance" ? "advanced" : s == "commit" ? "committed" : s.starts_with("handle") ? "handled" : "done");
        if (s == "advance") CHECK(m.on(advanced{}) == heard::taken);
        else if (s == "commit") CHECK(m.on(committed{}) == heard::taken);
        else if (s.starts_with("handle")) CHECK(m.on(handled{}) == heard::taken);
        else CHECK(m.on(done{}) == heard::taken);
    }
    CHECK(m.ended() == batch_end::committed);
    CHECK(m.why() == fault_class::none);
    CHECK(m.handled_events() == 2);
    CHECK(m.dead_lettered() == 0);
    CHECK(told(m) == "idle");
    only_takes(m, "nothing");
}

TEST_CASE("batch_machine: a step that fails rolls back, and nothing is blamed on an event")
{
    for (const fault_class how : every_fault) {
        INFO(std::string(name(how)));
        batch_machine begin = fresh();
        CHECK(begin.on(done{how}) == heard::taken);
        CHECK(begin.ended() == end_of(how));
        CHECK(begin.why() == how);
        for (const char* step : {"savepoint", "release", "undo", "dead_letter 0 permanent 1"}) {
            batch_machine m = fresh();
            const bool failing = std::string(step) == "undo" || std::string(step)[0] == 'd';
            go_to(m, failing ? "handle 0" : step);
            if (failing) {
                CHECK(m.on(handled{fault_class::permanent}) == heard::taken);
                go_to(m, step);
            }
            CHECK(m.on(done{how}) == heard::taken);
            CHECK(told(m) == "rollback");
            only_takes(m, "done");
            CHECK(m.on(done{fault_class::infrastructure}) == heard::taken);
            CHECK(m.ended() == end_of(how));
            CHECK(m.why() == how);
            only_takes(m, "nothing");
        }
        batch_machine m = fresh();
        go_to(m, "advance");
        CHECK(m.on(advanced{advance_outcome::applied, how}) == heard::taken);
        CHECK(told(m) == "rollback");
        CHECK(m.on(done{}) == heard::taken);
        CHECK(m.ended() == end_of(how));
    }
}

TEST_CASE("batch_machine: somebody else's checkpoint ends it")
{
    for (const auto outcome : {advance_outcome::conflict, advance_outcome::stale_epoch}) {
        batch_machine m = fresh();
        go_to(m, "advance");
        CHECK(m.on(advanced{outcome}) == heard::taken);
        CHECK(told(m) == "rollback");
        CHECK(m.on(done{}) == heard::taken);
        CHECK(m.ended() == batch_end::abandoned);
        CHECK(m.why() == fault_class::ownership_lost);
    }
}

TEST_CASE("batch_machine: an event that fails for good is undone and parked, and the next one comes")
{
    batch_machine m = fresh();
    go_to(m, "handle 0");
    CHECK(m.on(handled{fault_class::permanent}) == heard::taken);
    CHECK(told(m) == "undo");
    only_takes(m, "done");
    CHECK(m.on(done{}) == heard::taken);
    CHECK(told(m) == "dead_letter 0 permanent 1");
    only_takes(m, "done");
    CHECK(m.on(done{}) == heard::taken);
    go_to(m, "handle 1");
    go_to(m, "commit");
    CHECK(m.on(committed{}) == heard::taken);
    CHECK(m.handled_events() == 1);
    CHECK(m.dead_lettered() == 1);
}

TEST_CASE("batch_machine: a transient event is tried again, and then parked or delivered again")
{
    for (const auto then : {when_exhausted::dead_letter, when_exhausted::redeliver}) {
        batch_machine m = fresh(1, {.tries = 3, .on_exhausted = then});
        for (int tries = 1; tries <= 3; ++tries) {
            go_to(m, "handle 0");
            CHECK(m.on(handled{fault_class::transient}) == heard::taken);
            if (tries < 3) CHECK(told(m) == "undo");
        }
        if (then == when_exhausted::redeliver) {
            CHECK(told(m) == "rollback");
            CHECK(m.on(done{}) == heard::taken);
            CHECK(m.ended() == batch_end::redeliver);
            CHECK(m.why() == fault_class::transient);
        } else {
            go_to(m, "dead_letter 0 transient 3");
            go_to(m, "idle");
            CHECK(m.dead_lettered() == 1);
        }
    }
    batch_machine none = fresh(1, {.tries = 0, .on_exhausted = when_exhausted::dead_letter});
    go_to(none, "handle 0");
    CHECK(none.on(handled{fault_class::transient}) == heard::taken);
    go_to(none, "dead_letter 0 transient 1");
}

TEST_CASE("batch_machine: what a handler says about the world outside ends the delivery")
{
    for (const auto how : {fault_class::infrastructure, fault_class::ownership_lost, fault_class::cancelled}) {
        for (const bool savepoints : {true, false}) {
            batch_machine m = fresh(2, {.savepoints = savepoints});
            go_to(m, "handle 1");
            CHECK(m.on(handled{how}) == heard::taken);
            CHECK(told(m) == "rollback");
            CHECK(m.on(done{}) == heard::taken);
            CHECK(m.ended() == end_of(how));
            CHECK(m.why() == how);
        }
    }
}

TEST_CASE("batch_machine: without savepoints the batch begins anew, without the event that failed")
{
    batch_machine m = fresh(3, {.tries = 2, .savepoints = false});
    go_to(m, "handle 1");
    CHECK(m.on(handled{fault_class::permanent}) == heard::taken);
    CHECK(told(m) == "rollback");
    CHECK(m.on(done{}) == heard::taken);
    CHECK(!m.ended());
    CHECK(m.replays() == 1);
    go_to(m, "handle 0");
    CHECK(m.on(handled{fault_class::permanent}) == heard::taken);
    CHECK(m.on(done{}) == heard::taken);
    CHECK(told(m) == "begin");
    go_to(m, "handle 2");
    CHECK(m.on(handled{}) == heard::taken);
    CHECK(told(m) == "dead_letter 0 permanent 1");
    only_takes(m, "done");
    CHECK(m.on(done{}) == heard::taken);
    CHECK(told(m) == "dead_letter 1 permanent 1");
    CHECK(m.on(done{}) == heard::taken);
    go_to(m, "idle");
    CHECK(m.ended() == batch_end::committed);
    CHECK(m.handled_events() == 1);
    CHECK(m.dead_lettered() == 2);
}

TEST_CASE("batch_machine: without savepoints two events that fail in turns use up their tries")
{
    batch_machine m = fresh(2, {.tries = 3, .on_exhausted = when_exhausted::dead_letter, .savepoints = false, .ask_from = 3});
    std::uint32_t calls[2] = {0, 0};
    int steps = 0;
    for (; steps != 1'000 && !m.ended(); ++steps) {
        const auto a = m.next();
        if (const auto* h = std::get_if<act::handle>(&a)) {
            // The first fails at every odd call, the second whenever it is reached.
            const bool fails = h->event == 1 || calls[0] % 2 == 0;
            ++calls[h->event];
            CHECK(m.on(handled{fails ? fault_class::transient : fault_class::none}) == heard::taken);
        } else if (std::holds_alternative<act::advance>(a)) {
            CHECK(m.on(advanced{}) == heard::taken);
        } else if (std::holds_alternative<act::commit>(a)) {
            CHECK(m.on(committed{}) == heard::taken);
        } else {
            CHECK(m.on(done{}) == heard::taken);
        }
    }
    CHECK(m.ended() == batch_end::committed);
    CHECK(steps < 100);
    CHECK(m.replays() <= 6);
}

TEST_CASE("batch_machine: a commit of which nobody knows is read back")
{
    const auto ended_with = [](const loaded& r) {
        batch_machine m = fresh();
        go_to(m, "commit");
        CHECK(m.on(committed{commit_outcome::unknown}) == heard::taken);
        CHECK(told(m) == "read_back");
        only_takes(m, "loaded");
        CHECK(m.on(r) == heard::taken);
        only_takes(m, "nothing");
        return *m.ended();
    };
    CHECK(ended_with({checkpoint{to, epoch}}) == batch_end::committed);
    CHECK(ended_with({checkpoint{position{30, "said otherwise"}, epoch}}) == batch_end::committed);
    CHECK(ended_with({checkpoint{from, epoch}}) == batch_end::redeliver);
    CHECK(ended_with({checkpoint{from, epoch - 1}}) == batch_end::redeliver);
    CHECK(ended_with({checkpoint{to, epoch + 1}}) == batch_end::abandoned);
    CHECK(ended_with({checkpoint{position{31, ""}, epoch}}) == batch_end::abandoned);
    CHECK(ended_with({checkpoint{position{20, ""}, epoch}}) == batch_end::abandoned);
    CHECK(ended_with({std::nullopt}) == batch_end::abandoned);
    CHECK(ended_with({std::nullopt, fault_class::infrastructure}) == batch_end::unknown);

    // From the beginning "absent" is what was before.
    batch_machine first(1, {}, to, epoch);
    go_to(first, "commit");
    CHECK(first.on(committed{commit_outcome::unknown}) == heard::taken);
    batch_machine other = first;
    CHECK(first.on(loaded{std::nullopt}) == heard::taken);
    CHECK(first.ended() == batch_end::redeliver);
    CHECK(other.on(loaded{checkpoint{position{0, ""}, epoch}}) == heard::taken);
    CHECK(other.ended() == batch_end::abandoned);
}

TEST_CASE("batch_machine: a commit that was not applied is delivered again")
{
    batch_machine m = fresh();
    go_to(m, "commit");
    CHECK(m.on(committed{commit_outcome::not_applied}) == heard::taken);
    CHECK(m.ended() == batch_end::redeliver);
    CHECK(m.why() == fault_class::infrastructure);
}

TEST_CASE("batch_machine: nothing to do is over at once")
{
    batch_machine m = fresh(0);
    CHECK(m.ended() == batch_end::empty);
    CHECK(told(m) == "idle");
    only_takes(m, "nothing");
}

TEST_CASE("batch_machine: a copy is a snapshot")
{
    batch_machine m = fresh();
    go_to(m, "handle 1");
    const batch_machine before = m;
    batch_machine copy = m;
    CHECK(copy.on(handled{fault_class::permanent}) == heard::taken);
    CHECK(m == before);
    CHECK(copy != before);
    m = copy;
    CHECK(told(m) == "undo");
}

}  // namespace
}  // namespace batch_machine_test

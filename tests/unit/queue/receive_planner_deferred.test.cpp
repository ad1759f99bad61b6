// SPDX-License-Identifier: MIT
//
// A receive_planner whose pointers are the entries of a deferred_messages.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/queue/deferred_messages.hpp>
#include <waybill/queue/receive_planner.hpp>

namespace receive_planner_deferred_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;

// A queue with nothing but deferred messages, and one consumer of it.
struct simulation {
    explicit simulation(const deferral_options& o = {}) : deferrals(o) {}

    deferred_messages deferrals;
    receive_planner in{{.max_in_flight = 4, .breaker = {.timeout = 10s, .half_open_steps = 1}}};
    std::map<std::uint64_t, deferred_messages::taken> pairs{};
    std::map<std::uint64_t, bool> at_broker{};
    std::map<std::uint64_t, int> fails{};  // failures of each, before it succeeds
    std::string log{};
    duration passed{};
    bool again = true;       // failed messages are deferred again
    duration handling = {};  // for how long a handler works
    duration deferred_after = {};

    [[nodiscard]] steady_time now() const { return steady_time::at(1h) + passed; }
    [[nodiscard]] wall_time wall() const { return wall_time::at(50 * 365 * 24h) + passed; }
    [[nodiscard]] steady_time steady(std::optional<wall_time> due) const
    {
        return due ? now() + (*due - wall()) : steady_time::highest();
    }

    void put(std::uint64_t sequence, duration due, std::string session = {})
    {
        at_broker[sequence] = true;
        deferrals.defer({.sequence = sequence, .due = wall() + due, .session = std::move(session)});
    }

    void handle(std::uint64_t number)
    {
        const deferred_messages::taken h = pairs[number];
        log += std::to_string(h.entry.sequence);
        passed = passed + handling;
        if (--fails[h.entry.sequence] < 0) {
            in.on(receive_planner::work_done{number}, now());
        } else if (again) {
            log += "again ";
            deferred once_more = h.entry;
            once_more.due = wall() + duration(20s);
            ++once_more.attempts;
            deferrals.defer(once_more);
            in.on(receive_planner::work_done{number, fault_kind::transient, true}, now());
        } else {
            log += "failed ";
            in.on(receive_planner::work_done{number, fault_kind::transient}, now());
        }
    }

    receive_planner::settle_result settle(const receive_planner::settle_original& a)
    {
        const std::uint64_t sequence = pairs[a.work].entry.sequence;
        if (a.as == receive_planner::settle_as::complete) {
            at_broker.erase(sequence);
            log += "ok ";
        }
        return receive_planner::settle_result::done;
    }

    receive_planner::settle_result settle(const receive_planner::settle_message& a)
    {
        const deferred_messages::taken h = pairs[a.work];
        const bool over = a.as == receive_planner::settle_as::complete;
        const event_result was = over ? deferrals.settled(h.entry.sequence, h.ticket)
                                      : deferrals.give_back(h.entry.sequence, h.ticket);
        pairs.erase(a.work);
        return was == event_result::applied ? receive_planner::settle_result::done
                                            : receive_planner::settle_result::not_found;
    }

    void run()
    {
        for (int steps = 0; !deferrals.empty(); ++steps) {
            REQUIRE(steps < 1'000);
            match(
                in.next(now()),
                [&](receive_planner::take_due_pairs a) {
                    const std::vector<deferred_messages::taken> due =
                        deferrals.take(wall(), now(), a.max_pairs);
                    for (const deferred_messages::taken& h : due) pairs[a.first++] = h;
                    in.on(receive_planner::pairs_taken{due.size(), steady(deferrals.next_due())},
                          now());
                },
                [&](receive_planner::receive_deferred a) {
                    const bool there = at_broker.contains(pairs[a.work].entry.sequence) &&
                                       passed >= deferred_after;
                    const auto said = there ? receive_planner::settle_result::done
                                            : receive_planner::settle_result::not_found;
                    in.on(
                        receive_planner::original_fetched{a.work, said, pairs[a.work].redelivered},
                        now());
                    if (there) handle(a.work);
                },
                [&](receive_planner::receive) {
                    in.on(receive_planner::messages_received{}, now());
                },
                [&](receive_planner::settle_original a) {
                    in.on(receive_planner::original_settled{a.work, settle(a)}, now());
                },
                [&](receive_planner::settle_message a) {
                    in.on(receive_planner::message_settled{a.work, settle(a)}, now());
                },
                [&](wait_until w) { passed = w.time - steady_time::at(1h); },
                [&](idle) { FAIL("there is something to do"); });
            for (const auto& [sequence, there] : at_broker)
                REQUIRE(deferrals.find(sequence) != nullptr);
        }
    }
};

TEST_CASE("receive_planner, deferred: a due entry is handled when due, then removed from both")
{
    simulation w;
    w.put(1, 0s);
    w.put(2, 90s);
    w.put(3, 5s);
    w.run();
    CHECK(w.log == "1ok 3ok 2ok ");
    CHECK(w.at_broker.empty());
    CHECK(w.passed >= duration(90s));
    CHECK(w.passed < duration(92s));
}

TEST_CASE(
    "receive_planner, deferred: an entry deferred again stays when its pointer is "
    "completed")
{
    simulation w;
    w.fails = {{1, 2}};
    w.put(1, 0s, "a");
    w.put(2, 0s, "a");
    w.run();
    CHECK(w.log == "1again 1again 1ok 2ok ");
    CHECK(w.passed >= duration(40s));
    CHECK(w.passed < duration(43s));
}

TEST_CASE("receive_planner, deferred: a failed entry not deferred again is given back and retried")
{
    simulation w;
    w.again = false;
    w.fails = {{1, 1}};
    w.put(1, 0s);
    w.put(2, 0s);
    w.run();
    CHECK(w.log == "1failed 2ok 1ok ");
    CHECK(w.passed <= duration(2s));
}

TEST_CASE(
    "receive_planner, deferred: a handler that exceeds the deadline is ignored, and so is its "
    "ticket")
{
    simulation w;
    w.handling = 10s;
    w.put(1, 0s);
    REQUIRE(w.in.next(w.now()) == receive_planner::action(receive_planner::take_due_pairs{0, 4}));
    w.pairs[0] = w.deferrals.take(w.wall(), w.now(), 1)[0];
    w.in.on(receive_planner::pairs_taken{1}, w.now());
    w.in.on(receive_planner::original_fetched{0}, w.now());
    w.handle(0);
    // `next` was not called at the deadline; it is late anyway.
    REQUIRE(w.in.next(w.now()) == receive_planner::action(receive_planner::settle_message{
                                      0, receive_planner::settle_as::give_back}));
    w.in.on(receive_planner::message_settled{0, w.settle(receive_planner::settle_message{
                                                    0, receive_planner::settle_as::give_back})},
            w.now());
    w.handling = {};
    w.run();
    CHECK(w.log == "11ok ");
}

TEST_CASE(
    "receive_planner, deferred: an entry whose original is not found is removed after its hold")
{
    simulation w({.hold = 60s});
    w.put(1, 0s);
    w.at_broker.clear();
    w.run();
    CHECK(w.log.empty());
    CHECK(w.passed >= duration(60s));
    CHECK(w.passed < duration(95s));
}

TEST_CASE("receive_planner, deferred: an entry that is due before its message is deferred stays")
{
    simulation w({.hold = 60s});
    w.put(1, 0s);
    w.deferred_after = 20s;  // another thread defers it: its clock is late
    w.run();
    CHECK(w.log == "1ok ");
}

}  // namespace
}  // namespace receive_planner_deferred_test

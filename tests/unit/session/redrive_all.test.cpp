// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/environment.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/session/redrive_all.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>

namespace redrive_all_test {
namespace {

using namespace std::chrono_literals;
using waybill::dead_letter_reason;
using waybill::fault;
using waybill::pipeline_dead_letter;
using waybill::redrive;
using waybill::redrive_all;
using message = waybill::redrive_plan::planned_message;
using table = waybill::testing::memory_pipeline_dead_letters;
using environment = waybill::testing::manual_environment;
using texts = std::vector<std::string>;

// The dead letter of `step` of 5, in a session that stopped at `stopped_at`.
pipeline_dead_letter letter(std::string session, std::uint64_t step, std::uint64_t stopped_at,
                            dead_letter_reason reason = dead_letter_reason::failed)
{
    pipeline_dead_letter l;
    l.body = session + "/" + std::to_string(step);
    l.properties = {std::move(session), step, 1, 5, step == 5};
    l.sequence = 100 + step;
    l.reason = step == stopped_at ? reason : dead_letter_reason::session_failed;
    l.resume_at = stopped_at;
    if (step == stopped_at) l.state = "state";
    l.dead_lettered_at = waybill::wall_time::at(1h);
    return l;
}

table dead_letters_of(std::string session, std::uint64_t stopped_at,
                      dead_letter_reason reason = dead_letter_reason::failed)
{
    table t;
    for (std::uint64_t step = stopped_at; step != 6; ++step)
        t.upsert(letter(session, step, stopped_at, reason));
    return t;
}

void add(table& to, const table& from)
{
    for (const auto& row : from.letters()) to.upsert(row.second);
}

struct queue {
    texts bodies;
    texts ids;
    fault next{};  // of the next calls

    fault send(const message& m)
    {
        if (!next.ok()) return next;
        bodies.emplace_back(m.body);
        ids.push_back(m.message_id);
        return {};
    }
};

TEST_CASE("redrive_all: sessions that failed at the given step are sent again in order")
{
    table dead_letters = dead_letters_of("order-1", 4);
    add(dead_letters, dead_letters_of("order-2", 4, dead_letter_reason::exhausted));
    add(dead_letters, dead_letters_of("order-3", 3));
    queue q;
    environment env;
    const auto r = redrive_all(
        dead_letters, {.failed_step = 4}, [&](const auto& m) { return q.send(m); }, env);
    CHECK(q.bodies == texts{"order-1/4", "order-1/5", "order-2/4", "order-2/5"});
    CHECK(q.ids.front() == "order-1/00000000000000000104~1");
    CHECK(r.ok());
    CHECK(r.sent == 4);
    CHECK(r.removed == 4);
    CHECK(r.filtered == 3);
    CHECK(describe(r) == "finished: 4 sent, 4 removed, 0 held back");
    CHECK(dead_letters.letters().size() == 3);
    CHECK(env.slept() == waybill::duration{});
}

TEST_CASE("redrive_all: the message has the properties, the origin and the state")
{
    table dead_letters = dead_letters_of("order-1", 4);
    std::vector<message> sent;
    environment env;
    const auto r = redrive_all(
        dead_letters, {},
        [&](const message& m, const pipeline_dead_letter& l) {
            CHECK(m.body == l.body);
            sent.push_back(m);
            sent.back().body = {};
        },
        env);
    CHECK(r.ok());
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].properties == waybill::step_properties{"order-1~1", 4, 4, 5, false});
    CHECK(sent[0].origin == waybill::step_properties::origin{"order-1", 104, 1, 0, "state"});
    CHECK(sent[1].properties == waybill::step_properties{"order-1~1", 5, 4, 5, true});
    CHECK(sent[1].origin.state.empty());
}

TEST_CASE("redrive_all: an empty table sends nothing, and filters select sessions")
{
    table dead_letters;
    queue q;
    environment env;
    const auto send = [&](const message& m) { return q.send(m); };
    CHECK(redrive_all(dead_letters, {}, send, env).ok());
    dead_letters = dead_letters_of("order-1", 4);
    const auto r = redrive_all(dead_letters, {.failed_step = 2}, send, env);
    CHECK(r.ok());
    CHECK(r.filtered == 2);
    CHECK(redrive_all(dead_letters, {.reasons = {dead_letter_reason::gap}}, send, env).sent == 0);
    CHECK(redrive_all(dead_letters, {.dead_lettered_from = waybill::wall_time::at(2h)}, send, env)
              .sent == 0);
    CHECK(redrive_all(dead_letters, {.session = "order-2"}, send, env).sent == 0);
    CHECK(redrive_all(dead_letters, {.session = "order-1"}, send, env).sent == 2);
}

TEST_CASE("redrive_all: the oldest session is sent first")
{
    table dead_letters;
    const auto at = [&](std::string session, waybill::duration age) {
        for (std::uint64_t step = 4; step != 6; ++step) {
            pipeline_dead_letter l = letter(session, step, 4);
            l.dead_lettered_at = waybill::wall_time::at(age + 1s * static_cast<int>(step));
            dead_letters.upsert(l);
        }
    };
    at("order-1", 3h);
    at("order-2", 2h);
    at("order-3", -1h);
    queue q;
    environment env;
    CHECK(redrive_all(dead_letters, {}, [&](const auto& m) { return q.send(m); }, env).ok());
    CHECK(q.bodies ==
          texts{"order-3/4", "order-3/5", "order-2/4", "order-2/5", "order-1/4", "order-1/5"});
}

TEST_CASE(
    "redrive_all: a refused message keeps the rest of its session, and other sessions are sent")
{
    table dead_letters = dead_letters_of("order-1", 3);
    add(dead_letters, dead_letters_of("order-2", 4));
    queue q;
    environment env;
    bool refuses = true;
    const auto send = [&](const message& m) {
        if (refuses && m.body == "order-1/4") return waybill::permanent("too large");
        return q.send(m);
    };
    const auto r = redrive_all(dead_letters, {}, send, env);
    CHECK(q.bodies == texts{"order-1/3", "order-2/4", "order-2/5"});
    CHECK(r.outcome == redrive::redrive_outcome::finished);
    CHECK(!r.ok());
    REQUIRE(r.refused.size() == 1);
    CHECK(describe(r.refused[0]) == "order-1, step 4 (104): permanent: too large");
    CHECK(dead_letters.letters().size() == 3);
    refuses = false;
    CHECK(redrive_all(dead_letters, {}, send, env).ok());
    CHECK(q.bodies == texts{"order-1/3", "order-2/4", "order-2/5", "order-1/4", "order-1/5"});
    CHECK(dead_letters.letters().empty());
}

TEST_CASE("redrive_all: a queue that always throttles ends the call")
{
    table dead_letters = dead_letters_of("order-1", 4);
    environment env;
    int calls = 0;
    const auto throttled = [&](const message&) {
        ++calls;
        return waybill::call_answer{waybill::transient("busy"), 1h};
    };
    const auto r = redrive_all(dead_letters, {}, throttled, env);
    CHECK(r.outcome == redrive::redrive_outcome::stopped);
    CHECK(r.reason == waybill::transient("busy"));
    CHECK(r.in_doubt == 0);
    CHECK(calls == 5);
    // The broker's delay before each of four calls, and the jitter after it.
    CHECK(env.slept() >= waybill::duration(4h));
    CHECK(env.slept() < waybill::duration(4h + 2min));
    CHECK(dead_letters == dead_letters_of("order-1", 4));
    CHECK(describe(r) == "stopped (transient: busy): 0 sent, 0 removed, 0 held back");
}

TEST_CASE("redrive_all: an unknown outcome is repeated with the same id and reported")
{
    table dead_letters = dead_letters_of("order-1", 5);
    texts ids;
    environment env;
    const auto r = redrive_all(
        dead_letters, {},
        [&](const message& m) {
            ids.push_back(m.message_id);
            return ids.size() < 3 ? waybill::infrastructure("connection lost") : fault{};
        },
        env);
    CHECK(r.ok());
    CHECK(r.in_doubt == 2);
    CHECK(ids.size() == 3);
    CHECK(ids[0] == ids[2]);
    CHECK(describe(r) == "finished: 1 sent, 1 removed, 0 held back, 2 in doubt");
}

TEST_CASE("redrive_all: max_per_second spaces messages evenly")
{
    table dead_letters = dead_letters_of("order-1", 1);
    environment env;
    std::vector<waybill::steady_time> times;
    const auto send = [&](const message&) {
        times.push_back(env.now());
        env.advance(10ms);
        return fault{};
    };
    CHECK(redrive_all(dead_letters, {}, send, {.max_per_second = 4}, env).ok());
    REQUIRE(times.size() == 5);
    for (std::size_t i = 1; i != 5; ++i) CHECK(times[i] - times[i - 1] == waybill::duration(250ms));
    // A clock that is set back delays the next message by one interval at most.
    dead_letters = dead_letters_of("order-1", 4);
    const auto back = [&](const message&) {
        env.advance(-1h);
        return fault{};
    };
    const waybill::duration before = env.slept();
    CHECK(redrive_all(dead_letters, {}, back, {.max_per_second = 4}, env).ok());
    CHECK(env.slept() - before <= waybill::duration(250ms));
}

TEST_CASE("redrive_all: a stop request ends the call, and a further call continues")
{
    table dead_letters = dead_letters_of("order-1", 1);
    queue q;
    environment env;
    redrive::redrive_report r;
    const auto send = [&](const message& m) {
        if (q.bodies.size() == 2) env.stop_at(env.now());
        return q.send(m);
    };
    redrive_all(dead_letters, {}, send, {}, env, r);
    CHECK(r.outcome == redrive::redrive_outcome::running);
    CHECK(r.sent == 3);
    CHECK(r.removed == 0);
    redrive_all(dead_letters, {}, send, {}, env, r);  // still stopped
    CHECK(r.sent == 3);
    env.stop_at(waybill::steady_time::highest());
    const auto go_on = [&](const message& m) { return q.send(m); };
    redrive_all(dead_letters, {}, go_on, {}, env, r);
    CHECK(r.ok());
    CHECK(r.sent == 5);
    CHECK(q.bodies == texts{"order-1/1", "order-1/2", "order-1/3", "order-1/4", "order-1/5"});
    CHECK(dead_letters.letters().empty());
    // A time limit.
    dead_letters = dead_letters_of("order-1", 1);
    const auto limited = redrive_all(dead_letters, {}, go_on, {.max_per_second = 1},
                                     waybill::time_limited(env, 2500ms));
    CHECK(limited.outcome == redrive::redrive_outcome::running);
    CHECK(limited.sent == 3);
}

TEST_CASE("redrive_all: damaged sessions are held back unless the options send them")
{
    table dead_letters;
    dead_letters.upsert(letter("order-1", 5, 3));
    queue q;
    environment env;
    const auto send = [&](const message& m) { return q.send(m); };
    const auto r = redrive_all(dead_letters, {}, send, env);
    CHECK(r.held_back == 1);
    CHECK(!r.ok());
    CHECK(r.outcome == redrive::redrive_outcome::finished);
    CHECK(redrive_all(dead_letters, {}, send, {.options = {.damaged = true}}, env).ok());
    CHECK(q.bodies == texts{"order-1/5"});
}

TEST_CASE("redrive_all: refuses a filter that selects nothing, and an invalid policy")
{
    table dead_letters = dead_letters_of("order-1", 4);
    queue q;
    environment env;
    const auto send = [&](const message& m) { return q.send(m); };
    const auto r = redrive_all(dead_letters, {.failed_step = 4, .from_step = 5}, send, env);
    CHECK(r.outcome == redrive::redrive_outcome::stopped);
    CHECK(r.reason ==
          waybill::permanent("filter.failed_step is 4: must be at least filter.from_step (5)"));
    CHECK(validate(waybill::redrive_plan::filter{.failed_step = 6, .to_step = 5}));
    CHECK(validate(waybill::redrive_plan::filter{.from_step = 6, .to_step = 5}));
    const auto range_error = [](waybill::duration from, waybill::duration to) {
        return describe(*validate(
            waybill::redrive_plan::filter{.dead_lettered_from = waybill::wall_time::at(from),
                                          .dead_lettered_to = waybill::wall_time::at(to)}));
    };
    CHECK(range_error(2h, 1h) ==
          "filter.dead_lettered_to is 3600000000000: nanoseconds since 1970 must be at least "
          "filter.dead_lettered_from (7200000000000)");
    CHECK(range_error(-1h, -2h) ==
          "filter.dead_lettered_to is -7200000000000: nanoseconds since 1970 must be at least "
          "filter.dead_lettered_from, which is minus (3600000000000)");
    CHECK(!validate(waybill::redrive_plan::filter{}));
    CHECK(redrive_all(dead_letters, {}, send, {.chunk = 0}, env).reason.kind ==
          waybill::fault_kind::permanent);
    CHECK(redrive_all(dead_letters, {}, send, {.options = {.max_id_bytes = 1}}, env).sent == 0);
    CHECK(q.bodies.empty());
}

struct table_down {
    table inner{};
    int lists = 0;
    waybill::result<std::vector<pipeline_dead_letter>> list()
    {
        if (++lists < 3) return waybill::unexpected(waybill::infrastructure("down"));
        return inner.list();
    }
    fault upsert(const pipeline_dead_letter& l) { return inner.upsert(l); }
    fault mark(std::span<const pipeline_dead_letter> l) { return inner.mark(l); }
    fault remove(std::span<const pipeline_dead_letter> l) { return inner.remove(l); }
    std::uint64_t removed_at_once() const { return 100; }
};

TEST_CASE("redrive_all: a table that is down is read again")
{
    table_down t{dead_letters_of("order-1", 4)};
    queue q;
    environment env;
    const auto send = [&](const message& m) { return q.send(m); };
    CHECK(redrive_all(t, {}, send, env).ok());
    CHECK(t.lists == 3);
    t.lists = 0;
    const auto r = redrive_all(t, {}, send, {.retry = {.max_attempts = 2}}, env);
    CHECK(r.outcome == redrive::redrive_outcome::stopped);
    CHECK(r.reason == waybill::infrastructure("down"));
}

}  // namespace
}  // namespace redrive_all_test

// SPDX-License-Identifier: MIT

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/event.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/session/plan_redrive.hpp>
#include <waybill/session/run_session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_session_queue.hpp>
#include <waybill/testing/memory_sessions.hpp>

namespace run_session_test {
namespace {

using waybill::dead_letter_reason;
using waybill::duration;
using waybill::fault;
using waybill::pipeline;
using waybill::pipeline_policy;
using waybill::session_report;
using waybill::steady_time;
using waybill::testing::manual_environment;
using queue_type = waybill::testing::memory_session_queue;
using outcome = session_report::run_outcome;

struct letters {
    std::vector<waybill::pipeline_dead_letter> all{};
    fault answer{};

    fault upsert(const waybill::pipeline_dead_letter& l)
    {
        if (answer.ok()) all.push_back(l);
        return answer;
    }
    std::string text() const
    {
        std::string lines;
        for (const auto& l : all) lines += describe(l) + "\n";
        return lines;
    }
};

/// A queue, its dead letters, and a handler that appends the number of the step to the value.
struct fixture {
    manual_environment env{steady_time::at(duration::seconds(1'000))};
    queue_type queue{env};
    letters dead_letters{};
    waybill::text_state_codec codec{};
    session_report::policy policy{.until_empty = true};
    std::string ran{};
    std::map<std::string, fault> faults{};  // by key of the step

    void send_job(const std::string& id, std::uint64_t steps)
    {
        auto job = waybill::job::make(id, steps);
        while (!job->complete()) queue.send(job->next(), "body");
    }
    void send_unnumbered(const std::string& id, std::uint64_t messages,
                         const std::string& last = "waybill-last")
    {
        for (std::uint64_t n = 1; n <= messages; ++n) {
            queue_type::message m{.session = id, .body = "line " + std::to_string(n)};
            if (n == messages) m.properties.emplace(last, "true");
            queue.send(std::move(m));
        }
    }
    auto handler()
    {
        return [this](std::string& value, const pipeline::step& s) {
            ran += s.key() + (s.last ? "! " : " ");
            value += std::to_string(s.number);
            const auto found = faults.find(s.key());
            return found == faults.end() ? fault{} : found->second;
        };
    }
    session_report run()
    {
        return waybill::run_session(queue, codec, dead_letters, handler(), policy, env);
    }
};

std::uint64_t sum(const session_report& r)
{
    return r.done + r.repeated + r.dead_lettered + r.given_back + r.state_unreadable + r.lost;
}

TEST_CASE("run_session: sessions run one after the other, with their steps in order")
{
    fixture f;
    f.send_job("a", 3);
    f.send_job("b", 1);
    const session_report r = f.run();
    CHECK(f.ran == "a/1 a/2 a/3! b/1! ");
    CHECK(r ==
          session_report{.ended = outcome::queue_empty, .sessions = 2, .received = 4, .done = 4});
    CHECK(describe(r) == "2 sessions, 4 messages: 4 done; no session to accept");
    CHECK(f.queue.depth() == 0);
    CHECK(!f.queue.state("a"));
}

TEST_CASE("run_session: an empty queue ends the run")
{
    fixture f;
    CHECK(f.run() == session_report{.ended = outcome::queue_empty});
}

TEST_CASE("run_session: after a failure the rest of the session is dead-lettered, and others run")
{
    fixture f;
    f.send_job("a", 4);
    f.send_job("b", 2);
    f.faults["a/2"] = waybill::permanent("no template");
    const session_report r = f.run();
    CHECK(f.ran == "a/1 a/2 b/1 b/2! ");
    CHECK(r.done == 3);
    CHECK(r.dead_lettered == 3);
    CHECK(f.dead_letters.text() ==
          "a, step 2 of 4 (2): failed: no template\n"
          "a, step 3 of 4 (3): session_failed by 2: no template\n"
          "a, step 4 of 4 (4): session_failed by 2: no template\n");
    CHECK(f.dead_letters.all[0].body == "body");
    CHECK(f.dead_letters.all[0].message_id == "a/2");
    CHECK(f.dead_letters.all[0].resume_at == 2);
    CHECK(f.dead_letters.all[0].state.ends_with("\n\n1"));  // without the changes of step 2
    CHECK(f.dead_letters.all[0].dead_lettered_at == f.env.wall_now());
}

TEST_CASE("run_session: independent steps fail alone")
{
    fixture f;
    f.policy.pipeline.mode = pipeline_policy::pipeline_mode::independent;
    f.send_job("a", 3);
    f.faults["a/2"] = waybill::permanent("no price");
    CHECK(f.run().done == 2);
    CHECK(f.ran == "a/1 a/2 a/3! ");
    CHECK(f.dead_letters.text() == "a, step 2 of 3 (2): failed: no price\n");
    CHECK(f.dead_letters.all[0].independent);
}

TEST_CASE("run_session: messages without step numbers are numbered by their arrival")
{
    fixture f;
    f.send_unnumbered("import", 4);
    f.faults["import/3"] = waybill::permanent("no price");
    const session_report r = f.run();
    CHECK(f.ran == "import/1 import/2 import/3 ");
    CHECK(r.numbered_by_arrival == 4);
    CHECK(r.done == 2);
    CHECK(f.dead_letters.text() ==
          "import, step 3 (3): failed: no price\n"
          "import, step 4 (4): session_failed by 3: no price\n");
    CHECK(!f.queue.state("import"));  // the mark of the last message was seen
}

TEST_CASE("run_session: last_property may name the sender's mark of the last message")
{
    fixture f;
    f.policy.last_property = "IsLastMessage";
    f.send_unnumbered("a", 2, "IsLastMessage");
    CHECK(f.run().done == 2);
    CHECK(f.ran == "a/1 a/2! ");
    CHECK(!f.queue.state("a"));

    f.queue.send({.session = "b", .properties = {{"IsLastMessage", "yes"}}});
    CHECK(f.run().dead_lettered == 1);
    CHECK(f.dead_letters.text() ==
          "b, step 0 (3): contradiction: its step properties cannot be read: "
          "send it with write_step_properties\n");
}

TEST_CASE("run_session: a session whose messages come later keeps its state")
{
    fixture f;
    auto job = waybill::job::make("a", 2);
    f.queue.send(job->next(), "");
    CHECK(f.run().done == 1);
    CHECK(f.queue.state("a"));
    f.queue.send(job->next(), "");
    CHECK(f.run().done == 1);
    CHECK(f.ran == "a/1 a/2! ");
    CHECK(!f.queue.state("a"));
}

TEST_CASE("run_session: states may be in a session store")
{
    fixture f;
    waybill::testing::memory_sessions states;
    f.send_job("a", 2);
    f.faults["a/2"] = waybill::infrastructure("the printer is off");
    auto r = waybill::run_session(f.queue, states, f.codec, f.dead_letters, f.handler(), f.policy,
                                  f.env);
    CHECK(r.given_back == 1);
    CHECK(states.states().size() == 1);
    CHECK(!f.queue.state("a"));
    f.faults.clear();
    f.env.advance(duration::seconds(600));
    waybill::run_session(f.queue, states, f.codec, f.dead_letters, f.handler(), f.policy, f.env, r);
    CHECK(r.done == 2);
    CHECK(r.sessions == 2);
    CHECK(states.states().empty());
}

TEST_CASE("run_session: after an infrastructure fault the session is given back with a pause")
{
    fixture f;
    f.send_job("a", 1);
    f.faults["a/1"] = waybill::infrastructure("down");
    const session_report r = f.run();
    CHECK(r.given_back == 1);
    CHECK(r.ended == outcome::queue_empty);  // nothing to accept before the pause is over
    CHECK(describe(r) ==
          "1 session, 1 message: 0 done, 1 given back; no session to accept, 1 waits");
    CHECK(f.queue.depth() == 1);
    f.faults.clear();
    CHECK(f.run().sessions == 0);
    f.env.advance(f.policy.pipeline.retry.pauses.cap);
    CHECK(f.run().done == 1);
}

TEST_CASE("run_session: infrastructure faults never dead-letter a step, and transient ones do")
{
    fixture f;
    f.send_job("a", 2);
    f.faults["a/1"] = waybill::infrastructure("down");
    session_report r;
    for (std::uint64_t n = 1; n != 50; ++n) {  // more than the attempts and the deliveries
        waybill::run_session(f.queue, f.codec, f.dead_letters, f.handler(), f.policy, f.env, r);
        CHECK(r.given_back == n);
        CHECK(r.sessions_waiting == 1);
        f.env.advance(f.policy.pipeline.retry.pauses.cap);
    }
    CHECK(f.dead_letters.all.empty());
    f.faults["a/1"] = waybill::transient("down");
    CHECK(f.run().dead_lettered == 2);
    CHECK(f.dead_letters.all[0].tries == f.policy.pipeline.retry.max_attempts);
}

TEST_CASE("run_session: the report counts the sessions that wait at its end")
{
    fixture f;
    for (int n = 0; n != 40; ++n) {
        const std::string id = "order-" + std::to_string(n);
        f.send_job(id, 1);
        if (n % 2 == 0) f.faults[id + "/1"] = waybill::infrastructure("down");
    }
    const session_report r = f.run();
    CHECK(r.done == 20);
    CHECK(r.sessions_waiting == 20);
    CHECK(describe(r) ==
          "40 sessions, 40 messages: 20 done, 20 given back; no session to accept, "
          "20 wait");
    // A run without end accepts each of them repeatedly.
    f.policy.until_empty = false;
    const session_report later =
        waybill::run_session(f.queue, f.codec, f.dead_letters, f.handler(), f.policy,
                             waybill::time_limited(f.env, f.policy.pipeline.retry.pauses.cap * 9));
    CHECK(later.given_back > 100);
    CHECK(later.sessions_waiting <= 20);
}

TEST_CASE("run_session: a redriven message without its origin is counted")
{
    fixture f;
    f.send_job("a", 2);
    f.faults["a/2"] = waybill::permanent("no");
    CHECK(f.run().dead_lettered == 1);
    f.faults.clear();
    const auto plan = waybill::plan_redrive(f.dead_letters.all);
    const auto m = plan.step(f.dead_letters.all, 0);
    SUBCASE("sent without its origin")
    {
        f.queue.send(m.properties, std::string(m.body), {}, m.message_id);
        const session_report r = f.run();
        CHECK(f.ran == "a/1 a/2! a~1/2! ");  // not the key of the first attempt
        CHECK(describe(r) ==
              "1 session, 1 message: 1 done, 1 redriven without an origin; no session "
              "to accept");
    }
    SUBCASE("sent by the overload for a planned message")
    {
        CHECK(f.queue.send(m).ok());
        CHECK(
            f.run() ==
            session_report{.ended = outcome::queue_empty, .sessions = 1, .received = 1, .done = 1});
        CHECK(f.ran == "a/1 a/2! a/2! ");
    }
}

/// A queue that cannot delay the next delivery of a session.
struct queue_without_pause : private queue_type {
    using queue_type::accept, queue_type::clear, queue_type::complete, queue_type::load,
        queue_type::lock, queue_type::message, queue_type::receive, queue_type::renew,
        queue_type::save, queue_type::send;
    explicit queue_without_pause(const manual_environment& e) : queue_type(e) {}
    fault close(const lock& l)
    {
        ++closed;
        return queue_type::close(l, {});
    }
    int closed = 0;
};

TEST_CASE("run_session: a session is held during its pause if the queue cannot delay it")
{
    manual_environment env;
    queue_without_pause queue(env);
    queue.send({.session = "a", .properties = {{"waybill-last", "true"}}});
    letters l;
    int tries = 0;
    const auto fails_once = [&](std::string&, const pipeline::step&) {
        return tries++ == 0 ? waybill::infrastructure("down") : fault{};
    };
    const auto r = waybill::run_session(queue, waybill::text_state_codec(), l, fails_once,
                                        {.until_empty = true}, env);
    CHECK(r.done == 1);
    CHECK(r.given_back == 1);
    CHECK(r.lost == 0);
    CHECK(queue.closed == 2);
    CHECK(env.slept() > duration{});
}

TEST_CASE("run_session: pauses with a held lock renew it")
{
    fixture f;
    f.policy.pipeline.max_wait_in_hand = duration::seconds(1'000);
    f.policy.pipeline.retry.pauses = {.base = duration::seconds(100),
                                      .cap = duration::seconds(100),
                                      .spread = waybill::backoff::jitter::none};
    f.send_job("a", 1);
    int tries = 0;
    const auto fails_once = [&](std::string&, const pipeline::step& s) {
        CHECK(s.attempt == static_cast<std::uint64_t>(tries + 1));
        return tries++ == 0 ? waybill::transient("busy") : fault{};
    };
    const auto r =
        waybill::run_session(f.queue, f.codec, f.dead_letters, fails_once, f.policy, f.env);
    CHECK(r.done == 1);  // the lock lasts for 30 s, and the pause took 100 s
    CHECK(f.env.slept() == duration::seconds(100));
}

TEST_CASE("run_session: a step longer than the lock is lost, and runs again")
{
    fixture f;
    f.send_job("a", 2);
    bool slow = true;
    const auto handler = [&](std::string& v, const pipeline::step&) {
        v += 'x';
        if (std::exchange(slow, false)) f.env.advance(duration::seconds(31));
    };
    const auto r = waybill::run_session(f.queue, f.codec, f.dead_letters, handler, f.policy, f.env);
    CHECK(r.lost == 1);
    CHECK(r.done == 2);  // with the next lock
    CHECK(r.faults == 1);
    CHECK(r.last_fault.kind == waybill::fault_kind::ownership_lost);
    CHECK(sum(r) == r.received);
}

/// The lock expires after the second message is complete.
struct expiring_queue : queue_type {
    explicit expiring_queue(manual_environment& e) : queue_type(e), env(&e) {}
    fault complete(const lock& l, const message& m)
    {
        const fault f = queue_type::complete(l, m);
        if (++completed == 2) env->advance(duration::seconds(31));
        return f;
    }
    manual_environment* env;
    int completed = 0;
};

TEST_CASE("run_session: after a lock lost between two steps the session continues")
{
    manual_environment env;
    expiring_queue queue(env);
    auto job = waybill::job::make("a", 3);
    while (!job->complete()) queue.send(job->next(), "");
    letters l;
    std::string ran;
    const auto handler = [&](std::string& v, const pipeline::step& s) {
        ran += std::to_string(s.number);
        v += std::to_string(s.number);
    };
    const auto r = waybill::run_session(queue, waybill::text_state_codec(), l, handler,
                                        {.until_empty = true}, env);
    CHECK(ran == "123");
    CHECK(r.sessions == 2);
    CHECK(r.done == 3);
    CHECK(r.lost == 0);
    CHECK(r.faults == 1);  // of receive
}

TEST_CASE("run_session: a stop request lets the current step end, and starts no other")
{
    fixture f;
    f.send_job("a", 3);
    f.send_job("b", 1);
    const auto handler = [&](std::string&, const pipeline::step& s) {
        f.ran += s.key() + " ";
        if (s.number == 2) f.env.stop_at(f.env.now());
    };
    f.policy.until_empty = false;
    auto r = waybill::run_session(f.queue, f.codec, f.dead_letters, handler, f.policy, f.env);
    CHECK(r.ended == outcome::stopped);
    CHECK(r.done == 2);
    CHECK(f.ran == "a/1 a/2 ");
    f.env.stop_at(steady_time::highest());
    f.policy.until_empty = true;
    r = waybill::run_session(f.queue, f.codec, f.dead_letters, f.handler(), f.policy, f.env);
    CHECK(r.done == 2);
    CHECK(f.ran == "a/1 a/2 a/3! b/1! ");
}

TEST_CASE("run_session: a time limit ends a run that waits for sessions")
{
    fixture f;
    f.policy.until_empty = false;
    waybill::time_limited limited(f.env, duration::seconds(90));
    const auto r =
        waybill::run_session(f.queue, f.codec, f.dead_letters, f.handler(), f.policy, limited);
    CHECK(r.ended == outcome::stopped);
    CHECK(f.env.slept() == duration::seconds(90));
    CHECK(f.env.sleeps() == 90);
}

TEST_CASE("run_session: a handler may take a transaction and the message, and return an outcome")
{
    fixture f;
    f.send_job("a", 4);
    std::string effects;
    const auto handler = [&](queue_type::transaction& tx, std::string& v, const pipeline::step& s,
                             const queue_type::message& m) -> waybill::event_outcome {
        tx.on_commit([&effects, n = s.number] { effects += std::to_string(n); });
        v += std::to_string(m.sequence);
        if (s.number == 2) return waybill::skipped("nothing to do");
        if (s.number == 4) return waybill::permanent(v);
        return {};
    };
    const auto r = waybill::run_session(f.queue, f.codec, f.dead_letters, handler, f.policy, f.env);
    CHECK(effects == "13");  // not of the skipped step, and not of the failed one
    CHECK(r.done == 3);
    CHECK(f.dead_letters.text() == "a, step 4 of 4 (4): failed: 134\n");
}

TEST_CASE("run_session: a late independent step commits its transaction, though it is not saved")
{
    fixture f;
    f.policy.pipeline.mode = pipeline_policy::pipeline_mode::independent;
    auto job = waybill::job::make("a", 3);
    const auto first = job->next();
    f.queue.send(job->next(), "");
    f.queue.send(first, "");
    std::string effects;
    const auto handler = [&](auto& tx, std::string& v, const pipeline::step& s) {
        tx.on_commit([&effects, n = s.number] { effects += std::to_string(n); });
        v += std::to_string(s.number);
    };
    const auto r = waybill::run_session(f.queue, f.codec, f.dead_letters, handler, f.policy, f.env);
    CHECK(r.done == 2);
    CHECK(effects == "21");
    CHECK(f.queue.state("a")->ends_with("\n2"));
}

TEST_CASE("run_session: dead letters that cannot be written leave the session as it is")
{
    fixture f;
    f.send_job("a", 2);
    f.faults["a/1"] = waybill::permanent("no");
    f.dead_letters.answer = waybill::infrastructure("the table is full");
    const auto r = f.run();
    CHECK(r.given_back == 1);
    CHECK(r.dead_lettered == 0);
    CHECK(r.last_fault.text == "the table is full");
    CHECK(f.queue.depth() == 2);
    CHECK(describe(r) ==
          "1 session, 1 message: 0 done, 1 given back; no session to accept, 1 waits, "
          "1 fault, the last: the table is full");
}

/// Cannot remove a state.
struct unclearing_queue : queue_type {
    using queue_type::queue_type;
    fault clear(const lock&) { return waybill::infrastructure("no route"); }
};

TEST_CASE("run_session: a state that cannot be removed is counted, and the session has ended")
{
    manual_environment env;
    unclearing_queue queue(env);
    auto job = waybill::job::make("a", 1);
    queue.send(job->next(), "");
    letters l;
    const auto handler = [](std::string&, const pipeline::step&) {};
    const auto r = waybill::run_session(queue, waybill::text_state_codec(), l, handler,
                                        {.until_empty = true}, env);
    CHECK(r.done == 1);
    CHECK(r.states_left == 1);
    CHECK(queue.state("a"));
}

TEST_CASE("run_session: an unreadable state is held or its steps are dead-lettered")
{
    for (const bool hold : {true, false}) {
        fixture f;
        f.send_job("a", 1);
        const auto lock = *f.queue.accept();
        CHECK(f.queue.save(*lock, "rot").ok());
        CHECK(f.queue.close(*lock, {}).ok());
        f.policy.pipeline.unreadable = hold ? pipeline_policy::when_unreadable::hold
                                            : pipeline_policy::when_unreadable::dead_letter;
        const auto r = f.run();
        CHECK(r.state_unreadable == (hold ? 1 : 0));
        CHECK(r.dead_lettered == (hold ? 0 : 1));
        CHECK(f.queue.state("a") == "rot");
    }
}

/// accept fails with each of these faults, once.
struct failing_queue : queue_type {
    using queue_type::queue_type;
    waybill::result<std::optional<lock>> accept()
    {
        if (next == faults.size()) return queue_type::accept();
        return waybill::unexpected(faults[next++]);
    }
    std::vector<fault> faults{};
    std::size_t next = 0;
};

TEST_CASE("run_session: accept is retried after growing pauses, and a permanent fault ends the run")
{
    manual_environment env;
    failing_queue queue(env);
    queue.faults.assign(20, waybill::infrastructure("no route"));
    letters l;
    const auto handler = [](std::string&, const pipeline::step&) {};
    const waybill::text_state_codec codec;
    session_report::policy p{.until_empty = true};
    p.pipeline.retry.pauses.spread = waybill::backoff::jitter::none;
    auto r = waybill::run_session(queue, codec, l, handler, p, env);
    CHECK(r.ended == outcome::queue_empty);
    CHECK(r.faults == 20);
    CHECK(env.slept() > 10 * p.pipeline.retry.pauses.cap);

    queue.faults = {waybill::permanent("no such queue")};
    queue.next = 0;
    r = waybill::run_session(queue, codec, l, handler, p, env);
    CHECK(r.ended == outcome::queue_refused);
    CHECK(r.last_fault.text == "no such queue");
}

/// Accepts a session without messages, the first time.
struct empty_session_queue : queue_type {
    using queue_type::queue_type;
    waybill::result<std::optional<lock>> accept()
    {
        if (empty == 0) return queue_type::accept();
        --empty;
        return std::optional(lock{"empty", 0});
    }
    waybill::result<std::optional<message>> receive(const lock& l)
    {
        if (l.session == "empty") return std::optional<message>();
        return queue_type::receive(l);
    }
    int empty = 3;
};

TEST_CASE("run_session: after a session without messages it waits before the next one")
{
    manual_environment env;
    empty_session_queue queue(env);
    letters l;
    const auto handler = [](std::string&, const pipeline::step&) {};
    const auto r = waybill::run_session(queue, waybill::text_state_codec(), l, handler,
                                        {.until_empty = true}, env);
    CHECK(r.sessions == 3);
    CHECK(r.received == 0);
    CHECK(env.slept() == duration::seconds(3));
}

TEST_CASE("run_session: a steady clock that goes back keeps the run correct")
{
    fixture f;
    f.send_job("a", 3);
    const auto handler = [&](std::string&, const pipeline::step&) {
        f.env.advance(-duration::seconds(500));
    };
    const auto r = waybill::run_session(f.queue, f.codec, f.dead_letters, handler, f.policy, f.env);
    CHECK(r.done == 3);
    CHECK(r.ended == outcome::queue_empty);
}

TEST_CASE("run_session: duplicates run once")
{
    fixture f;
    auto job = waybill::job::make("a", 2);
    const auto first = job->next();
    f.queue.send(first, "", {}, "id 1");
    f.queue.send(first, "", {}, "id 2");
    f.queue.send(job->next(), "");
    const auto r = f.run();
    CHECK(f.ran == "a/1 a/2! ");
    CHECK(r.done == 2);
    CHECK(r.repeated == 1);
}

TEST_CASE("run_session: refuses an invalid policy and does nothing")
{
    fixture f;
    f.send_job("a", 1);
    const auto error_of = [&](auto change) {
        f.policy = {.until_empty = true};
        change(f.policy);
        const auto r = f.run();
        CHECK(r.ended == outcome::invalid_policy);
        CHECK(r.policy_error == validate(f.policy));
        CHECK(describe(r).starts_with("nothing was done: "));
        return std::string(r.policy_error->field);
    };
    using policy = session_report::policy;
    CHECK(error_of([](policy& p) { p.pipeline.max_deliveries = 10; }) == "max_deliveries");
    CHECK(error_of([](policy& p) { p.poll = {}; }) == "poll");
    CHECK(error_of([](policy& p) { p.renew_every = {}; }) == "renew_every");
    CHECK(error_of([](policy& p) { p.renew_every = -duration::seconds(1); }) == "renew_every");
    CHECK(error_of([](policy& p) { p.last_property = ""; }) == "last_property");
    CHECK(error_of([](policy& p) {
              p.dead_letters.dead_letters.keeps = waybill::dead_letter_body::discard;
          }) == "dead_letters.keeps");
    CHECK(f.ran.empty());
    CHECK(!validate(policy{}));
}

}  // namespace
}  // namespace run_session_test

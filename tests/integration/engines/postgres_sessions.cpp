// SPDX-License-Identifier: MIT
//
// The queue of sessions in PostgreSQL: the rules of its conformance suite, and its row locks when
// processes and connections end. Each step takes effect once although workers are killed at random
// times. Also the table of dead letters.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <engines/postgres_sessions.hpp>
#include <engines/postgres_step_letters.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../examples/support/environment.hpp"
#include "postgres_own.hpp"
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/testing/pipeline_dead_letter_conformance.hpp>
#include <waybill/testing/session_queue_conformance.hpp>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using waybill::fault_kind;

int failures = 0;
int checks = 0;
std::string rule;

void check(bool holds, const std::string& what)
{
    ++checks;
    if (holds) return;
    ++failures;
    std::printf("%s: %s\n", rule.c_str(), what.c_str());
}

void check(const waybill::testing::conformance_report& report)
{
    for (const std::string& r : report.broken) check(false, "broken: " + r);
    for (const std::string& r : report.untested) check(false, "untested: " + r);
    ++checks;
}

std::string in_schema(const std::string& schema)
{
    return postgres_test::address_of(schema, "5s");
}

struct connection {
    std::unique_ptr<engines::postgres> db;
};
/// A queue with its connection.
struct queue_in : connection, engines::postgres_sessions {
    explicit queue_in(const std::string& schema, const engines::postgres_session_options& o = {})
        : connection{std::make_unique<engines::postgres>(in_schema(schema))},
          engines::postgres_sessions(*db, in_schema(schema), o)
    {
    }
};
struct letters_in : connection, engines::postgres_step_letters {
    explicit letters_in(const std::string& s)
        : connection{std::make_unique<engines::postgres>(in_schema(s))},
          engines::postgres_step_letters(*db),
          schema(s)
    {
    }
    std::string schema;
};

std::int64_t number(const std::string& schema, const std::string& sql)
{
    engines::postgres db(in_schema(schema));
    db.connect();
    return db.exec(sql.c_str()).number(0, 0);
}

void send(queue_in& q, const std::string& session, int from, int to)
{
    std::vector<engines::session_message> batch;
    for (int n = from; n <= to; ++n) {
        batch.push_back({.session = session,
                         .id = session + "/" + std::to_string(n),
                         .body = std::to_string(n)});
    }
    check(waybill::holds_alternative<waybill::batch_sender::accepted>(q.send(batch)),
          "a batch is accepted");
}

// Body and delivery count, "-", or the fault.
std::string receive(queue_in& q, const engines::session_lock& l)
{
    const auto m = q.receive(l);
    if (!m) return std::string(name(m.error().kind));
    return *m ? (*m)->body + "#" + std::to_string((*m)->deliveries) : "-";
}

std::string accept(queue_in& q, engines::session_lock& l)
{
    const auto held = q.accept();
    if (!held) return held.error().text;
    if (!*held) return "-";
    l = **held;
    return l.session;
}

std::uint64_t depth(queue_in& q)
{
    return q.depth().value_or(~std::uint64_t{0});
}

// Ends the server process that has the row lock, and waits for its end.
void end_holder(queue_in& q, const engines::session_lock& l)
{
    engines::postgres db(postgres_test::where);
    db.connect();
    db.exec(("SELECT pg_terminate_backend(" + std::to_string(q.holder_of(l)) + ", 5000)").c_str());
}

void conformance()
{
    rule = "session_queue_conformance";
    constexpr engines::postgres_session_options options{.lock = 2s};
    check(waybill::testing::session_queue_conformance(
        [&] { return queue_in(postgres_test::fresh_schema(), options); },
        [](queue_in& q, const waybill::testing::sent_message& m) {
            engines::session_message out{.session = m.session, .id = m.id, .body = m.body};
            for (const auto& [name, value] : m.properties) out.properties.emplace(name, value);
            check(q.send(out).ok(), "a message is accepted");
        },
        [](queue_in&, waybill::duration d) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(d.count()));
        },
        waybill::duration::seconds(2)));
}

void letters_conformance()
{
    rule = "pipeline_dead_letter_conformance";
    check(waybill::testing::pipeline_dead_letter_conformance(
        [] { return letters_in(postgres_test::fresh_schema()); },
        [](letters_in& s) { return letters_in(s.schema); }));
    engines::postgres nowhere("host=127.0.0.1 port=1 dbname=x");
    engines::postgres_step_letters unreachable(nowhere);
    check(waybill::testing::pipeline_dead_letter_outage_conformance(unreachable));

    rule = "letters";
    letters_in l(postgres_test::fresh_schema());
    const auto bad = [&](const char* sql) {
        l.db->exec(sql);
        const auto listed = l.list();
        check(!listed && !listed.error().text.empty(), sql);
        l.db->exec("DELETE FROM step_letters");
    };
    waybill::pipeline_dead_letter one;
    one.properties.session = "a";
    one.sequence = ~std::uint64_t{0};
    check(l.upsert(one).ok() && l.list()->front() == one, "the highest sequence number");
    bad("UPDATE step_letters SET reason = 'bored'");
    check(l.upsert(one).ok(), "written");
    bad("UPDATE step_letters SET kept = 99");
    // In a transaction of the queue.
    engines::postgres_sessions q(*l.db, in_schema(l.schema));
    const auto held = q.accept("a");
    for (const bool commits : {false, true}) {
        auto tx = q.begin();
        check(tx && q.confirm(*tx, **held).ok() && l.upsert(*tx, one).ok(),
              "written in a transaction");
        if (commits) check(tx->commit() == waybill::commit_outcome::applied, "committed");
        else tx->rollback();
        check(l.list()->size() == (commits ? 1U : 0U), "the dead letter is in the transaction");
    }
    check(q.close(**held).ok(), "closed");
    auto tx = q.begin();
    check(q.confirm(*tx, **held).kind == fault_kind::ownership_lost, "confirm: without the lock");
}

void deliveries()
{
    rule = "deliveries";
    const std::string schema = postgres_test::fresh_schema();
    queue_in one(schema, {.deliveries = 3});
    queue_in two(schema, {.deliveries = 3});
    engines::session_lock l;
    check(accept(one, l) == "-", "there is nothing");
    send(one, "a", 1, 3);
    for (int n = 0; n != 5; ++n) {
        check(accept(one, l) == "a" && receive(one, l) == "1#1",
              "closing a session does not count");
        check(one.close(l).ok(), "closed");
    }
    check(accept(one, l) == "a" && receive(one, l) == "1#1", "received");
    check(one.abandon(
                 l, *[&] { return std::optional(engines::session_message{.sequence = 1}); }())
              .ok(),
          "abandoned");
    check(receive(one, l) == "1#2" && receive(one, l) == "2#1",
          "an abandoned message is next, and counts");
    const engines::session_lock old = l;
    end_holder(one, l);
    check(accept(two, l) == "a", "free as soon as the holder's connection has ended");
    check(one.renew(old).kind == fault_kind::ownership_lost &&
              one.complete(old, {.sequence = 1}).kind == fault_kind::ownership_lost &&
              one.close(old).kind == fault_kind::ownership_lost,
          "the former lock is lost");
    check(receive(two, l) == "1#3" && receive(two, l) == "2#2" && receive(two, l) == "3#1",
          "what was received counts, and nothing else");
    check(two.complete(l, {.sequence = 2}).ok(), "complete");
    check(two.complete(l, {.sequence = 2}).kind == fault_kind::ownership_lost, "and once only");
    end_holder(two, l);
    check(accept(one, l) == "a" && receive(one, l) == "3#2" && receive(one, l) == "-",
          "after its last delivery the message is not delivered");
    const auto dead = *two.receive_dead();
    check(dead && dead->body == "1" && dead->id == "a/1" && dead->session == "a" &&
              dead->deliveries == 3 && dead->dead_for == "delivered 3 times",
          "it is a dead letter of the queue");
    check(!*one.receive_dead(), "which has one receiver");
    check((*one.peek_dead(0))->body == "1" && !*one.peek_dead(dead->sequence),
          "any number can peek");
    check(one.complete_dead(*dead).ok() && !*one.peek_dead(0), "removed");
    check(one.complete(l, {.sequence = 3}).ok() && one.close(l).ok() && depth(one) == 0,
          "nothing is left");
}

void rest()
{
    rule = "the rest";
    const std::string schema = postgres_test::fresh_schema();
    // The pauses are long, because a busy machine may need a second for a connection.
    queue_in q(schema, {.remembers = 3s, .state_bytes = 10});
    queue_in other(schema);
    check(depth(other) == 0, "the other one is connected");
    engines::session_lock l;
    send(q, "a", 1, 3);
    send(q, "a", 2, 4);
    check(depth(q) == 4, "a message with a known id is dropped");
    std::this_thread::sleep_for(3100ms);
    send(q, "a", 4, 4);
    check(depth(q) == 5, "an id is known for a limited time");
    check(q.send({.session = "b", .body = "x"}).ok() &&
              q.send({.session = "b", .body = "x"}).ok() && depth(q) == 7,
          "without an id there are no duplicates");
    const auto large = q.send(
        std::vector<engines::session_message>{{.session = "a", .body = std::string(262'144, 'x')}});
    check(waybill::holds_alternative<waybill::batch_sender::too_large>(large) && depth(q) == 7,
          "too large");

    check(accept(q, l) == "a" && q.close(l, 3000ms).ok(), "closed with a pause");
    engines::session_lock second;
    check(accept(other, second) == "b" && accept(other, l) == "-",
          "not before the end of the pause");
    std::this_thread::sleep_for(3100ms);
    check(accept(q, l) == "a", "then it is accepted");
    check(!*other.accept("a") && (*other.accept("new")).has_value(), "accepted by its id");

    check(q.set_state(l, std::string(11, 'x')).kind == fault_kind::permanent,
          "a state can be too large");
    check(q.set_state(l, std::string("\0\xff", 2)).ok() && *q.state(l) == std::string("\0\xff", 2),
          "any bytes");
    check(*other.sessions_with_state() == std::vector<std::string>{"a"},
          "the sessions with a state");

    // A process that has lost its lock, but not its other connection, in a transaction.
    auto tx = q.begin();
    end_holder(q, l);
    const engines::session_lock old = l;
    check(accept(other, l) == "a", "accepted by another process");
    check(q.save(*tx, old, "late").kind == fault_kind::ownership_lost,
          "a former holder saves nothing");
    tx->rollback();
    // The same if its process does not yet know that.
    engines::prepared late(
        *q.db, "UPDATE session_states SET state = 'late' WHERE session = 'a' AND token = $1");
    check(late.run(old.token).touched() == 0 && *other.state(l) == std::string("\0\xff", 2),
          "the token stops it");

    // Without `renew` the server ends a holder that is idle.
    queue_in brief(schema, {.lock = 1s});
    send(brief, "c", 1, 1);
    check(accept(brief, l) == "c", "accepted");
    for (int n = 0; n != 4; ++n) {
        std::this_thread::sleep_for(400ms);
        check(brief.renew(l).ok(), "renewed");
    }
    std::this_thread::sleep_for(1500ms);
    check(accept(other, second) == "c" && receive(brief, l) == "ownership_lost",
          "idle for too long");
    // Its other connection ends: the lock stays.
    check(other.db->handle() != nullptr, "connected");
    engines::postgres killer(postgres_test::where);
    killer.connect();
    killer.exec(("SELECT pg_terminate_backend(" + std::to_string(PQbackendPID(other.db->handle())) +
                 ", 5000)")
                    .c_str());
    check(receive(other, second) == "1#1" && accept(brief, l) == "-",
          "the lock outlives the other connection");

    q.db->exec(
        "UPDATE session_messages SET properties = 'x' WHERE session = 'c'; UPDATE session_messages "
        "SET taken = 0");
    const auto unread = other.receive(second);
    check(!unread && unread.error().kind == fault_kind::infrastructure &&
              unread.error().text.find("of c in session_messages: the properties cannot be read") !=
                  std::string::npos,
          "a message that cannot be read");
    queue_in without(postgres_test::fresh_schema());
    check(depth(without) == 0, "an empty queue");
    without.db->exec("DROP TABLE session_messages");
    check(!without.accept() && !without.depth(), "without its table");
    engines::postgres nowhere("host=127.0.0.1 port=1 dbname=x");
    engines::postgres_sessions unreachable(nowhere, "host=127.0.0.1 port=1 dbname=x");
    check(unreachable.accept().error().kind == fault_kind::infrastructure &&
              unreachable.send(engines::session_message{.session = "a"}).kind ==
                  fault_kind::infrastructure,
          "without a server");
}

// Two connections at once: each message is completed once.
void race()
{
    rule = "race";
    const std::string schema = postgres_test::fresh_schema();
    queue_in sender(schema);
    for (int s = 0; s != 40; ++s) send(sender, "s" + std::to_string(s), 1, 5);
    std::vector<std::string> done[3];
    const auto work = [&](int me) {
        queue_in q(schema);
        while (q.depth().value_or(0) != 0) {
            const auto held = q.accept();
            if (!held || !*held) continue;
            while (const auto m = q.receive(**held)) {
                if (!*m) break;
                if (q.complete(**held, **m).ok()) done[me].push_back((*m)->id);
            }
            (void)q.close(**held);
        }
    };
    std::thread a(work, 1);
    std::thread b(work, 2);
    work(0);
    a.join();
    b.join();
    std::vector<std::string> all;
    for (const auto& d : done) all.insert(all.end(), d.begin(), d.end());
    std::sort(all.begin(), all.end());
    check(all.size() == 200 && std::unique(all.begin(), all.end()) == all.end(),
          std::to_string(all.size()) + " of 200 were completed");
    std::printf("race: %zu, %zu and %zu\n", done[0].size(), done[1].size(), done[2].size());
}

struct sum {
    std::uint64_t steps = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(sum, steps)

struct until_signal : support::standard_environment {
    static inline volatile std::sig_atomic_t asked = 0;
    [[nodiscard]] bool stop_requested() const { return asked != 0; }
};

// A worker: run_session, with the effect in the transaction of the state. The effect is an insert
// without a unique key, so a repetition is a second row.
void work(const std::string& schema)
{
    queue_in q(schema, {.deliveries = 1'000'000});
    letters_in letters(schema);
    engines::prepared effect(*q.db, "INSERT INTO effects VALUES ($1::bytea, $2, $3)");
    const auto handle = [&](engines::postgres_sessions::transaction&, sum& s,
                            const waybill::pipeline::step& step,
                            const engines::session_message& m) {
        effect.run(m.session, step.number, ++s.steps);
        return waybill::fault{};
    };
    waybill::session_report::policy p;
    p.until_empty = false;
    p.poll = waybill::duration::milliseconds(2);
    p.pipeline.max_deliveries = 900'000;
    p.pipeline.broker_max_deliveries = 1'000'000;
    p.pipeline.retry.pauses = {.base = 1ms, .cap = 20ms};
    try {
        (void)waybill::run_session(q, waybill::state_codec<sum>(), letters, handle, p,
                                   until_signal());
    } catch (const engines::postgres_error&) {
        _exit(3);  // a restart of the server in a statement of the handler
    }
}

// Workers are killed at any moment, and the server too. Each step has one row, in order.
void killed(const char* folder, const char* server)
{
    rule = "killed";
    const std::string schema = postgres_test::fresh_schema();
    constexpr int sessions = 100;
    constexpr int steps = 5;
    queue_in q(schema);
    engines::postgres tables(in_schema(schema));
    tables.connect();
    tables.exec("CREATE TABLE effects (session bytea, step bigint, seen bigint, place bigserial)");
    for (int s = 0; s != sessions; ++s) {
        const std::string session = "s" + std::to_string(s);
        std::vector<engines::session_message> batch;
        for (std::uint64_t n = 1; n <= steps; ++n) {
            engines::session_message m{.session = session, .id = session + "/" + std::to_string(n)};
            const waybill::step_properties step{session, n, 1, steps, n == steps};
            waybill::write_step_properties(step, {},
                                           [&](std::string_view name, std::string_view value) {
                                               m.properties.emplace(name, value);
                                           });
            batch.push_back(m);
        }
        check(waybill::holds_alternative<waybill::batch_sender::accepted>(q.send(batch)), "sent");
    }
    const auto start = [&] {
        const pid_t pid = fork();
        if (pid == 0) {
            work(schema);
            _exit(0);
        }
        return pid;
    };
    std::vector<pid_t> workers{start(), start(), start()};
    std::mt19937 dice(7);
    // A kill each time that another twentieth of the messages is complete.
    constexpr int parts = 20;
    constexpr std::uint64_t all = sessions * steps;
    std::uint64_t left = all;
    const auto deadline = clock_type::now() + 10min;
    const auto await_left = [&](std::uint64_t most) {
        while ((left = q.depth().value_or(all)) > most && clock_type::now() < deadline)
            std::this_thread::sleep_for(1ms);
    };
    for (int kills = 1; kills != parts; ++kills) {
        await_left(all - all * kills / parts);
        pid_t& w = workers[dice() % workers.size()];
        kill(w, SIGKILL);
        waitpid(w, nullptr, 0);
        if (kills == 12) {
            const std::string restart = "kill -9 $(head -n 1 " + std::string(folder) +
                                        "/data/postmaster.pid); sleep 0.3; bash " + server +
                                        " start " + folder;
            check(std::system(restart.c_str()) == 0, "the server starts again");
        }
        w = start();
    }
    await_left(0);
    for (const pid_t w : workers) {
        kill(w, SIGKILL);
        waitpid(w, nullptr, 0);
    }
    check(left == 0, "all messages are complete");
    check(number(schema, "SELECT count(*) FROM effects") == sessions * steps,
          "each step took effect once");
    check(
        number(schema, "SELECT count(*) FROM (SELECT DISTINCT session, step FROM effects) AS d") ==
            sessions * steps,
        "each step took effect");
    check(number(schema, "SELECT count(*) FROM effects WHERE seen <> step") == 0,
          "with the state of the step before it");
    check(number(schema,
                 "SELECT count(*) FROM effects AS a JOIN effects AS b USING (session)"
                 " WHERE a.step < b.step AND a.place > b.place") == 0,
          "and in order");
    std::printf("killed: %d workers, the server once\n", parts - 1);
}

// The lock of a killed process is free at once.
void released(const std::string& schema)
{
    rule = "released";
    queue_in q(schema, {.lock = 60s});
    send(q, "a", 1, 1);
    int ready[2];
    check(pipe(ready) == 0, "a pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        queue_in own(schema, {.lock = 60s});
        engines::session_lock l;
        const bool held = accept(own, l) == "a" && receive(own, l) == "1#1";
        (void)!write(ready[1], held ? "y" : "n", 1);
        for (;;) pause();
    }
    char held = 0;
    (void)!read(ready[0], &held, 1);
    engines::session_lock l;
    check(held == 'y' && accept(q, l) == "-", "held by another process");
    const auto begun = clock_type::now();
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    while (accept(q, l) == "-" && clock_type::now() - begun < 30s) std::this_thread::sleep_for(1ms);
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_type::now() - begun);
    check(took < 30s && receive(q, l) == "1#2",
          "free after " + std::to_string(took.count()) + " ms");
    std::printf("released: after %d ms\n", static_cast<int>(took.count()));
}

}  // namespace

int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc != 4) return 2;
    postgres_test::where = argv[1];
    conformance();
    letters_conformance();
    deliveries();
    rest();
    released(postgres_test::fresh_schema());
    race();
    killed(argv[2], argv[3]);
    std::printf("sessions in PostgreSQL: %d checks, %d of them failed\n", checks, failures);
    return failures == 0 && checks > 60 ? 0 : 1;
}

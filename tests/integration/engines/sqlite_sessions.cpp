// SPDX-License-Identifier: MIT
//
// The queue of sessions in a SQLite file keeps the rules of Azure Service Bus that pipelines rely
// on. Each rule is tested with one connection, or between two.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include <engines/sqlite_sessions.hpp>

#include "sqlite_states.hpp"
#include <waybill/testing/session_conformance.hpp>
#include <waybill/testing/session_queue_conformance.hpp>

namespace {

using namespace std::chrono_literals;
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

std::int64_t the_time = 1'000'000;
std::int64_t test_clock()
{
    return the_time;
}

constexpr engines::session_options short_lock{.lock = 100ms, .deliveries = 3, .clock = test_clock};

// A queue with its connection.
struct connection {
    explicit connection(const std::string& path, const engines::session_options& o = short_lock)
        : db(path), queue(db, o)
    {
        sqlite3_busy_timeout(db.handle(), 10'000);
    }

    engines::database db;
    engines::sqlite_sessions queue;
};

// A queue that owns its connection.
struct own_database {
    explicit own_database(const std::string& path) : db(path) {}
    engines::database db;
};
struct queue_of : own_database, engines::sqlite_sessions {
    explicit queue_of(const std::string& path)
        : own_database(path), engines::sqlite_sessions(db, short_lock)
    {
    }
};

engines::session_message message(const std::string& session, int n)
{
    return {.session = session, .id = session + "/" + std::to_string(n), .body = std::to_string(n)};
}

void send(connection& c, const std::vector<engines::session_message>& batch)
{
    check(waybill::holds_alternative<waybill::batch_sender::accepted>(c.queue.send(batch)),
          "a batch is taken");
}

void send(connection& c, const std::string& session, int from, int to)
{
    std::vector<engines::session_message> batch;
    for (int n = from; n <= to; ++n) batch.push_back(message(session, n));
    send(c, batch);
}

// The received body and delivery count, "-" if there is no message, or the fault.
std::string receive(connection& c, const engines::session_lock& l)
{
    const auto m = c.queue.receive(l);
    if (!m) return std::string(name(m.error().kind));
    return *m ? (*m)->body + "#" + std::to_string((*m)->deliveries) : "-";
}

std::string accept(connection& c, engines::session_lock& l)
{
    const auto held = c.queue.accept();
    if (!held) return std::string(name(held.error().kind));
    if (!*held) return "-";
    l = **held;
    return l.session;
}

void order_and_locks(connection& one, connection& two)
{
    rule = "order and locks";
    engines::session_lock a;
    engines::session_lock b;
    check(accept(one, a) == "-", "there is nothing");
    send(one, "a", 1, 3);
    send(two, "b", 1, 1);
    check(accept(one, a) == "a" && accept(two, b) == "b", "each session has one holder");
    engines::session_lock none;
    check(accept(one, none) == "-", "and no other one");
    check(receive(one, a) == "1#1" && receive(one, a) == "2#1" && receive(one, a) == "3#1",
          "in order");
    check(receive(one, a) == "-", "no message comes twice under one lock");
    send(two, "a", 4, 4);
    check(receive(one, a) == "4#1", "the holder of the session receives later messages");
    check(receive(two, {"a", a.token + 1}) == "ownership_lost",
          "without the lock no message is received");
    check(receive(two, {"c", 1}) == "ownership_lost", "an unknown session has no holder");
    check(one.queue
              .complete(
                  a, *[&] { return std::optional(engines::session_message{.sequence = 1}); }())
              .ok(),
          "a message is completed");
    check(one.queue.complete(a, {.sequence = 1}).kind == fault_kind::ownership_lost,
          "and once only");
    check(two.queue.complete(b, {.sequence = 2}).kind == fault_kind::ownership_lost,
          "messages of another session cannot be completed");
    check(one.queue.depth() == 4, "one of five is complete");
    check(one.queue.close(a).ok() && two.queue.close(b).ok(), "closed");
    check(one.queue.close(a).kind == fault_kind::ownership_lost, "a session is closed once");
    check(receive(one, a) == "ownership_lost", "and then it is not ours");
}

void deliveries(connection& one, connection& two)
{
    rule = "deliveries";
    engines::session_lock l;
    send(one, "a", 1, 3);
    for (int n = 0; n != 5; ++n) {
        check(accept(one, l) == "a" && receive(one, l) == "1#1",
              "closing a session does not count");
        check(one.queue.close(l).ok(), "closed");
    }
    check(accept(one, l) == "a" && receive(one, l) == "1#1" && receive(one, l) == "2#1",
          "received");
    check(one.queue.abandon(l, {.sequence = 1}).ok(), "abandoned");
    check(receive(one, l) == "1#2", "it comes next of all, and this counts");
    the_time += 99;
    check(one.queue.renew(l).ok(), "renewed");
    the_time += 99;
    check(accept(two, l) == "-", "a renewed lock holds");
    the_time += 1;
    check(one.queue.renew(l).kind == fault_kind::ownership_lost,
          "a lock that has run out is not renewed");
    const engines::session_lock old = l;
    check(accept(two, l) == "a", "another worker has it now");
    check(one.queue.complete(old, {.sequence = 1}).kind == fault_kind::ownership_lost,
          "a zombie settles nothing");
    check(one.queue.close(old).kind == fault_kind::ownership_lost, "and closes nothing");
    check(receive(two, l) == "1#3" && receive(two, l) == "2#2" && receive(two, l) == "3#1",
          "a lock that runs out counts for what was received, and for nothing else");
    check(one.queue.receive_dead().value_or(std::nullopt) == std::nullopt ? true : false,
          "none is dead yet");
    check(two.queue.abandon(l, {.sequence = 1}).ok(), "the last delivery");
    check(receive(two, l) == "-", "a dead-lettered message is not received again");
    check(
        two.queue.complete(l, {.sequence = 2}).ok() && two.queue.complete(l, {.sequence = 3}).ok(),
        "the next ones go on as if nothing had been");
    const auto dead = *one.queue.receive_dead();
    check(dead && dead->body == "1" && dead->session == "a" && dead->deliveries == 3 &&
              dead->id == "a/1",
          "the broker has parked it");
    check(dead && dead->dead_for == "delivered 3 times", "with its reason");
    check(!*two.queue.receive_dead(), "a dead letter has one receiver");
    for (int i = 0; i != 2; ++i) {
        const auto seen = *two.queue.peek_dead(0);
        check(seen && seen->body == "1" && seen->sequence == dead->sequence &&
                  seen->dead_for == dead->dead_for,
              "a second peek returns the same letter");
    }
    check(!*two.queue.peek_dead(dead->sequence), "no dead letter after it");
    the_time += 100;
    check((*two.queue.receive_dead()).has_value(), "until its lock has run out");
    check(two.queue.complete_dead(*dead).ok(), "complete");
    the_time += 100;
    check(!*two.queue.receive_dead() && two.queue.depth() == 0, "nothing is left");

    send(one, "b", 1, 2);
    for (int n = 0; n != 3; ++n) {
        check(accept(one, l) == "b" && receive(one, l) == "1#" + std::to_string(n + 1), "received");
        the_time += 100;
    }
    check(accept(two, l) == "b" && receive(two, l) == "2#1", "parked by locks that ran out");
    check(two.queue.complete(l, {.sequence = 5}).ok(), "complete");
    the_time += 100;
    check(accept(one, l) == "-" && (*one.queue.receive_dead())->body == "1", "it is a dead letter");
}

void pauses(connection& one, connection& two)
{
    rule = "pauses";
    engines::session_lock l;
    send(one, "a", 1, 2);
    send(one, "b", 1, 1);
    check(accept(one, l) == "a" && receive(one, l) == "1#1", "received");
    check(one.queue.close(l, 500ms).ok(), "given back for later");
    check(accept(two, l) == "b" && two.queue.close(l, 500ms).ok(),
          "the others are not kept waiting");
    check(accept(two, l) == "-", "no worker receives it before");
    the_time += 499;
    check(accept(one, l) == "-", "not yet");
    the_time += 1;
    check(accept(one, l) == "a" && receive(one, l) == "1#1", "then it is as it was");
}

void states(connection& one, connection& two)
{
    rule = "states";
    engines::session_lock l;
    send(one, "a", 1, 1);
    check(accept(one, l) == "a", "accepted");
    check(*one.queue.state(l) == std::nullopt, "there is none");
    check(one.queue.set_state(l, "").ok() && *one.queue.state(l) == "", "an empty one is one");
    const std::string bytes("\0{}\xff\n", 5);
    check(one.queue.set_state(l, bytes).ok() && *one.queue.state(l) == bytes, "any bytes");
    check(one.queue.set_state(l, std::string(262'145, 'x')).kind == fault_kind::permanent,
          "too large");
    check(one.queue.set_state(l, std::string(262'144, 'x')).ok(), "not too large");
    check(one.queue.set_state(l, bytes).ok(), "written");
    (void)receive(one, l);
    check(one.queue.complete(l, {.sequence = 1}).ok(), "the last message is complete");
    the_time += 100;
    check(!one.queue.state(l) && one.queue.state(l).error().kind == fault_kind::ownership_lost,
          "a zombie reads none");
    check(one.queue.set_state(l, "z").kind == fault_kind::ownership_lost, "and writes none");
    check(one.queue.set_state(l, {}).kind == fault_kind::ownership_lost, "and removes none");
    send(two, "a", 2, 2);
    check(accept(two, l) == "a" && *two.queue.state(l) == bytes, "it has outlived its messages");
    check(*one.queue.sessions_with_state() == std::vector<std::string>{"a"}, "and is found");
    check(!*one.queue.accept("a"), "a held session cannot be accepted");
    check(two.queue.set_state(l, {}).ok() && *two.queue.state(l) == std::nullopt, "removed");
    check(one.queue.sessions_with_state()->empty(), "and not found any more");
    check(two.queue.complete(l, {.sequence = 2}).kind == fault_kind::ownership_lost,
          "not received");
    check(receive(two, l) == "2#1" && two.queue.complete(l, {.sequence = 2}).ok() &&
              two.queue.close(l).ok(),
          "complete");
    const auto empty = *one.queue.accept("a");
    check(empty && empty->token != l.token && receive(one, *empty) == "-",
          "a session without messages is had by its name");
    const auto fresh = *two.queue.accept("new");
    check(fresh && two.queue.set_state(*fresh, "x").ok() && two.queue.close(*fresh).ok(),
          "also a session that did not exist");
}

void duplicates(connection& one, connection& two)
{
    rule = "duplicates";
    send(one, "a", 1, 3);
    send(two, "a", 2, 4);
    check(one.queue.depth() == 4, "an id that came before is accepted and dropped");
    engines::session_message same = message("b", 1);
    same.id = "a/1";
    send(two, {same, same, same});
    check(one.queue.depth() == 4, "also in another session, and in one batch");
    engines::session_lock l;
    check(accept(one, l) == "a" && receive(one, l) == "1#1" &&
              one.queue.complete(l, {.sequence = 1}).ok(),
          "done");
    send(one, "a", 1, 1);
    check(one.queue.depth() == 3, "also when the first one is complete");
    the_time += 599'999;
    send(one, "a", 1, 1);
    check(one.queue.depth() == 3, "up to the end of what is remembered");
    the_time += 1;
    send(one, "a", 1, 1);
    check(one.queue.depth() == 4, "and not for longer");
    send(one, {{.session = "a", .body = "x"}, {.session = "a", .body = "x"}});
    check(one.queue.depth() == 6, "without an id none is a duplicate");
}

void batches(connection& one)
{
    rule = "batches";
    engines::session_message m = message("a", 1);
    m.body = std::string(200'000, 'x');
    m.properties["waybill-step"] = "1";
    m.properties[std::string("\0=:\n", 4)] = std::string("3:\xff", 3);
    m.properties[""] = "";
    engines::session_message n = m;
    n.id = "a/2";
    const auto both = one.queue.send(std::vector{m, n});
    const auto* no = waybill::get_if<waybill::batch_sender::too_large>(&both);
    const std::uint64_t size =
        engines::sqlite_sessions::envelope + 2 * engines::sqlite_sessions::size_of(m);
    check(no && no->actual == size && no->limit == 262'144,
          "too large is refused, with the numbers");
    check(one.queue.depth() == 0, "and nothing of it is taken");
    send(one, {m});
    engines::session_lock l;
    check(accept(one, l) == "a", "accepted");
    const auto got = *one.queue.receive(l);
    check(got && got->properties == m.properties && got->body == m.body && got->id == m.id,
          "what came is what was sent");
    check(
        got && got->enqueued == the_time && got->find("waybill-step") == "1" && !got->find("other"),
        "and when");
}

void numbers(const std::string& path)
{
    rule = "numbers";
    engines::session_options o = short_lock;
    o.partitions = 32'768;
    connection c(path, o);
    for (const char* s : {"a", "b", "c", "d", "e", "f"}) send(c, s, 1, 2);
    bool above = false;
    std::vector<std::uint64_t> parts;
    for (engines::session_lock l; accept(c, l) != "-";) {
        const auto one = *c.queue.receive(l);
        const auto two = *c.queue.receive(l);
        check(one->sequence >> 48U == two->sequence >> 48U && one->sequence < two->sequence,
              "a session is in one partition");
        parts.push_back(one->sequence >> 48U);
        above = above || parts.back() != parts.front();
        check(c.queue.complete(l, *one).ok() && c.queue.complete(l, *two).ok(), "complete");
    }
    check(parts.size() == 6 && above, "there are several partitions");
    c.db.exec("UPDATE numbers SET last = 281474976710654");
    send(c, "a", 3, 6);
    engines::session_lock l;
    the_time += 100;
    check(accept(c, l) == "a", "accepted");
    std::string seen;
    while (const auto m = *c.queue.receive(l)) {
        seen += m->body + ":" + std::to_string(m->sequence & ((std::uint64_t{1} << 48U) - 1)) + " ";
    }
    check(seen == "3:281474976710655 4:0 5:1 6:2 ",
          "numbers go round, and the order stays: " + seen);
}

// Two receivers at the same time, each with a connection and a thread. Each message is completed
// once.
void race(const std::string& path)
{
    rule = "race";
    engines::session_options o{.lock = 10s};
    connection sender(path, o);
    for (int s = 0; s != 40; ++s) send(sender, "s" + std::to_string(s), 1, 5);
    std::vector<std::string> done[2];
    std::atomic<int> ready = 0;
    const auto work = [&](int me) {
        connection c(path, o);
        for (++ready; ready != 2;) std::this_thread::yield();
        for (;;) {
            const auto held = c.queue.accept();
            if (!held || !*held) return;
            while (const auto m = c.queue.receive(**held)) {
                if (!*m) break;
                if (c.queue.complete(**held, **m).ok()) done[me].push_back((*m)->id);
            }
            (void)c.queue.close(**held);
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    std::vector<std::string> all = done[0];
    all.insert(all.end(), done[1].begin(), done[1].end());
    check(all.size() == 200, std::to_string(all.size()) + " of 200 were completed");
    check(sender.queue.depth() == 0, "nothing is left");
    std::printf("race: %zu and %zu\n", done[0].size(), done[1].size());
}

// The session store conformance suite, with real races, and its outage suite after the tables were
// dropped.
template <class Store, class Path>
void conforms(const std::string& tables, const waybill::state_budget& budget, Path path)
{
    rule = "conforms";
    using states = file_states<Store>;
    const auto report = waybill::testing::session_conformance(
        [&] { return states(path()); }, [](const states& s) { return states(s.path()); },
        [](auto f, auto g) {
            std::thread one(f);
            g();
            one.join();
        },
        budget);
    for (const std::string& r : report.broken) check(false, "broken: " + r);
    for (const std::string& r : report.untested) check(false, "untested: " + r);
    states gone(path());
    engines::database(gone.path()).exec(("DROP TABLE " + tables).c_str());
    for (const std::string& w : waybill::testing::session_outage_conformance(gone).broken)
        check(false, w);
}

/// The queue conformance suite of waybill::run_session.
void runs_sessions(const std::string& path)
{
    rule = "a queue for run_session";
    using waybill::testing::sent_message;
    const auto report = waybill::testing::session_queue_conformance(
        [&] {
            engines::database(path).exec(
                "DROP TABLE IF EXISTS messages; DROP TABLE IF EXISTS sessions;"
                "DROP TABLE IF EXISTS used_ids");
            return queue_of(path);
        },
        [](queue_of& q, const sent_message& m) {
            engines::session_message out{.session = m.session, .id = m.id, .body = m.body};
            for (const auto& [name, value] : m.properties) out.properties.emplace(name, value);
            check(q.send(out).ok(), "a message is taken");
        },
        [](queue_of&, waybill::duration d) { the_time += d.count() / 1'000'000; },
        waybill::duration::milliseconds(100));
    for (const std::string& r : report.broken) check(false, "broken: " + r);
    for (const std::string& r : report.untested) check(false, "untested: " + r);
}

void broken(const std::string& path)
{
    rule = "broken";
    connection c(path);
    send(c, "a", 1, 1);
    engines::session_lock l;
    check(accept(c, l) == "a", "accepted");
    c.db.exec("UPDATE messages SET properties = 'x'");
    const auto m = c.queue.receive(l);
    check(!m && m.error().kind == fault_kind::infrastructure, "what cannot be read is no message");
    c.db.exec("DROP TABLE messages");
    check(!c.queue.receive(l) && !c.queue.accept(), "without a queue, calls fail");
    const auto sent = c.queue.send(std::vector{message("a", 2)});
    const auto* no = waybill::get_if<waybill::batch_sender::failed>(&sent);
    check(no && no->kind == fault_kind::infrastructure && !no->text.empty(),
          "and nothing is taken");
}

}  // namespace

int main(int, char** argv)
{
    int files = 0;
    const auto path = [&] {
        return std::string(argv[1]) + "/sessions" + std::to_string(++files) + ".sqlite";
    };
    for (const auto& both : {order_and_locks, deliveries, pauses, states, duplicates}) {
        const std::string file = path();
        connection one(file);
        connection two(file);
        both(one, two);
    }
    {
        connection one(path());
        batches(one);
    }
    numbers(path());
    race(path());
    broken(path());
    runs_sessions(path());
    conforms<table_states>("states", {}, path);
    // a version precedes each state
    conforms<queue_states>("sessions", {.bytes = 262'144 - 21}, path);
    std::printf("queue of sessions: %d checks, %d of them failed\n", checks, failures);
    return failures == 0 && checks > 100 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
//
// The code of the guide of the module queue (include/waybill/queue/README.md), between marks.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/queue.hpp>

namespace queue_guide_test {
namespace {

using namespace std::chrono_literals;
using waybill::fault;
using waybill::receive_planner;
using waybill::steady_time;
using waybill::wall_time;

double dice()
{
    return 0.5;
}

// Steady and wall time advance together; only `sleep_until` advances them.
struct simulated_clock {
    waybill::duration passed{};

    [[nodiscard]] steady_time now() const { return steady_time::at(1h) + passed; }
    [[nodiscard]] wall_time wall() const { return wall_time::at(1h) + passed; }
    void sleep_until(steady_time t) { passed = t - steady_time::at(1h); }
};

TEST_CASE("queue guide: one message")
{
    struct {
        std::vector<std::string> said;
        void remove() { said.emplace_back("remove"); }
        void give_back(bool) { said.emplace_back("give back"); }
        void give_back_in(waybill::duration) { said.emplace_back("later"); }
        void dead_letter(const std::string& why) { said.push_back(why); }
    } queue;
    struct {
        std::uint64_t deliveries = 3;
        std::uint64_t outages = 0;
        waybill::duration lock_left = 20s;
    } m;
    const waybill::settle_policy policy{.max_deliveries = 10};
    for (const waybill::fault& f : {waybill::fault{}, waybill::permanent("no such customer"),
                                    waybill::infrastructure("the database is down")}) {
        //! [queue_settle]
        const waybill::queue_delivery d{
            .count = m.deliveries, .lock_left = m.lock_left, .outage_deliveries = m.outages};
        waybill::match(
            waybill::settle(policy, d, f.kind, dice()), [&](waybill::complete) { queue.remove(); },
            [&](waybill::abandon a) { queue.give_back(a.failed); },
            [&](waybill::defer a) { queue.give_back_in(a.delay); },
            [&](waybill::dead_letter_message a) {
                queue.dead_letter(waybill::describe(a, f.text));
            },
            [&](waybill::let_lock_expire) {});  // its lock runs out, then it is delivered again
        //! [queue_settle]
    }
    CHECK(queue.said.size() == 2);
}

TEST_CASE("queue guide: the longest outage that a message survives")
{
    std::string line;
    const auto log = [&](const std::string& text) { line = text; };
    //! [queue_outage]
    constexpr waybill::settle_policy policy{.max_deliveries = 961};
    constexpr waybill::delivery_terms terms{.lock = 90s, .max_deliveries = 961};
    constexpr waybill::settle_policy::check check = waybill::validate(policy, terms);
    static_assert(!check.error && check.longest_outage == 24h);
    log(waybill::describe(check));  // survives an outage of 24h: max_deliveries is 961
    //! [queue_outage]
    CHECK(line == "survives an outage of 24h: max_deliveries is 961");
}

TEST_CASE("queue guide: settlements in batches")
{
    struct message {
        waybill::queue_delivery delivery{};
        fault result{};
    };
    struct {
        std::string log{};
        waybill::settle_batches::batch_settled settle(
            const waybill::settle_batches::settle_batch& b)
        {
            log += std::string(name(b.kind)) + std::to_string(b.items.size()) + ' ';
            return {.call = b.call, .items = b.items};
        }
    } queue;
    const std::vector<message> handled = {{},
                                          {{}, waybill::permanent("no such customer")},
                                          {{}, waybill::infrastructure("down")},
                                          {}};
    const waybill::settle_policy policy;
    simulated_clock time;
    const auto now = [&] { return time.now(); };
    const auto sleep_until = [&](steady_time t) { time.sleep_until(t); };
    std::vector<message> numbered;
    std::set<std::uint64_t> done;
    const auto note = [&](const waybill::settle_batches::report& r) { done.insert(r.item); };

    //! [queue_batches]
    using waybill::settle_batches;
    settle_batches calls({.items = 10, .linger = 50ms});
    for (const message& m : handled) {
        const auto s = waybill::settle(policy, m.delivery, m.result.kind, dice());
        const auto kind = waybill::settle_batches::kind_of(s);  // empty for let_lock_expire
        if (!kind) continue;
        calls.on(settle_batches::decided{*kind, m.delivery.lock_left}, now());
        numbered.push_back(m);  // its number: 0, 1, 2 ...
    }
    while (!calls.empty())
        waybill::match(
            calls.next(now()),
            [&](settle_batches::settle_batch b) {
                calls.on(queue.settle(b), now());
            },  // a batch_settled
            [&](settle_batches::report r) {
                note(r);
                calls.on(settle_batches::reported{r.item}, now());
            },
            [&](waybill::wait_until w) { sleep_until(w.time); }, [&](waybill::idle) {});
    //! [queue_batches]
    CHECK(queue.log == "complete2 dead_letter1 ");
    CHECK(done == std::set<std::uint64_t>{0, 1, 2});
    CHECK(time.passed == waybill::duration(50ms));
}

TEST_CASE("queue guide: a lock that is renewed during the work")
{
    simulated_clock time;
    struct {
        simulated_clock& time;
        int renewals = 0;
        int receive()
        {
            time.passed = time.passed + 2s;
            return 7;
        }
        fault renew(int) { return ++renewals == 3 ? waybill::transient("busy") : fault{}; }
    } queue{time};
    const auto now = [&] { return time.now(); };
    const auto work_until = [&](steady_time t) { time.sleep_until(t); };
    bool stopped = false;
    const auto working = [&] { return !stopped; };
    std::optional<waybill::lock_renewal::lock_outcome> why;
    const auto stop_working = [&](waybill::lock_renewal::lock_outcome w) {
        why = w, stopped = true;
    };

    //! [queue_renewal]
    using waybill::lock_renewal;
    lock_renewal lock({.lock = 60s, .max_duration = 10min});
    const auto requested = now();
    const auto message = queue.receive();
    lock.on(lock_renewal::lock_taken{}, requested);  // it lasts from the request
    while (working()) {
        waybill::match(
            lock.next(now()),
            [&](lock_renewal::renew r) {
                lock.on(lock_renewal::renewal_started{r.attempt, dice()}, now());
                const fault f = queue.renew(message);
                if (f.ok()) lock.on(lock_renewal::lock_renewed{r.attempt}, now());
                else lock.on(lock_renewal::renewal_failed{r.attempt, f.kind, dice()}, now());
            },
            [&](waybill::wait_until w) { work_until(w.time); }, [&](waybill::idle) {});
        if (const auto end = lock.ended(now())) stop_working(*end);
    }
    lock.on(lock_renewal::lock_released{}, now());  // settled or released
    //! [queue_renewal]
    CHECK(why == waybill::lock_renewal::lock_outcome::too_long);
    CHECK(time.passed == waybill::duration(10min));
    CHECK(queue.renewals > 10);
    CHECK(lock.left(now()) == waybill::duration{});
}

TEST_CASE("queue guide: deferred messages and their store")
{
    struct message {
        std::string session{};
        std::uint64_t sequence = 7;
    } const m;
    struct {
        std::map<std::uint64_t, std::string> rows{};
        void put(std::uint64_t sequence, std::string row) { rows[sequence] = std::move(row); }
        void remove(std::uint64_t sequence) { rows.erase(sequence); }
    } store;
    struct {
        std::set<std::uint64_t> deferred{};
        int fetched = 0;
        int completed = 0;
        void defer(const message& x) { deferred.insert(x.sequence); }
        int receive_deferred(std::uint64_t) { return ++fetched; }
        void complete(int) { ++completed; }
        void give_back(int) {}
    } queue;
    simulated_clock time;
    const auto now = [&] { return time.now(); };
    const auto wall = [&] { return time.wall(); };
    const auto later = [&](waybill::deferred d) {
        d.due = time.wall() + 20min;
        ++d.attempts;
        return d;
    };
    const auto handle = [](int n) { return n == 1 ? waybill::transient("busy") : fault{}; };

    //! [queue_deferred]
    waybill::deferred_messages deferred({.hold = 60s});
    const auto keep = [&](const waybill::deferred& entry) {
        store.put(entry.sequence, waybill::save(entry));
        deferred.defer(entry);
    };
    keep({.sequence = m.sequence, .due = wall() + 10min, .session = m.session});
    queue.defer(m);  // first the number is stored, then the message deferred

    const auto run_due = [&] {  // at deferred.next_due() or next_release()
        for (const waybill::deferred_messages::taken& h : deferred.take(wall(), now(), 20)) {
            const auto original = queue.receive_deferred(h.entry.sequence);
            if (handle(original).ok()) {
                queue.complete(original);
                deferred.settled(h.entry.sequence, h.ticket);
                store.remove(h.entry.sequence);
            } else {
                queue.give_back(original);
                keep(later(h.entry));  // the same number with a later due time
            }
        }
    };
    //! [queue_deferred]
    run_due();
    CHECK(queue.fetched == 0);
    time.passed = 10min;
    run_due();
    CHECK(queue.fetched == 1);
    CHECK(deferred.find(7)->attempts == 1);
    std::string reason;
    const auto stop = [&](const std::string& text) { reason = text; };
    const auto load = [&] {
        //! [queue_load]
        deferred = waybill::deferred_messages({.hold = 60s});
        for (const auto& [sequence, row] : store.rows) {
            const auto entry = waybill::load<waybill::deferred>(row);
            if (!entry) return stop(waybill::describe(entry.error()));  // never start without it
            deferred.restore(*entry);
        }
        //! [queue_load]
    };
    load();
    CHECK(reason.empty());
    time.passed = 30min;
    run_due();
    CHECK(queue.fetched == 2);
    CHECK(queue.completed == 1);
    CHECK(deferred.empty());
    CHECK(store.rows.empty());
    store.put(1, "wbd");
    load();
    CHECK(reason.starts_with("deferred messages: too_short"));
}

// Three deferred messages and two fresh ones. The first handler of a deferred message fails.
struct consumer {
    simulated_clock time{};
    waybill::deferred_messages deferred{};
    waybill::receive_planner planner{};
    std::map<std::uint64_t, waybill::deferred_messages::taken> pairs{};
    std::vector<std::uint64_t> handlers{};
    std::uint64_t fresh = 2;
    std::string log{};

    [[nodiscard]] steady_time now() const { return time.now(); }
    [[nodiscard]] wall_time wall() const { return time.wall(); }
    [[nodiscard]] steady_time steady(std::optional<wall_time> due) const
    {
        return due ? now() + (*due - wall()) : steady_time::highest();
    }
    std::uint64_t receive(const waybill::receive_planner::receive& a)
    {
        const std::uint64_t n = fresh;
        for (std::uint64_t i = 0; i != n; ++i) handlers.push_back(a.first + i);
        fresh = 0;
        return n;
    }
    receive_planner::settle_result fetch(std::uint64_t work)
    {
        handlers.push_back(work);
        return receive_planner::settle_result::done;
    }
    receive_planner::settle_result settle(const waybill::receive_planner::settle_original& a)
    {
        log += "original " + std::string(name(a.as)) + "; ";
        return receive_planner::settle_result::done;
    }
    receive_planner::settle_result settle(const waybill::receive_planner::settle_message& a)
    {
        log += "message " + std::string(name(a.as)) + "; ";
        const auto h = pairs.extract(a.work);
        if (h.empty()) return receive_planner::settle_result::done;
        const bool over = a.as == waybill::receive_planner::settle_as::complete;
        if (over) deferred.settled(h.mapped().entry.sequence, h.mapped().ticket);
        else deferred.give_back(h.mapped().entry.sequence, h.mapped().ticket);
        return receive_planner::settle_result::done;
    }
    void sleep_until(steady_time t) { time.sleep_until(t); }

    void step()
    {
        //! [queue_planner]
        using waybill::receive_planner;
        waybill::match(
            planner.next(now()),
            [&](receive_planner::take_due_pairs a) {
                const auto due = deferred.take(wall(), now(), a.max_pairs);
                for (const waybill::deferred_messages::taken& h : due) pairs[a.first++] = h;
                planner.on(receive_planner::pairs_taken{due.size(), steady(deferred.next_due())},
                           now());
            },
            [&](receive_planner::receive a) {
                planner.on(receive_planner::messages_received{receive(a)}, now());
            },
            [&](receive_planner::receive_deferred a) {
                const bool redelivered = pairs[a.work].redelivered;
                planner.on(receive_planner::original_fetched{a.work, fetch(a.work), redelivered},
                           now());
            },
            [&](receive_planner::settle_original a) {
                planner.on(receive_planner::original_settled{a.work, settle(a)}, now());
            },
            [&](receive_planner::settle_message a) {
                planner.on(receive_planner::message_settled{a.work, settle(a)}, now());
            },
            [&](waybill::wait_until w) { sleep_until(w.time); },
            [&](waybill::idle) {});  // until an event
        //! [queue_planner]
    }
};

TEST_CASE("queue guide: due pairs before fresh messages")
{
    consumer c;
    c.deferred.defer({.sequence = 1, .due = c.wall()});
    bool failed = false;
    for (int steps = 0; steps != 30 && !(c.deferred.empty() && c.fresh == 0); ++steps) {
        c.step();
        while (!c.handlers.empty()) {
            const std::uint64_t number = c.handlers.back();
            c.handlers.pop_back();
            const bool fails = c.pairs.contains(number) && !failed;
            failed = failed || fails;
            const fault result = fails ? waybill::transient("busy") : fault{};
            c.planner.on(waybill::receive_planner::work_done{number, result.kind}, c.now());
        }
    }
    CHECK(c.log ==
          "original give_back; message give_back; message complete; message complete; "
          "original complete; message complete; ");
}

TEST_CASE("queue guide: the id of a scheduled copy")
{
    struct received {
        std::uint64_t sequence_number;
        std::string id;
    };
    struct copy {
        std::string id;
        std::string original_id;
        wall_time visible_at;
    };
    struct {
        std::map<std::string, copy> copies{};
        int completed = 0;
        void send(copy c) { copies.try_emplace(c.id, c); }  // drops duplicates
        void complete(const received&) { ++completed; }
    } queue;
    const wall_time later;
    const std::string key = "16 random bytes.";
    const std::string original = "order-7";
    const auto retry_later = [&](const received& message) {
        //! [queue_id]
        const std::string id = waybill::scheduled_id(key, message.sequence_number, message.id);
        queue.send({.id = id, .original_id = original, .visible_at = later});
        queue.complete(message);
        //! [queue_id]
        return id;
    };
    const std::string first = retry_later({17, "order-7"});
    CHECK(retry_later({17, "order-7"}) == first);  // after a crash between the two calls
    CHECK(queue.copies.size() == 1);
    CHECK(retry_later({18, first}) != first);
    CHECK(queue.copies.size() == 2);
}

}  // namespace
}  // namespace queue_guide_test

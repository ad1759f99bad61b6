// SPDX-License-Identifier: MIT
//
// A relay over an outbox in memory and a small broker. Each call of the store may fail with or
// without effect, or be the last one before or after which the process dies. Each batch may be
// throttled, fail, or have an unknown outcome with or without arrival. At each call the process may
// stall until its claim has ended, or another relay may run. All combinations of a few faults are
// tried, and random runs with many. Afterwards a relay without faults sends the rest.
//
// Always: no row leaves the outbox before it has arrived, only poison rows are dead, the first
// arrivals of a key are in order, and in the end no other row is left.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/every_schedule.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/queue/relay.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_outbox.hpp>

namespace relay_enumeration {
namespace {

using namespace std::chrono_literals;
using waybill::batch_sender;
using waybill::relay_report;
using waybill::result;
using waybill::steady_time;
using waybill::wall_time;
using waybill::testing::memory_outbox;

enum class flaw : std::uint8_t {
    none,
    claims_held_keys,      // the store ignores keys with rows in other claims
    accepts_before_done,   // the broker accepts batches that do not arrive
    unordered_in_claim,    // the store returns the newest row first
    marks_neighbours,      // the store marks one row too many
    dead_without_refusal,  // the broker blames the first row of a batch
};

struct scenario {
    std::vector<std::string> keys;  // a row with the key "p..." is poison
    std::uint32_t faults;
    bool blocks = false;
    flaw wrong = flaw::none;
    bool per_entry = false;  // the broker may refuse entries of a batch
};

using pick = std::function<std::uint32_t(std::uint32_t)>;

/// A table, a broker and the processes at both.
class simulation {
public:
    simulation(const scenario& s, pick p)
        : scenario_(s), pick_(std::move(p)), faults_left_(s.faults)
    {
        for (std::size_t n = 0; n != s.keys.size(); ++n) {
            auto tx = *box_.begin();
            (void)box_.add(tx, {.key = s.keys[n], .id = std::to_string(n), .body = "x"});
            (void)tx.commit();
        }
    }

    std::string run()
    {
        relay_once(10min);
        faulty_ = false;
        alive_ = true;
        env_.advance(10min);
        const relay_report last = relay_once(1h);
        if (last.outcome != relay_report::ending::drained) found("the last relay does not end");
        check_end();
        return wrong_;
    }

private:
    struct store;
    struct environment;

    void found(const char* what)
    {
        if (wrong_.empty()) wrong_ = what;
    }

    relay_report relay_once(waybill::duration limit);

    /// One of `kinds` kinds of faults, or 0 for none.
    std::uint32_t fault(std::uint32_t kinds)
    {
        if (!faulty_ || faults_left_ == 0) return 0;
        const std::uint32_t chosen = pick_(kinds + 1);
        if (chosen != 0) --faults_left_;
        return chosen;
    }

    /// Other processes and the clock, before a call.
    void meanwhile(std::uint32_t chosen)
    {
        const bool faulty = std::exchange(faulty_, false);
        if (chosen == 2 || chosen == 3) env_.advance(3min);  // the claim has ended
        if (chosen == 1) relay_once(1ms);                    // rows that are free now
        if (chosen == 2) relay_once(5s);
        faulty_ = faulty;
    }

    static constexpr std::uint32_t store_faults = 7;
    /// Calls `f` of the store, which returns a result.
    template <class F>
    auto call(F f) -> decltype(f())
    {
        if (!alive_) return waybill::unexpected(waybill::infrastructure("dead"));
        const std::uint32_t chosen = fault(store_faults);
        if (chosen == 1) return waybill::unexpected(waybill::infrastructure("down"));
        if (chosen == 2) {
            (void)f();
            return waybill::unexpected(waybill::infrastructure("the reply is lost"));
        }
        if (chosen == 3) alive_ = false;
        if (chosen == 4) {
            (void)f();
            alive_ = false;
        }
        if (chosen == 3 || chosen == 4) return waybill::unexpected(waybill::infrastructure("dead"));
        if (chosen > 4) meanwhile(chosen - 4);
        return f();
    }

    template <class Batch>
    waybill::send_outcome transmit(const Batch& batch)
    {
        if (!alive_) return batch_sender::outcome_unknown{};
        const std::uint32_t chosen = fault(scenario_.per_entry ? 10 : 9);
        if (chosen == 1) return batch_sender::throttled{.retry_after = 5s};
        if (chosen == 2) return batch_sender::failed{};
        if (chosen == 3) return batch_sender::outcome_unknown{};
        if (chosen == 4 || chosen == 5) {
            if (chosen == 4) (void)arrive(batch);
            alive_ = false;
            return batch_sender::outcome_unknown{};
        }
        if (chosen == 6) {
            (void)arrive(batch);
            return batch_sender::outcome_unknown{};
        }
        if (chosen == 10) return arrive_in_part(batch);
        if (chosen > 6) meanwhile(chosen - 6);
        return arrive(batch);
    }

    /// All but the first entry arrive.
    template <class Batch>
    waybill::send_outcome arrive_in_part(const Batch& batch)
    {
        blamed_ = {{0, waybill::fault_kind::transient}};
        for (auto m = ++batch.begin(); m != batch.end(); ++m) {
            if (m->key.starts_with("p"))
                return batch_sender::failed{.kind = waybill::fault_kind::permanent,
                                            .text = "poison"};
        }
        for (auto m = ++batch.begin(); m != batch.end(); ++m) note_arrival(m->id, m->key);
        return batch_sender::partial{.failed = blamed_};
    }

    void note_arrival(const std::string& id, const std::string& key)
    {
        const std::size_t n = std::stoul(id);
        if (!arrived_.insert(n).second) return;
        for (std::size_t k = 0; k != n; ++k) {
            if (scenario_.keys[k] == key && !key.empty() && !arrived_.contains(k))
                found("a row arrived before an earlier one of its key");
        }
    }

    template <class Batch>
    waybill::send_outcome arrive(const Batch& batch)
    {
        if (scenario_.wrong == flaw::accepts_before_done && faulty_ && batch.size() == 2)
            return batch_sender::accepted{};
        if (scenario_.wrong == flaw::dead_without_refusal && faulty_ && batch.size() == 2) {
            blamed_ = {{0, waybill::fault_kind::permanent}};
            for (auto m = ++batch.begin(); m != batch.end(); ++m)
                arrived_.insert(std::stoul(m->id));
            return batch_sender::partial{.failed = blamed_};
        }
        for (const auto& m : batch) {
            if (m.key.starts_with("p"))
                return batch_sender::failed{.kind = waybill::fault_kind::permanent,
                                            .text = "poison"};
        }
        for (const auto& m : batch) note_arrival(m.id, m.key);
        return batch_sender::accepted{};
    }

    void check_end()
    {
        for (std::size_t n = 0; n != scenario_.keys.size(); ++n) {
            const bool poison = scenario_.keys[n].starts_with("p");
            const auto row = box_.rows().find(n + 1);
            const bool there = row != box_.rows().end();
            if (!poison && there) found("a row is left");
            if (!poison && !arrived_.contains(n)) found("a row is lost");
            if (poison && !there) found("a poison row is lost");
            if (!poison || !there || (scenario_.blocks && !row->second.dead)) continue;
            if (!row->second.dead || row->second.reason != "poison") found("a reason is missing");
        }
    }

    scenario scenario_;
    pick pick_;
    std::uint32_t faults_left_;
    memory_outbox box_;
    waybill::testing::manual_environment env_{{}, wall_time::at(1h)};
    std::set<std::size_t> arrived_;
    std::vector<batch_sender::entry_fault> blamed_;
    bool alive_ = true;
    bool faulty_ = true;
    std::string wrong_;
};

struct simulation::store {
    using message = memory_outbox::message;
    using transaction = memory_outbox::transaction;
    using claimed_rows = memory_outbox::claimed_rows;
    using positions = std::vector<std::uint64_t>;
    simulation& w;

    result<void> add(transaction& tx, const message& m) { return w.box_.add(tx, m); }
    result<claimed_rows> claim(std::uint64_t max, wall_time now, wall_time until)
    {
        return w.call([&]() -> result<claimed_rows> {
            auto c = w.box_.claim(max, now, until);
            if (w.scenario_.wrong == flaw::unordered_in_claim && c->messages.size() > 1) {
                std::swap(c->messages[0], c->messages[1]);
                std::swap(c->positions[0], c->positions[1]);
            }
            if (w.scenario_.wrong == flaw::claims_held_keys && c->messages.empty() && c->pending)
                return claim_last(now, until);
            return c;
        });
    }
    /// The newest row that is not in a claim, of any key.
    result<claimed_rows> claim_last(wall_time now, wall_time until)
    {
        claimed_rows c;
        for (const auto& [position, r] : w.box_.rows()) {
            if (r.dead || r.until > now) continue;
            c = {.messages = {r.content}, .number = r.claim, .positions = {position}};
        }
        if (!c.positions.empty()) (void)w.box_.hold(c, {0}, until);
        return c;
    }
    result<void> hold(const claimed_rows& c, const positions& rows, wall_time until)
    {
        return w.call([&] { return w.box_.hold(c, rows, until); });
    }
    result<void> mark_sent(const claimed_rows& c, positions rows)
    {
        for (const std::uint64_t n : rows) {
            if (!w.arrived_.contains(std::stoul(c.messages[n].id)))
                w.found("a row is marked before it has arrived");
        }
        if (w.scenario_.wrong == flaw::marks_neighbours && rows.back() + 1 < c.messages.size())
            rows.push_back(rows.back() + 1);
        return w.call([&] { return w.box_.mark_sent(c, rows); });
    }
    result<void> mark_dead(const claimed_rows& c, std::uint64_t n, const std::string& reason,
                           bool blocks)
    {
        if (!c.messages[n].key.starts_with("p")) w.found("a row is dead without a reason");
        return w.call([&] { return w.box_.mark_dead(c, n, reason, blocks); });
    }
};

/// A process that has died makes no further calls: its environment requests a stop.
struct simulation::environment {
    simulation& w;
    steady_time now() { return w.env_.now(); }
    wall_time wall_now() { return w.env_.wall_now(); }
    void sleep_until(steady_time t) { w.env_.sleep_until(t); }
    double random() { return 0.5; }
    bool stop_requested() { return !w.alive_; }
};

relay_report simulation::relay_once(waybill::duration limit)
{
    batch_sender sender{
        {.limit = {.bytes = 100, .items = 2, .answers_per_entry = scenario_.per_entry},
         .exact_sizes = true,
         .ordered = true,
         .retry = {.max_attempts = 2}}};
    store s{*this};
    environment env{*this};
    const auto send = [this](const auto& batch) { return transmit(batch); };
    return waybill::relay(s, sender, send, waybill::time_limited(env, limit),
                          {.max_rows = 3, .drain = true, .dead_row_blocks_key = scenario_.blocks});
}

std::string enumerate(const char* name, const scenario& s)
{
    return tests_support::every_schedule(
               "relay", name,
               [&](waybill::testing::choices& c) {
                   return simulation(s, [&](std::uint32_t n) { return c.pick(n); }).run();
               })
        .rule;
}

constexpr std::uint32_t faults = tests_support::brief ? 2 : 3;

TEST_CASE("relay: faults, process deaths and a second relay lose no row and keep the order of keys")
{
    CHECK(enumerate("one key", {{"a", "a", "a"}, faults}) == "");
    CHECK(enumerate("two keys", {{"a", "b", "a", "b"}, 2}) == "");
    CHECK(enumerate("a row without a key", {{"a", "", "a"}, 2}) == "");
    CHECK(enumerate("two keys, answers per entry",
                    {{"a", "b", "a", "b"}, 2, false, flaw::none, true}) == "");
    CHECK(enumerate("a poison row", {{"a", "p", "a"}, 2}) == "");
    CHECK(enumerate("poison rows that block", {{"p", "a", "p", "a"}, 2, true}) == "");
}

TEST_CASE("relay: random runs with many faults lose no row and keep the order of keys")
{
    tests_support::dice dice(7);
    const int runs = tests_support::rounds(300, 5'000);
    std::string wrong;
    for (int n = 0; n != runs && wrong.empty(); ++n) {
        scenario s{{}, 0};
        const std::uint64_t rows = 1 + dice.bits() % 20;
        for (std::uint64_t k = 0; k != rows; ++k) {
            const char* const keys[] = {"a", "b", "c", "", "p"};
            s.keys.emplace_back(keys[dice.bits() % 5]);
        }
        s.faults = static_cast<std::uint32_t>(dice.bits() % 12);
        s.blocks = dice.bits() % 2 != 0;
        s.per_entry = dice.bits() % 2 != 0;
        // A fault in a tenth of the calls.
        wrong = simulation(s, [&](std::uint32_t n_kinds) {
                    if (dice.bits() % 10 != 0) return std::uint32_t{0};
                    return static_cast<std::uint32_t>(dice.bits() % n_kinds);
                }).run();
    }
    CHECK(wrong == "");
}

TEST_CASE("relay: mutants are caught")
{
    const std::vector<std::string> one{"a", "a", "a"};
    CHECK(enumerate("claims held keys", {{"a", "a", "a", "a"}, 1, false, flaw::claims_held_keys}) ==
          "a row arrived before an earlier one of its key");
    CHECK(enumerate("newest first", {one, 1, false, flaw::unordered_in_claim}) ==
          "a row arrived before an earlier one of its key");
    CHECK(enumerate("accepts before done", {one, 0, false, flaw::accepts_before_done}) ==
          "a row is marked before it has arrived");
    CHECK(enumerate("marks neighbours", {one, 1, false, flaw::marks_neighbours}) ==
          "a row is lost");
    CHECK(enumerate("blames another row", {one, 0, false, flaw::dead_without_refusal}) ==
          "a row is dead without a reason");
}

}  // namespace
}  // namespace relay_enumeration

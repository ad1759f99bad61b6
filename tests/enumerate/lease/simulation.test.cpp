// SPDX-License-Identifier: MIT
//
// Small simulations: processes share partitions through leases. Their clocks differ in time and
// speed. At any point, processes sleep, die, restart and lose answers.
//
// Each process is a `processor` that drives process_batch over one store, fenced by the leases. At
// every call to a store there may be a fault, a death or a pause. During a pause the other
// processes continue, take over and commit. The seed determines a simulation: WAYBILL_REPLAY=<seed>
// in the environment runs only that one. Each event takes effect once, in the order of its
// partition, or becomes a dead letter. No good event becomes one. After the last fault, all events
// are processed and all leases are released.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/consume/process_batch.hpp>
#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/processor.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_store.hpp>

namespace simulation_test {
namespace {

using waybill::duration;
using waybill::fault;
using waybill::steady_time;
using waybill::testing::injected_fault;
using waybill::testing::store_call;

enum class kind : std::uint8_t { good, bad, shaky, deadly };

struct event {
    std::uint64_t sequence;
    kind what;
};

struct record {
    std::uint32_t partition;
    std::uint64_t sequence;
};

using memory = waybill::testing::memory_store<record>;

// The defects of the store that the simulation must find.
enum class wrong : std::uint8_t { nothing, advances_blindly, death_is_a_fault };

class simulation {
public:
    simulation(std::uint64_t seed, wrong w) : dice_(seed), wrong_(w)
    {
        partitions_ = 1 + static_cast<std::uint32_t>(dice_(3));
        for (std::uint32_t p = 0; p != partitions_; ++p) {
            names_.push_back(std::string(1, static_cast<char>('a' + p)));
            std::vector<event>& log = logs_.emplace_back();
            std::uint64_t sequence = dice_(2) == 0 ? 0 : ~std::uint64_t{0} - 40;
            for (std::uint64_t n = 1 + dice_(6); n != 0; --n) {
                const std::uint64_t d = dice_(16);
                log.push_back({sequence, d == 0 ? kind::bad : d < 3 ? kind::shaky : kind::good});
                sequence += 1 + dice_(3);
            }
        }
        if (dice_(16) == 0) logs_[0][dice_(logs_[0].size())].what = kind::deadly;
        troubles_ = dice_(9);
        row_by_row_ = dice_(3) == 0;
        const std::uint64_t owners = 2 + dice_(2);
        for (std::uint64_t n = 0; n != owners; ++n)
            owners_.push_back(std::make_unique<owner>(*this, n));
    }

    /// Returns true if all laws hold; otherwise `broken` has the first that does not.
    bool run()
    {
        for (std::uint32_t steps = 0; broken.empty(); ++steps) {
            if (steps == 20'000) return fails("the run does not end");
            if (!stopping_ && all_done()) {
                stopping_ = true;
                troubles_ = 0;
            }
            if (stopping_ && all_ended()) break;
            run_somebody();
        }
        return broken.empty() && judged();
    }

    std::string broken;
    std::uint64_t deaths = 0;
    std::uint64_t overtaken = 0;  // batches that found another owner's checkpoint
    std::uint64_t faults = 0;
    std::uint64_t pauses = 0;

private:
    struct script {
        simulation* w;
        std::uint64_t owner;
        injected_fault operator()(store_call call) const { return w->at_call(owner, call); }
    };
    using store_of_one = waybill::testing::faulty<memory, script>;

    // Leases that fail before or after the effect of a call. One call for each row.
    struct shaky_rows {
        simulation* w;
        std::uint64_t owner;

        template <class F>
        auto call(F&& f) -> decltype(f())
        {
            const injected_fault m = w->at_call(owner, store_call::begin);
            if (m == injected_fault::none) return f();
            if (m == injected_fault::fails_though_done || m == injected_fault::dies_after)
                (void)f();
            if (m == injected_fault::dies_before || m == injected_fault::dies_after)
                (void)w->owners_[owner]->store.die();
            return waybill::unexpected(waybill::infrastructure("no leases now"));
        }
        waybill::result<waybill::lease_table> list(const std::string& s, const std::string& g)
        {
            return call([&] { return w->leases_.list(s, g); });
        }
        waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim& c)
        {
            return call([&] { return w->leases_.claim(c); });
        }
        waybill::result<void> heartbeat(const waybill::owner_heartbeat& p)
        {
            return call([&] { return w->leases_.heartbeat(p); });
        }
        waybill::result<void> leave(const waybill::owner_heartbeat& p)
        {
            return call([&] { return w->leases_.leave(p); });
        }
        template <class Tx>
        waybill::result<std::optional<std::uint64_t>> epoch(Tx& tx,
                                                            const waybill::partition_key& key)
        {
            return w->leases_.epoch(tx, key);
        }
    };

    // The same, with calls for all rows.
    struct shaky_leases : shaky_rows {
        waybill::result<waybill::lease_table> renew(const waybill::owner_heartbeat& own,
                                                    std::uint64_t since)
        {
            return this->call([&] { return this->w->leases_.renew(own, since); });
        }
        waybill::result<std::vector<waybill::lease_claim::result>> claim_all(
            const std::vector<waybill::lease_claim>& claims)
        {
            return this->call([&] { return this->w->leases_.claim_all(claims); });
        }
    };

    // A mutant: its advance overwrites the stored checkpoint without comparing.
    struct blind_store {
        using transaction = store_of_one::transaction;
        store_of_one& store;
        waybill::result<transaction> begin() { return store.begin(); }
        waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key& k)
        {
            return store.load(k);
        }
        waybill::result<void> put(transaction& tx, const waybill::dead_letter& d)
        {
            return store.put(tx, d);
        }
        waybill::result<std::optional<waybill::dead_letter>> find(const waybill::partition_key& k,
                                                                  std::uint64_t s)
        {
            return store.find(k, s);
        }
        waybill::result<waybill::advance_outcome> advance(transaction& tx,
                                                          const waybill::partition_key& k,
                                                          const std::optional<waybill::position>&,
                                                          const waybill::position& to,
                                                          std::uint64_t)
        {
            const auto now = store.load(k);
            if (!now) return waybill::unexpected(now.error());
            return store.advance(tx, k, waybill::position_of(*now), to, ~std::uint64_t{0} >> 1U);
        }
    };

    struct owner {
        owner(simulation& of, std::uint64_t n)
            : w(of),
              number(n),
              store(w.memory_, script{&w, n}),
              leases{{&w, n}},
              fenced(store, leases),
              begins(static_cast<std::int64_t>(w.dice_(1'000'000))),
              speed(90 + static_cast<std::int64_t>(w.dice_(21)))
        {
            start();
        }

        void start()
        {
            store.revive();
            incarnation = ++w.incarnations_;
            waybill::processor::config c;
            c.group = {"log",
                       "test",
                       w.names_,
                       {std::string(1, static_cast<char>('A' + number)), incarnation}};
            c.group.leases = {.interval = duration::nanoseconds(100),
                              .expiry = duration::nanoseconds(400)};
            c.lifecycle.poll = duration::nanoseconds(100);
            c.lifecycle.pause = {.base = duration::nanoseconds(20),
                                 .cap = duration::nanoseconds(200),
                                 .spread = waybill::backoff::jitter::none};
            work.emplace(c);
            mine.assign(w.partitions_, {});
        }

        /// The owner's own clock, with its own rate.
        [[nodiscard]] steady_time now() const
        {
            return steady_time::at(duration::nanoseconds(begins + w.time_ * speed / 100));
        }

        void step()
        {
            busy = true;
            if (w.stopping_) (void)work->on(waybill::stop_requested{}, now());
            waybill::match(
                work->next(now()),
                [&](const waybill::lease_manager::lease_call& c) {
                    const double random = static_cast<double>(w.dice_(1'000)) / 1'000;
                    shaky_rows& rows = leases;
                    const auto answer = w.row_by_row_ ? waybill::perform(rows, c, random)
                                                      : waybill::perform(leases, c, random);
                    w.maybe_pause();
                    if (store.alive()) (void)work->on(answer, now());
                },
                [&](waybill::partition_lifecycle::open a) {
                    const auto stored = fenced.load(work->key(a.partition));
                    waybill::partition_lifecycle::partition_opened o{a.partition, a.epoch};
                    if (stored) {
                        mine[a.partition] = work->assignment_of(a, *stored);
                        o.stored_epoch = *stored ? (*stored)->epoch : 0;
                    } else {
                        o.kind = stored.error().kind;
                    }
                    report(o);
                },
                [&](waybill::partition_lifecycle::process a) {
                    report(waybill::partition_lifecycle::processed{a.partition, a.epoch,
                                                                   one_batch(a)});
                },
                [&](waybill::partition_lifecycle::close a) {
                    report(waybill::partition_lifecycle::partition_closed{a.partition, a.epoch});
                },
                [&](waybill::partition_lifecycle::save a) {
                    report(waybill::partition_lifecycle::partition_saved{a.partition, a.epoch});
                },
                [&](waybill::wait_until a) {
                    wakes = (a.time - steady_time::at(duration::nanoseconds(begins))).count() *
                                100 / speed +
                            1;
                },
                [&](waybill::idle) { wakes = w.time_ + 50; });
            busy = false;
        }

        /// The answer arrives now, late or twice.
        template <class Answer>
        void report(const Answer& a)
        {
            if (w.pick(8) == 0) w.maybe_pause();
            if (!store.alive()) return;
            (void)work->on(a, now());
            if (w.pick(8) == 0) (void)work->on(a, now());
        }

        waybill::partition_lifecycle::batch_result one_batch(
            const waybill::partition_lifecycle::process& a)
        {
            waybill::assignment& m = mine[a.partition];
            std::vector<event> batch;
            for (const event& e : w.logs_[a.partition]) {
                if (m.from && e.sequence <= m.from->sequence) continue;
                if (batch.size() == 3) break;
                batch.push_back(e);
            }
            const auto handle = [&](auto& tx, const event& e) -> fault {
                if (auto* inner = tx.inner()) inner->record({a.partition, e.sequence});
                w.maybe_pause();
                if (e.what == kind::bad) return waybill::permanent("bad");
                if (e.what == kind::shaky && w.pick(2) == 0) return waybill::transient("shaky");
                if (e.what == kind::deadly) {
                    if (w.wrong_ == wrong::death_is_a_fault)
                        return waybill::infrastructure("deadly");
                    w.dies(number);
                }
                return {};
            };
            waybill::batch_policy p;
            p.deaths = 10;  // above the number of faults: only deadly events reach it
            blind_store blind{store};
            const auto r =
                w.wrong_ == wrong::advances_blindly
                    ? waybill::process_batch(blind, m, batch, handle, waybill::wall_time{}, p)
                    : waybill::process_batch(fenced, m, batch, handle, waybill::wall_time{}, p);
            if (r.outcome == waybill::batch_outcome::committed) m.from = r.reached;
            if (r.outcome == waybill::batch_outcome::ownership_lost) ++w.overtaken;
            return waybill::partition_lifecycle::pass_of(r.outcome);
        }

        simulation& w;
        std::uint64_t number;
        store_of_one store;
        shaky_leases leases;
        waybill::fenced_store<store_of_one, shaky_leases> fenced;
        std::int64_t begins;
        std::int64_t speed;  // of the clock, in hundredths
        std::optional<waybill::processor> work{};
        std::vector<waybill::assignment> mine{};
        std::uint64_t incarnation = 0;
        std::int64_t wakes = 0;
        bool busy = false;  // in the middle of a step
    };

    std::uint64_t pick(std::uint64_t n) { return dice_(n); }

    /// The fault of a call to a store.
    injected_fault at_call(std::uint64_t who, store_call call)
    {
        if (troubles_ == 0) return injected_fault::none;
        maybe_pause();
        if (pick(24) != 0) return injected_fault::none;
        --troubles_;
        ++faults;
        const auto all = waybill::testing::faults_of(call);
        const injected_fault m = all[pick(all.size())];
        if (m == injected_fault::dies_before || m == injected_fault::dies_after) dies(who, false);
        return m;
    }

    /// May pause the process within a step. The other processes run, often for longer than an
    /// expiry.
    void maybe_pause()
    {
        if (troubles_ == 0 || pick(40) != 0) return;
        --troubles_;
        ++pauses;
        const std::int64_t until =
            time_ + static_cast<std::int64_t>(pick(4) == 0 ? pick(60) : 400 + pick(600));
        for (std::uint32_t steps = 0; time_ < until && steps != 400; ++steps) run_somebody(until);
    }

    void dies(std::uint64_t who, bool now = true)
    {
        ++deaths;
        owners_[who]->wakes = time_ + static_cast<std::int64_t>(pick(800));
        if (now) (void)owners_[who]->store.die();
    }

    /// Runs the next due process that is not within a step.
    void run_somebody(std::int64_t until = INT64_MAX)
    {
        owner* next = nullptr;
        for (const auto& o : owners_) {
            if (o->busy) continue;
            if (!next || o->wakes < next->wakes || (o->wakes == next->wakes && pick(2) == 0))
                next = o.get();
        }
        if (!next || next->wakes >= until) {
            time_ = until == INT64_MAX ? time_ + 50 : until;
            return;
        }
        if (next->wakes > time_) time_ = next->wakes;
        time_ += static_cast<std::int64_t>(1 + pick(3));
        next->wakes = time_;
        if (!next->store.alive()) {
            next->start();
        } else {
            next->step();
        }
    }

    bool all_done() const
    {
        for (std::uint32_t p = 0; p != partitions_; ++p) {
            const auto at = memory_.load({"log", "test", names_[p]});
            if (!*at || (**at).at.sequence != logs_[p].back().sequence) return false;
        }
        return true;
    }

    bool all_ended() const
    {
        for (const auto& o : owners_) {
            if (!o->store.alive() || !o->work->ended()) return false;
        }
        return true;
    }

    bool fails(std::string what)
    {
        broken = std::move(what);
        return false;
    }

    bool judged()
    {
        std::vector<std::size_t> reached(partitions_, 0);
        for (const record& r : memory_.records()) {
            std::size_t& at = reached[r.partition];
            const std::vector<event>& log = logs_[r.partition];
            while (at != log.size() && log[at].sequence != r.sequence &&
                   parked(r.partition, log[at]))
                ++at;
            if (at == log.size() || log[at].sequence != r.sequence)
                return fails("an effect twice, or out of order");
            if (parked(r.partition, log[at])) return fails("an event is both done and dead");
            ++at;
        }
        for (std::uint32_t p = 0; p != partitions_; ++p) {
            std::size_t at = reached[p];
            while (at != logs_[p].size() && parked(p, logs_[p][at])) ++at;
            if (at != logs_[p].size()) return fails("an event is lost");
            for (const event& e : logs_[p]) {
                const bool must = e.what == kind::bad || e.what == kind::deadly;
                if (parked(p, e) != must)
                    return fails(must ? "no dead letter" : "a good event is a dead letter");
            }
        }
        const auto left = leases_.list("log", "test");
        for (const auto& l : left->leases) {
            for (const auto& o : owners_) {
                // A stop has no faults in it. So also a lease whose claim, release or renewal has
                // failed before is given back. Only rows of dead processes are left to expire.
                if (l.owner.incarnation == o->incarnation)
                    return fails("a lease was not given back");
            }
        }
        return true;
    }

    bool parked(std::uint32_t p, const event& e) const
    {
        const auto found = memory_.find({"log", "test", names_[p]}, e.sequence);
        return found->has_value();
    }

    tests_support::dice dice_;
    wrong wrong_;
    std::uint32_t partitions_ = 0;
    std::vector<std::string> names_;
    std::vector<std::vector<event>> logs_;
    memory memory_;
    waybill::testing::memory_leases leases_;
    std::int64_t time_ = 0;
    std::uint64_t troubles_ = 0;
    bool row_by_row_ = false;
    std::uint64_t incarnations_ = 0;
    bool stopping_ = false;
    std::vector<std::unique_ptr<owner>> owners_;
};

struct totals {
    std::uint64_t simulations = 0;
    std::uint64_t deaths = 0;
    std::uint64_t overtaken = 0;
    std::uint64_t faults = 0;
    std::uint64_t pauses = 0;
    std::string why;  // the broken rule
};

/// Ends at the first simulation that breaks a rule.
totals simulate(std::uint64_t from, std::uint64_t simulations, wrong w)
{
    totals t;
    for (std::uint64_t seed = from; seed != from + simulations; ++seed) {
        simulation one(seed, w);
        ++t.simulations;
        const bool well = one.run();
        t.deaths += one.deaths;
        t.overtaken += one.overtaken;
        t.faults += one.faults;
        t.pauses += one.pauses;
        if (well) continue;
        t.why = one.broken;
        std::printf("WAYBILL_REPLAY=%llu: %s\n", static_cast<unsigned long long>(seed),
                    t.why.c_str());
        break;
    }
    return t;
}

void hold(std::uint64_t from, std::uint64_t simulations)
{
    const totals t = simulate(from, simulations, wrong::nothing);
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "simulation: %llu simulations, %llu faults, %llu pauses, %llu deaths, "
        "%llu batches found another owner's checkpoint\n",
        number(t.simulations), number(t.faults), number(t.pauses), number(t.deaths),
        number(t.overtaken));
    CHECK(t.why == "");
    CHECK(t.deaths > t.simulations / 10);
    CHECK(t.overtaken > t.simulations / 100);
}

}  // namespace

TEST_CASE("shared partitions: each event is handled once and in order, and all leases are released")
{
    if (const char* seed = std::getenv("WAYBILL_REPLAY")) {
        const totals t = simulate(std::strtoull(seed, nullptr, 10), 1, wrong::nothing);
        std::printf("simulation %s: %s\n", seed, t.why.empty() ? "well" : t.why.c_str());
        return;
    }
    hold(1, tests_support::brief ? 3'000 : 150'000);
}

TEST_CASE(
    "deep: shared partitions: a million simulations: each event is handled once and in order" *
    doctest::skip())
{
    hold(150'001, 850'000);
}

TEST_CASE("shared partitions: mutant caught: a checkpoint is set without a comparison")
{
    CHECK(simulate(1, 20'000, wrong::advances_blindly).why != "");
}

TEST_CASE("shared partitions: mutant caught: a deadly event is returned as an infrastructure fault")
{
    CHECK(simulate(1, 20'000, wrong::death_is_a_fault).why != "");
}

}  // namespace simulation_test

// SPDX-License-Identifier: MIT
//
// batch_simulation: a log of events, a store, and a process that consumes the log, dies and
// restarts.
//
// One choice vector selects the events and the faults, so a run that breaks a rule is one printed
// line. After each delivery, the store has exactly the effects and dead letters of all events up to
// its checkpoint. This also holds if the process has just died. The report agrees with the store.

#ifndef WAYBILL_TESTS_ENUMERATE_CONSUME_BATCH_SIMULATION_HPP
#define WAYBILL_TESTS_ENUMERATE_CONSUME_BATCH_SIMULATION_HPP

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/consume/process_batch.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace batch_simulation {

using waybill::batch_outcome;
using waybill::batch_policy;
using waybill::batch_report;
using waybill::event_outcome;
using waybill::fault;
using waybill::fault_kind;
using waybill::testing::choices;
using waybill::testing::injected_fault;
using waybill::testing::store_call;

enum class outcome : std::uint8_t {
    ok,
    permanent,
    transient_once,
    transient_for_ever,
    infrastructure_once,
    cancelled_once,
    infrastructure_long,  // seven times
    skipped,
    deadly,  // the process ends each time it is handled
};

inline constexpr outcome of_the_first[] = {outcome::ok,
                                           outcome::permanent,
                                           outcome::transient_once,
                                           outcome::transient_for_ever,
                                           outcome::infrastructure_once,
                                           outcome::cancelled_once};
inline constexpr outcome with_skipped[] = {outcome::ok, outcome::skipped, outcome::permanent,
                                           outcome::infrastructure_once};
inline constexpr outcome with_deadly[] = {outcome::ok, outcome::deadly, outcome::permanent,
                                          outcome::skipped, outcome::infrastructure_once};

struct event {
    std::uint64_t sequence;
};

// The size of an enumeration.
struct extent {
    std::uint32_t events;
    std::uint32_t batch;
    std::uint32_t faults;
    std::span<const outcome> outcomes;
    bool with_and_without_savepoints = true;
    std::uint32_t deaths = 0;   // the death with this number is too many; 0: deaths are not counted
    std::uint32_t outages = 0;  // deliveries in which every handler returns `permanent`
    waybill::batch_policy::commit_check read_back = waybill::batch_policy::commit_check::unknown;
    bool lies = false;        // a commit may report the opposite of what happened
    std::uint32_t leave = 0;  // the maximum of events that leave the log before they are consumed
};

inline const waybill::partition_key key{"log", "test", "0"};
inline const auto parked_at = waybill::wall_time::at(waybill::duration::seconds(7));

struct process_batch_itself {
    template <class Store, class Handler, class Ask>
    batch_report operator()(Store& store, const waybill::assignment& mine,
                            const std::vector<event>& events, Handler& handler,
                            const batch_policy& p, Ask& ask) const
    {
        return waybill::process_batch(store, mine, events, handler, parked_at, p, ask);
    }
};

template <class Store, class Driver>
class simulation {
public:
    simulation(const extent& x, choices& c, Driver driver, Store kept, std::string* trace)
        : extent_(x),
          choices_(c),
          driver_(std::move(driver)),
          kept_(std::move(kept)),
          trace_(trace),
          left_(x.faults),
          outages_(x.outages),
          may_leave_(x.leave),
          store_(kept_, script{this})
    {
        policy_.tries = 2;
        policy_.crash_records = x.deaths != 0;
        policy_.deaths = x.deaths;
        policy_.check_commit = x.read_back;
        policy_.decide_all_failed_from = 1;
        policy_.savepoints = c.pick(x.with_and_without_savepoints ? 2 : 1) == 0;
        for (std::uint32_t i = 0; i != x.events; ++i) {
            outcomes_[i] = x.outcomes[c.pick(static_cast<std::uint32_t>(x.outcomes.size()))];
            if (outcomes_[i] == outcome::transient_for_ever) stays_transient_ = true;
        }
        // If no event stays transient, both policies are the same.
        if (stays_transient_ && c.pick(2) != 0)
            policy_.on_exhausted = waybill::batch_policy::when_exhausted::dead_letter;
    }

    /// Returns the first broken rule, or nothing.
    std::string run()
    {
        waybill::assignment mine{key, {}, 0, 0};  // for the life of one process
        auto& from = mine.from;
        bool loaded = false;
        std::uint32_t stuck = 0;
        const std::uint32_t most = 24 + 24 * extent_.deaths;
        for (std::uint32_t round = 0; round != most; ++round) {
            if (!store_.alive()) {
                tell("-- a new process");
                store_.revive();
                ++incarnation_;
                loaded = false;
            }
            if (!loaded) {
                const auto stored = store_.load(key);
                if (!stored) continue;
                const std::uint64_t me = extent_.deaths != 0 ? incarnation_ : 0;
                if (mine.incarnation != me) mine.last = {};
                mine.incarnation = me;
                from = waybill::position_of(*stored);
                ++mine.epoch;
                loaded = true;
            }
            const std::uint64_t done = first_there(from ? from->sequence / 10 : 0);
            if (done == extent_.events) return broken_.empty() ? finished(done) : broken_;
            std::vector<event> events;
            for (std::uint64_t i = done; i != extent_.events && events.size() != extent_.batch;
                 ++i) {
                if (!gone_[i]) events.push_back({10 * (i + 1)});
            }

            const std::uint64_t before = stored_now();
            read_back_failed_ = false;
            lied_ = false;
            outage_ = outages_ != 0 && choices_.pick(2) != 0;
            if (outage_) --outages_;
            auto handle = [this](auto& tx, const event& e) { return this->handler(tx, e); };
            auto ask = [this](std::uint64_t) { return this->asked(); };
            const batch_report r = driver_(store_, mine, events, handle, policy_, ask);
            if (trace_ && store_.alive()) tell("-- " + std::string(name(r.outcome)));
            check_store(before, events.back().sequence);
            if (store_.alive()) check_report(r, before, events);
            if (!broken_.empty()) return broken_;
            if (!store_.alive()) continue;

            if (r.outcome == batch_outcome::committed) from = r.reached;
            if (r.outcome == batch_outcome::unknown || r.outcome == batch_outcome::ownership_lost)
                loaded = false;
            if (r.outcome == batch_outcome::redeliver && stays_transient_ &&
                policy_.on_exhausted == waybill::batch_policy::when_exhausted::redeliver &&
                ++stuck == 5 + extent_.faults) {
                return finished(stored_now() / 10);
            }
        }
        return "the log is not drained in so many deliveries";
    }

private:
    struct script {
        simulation* w;
        injected_fault operator()(store_call call) const { return w->injected_fault_at(call); }
    };

    // The first event from `n` on that is still in the log. It may remove some before it.
    std::uint64_t first_there(std::uint64_t n)
    {
        for (; n != extent_.events; ++n) {
            if (gone_[n]) continue;
            if (may_leave_ == 0 || choices_.pick(2) == 0) break;
            --may_leave_;
            gone_[n] = true;
            tell("-- " + std::to_string(10 * (n + 1)) + " has left the log");
        }
        return n;
    }

    void tell(const std::string& line)
    {
        if (trace_) *trace_ += line + "\n";
    }

    void breaks(const char* rule)
    {
        if (broken_.empty()) broken_ = rule;
        tell(std::string("BROKEN: ") + rule);
    }

    injected_fault injected_fault_at(store_call call)
    {
        injected_fault m = injected_fault::none;
        if (left_ != 0) {
            const auto all = extent_.lies ? waybill::testing::faults_and_lies_of(call)
                                          : waybill::testing::faults_of(call);
            m = all[choices_.pick(static_cast<std::uint32_t>(all.size()))];
        }
        if (m != injected_fault::none) --left_;
        if (m == injected_fault::says_applied || m == injected_fault::says_not_applied)
            ever_lied_ = lied_ = true;
        if (m != injected_fault::none && call == store_call::load) read_back_failed_ = true;
        if (trace_)
            tell(std::string(name(call)) +
                 (m == injected_fault::none ? "" : " " + std::string(name(m))));
        return m;
    }

    // Writes the effect first and then fails, so that a missing rollback is found.
    template <class Tx>
    event_outcome handler(Tx& tx, const event& e)
    {
        const std::size_t i = e.sequence / 10 - 1;
        if (trace_) tell("handle " + std::to_string(e.sequence));
        const std::uint32_t death = left_ != 0 ? choices_.pick(3) : 0;
        if (death != 0) --left_;
        if (death == 1) return store_.die();
        tx.inner()->record(e.sequence);
        if (death == 2) return store_.die();
        if (outage_) return waybill::permanent("what it needs is down");
        const std::uint32_t call = calls_[i]++;
        const bool first = call == 0;
        switch (outcomes_[i]) {
            case outcome::ok: return {};
            case outcome::permanent: return waybill::permanent("bad");
            case outcome::transient_once: return first ? waybill::transient("late") : fault{};
            case outcome::transient_for_ever: return waybill::transient("busy");
            case outcome::infrastructure_once:
                return first ? waybill::infrastructure("down") : fault{};
            case outcome::infrastructure_long:
                return call < 7 ? waybill::infrastructure("down") : fault{};
            case outcome::cancelled_once: return first ? waybill::cancelled("stop") : fault{};
            case outcome::skipped: return waybill::skipped("not ours");
            case outcome::deadly: ++deaths_[i]; return store_.die();
        }
        return {};
    }

    waybill::batch_policy::if_all_failed asked()
    {
        tell(outage_ ? "all failed: redeliver" : "all failed: go on");
        return outage_ ? waybill::batch_policy::if_all_failed::redeliver
                       : waybill::batch_policy::if_all_failed::go_on;
    }

    std::uint64_t stored_now()
    {
        const auto stored = kept_.load(key);
        return *stored ? (*stored)->at.sequence : 0;
    }

    static bool bad(outcome o)
    {
        return o == outcome::permanent || o == outcome::transient_for_ever || o == outcome::deadly;
    }

    bool letter_is_right(const waybill::dead_letter& l, std::uint64_t n, outcome o) const
    {
        const auto how =
            o == outcome::transient_for_ever ? fault_kind::transient : fault_kind::permanent;
        std::string reason = o == outcome::permanent ? "bad" : "busy";
        std::uint32_t tries = o == outcome::permanent ? 1 : 2;
        if (o == outcome::deadly) {
            tries = policy_.deaths;
            reason = "its handler did not return " + std::to_string(tries) +
                     " times: it threw an exception or its process ended";
        }
        return l.kind == how && l.reason == reason && l.tries == tries && l.at.sequence == n &&
               l.dead_lettered_at == parked_at;
    }

    // The effects are those of all good events up to the checkpoint, in order. The dead letters are
    // those of the bad ones. Skipped and removed events have neither.
    void check_store(std::uint64_t before, std::uint64_t to)
    {
        const std::uint64_t at = stored_now();
        if (at < before) breaks("the checkpoint has moved back");
        if (extent_.deaths != 0 ? at > to : at != before && at != to) {
            breaks("the checkpoint is not at the end of a batch");
        }
        const auto& effects = kept_.records();
        std::size_t effect = 0;
        std::size_t letters = 0;
        for (std::uint64_t n = 10; n <= at; n += 10) {
            const outcome o = outcomes_[n / 10 - 1];
            if (o == outcome::skipped || gone_[n / 10 - 1]) continue;
            if (!bad(o)) {
                if (effect == effects.size() || effects[effect] != n) {
                    return breaks(
                        "the effects up to the checkpoint are not those of each event once, in "
                        "order");
                }
                ++effect;
                continue;
            }
            const auto found = kept_.letters().find({key, n});
            if (found == kept_.letters().end())
                return breaks("an event before the checkpoint is lost");
            if (!letter_is_right(found->second, n, o))
                return breaks("a dead letter has wrong fields");
            ++letters;
        }
        if (effect != effects.size())
            breaks("there are effects beyond the checkpoint, or of a failed handler");
        if (letters != kept_.letters().size())
            breaks("there are dead letters beyond the checkpoint, or of good events");
    }

    void check_report(const batch_report& r, std::uint64_t before, const std::vector<event>& events)
    {
        const bool applied = stored_now() != before;
        // A lie is found at once if commits are read back, else at the next delivery.
        const bool deceived =
            lied_ && extent_.read_back == waybill::batch_policy::commit_check::unknown;
        switch (r.outcome) {
            case batch_outcome::committed: {
                if (!applied && !deceived) return breaks("reported as committed, and is not");
                if (r.not_delivered >= events.size())
                    return breaks("the report leaves more than there was");
                const std::size_t delivered = events.size() - r.not_delivered;
                std::uint64_t failed = 0;
                std::uint64_t skipped = 0;
                for (std::size_t i = 0; i != delivered; ++i) {
                    const outcome o = outcomes_[events[i].sequence / 10 - 1];
                    if (bad(o)) ++failed;
                    if (o == outcome::skipped) ++skipped;
                }
                if (r.dead_lettered != failed || r.skipped != skipped || r.repeated != 0 ||
                    r.dropped != 0 || r.handled != delivered - failed - skipped) {
                    breaks("the report counts other events than there were");
                }
                if (!r.reached || r.reached->sequence != events[delivered - 1].sequence) {
                    breaks("the report names another position than the last event's");
                }
                return;
            }
            case batch_outcome::redeliver:
            case batch_outcome::cancelled:
                if (applied && !deceived) breaks("reported as not committed, and is");
                return;
            case batch_outcome::unknown:
                if (!read_back_failed_) breaks("reported as unknown, and could have been read");
                return;
            case batch_outcome::ownership_lost:
                if (!ever_lied_) breaks("ownership lost without another owner");
                return;
            case batch_outcome::empty:
            case batch_outcome::invalid: return breaks("a good batch was not taken");
        }
    }

    std::string finished(std::uint64_t done)
    {
        std::uint64_t reachable = extent_.events;
        if (stays_transient_ &&
            policy_.on_exhausted == waybill::batch_policy::when_exhausted::redeliver) {
            reachable = 0;
            while (outcomes_[reachable] != outcome::transient_for_ever) ++reachable;
            reachable -= reachable % extent_.batch;
        }
        if (done != reachable) breaks("the log is not drained as far as it can be");
        if constexpr (waybill::crash_record_store<Store>) {
            const bool last_gone = gone_[extent_.events - 1];
            if (!ever_lied_ && !last_gone && *kept_.load_crash_record(key))
                breaks("a crash record is left");
        }
        if (extent_.faults == 0 && extent_.deaths != 0) {
            std::uint64_t bound = waybill::detail::deaths_at_most(extent_.batch, policy_.deaths);
            for (const std::uint32_t d : deaths_) {
                if (d > bound) breaks("an event has ended more processes than it may");
            }
        }
        return broken_;
    }

    const extent& extent_;
    choices& choices_;
    Driver driver_;
    Store kept_;
    std::string* trace_;
    std::uint32_t left_;
    std::uint32_t outages_;
    std::uint32_t may_leave_;
    waybill::testing::faulty<Store, script> store_;
    batch_policy policy_;
    std::array<outcome, 8> outcomes_{};
    std::array<std::uint32_t, 8> calls_{};
    std::array<std::uint32_t, 8> deaths_{};
    std::array<bool, 8> gone_{};
    std::uint64_t incarnation_ = 1;
    bool stays_transient_ = false;
    bool read_back_failed_ = false;
    bool outage_ = false;
    bool lied_ = false;  // in this delivery
    bool ever_lied_ = false;
    std::string broken_;
};

using right_store = waybill::testing::memory_store<std::uint64_t>;

template <class Store, class Driver>
std::string run(const extent& x, choices& c, const Driver& driver, Store kept,
                std::string* trace = nullptr)
{
    simulation<Store, Driver> w(x, c, driver, std::move(kept), trace);
    return w.run();
}

using tests_support::verdict;

inline right_store make_right()
{
    return right_store();
}

template <class Driver, class MakeStore>
verdict enumerate(const char* what, const extent& x, const Driver& driver, MakeStore make,
                  const char* rule = "")
{
    return tests_support::every_schedule(
        "faults", what, [&](choices& c) { return run(x, c, driver, make()); }, rule);
}

/// The library's driver over a right store breaks no rule. It has at least `in_full` different
/// schedules, or in brief runs `in_brief`.
inline void holds(const char* what, const extent& x, std::uint64_t in_full, std::uint64_t in_brief)
{
    const verdict v = enumerate(what, x, process_batch_itself{}, make_right);
    CHECK(v.rule == "");
    CHECK(v.schedules >= (tests_support::brief ? in_brief : in_full));
}

/// The mutant must break this rule, and the trace of its line must contain it.
template <class Driver>
void is_caught(const char* what, const extent& x, const Driver& driver, const char* rule)
{
    const verdict v = enumerate(what, x, driver, make_right, rule);
    REQUIRE(v.rule == rule);
    auto again = choices::replay(v.line);
    std::string trace;
    CHECK(run(x, *again, driver, right_store(), &trace) == v.rule);
    if (trace.find("BROKEN: ") != std::string::npos)
        CHECK(trace.find("BROKEN: " + v.rule) != std::string::npos);
}

/// Runs only the schedule of the line in WAYBILL_REPLAY, in each extent that has such a schedule.
inline void replay(std::initializer_list<const extent*> extents)
{
    const char* line = std::getenv("WAYBILL_REPLAY");
    if (!line) return;
    for (const extent* x : extents) {
        auto c = choices::replay(line);
        REQUIRE_MESSAGE(c.has_value(), "not a line of choices");
        std::string trace;
        const std::string broken = run(*x, *c, process_batch_itself{}, right_store(), &trace);
        const bool whole = !c->next() && !c->diverged();
        if (!whole) continue;
        std::printf("faults: %u events, %u faults at most\n%s", x->events, x->faults,
                    trace.c_str());
        CHECK(broken == "");
    }
}

}  // namespace batch_simulation

#endif  // WAYBILL_TESTS_ENUMERATE_CONSUME_BATCH_SIMULATION_HPP

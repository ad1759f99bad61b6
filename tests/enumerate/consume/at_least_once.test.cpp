// SPDX-License-Identifier: MIT
//
// Every fault at every call of process_at_least_once, for every way in which events can turn out.
//
// A simulation is a log of events, a store of checkpoints, a sink of dead letters, the external
// effects, and a process that dies and restarts. One choice vector selects the events, the policy
// and the faults. So a run that breaks a rule is one printed line. WAYBILL_REPLAY_ONCE=<line> in
// the environment runs only that schedule and prints its steps. A call can fail before or after its
// effect, take effect only after the next read, or end the process.
//
// The rules: no event up to the checkpoint is lost. No event is handled before all earlier ones are
// done. No good event becomes a dead letter. The number of repetitions after a fault is bounded.
// With the same idempotency key, every effect happens once.
//
// The same enumeration runs over drivers with one mistake each, and must catch them.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/consume/process_at_least_once.hpp>
#include <waybill/testing/choices.hpp>

namespace at_least_once_enumeration {
namespace {

using waybill::advance_outcome;
using waybill::at_least_once_policy;
using waybill::at_least_once_report;
using waybill::batch_outcome;
using waybill::batch_policy;
using waybill::checkpoint;
using waybill::dead_letter;
using waybill::fault;
using waybill::fault_kind;
using waybill::partition_key;
using waybill::position;
using waybill::result;
using waybill::unexpected;
using waybill::testing::choices;

enum class outcome : std::uint8_t {
    ok,
    permanent,
    transient_once,
    transient_for_ever,
    infrastructure_once,
    cancelled_once
};

struct event {
    std::uint64_t sequence;
};

// The size of an enumeration.
struct extent {
    std::uint32_t events;
    std::uint32_t batch;
    std::uint32_t faults;
    std::uint32_t outcomes;  // the number of enumerators of `outcome` in use
    // 1: one commit a batch, no question; 2: also one commit an event; 4: also with the question
    std::uint32_t policies;
    bool liar = false;  // the store may confirm a commit without effect; every commit is read back
};

const partition_key key{"log", "test", "0"};
const auto parked_at = waybill::wall_time::at(waybill::duration::seconds(7));

std::string key_of(std::uint64_t sequence)
{
    return "log/test/0/" + std::to_string(sequence);
}

// ---------------------------------------------------------------------------------------------
// Drivers: the tested one, and a manual one with optional mistakes.

enum class wrong : std::uint8_t {
    nothing,
    checkpoint_before_letter,
    letter_not_awaited,   // the put is started, and its result is ignored
    past_a_failed_event,  // later events are handled, and the whole batch is committed
    cancelled_is_done,
    infrastructure_is_event_fault,
    letter_fault_is_skipped,  // a failed put of a dead letter is ignored
    exhausted_is_done,
    unknown_is_applied,   // a commit with a lost answer counts as applied
    key_of_the_delivery,  // a different key in each delivery
};

struct itself {
    static constexpr bool says_why = true;

    template <class Checkpoints, class Letters, class Handler, class Ask>
    at_least_once_report operator()(Checkpoints& checkpoints, Letters& letters,
                                    const waybill::assignment& mine,
                                    const std::vector<event>& events, Handler& handler,
                                    const at_least_once_policy& p, Ask& ask) const
    {
        return waybill::process_at_least_once(checkpoints, letters, mine, events, handler,
                                              parked_at, p, ask);
    }
};

struct by_hand {
    static constexpr bool says_why = false;
    wrong what;

    template <class Checkpoints, class Letters, class Handler, class Ask>
    at_least_once_report operator()(Checkpoints& checkpoints, Letters& letters,
                                    const waybill::assignment& mine,
                                    const std::vector<event>& events, Handler& handler,
                                    const at_least_once_policy& p, Ask&) const
    {
        at_least_once_report r{.outcome = batch_outcome::committed, .reached = mine.from};
        std::vector<dead_letter> late;
        std::optional<position> to;
        std::uint64_t handled = 0;
        std::uint64_t dead = 0;
        for (const event& e : events) {
            fault f;
            std::uint32_t tries = 1;
            for (;; ++tries) {
                std::string k = key_of(e.sequence);
                if (what == wrong::key_of_the_delivery) k += "?" + std::to_string(mine.epoch);
                f = handler(e, k).reason;
                if (f.kind != fault_kind::transient || tries == p.tries) break;
            }
            if (f.kind == fault_kind::infrastructure &&
                what == wrong::infrastructure_is_event_fault)
                f.kind = fault_kind::permanent;
            if (f.kind == fault_kind::cancelled && what == wrong::cancelled_is_done) f = {};
            if (f.kind == fault_kind::transient && what == wrong::exhausted_is_done) f = {};
            const bool park =
                f.kind == fault_kind::permanent ||
                (f.kind == fault_kind::transient &&
                 p.on_exhausted == waybill::batch_policy::when_exhausted::dead_letter);
            if (!f.ok() && !park) {
                r.outcome = f.kind == fault_kind::cancelled ? batch_outcome::cancelled
                                                            : batch_outcome::redeliver;
                if (what == wrong::past_a_failed_event) continue;
                break;
            }
            if (park) {
                const dead_letter l = waybill::make_dead_letter(key, e, f, tries, parked_at);
                if (what == wrong::checkpoint_before_letter) {
                    late.push_back(l);
                } else if (const auto put = letters.put(l);
                           !put && what != wrong::letter_not_awaited &&
                           what != wrong::letter_fault_is_skipped) {
                    r.outcome = batch_outcome::redeliver;
                    break;
                }
            }
            ++(park ? dead : handled);
            to = waybill::position_of(e);
        }
        if (!to) return r;
        const auto moved = checkpoints.commit(key, mine.from, *to, mine.epoch);
        // our own late commit: there is no other owner
        if (moved && *moved != advance_outcome::applied) {
            r.outcome = batch_outcome::unknown;
            return r;
        }
        if (!moved && what != wrong::unknown_is_applied) {
            const auto stored = checkpoints.load(key);
            if (!stored) r.outcome = batch_outcome::unknown;
            else if (waybill::at_least_once_machine::classify(*stored, mine.from, *to,
                                                              mine.epoch) !=
                     waybill::at_least_once_machine::checkpoint_found::after) {
                if (r.outcome == batch_outcome::committed) r.outcome = batch_outcome::redeliver;
                return r;
            }
            if (!stored) return r;
        }
        for (const dead_letter& l : late) (void)letters.put(l);
        r.reached = to;
        r.handled = handled;
        r.dead_lettered = dead;
        return r;
    }
};

// ---------------------------------------------------------------------------------------------
// The simulation.

enum class injected_fault : std::uint8_t {
    none,
    fails,
    done_but_fails,
    dies_before,
    dies_after,
    arrives_late,
    lies
};

const char* name(injected_fault m)
{
    const char* const names[] = {"",
                                 " fails",
                                 " is done, and fails",
                                 " and dies before",
                                 " and dies after",
                                 " arrives late",
                                 " is confirmed, and is not there"};
    return names[static_cast<std::size_t>(m)];
}

template <class Driver>
class simulation {
public:
    simulation(const extent& x, choices& c, const Driver& driver, std::string* trace)
        : extent_(x), choices_(c), driver_(driver), trace_(trace), left_(x.faults)
    {
        policy_.tries = 2;
        policy_.decide_all_failed_from = waybill::detail::highest_size;
        const std::uint32_t how = c.pick(x.policies);
        if (how % 2 != 0) policy_.commit_every = 1;
        if (how >= 2) policy_.decide_all_failed_from = 2;
        if (x.liar) policy_.check_commit = waybill::batch_policy::commit_check::always;
        for (std::uint32_t i = 0; i != x.events; ++i) {
            outcomes_[i] = static_cast<outcome>(c.pick(x.outcomes));
            if (outcomes_[i] == outcome::transient_for_ever) stays_transient_ = true;
        }
        // If no event stays transient, both policies are the same.
        if (stays_transient_ && c.pick(2) != 0)
            policy_.on_exhausted = waybill::batch_policy::when_exhausted::dead_letter;
    }

    /// Returns the first broken rule, or nothing.
    std::string run()
    {
        std::optional<position> from;
        bool loaded = false;
        std::uint32_t stuck = 0;
        for (std::uint32_t round = 0; round != 32; ++round) {
            if (!alive_) {
                tell("-- a new process");
                alive_ = true;
                loaded = false;
                ++epoch_;
            }
            if (!loaded) {
                const auto stored = load(key);
                if (!stored) continue;
                from = waybill::position_of(*stored);
                loaded = true;
            }
            const std::uint64_t done = from ? from->sequence / 10 : 0;
            if (done == extent_.events) return finished(done);
            std::vector<event> events;
            for (std::uint64_t i = done; i != extent_.events && events.size() != extent_.batch;
                 ++i) {
                events.push_back({10 * (i + 1)});
            }

            const std::uint64_t before = stored_now();
            load_failed_ = false;
            arrived_late_ = false;
            auto handle = [this](const event& e, std::string_view k) {
                return this->handler(e, k);
            };
            auto ask = [this](std::uint64_t failed) { return this->asked(failed); };
            const at_least_once_report r =
                driver_(*this, *this, waybill::assignment{key, from, epoch_, 0}, events, handle,
                        policy_, ask);
            if (alive_) tell("-- " + std::string(waybill::name(r.outcome)));
            check_simulation(before, events.back().sequence);
            if (alive_) check_report(r, before, events);
            if (!broken_.empty()) return broken_;
            if (!alive_) continue;

            from = r.reached;
            if (r.outcome == batch_outcome::unknown || r.outcome == batch_outcome::ownership_lost)
                loaded = false;
            const bool waits =
                stays_transient_ &&
                policy_.on_exhausted == waybill::batch_policy::when_exhausted::redeliver;
            if (r.outcome == batch_outcome::redeliver && waits && ++stuck == 8 + extent_.faults) {
                return finished(stored_now() / 10);
            }
        }
        return "the log is not drained after 32 deliveries";
    }

    // The checkpoints and the sink of this simulation, as the drivers see them.

    result<std::optional<checkpoint>> load(const partition_key&)
    {
        if (!alive_) return unexpected(waybill::infrastructure("dead"));
        const injected_fault m = injected_fault_at(
            "load", {injected_fault::none, injected_fault::fails, injected_fault::dies_before});
        if (m == injected_fault::none) return stored_;
        if (m == injected_fault::dies_before) die();
        load_failed_ = true;
        return unexpected(waybill::infrastructure("no answer"));
    }

    result<advance_outcome> commit(const partition_key&, const std::optional<position>& from,
                                   const position& to, std::uint64_t epoch)
    {
        if (!alive_) return unexpected(waybill::infrastructure("dead"));
        arrive();
        const injected_fault m =
            injected_fault_at("commit to " + std::to_string(to.sequence),
                              {injected_fault::none, injected_fault::fails,
                               injected_fault::done_but_fails, injected_fault::dies_before,
                               injected_fault::dies_after, injected_fault::arrives_late});
        if (m == injected_fault::arrives_late) late_ = write{from, to, epoch};
        advance_outcome what = advance_outcome::applied;
        if (m == injected_fault::none || m == injected_fault::done_but_fails ||
            m == injected_fault::dies_after)
            what = set({from, to, epoch});
        if (m == injected_fault::dies_before || m == injected_fault::dies_after) die();
        if (m == injected_fault::none || m == injected_fault::lies) return what;
        return unexpected(waybill::infrastructure("no answer"));
    }

    result<void> put(const dead_letter& l)
    {
        if (!alive_) return unexpected(waybill::infrastructure("dead"));
        const injected_fault m = injected_fault_at(
            "put " + std::to_string(l.at.sequence),
            {injected_fault::none, injected_fault::fails, injected_fault::done_but_fails,
             injected_fault::dies_before, injected_fault::dies_after});
        if (m == injected_fault::none || m == injected_fault::done_but_fails ||
            m == injected_fault::dies_after)
            letters_[l.at.sequence] = l;
        if (m == injected_fault::dies_before || m == injected_fault::dies_after) die();
        if (m == injected_fault::none) return {};
        return unexpected(waybill::infrastructure("no answer"));
    }

private:
    struct write {
        std::optional<position> from;
        position to;
        std::uint64_t epoch;
    };

    advance_outcome set(const write& w)
    {
        if (stored_ && w.epoch < stored_->epoch) return advance_outcome::stale_epoch;
        const bool same = stored_ ? w.from && w.from->sequence == stored_->at.sequence : !w.from;
        if (!same) return advance_outcome::conflict;
        stored_ = checkpoint{w.to, w.epoch};
        return advance_outcome::applied;
    }

    void arrive()
    {
        if (late_ && set(*late_) == advance_outcome::applied) arrived_late_ = true;
        late_.reset();
    }

    void die() { alive_ = false; }

    void tell(const std::string& line)
    {
        if (trace_) *trace_ += line + "\n";
    }

    void breaks(const char* rule)
    {
        if (broken_.empty()) broken_ = rule;
        tell(std::string("BROKEN: ") + rule);
    }

    injected_fault injected_fault_at(const std::string& call,
                                     std::initializer_list<injected_fault> all)
    {
        injected_fault m = injected_fault::none;
        const auto of = static_cast<std::uint32_t>(all.size());
        const bool may_lie = extent_.liar && of == 6;
        const std::uint32_t chosen = left_ != 0 ? choices_.pick(may_lie ? of + 1 : of) : 0;
        m = chosen == of ? injected_fault::lies : all.begin()[chosen];
        if (m != injected_fault::none) --left_;
        if (trace_) tell(call + name(m));
        return m;
    }

    [[nodiscard]] bool good(std::size_t i) const
    {
        return outcomes_[i] != outcome::permanent && outcomes_[i] != outcome::transient_for_ever;
    }

    // The effect comes first, then the fault: a failed handler may have had its effect.
    waybill::event_outcome handler(const event& e, std::string_view k)
    {
        if (!alive_) return waybill::cancelled("dead");
        const std::size_t i = e.sequence / 10 - 1;
        if (trace_) tell("handle " + std::to_string(e.sequence) + " as " + std::string(k));
        for (std::size_t m = 0; m != i; ++m) {
            const bool held =
                policy_.decide_all_failed_from != waybill::detail::highest_size && !good(m);
            const bool done = good(m) ? repeats_[m] != 0 : letters_.count(10 * (m + 1)) != 0;
            if (!done && !(held && calls_[m] != 0))
                breaks("an event is handled before one in front of it is done");
        }
        const std::uint32_t death = left_ != 0 ? choices_.pick(3) : 0;
        if (death != 0) --left_;
        if (death == 1) {
            die();
            return waybill::cancelled("dead");
        }
        const bool first = calls_[i]++ == 0;
        const bool stopped =
            outcomes_[i] == outcome::transient_once || outcomes_[i] == outcome::cancelled_once;
        const bool works = good(i) && !(stopped && first);
        if (works) {
            ++repeats_[i];
            ++effects_[std::string(k)];
        }
        if (death == 2) {
            die();
            return waybill::cancelled("dead");
        }
        switch (outcomes_[i]) {
            case outcome::ok: return {};
            case outcome::permanent: return waybill::permanent("bad");
            case outcome::transient_once: return first ? waybill::transient("late") : fault{};
            case outcome::transient_for_ever: return waybill::transient("busy");
            case outcome::infrastructure_once:
                return first ? waybill::infrastructure("down") : fault{};
            case outcome::cancelled_once: return first ? waybill::cancelled("stop") : fault{};
        }
        return {};
    }

    batch_policy::if_all_failed asked(std::uint64_t failed)
    {
        tell("ask about " + std::to_string(failed));
        if (failed < 2) breaks("all_failed is requested for too few failures");
        if (left_ == 0 || choices_.pick(2) == 0) return batch_policy::if_all_failed::go_on;
        --left_;
        return batch_policy::if_all_failed::redeliver;
    }

    [[nodiscard]] std::uint64_t stored_now() const { return stored_ ? stored_->at.sequence : 0; }

    void check_simulation(std::uint64_t before, std::uint64_t to)
    {
        const std::uint64_t at = stored_now();
        if (at < before) breaks("the checkpoint has moved back");
        if (at > to) breaks("the checkpoint is beyond the batch");
        std::uint64_t repeated = 0;
        for (std::size_t i = 0; i != extent_.events; ++i) {
            const std::uint64_t n = 10 * (i + 1);
            const auto letter = letters_.find(n);
            const bool is_dead = letter != letters_.end();
            if (n <= at && (good(i) ? repeats_[i] == 0 : !is_dead))
                breaks("an event before the checkpoint is lost");
            if (n > to && (repeats_[i] != 0 || is_dead))
                breaks("an event beyond the batch was handled");
            if (is_dead && good(i)) breaks("a good event is a dead letter");
            const auto effect = effects_.find(key_of(n));
            const std::size_t known = effect == effects_.end() ? 0 : 1;
            if (known != (repeats_[i] != 0 ? 1U : 0U))
                breaks("an effect has another key than its event's");
            if (is_dead) check_letter(letter->second, outcomes_[i]);
            // The first call, and the repetition after the event's own fault, are not counted.
            const std::uint32_t own = outcomes_[i] == outcome::infrastructure_once ? 2 : 1;
            if (repeats_[i] > own) repeated += repeats_[i] - own;
        }
        const std::uint64_t most =
            policy_.commit_every < extent_.batch ? policy_.commit_every : extent_.batch;
        if (repeated > (extent_.faults - left_) * most)
            breaks("more events are repeated than after so many faults");
        for (const auto& [k, times] : effects_) {
            if (k.find('?') != std::string::npos)
                breaks("an effect has another key than its event's");
        }
    }

    void check_letter(const dead_letter& l, outcome o)
    {
        const bool bad = o == outcome::permanent;
        if (l.kind != (bad ? fault_kind::permanent : fault_kind::transient) ||
            l.reason != (bad ? "bad" : "busy") || l.tries != (bad ? 1 : 2) ||
            l.dead_lettered_at != parked_at) {
            breaks("a dead letter has wrong fields");
        }
    }

    void check_report(const at_least_once_report& r, std::uint64_t before,
                      const std::vector<event>& events)
    {
        const std::uint64_t reached = r.reached ? r.reached->sequence : 0;
        if (reached > stored_now()) breaks("the report is ahead of the checkpoint");
        // A late commit may take effect after the delivery.
        const bool sure =
            r.outcome != batch_outcome::unknown && r.outcome != batch_outcome::ownership_lost;
        if (sure && reached != stored_now()) breaks("the report is before the checkpoint");
        if (r.handled + r.dead_lettered != (reached - before) / 10 && sure) {
            breaks("the report counts other events than there were");
        }
        std::uint64_t dead = 0;
        for (const event& e : events) {
            if (e.sequence <= reached && !good(e.sequence / 10 - 1)) ++dead;
        }
        if (sure && r.dead_lettered != dead)
            breaks("the report counts other dead letters than there are");
        if (Driver::says_why) check_why(r);
        switch (r.outcome) {
            case batch_outcome::committed:
                if (stored_now() != events.back().sequence)
                    breaks("reported as committed, and is not");
                return;
            case batch_outcome::redeliver:
            case batch_outcome::cancelled:
                if (stored_now() == events.back().sequence)
                    breaks("reported as not committed, and is");
                return;
            case batch_outcome::unknown:
                if (!load_failed_ && !arrived_late_)
                    breaks("reported as unknown, and could have been read");
                return;
            case batch_outcome::ownership_lost:
                // A late commit of the previous process has that process's epoch and may arrive at
                // any time.
                if (!arrived_late_) breaks("ownership lost without another owner");
                return;
            case batch_outcome::empty:
            case batch_outcome::invalid: return breaks("a good batch was not taken");
        }
    }

    void check_why(const at_least_once_report& r)
    {
        const fault_kind how = r.reason.kind;
        if ((how == fault_kind::none) != (r.outcome == batch_outcome::committed))
            breaks("ended without a reason, or committed for one");
        if (r.reason.text.empty() && r.outcome != batch_outcome::committed)
            breaks("a reason has no text");
        if (r.outcome == batch_outcome::ownership_lost && how != fault_kind::ownership_lost)
            breaks("abandoned for another reason");
        if (r.outcome == batch_outcome::cancelled && r.reason != waybill::cancelled("stop"))
            breaks("cancelled for another reason");
    }

    std::string finished(std::uint64_t done)
    {
        std::uint64_t reachable = extent_.events;
        if (stays_transient_ &&
            policy_.on_exhausted == waybill::batch_policy::when_exhausted::redeliver) {
            reachable = 0;
            while (outcomes_[reachable] != outcome::transient_for_ever) ++reachable;
            // If no event of the batch has succeeded, the machine cannot decide which events are at
            // fault.
            if (policy_.decide_all_failed_from != waybill::detail::highest_size) {
                std::uint64_t last = reachable - reachable % extent_.batch;
                bool worked = false;
                for (std::uint64_t i = last; i != reachable; ++i) worked = worked || good(i);
                if (!worked) reachable = done < reachable ? done : reachable;
            }
        }
        if (done != reachable) breaks("the log is not drained as far as it can be");
        return broken_;
    }

    const extent& extent_;
    choices& choices_;
    const Driver& driver_;
    std::string* trace_;
    std::uint32_t left_;
    at_least_once_policy policy_;
    std::optional<checkpoint> stored_;
    std::optional<write> late_;
    std::map<std::uint64_t, dead_letter> letters_;
    std::map<std::string, std::uint32_t> effects_;  // known to the external system, by key
    std::array<outcome, 8> outcomes_{};
    std::array<std::uint32_t, 8> calls_{};
    std::array<std::uint32_t, 8> repeats_{};  // effects of each event
    std::uint64_t epoch_ = 1;
    bool alive_ = true;
    bool stays_transient_ = false;
    bool load_failed_ = false;
    bool arrived_late_ = false;
    std::string broken_;
};

template <class Driver>
std::string run(const extent& x, choices& c, const Driver& driver, std::string* trace = nullptr)
{
    simulation<Driver> w(x, c, driver, trace);
    return w.run();
}

using tests_support::verdict;

template <class Driver>
verdict enumerate(const char* what, const extent& x, const Driver& driver, const char* rule = "")
{
    return tests_support::every_schedule(
        "at least once", what, [&](choices& c) { return run(x, c, driver); }, rule,
        "WAYBILL_REPLAY_ONCE");
}

using tests_support::brief;
constexpr extent triples{brief ? 2 : 3, 2, brief ? 2 : 3, brief ? 2 : 3, brief ? 1 : 4};
constexpr extent triples_of_four{4, 2, 3, 3, 4};
constexpr extent liars{brief ? 2 : 4, 2, 2, brief ? 2 : 3, 2, true};
constexpr extent policies{brief ? 2 : 4, 2, brief ? 1 : 2, 3, 4};
constexpr extent outcomes{brief ? 2 : 4, 2, 1, 6, 4};
constexpr extent for_mutants{3, 2, 1, 6, 1};

TEST_CASE("at least once: any three faults, three events, few outcomes: all invariants hold")
{
    CHECK(enumerate("three faults, three outcomes, every policy", triples, itself{}).rule == "");
}

TEST_CASE("deep: at least once: any three faults, four events, few outcomes: all invariants hold" *
          doctest::skip())
{
    CHECK(enumerate("three faults, four events, every policy", triples_of_four, itself{}).rule ==
          "");
}

TEST_CASE("at least once: any two faults, false commit reports included: all invariants hold")
{
    CHECK(enumerate("two faults, lies among them", liars, itself{}).rule == "");
}

TEST_CASE("at least once: any two faults, few outcomes, any policy: all invariants hold")
{
    CHECK(enumerate("two faults, three outcomes, every policy", policies, itself{}).rule == "");
}

TEST_CASE("at least once: any fault, any outcome, any policy: all invariants hold")
{
    CHECK(enumerate("one fault, every outcome, every policy", outcomes, itself{}).rule == "");
}

TEST_CASE("at least once: the manual driver without a mistake keeps all invariants")
{
    CHECK(enumerate("by hand", for_mutants, by_hand{wrong::nothing}).rule == "");
}

// The mutant must break this rule, and the trace of its line must contain it.
void is_caught(const char* what, wrong w, const char* rule)
{
    const by_hand driver{w};
    const verdict v = enumerate(what, for_mutants, driver, rule);
    REQUIRE(v.rule == rule);
    auto again = choices::replay(v.line);
    std::string trace;
    CHECK(run(for_mutants, *again, driver, &trace) == v.rule);
    CHECK(trace.find("BROKEN: " + v.rule) != std::string::npos);
}

TEST_CASE("at least once: mutant caught: checkpoint before dead letter")
{
    is_caught("checkpoint before dead letter", wrong::checkpoint_before_letter,
              "an event before the checkpoint is lost");
}

TEST_CASE("at least once: mutant caught: dead letter not awaited")
{
    is_caught("dead letter not awaited", wrong::letter_not_awaited,
              "an event before the checkpoint is lost");
}

TEST_CASE("at least once: mutant caught: commit past a failed event")
{
    is_caught("commit past a failed event", wrong::past_a_failed_event,
              "an event is handled before one in front of it is done");
}

TEST_CASE("at least once: mutant caught: cancelled counted as done")
{
    is_caught("cancelled counted as done", wrong::cancelled_is_done,
              "an event before the checkpoint is lost");
}

TEST_CASE("at least once: mutant caught: infrastructure counted as event failure")
{
    is_caught("infrastructure counted as event failure", wrong::infrastructure_is_event_fault,
              "a good event is a dead letter");
}

TEST_CASE("at least once: mutant caught: a failed write of a dead letter is ignored")
{
    is_caught("dead letter given up", wrong::letter_fault_is_skipped,
              "an event before the checkpoint is lost");
}

TEST_CASE("at least once: mutant caught: an event with exhausted retries is skipped")
{
    is_caught("what stays transient is passed over", wrong::exhausted_is_done,
              "an event before the checkpoint is lost");
}

TEST_CASE("at least once: mutant caught: unknown commit treated as applied")
{
    is_caught("unknown commit treated as applied", wrong::unknown_is_applied,
              "the report is ahead of the checkpoint");
}

TEST_CASE("at least once: mutant caught: each delivery has a different idempotency key")
{
    is_caught("another key for each delivery", wrong::key_of_the_delivery,
              "an effect has another key than its event's");
}

TEST_CASE("at least once: WAYBILL_REPLAY_ONCE selects one schedule")
{
    const char* line = std::getenv("WAYBILL_REPLAY_ONCE");
    if (!line) return;
    for (const extent& x : {triples, triples_of_four, liars, policies, outcomes, for_mutants}) {
        auto c = choices::replay(line);
        REQUIRE_MESSAGE(c.has_value(), "not a line of choices");
        std::string trace;
        const std::string broken = run(x, *c, itself{}, &trace);
        const bool whole = !c->next() && !c->diverged();
        if (!whole) continue;
        std::printf("at least once: %u events, %u faults at most\n%s", x.events, x.faults,
                    trace.c_str());
        CHECK(broken == "");
    }
}

}  // namespace
}  // namespace at_least_once_enumeration

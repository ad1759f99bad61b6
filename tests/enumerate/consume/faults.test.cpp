// SPDX-License-Identifier: MIT
//
// Every fault at every store call of process_batch, for every way in which events can turn out.
//
// A world is a log of events, a store and a process that consumes the log, dies, comes back, and
// goes on from what it loads. What the events are like and what goes wrong is all chosen by one
// choice vector, so a run that breaks a promise is one printed line, and WAYBILL_REPLAY=<line> in the
// environment runs just that one and tells what happened. After each delivery, of a process that
// lives or has just died, the store holds exactly the effects and dead letters of all events up to
// its checkpoint, and the report says what is in the store.
//
// The same enumeration runs over drivers that are wrong in one way each, and has to catch them.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <support/sanitized.hpp>
#include <support/wrong_store.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace faults_test {
namespace {

using waybill::batch_end;
using waybill::batch_policy;
using waybill::batch_report;
using waybill::commit_outcome;
using waybill::fault;
using waybill::fault_class;
using waybill::testing::choices;
using waybill::testing::mishap;
using waybill::testing::store_call;

enum class outcome : std::uint8_t { ok, permanent, transient_once, transient_for_ever, infrastructure_once, cancelled_once };

struct event {
    std::uint64_t sequence;
};

// What is tried out.
struct extent {
    std::uint32_t events;
    std::uint32_t batch;
    std::uint32_t faults;
    std::uint32_t outcomes;  // so many of the enumerators above
    bool with_and_without_savepoints = true;
};

const waybill::partition_key key{"log", "test", "0"};
const auto parked_at = waybill::wall_time::at(waybill::duration::seconds(7));

// ---------------------------------------------------------------------------------------------
// Drivers: the one under test, and one by hand that can be wrong.

enum class wrong : std::uint8_t {
    nothing,
    checkpoint_before_letters,       // two transactions
    letters_before_checkpoint,       // no transaction around effects, letters and checkpoint
    letters_in_their_own,            // effects with the checkpoint, letters in a transaction before it
    store_fault_is_event_fault,
    partial_effect_kept,
    unknown_is_not_applied,          // delivered again without a look
    unknown_is_applied,
    error_is_not_applied,            // the same for a commit that reports an error
    cancelled_is_event_fault,
    exhausted_is_done,               // a transient fault that stays is passed over
};

struct process_batch_itself {
    template <class Store, class Handler>
    batch_report operator()(Store& store, const waybill::assignment& mine, const std::vector<event>& events,
                            Handler& handler, const batch_policy& p) const
    {
        return waybill::process_batch(store, mine, events, handler, parked_at, p);
    }
};

struct by_hand {
    wrong what;

    template <class Store, class Handler>
    batch_report operator()(Store& store, const waybill::assignment& mine, const std::vector<event>& events,
                            Handler& handler, const batch_policy& p) const
    {
        const waybill::position to = waybill::position_of(events.back());
        const bool apart = what == wrong::letters_before_checkpoint;
        batch_report r{.end = batch_end::redeliver};
        std::vector<waybill::dead_letter> letters;

        auto tx = store.begin();
        if (!tx) return r;
        for (const event& e : events) {
            for (std::uint32_t tries = 1;; ++tries) {
                fault f;
                if (const auto s = tx->savepoint(); !s) f = s.error();
                const bool handled = f.ok();
                if (handled) f = handler(*tx, e);
                if (f.ok()) {
                    const auto s = tx->release();
                    if (s) break;
                    if (what != wrong::store_fault_is_event_fault) return r;
                    f = s.error();
                } else if (handled && what != wrong::partial_effect_kept) {
                    if (!tx->undo()) return r;
                } else if (handled && !tx->release()) {
                    return r;
                }
                const bool blamed = what == wrong::store_fault_is_event_fault ||
                                    (what == wrong::cancelled_is_event_fault && f.how == fault_class::cancelled);
                if (f.how == fault_class::cancelled && !blamed) return {.end = batch_end::cancelled};
                if (f.how == fault_class::infrastructure && !blamed) return r;
                if (f.how == fault_class::transient) {
                    if (tries < p.tries) continue;
                    if (what == wrong::exhausted_is_done) break;
                    if (p.on_exhausted == waybill::when_exhausted::redeliver) return r;
                }
                letters.push_back({key, waybill::position_of(e), f.how, f.text, {}, tries, {}, parked_at});
                break;
            }
            if (apart) {
                if (const auto c = tx->commit(); !c || *c != commit_outcome::applied) return r;
                if (!(tx = store.begin())) return r;
            }
        }
        r.handled = events.size() - letters.size();
        r.dead_lettered = letters.size();

        const auto write_letters = [&] {
            for (const auto& l : letters) {
                if (!store.put(*tx, l)) return false;
            }
            return true;
        };
        if (what == wrong::letters_in_their_own) {
            auto own = store.begin();
            if (!own) return r;
            for (const auto& l : letters) {
                if (!store.put(*own, l)) return r;
            }
            if (const auto c = own->commit(); !c || *c != commit_outcome::applied) return r;
        } else if (what != wrong::checkpoint_before_letters) {
            if (!write_letters()) return r;
            if (apart) {
                if (const auto c = tx->commit(); !c || *c != commit_outcome::applied) return r;
                if (!(tx = store.begin())) return r;
            }
        }
        const auto moved = store.advance(*tx, key, mine.from, to, mine.epoch);
        if (!moved) return r;
        if (*moved != waybill::advance_outcome::applied) return {.end = batch_end::abandoned};
        const auto c = tx->commit();
        auto what_became = c ? *c : commit_outcome::unknown;
        if (!c && what == wrong::error_is_not_applied) what_became = commit_outcome::not_applied;
        if (what_became == commit_outcome::unknown) {
            if (what == wrong::unknown_is_not_applied) what_became = commit_outcome::not_applied;
            if (what == wrong::unknown_is_applied) what_became = commit_outcome::applied;
        }
        if (what_became == commit_outcome::not_applied) return r;
        if (what_became == commit_outcome::unknown) {
            const auto stored = store.load(key);
            if (!stored) return {.end = batch_end::unknown};
            if (!*stored || (*stored)->at.sequence != to.sequence) return r;
        }
        if (what == wrong::checkpoint_before_letters) {
            if ((tx = store.begin()) && write_letters()) (void)tx->commit();
        }
        r.end = batch_end::committed;
        r.reached = to;
        return r;
    }
};

// ---------------------------------------------------------------------------------------------
// The world.

template <class Store, class Driver>
class world {
public:
    world(const extent& x, choices& c, const Driver& driver, Store kept, std::string* told)
        : extent_(x), choices_(c), driver_(driver), kept_(std::move(kept)), told_(told), left_(x.faults),
          store_(kept_, script{this})
    {
        policy_.tries = 2;
        policy_.savepoints = c.pick(x.with_and_without_savepoints ? 2 : 1) == 0;
        for (std::uint32_t i = 0; i != x.events; ++i) {
            outcomes_[i] = static_cast<outcome>(c.pick(x.outcomes));
            if (outcomes_[i] == outcome::transient_for_ever) stays_transient_ = true;
        }
        // With nothing that stays transient both policies are the same.
        if (stays_transient_ && c.pick(2) != 0) policy_.on_exhausted = waybill::when_exhausted::dead_letter;
    }

    /// What was broken first, or nothing.
    std::string run()
    {
        std::optional<waybill::position> from;
        std::uint64_t epoch = 0;
        bool loaded = false;
        std::uint32_t stuck = 0;
        for (std::uint32_t round = 0; round != 24; ++round) {
            if (!store_.alive()) {
                tell("-- a new process");
                store_.revive();
                loaded = false;
            }
            if (!loaded) {
                const auto stored = store_.load(key);
                if (!stored) continue;
                from = waybill::position_of(*stored);
                ++epoch;
                loaded = true;
            }
            const std::uint64_t done = from ? from->sequence / 10 : 0;
            if (done == extent_.events) return broken_.empty() ? finished(done) : broken_;
            std::vector<event> events;
            for (std::uint64_t i = done; i != extent_.events && events.size() != extent_.batch; ++i) {
                events.push_back({10 * (i + 1)});
            }

            const std::uint64_t before = stored_now();
            read_back_failed_ = false;
            auto handle = [this](auto& tx, const event& e) { return this->handler(tx, e); };
            const batch_report r = driver_(store_, waybill::assignment{key, from, epoch}, events, handle, policy_);
            if (told_ && store_.alive()) tell("-- " + std::string(name(r.end)));
            check_store(before, events.back().sequence);
            if (store_.alive()) check_report(r, before, events);
            if (!broken_.empty()) return broken_;
            if (!store_.alive()) continue;

            if (r.end == batch_end::committed) from = r.reached;
            if (r.end == batch_end::unknown) loaded = false;
            if (r.end == batch_end::redeliver && stays_transient_ &&
                policy_.on_exhausted == waybill::when_exhausted::redeliver && ++stuck == 5 + extent_.faults) {
                return finished(stored_now() / 10);
            }
        }
        return "the log is not drained after 24 deliveries";
    }

private:
    struct script {
        world* w;
        mishap operator()(store_call call) const { return w->mishap_at(call); }
    };

    void tell(const std::string& line)
    {
        if (told_) *told_ += line + "\n";
    }

    void breaks(const char* rule)
    {
        if (broken_.empty()) broken_ = rule;
        tell(std::string("BROKEN: ") + rule);
    }

    mishap mishap_at(store_call call)
    {
        mishap m = mishap::none;
        if (left_ != 0) {
            const auto all = waybill::testing::mishaps_of(call);
            m = all[choices_.pick(static_cast<std::uint32_t>(all.size()))];
        }
        if (m != mishap::none) --left_;
        if (m != mishap::none && call == store_call::load) read_back_failed_ = true;
        if (told_) tell(std::string(name(call)) + (m == mishap::none ? "" : " " + std::string(name(m))));
        return m;
    }

    // Writes its effect first and fails then, so that what is not undone is seen.
    template <class Tx>
    fault handler(Tx& tx, const event& e)
    {
        const std::size_t i = e.sequence / 10 - 1;
        if (told_) tell("handle " + std::to_string(e.sequence));
        const std::uint32_t death = left_ != 0 ? choices_.pick(3) : 0;
        if (death != 0) --left_;
        if (death == 1) return store_.die();
        tx.inner()->record(e.sequence);
        if (death == 2) return store_.die();
        const bool first = calls_[i]++ == 0;
        switch (outcomes_[i]) {
            case outcome::ok: return {};
            case outcome::permanent: return waybill::permanent("bad");
            case outcome::transient_once: return first ? waybill::transient("late") : fault{};
            case outcome::transient_for_ever: return waybill::transient("busy");
            case outcome::infrastructure_once: return first ? waybill::infrastructure("down") : fault{};
            case outcome::cancelled_once: return first ? waybill::cancelled("stop") : fault{};
        }
        return {};
    }

    std::uint64_t stored_now()
    {
        const auto stored = kept_.load(key);
        return *stored ? (*stored)->at.sequence : 0;
    }

    // All events up to the checkpoint have taken effect or are dead letters, and no other.
    void check_store(std::uint64_t before, std::uint64_t to)
    {
        const std::uint64_t at = stored_now();
        if (at < before) breaks("the checkpoint has moved back");
        if (at != before && at != to) breaks("the checkpoint is not at the end of a batch");
        const auto& effects = kept_.records();
        std::size_t effect = 0;
        std::size_t letters = 0;
        for (std::uint64_t n = 10; n <= at; n += 10) {
            const outcome o = outcomes_[n / 10 - 1];
            if (o != outcome::permanent && o != outcome::transient_for_ever) {
                if (effect == effects.size() || effects[effect] != n) {
                    return breaks("the effects up to the checkpoint are not those of each event once, in order");
                }
                ++effect;
                continue;
            }
            const auto found = kept_.letters().find({key, n});
            if (found == kept_.letters().end()) return breaks("an event before the checkpoint is lost");
            const waybill::dead_letter& l = found->second;
            const bool bad = o == outcome::permanent;
            const auto how = bad ? fault_class::permanent : fault_class::transient;
            if (l.how != how || l.reason != (bad ? "bad" : "busy") || l.tries != (bad ? 1 : 2) ||
                l.at.sequence != n || l.parked != parked_at) {
                return breaks("a dead letter says something that is not so");
            }
            ++letters;
        }
        if (effect != effects.size()) breaks("there are effects beyond the checkpoint, or of a failed handler");
        if (letters != kept_.letters().size()) breaks("there are dead letters beyond the checkpoint, or of good events");
    }

    void check_report(const batch_report& r, std::uint64_t before, const std::vector<event>& events)
    {
        const bool applied = stored_now() != before;
        switch (r.end) {
            case batch_end::committed: {
                if (!applied) return breaks("reported as committed, and is not");
                std::uint64_t bad = 0;
                for (const event& e : events) {
                    const outcome o = outcomes_[e.sequence / 10 - 1];
                    if (o == outcome::permanent || o == outcome::transient_for_ever) ++bad;
                }
                if (r.dead_lettered != bad || r.handled != events.size() - bad) {
                    breaks("the report counts other events than there were");
                }
                if (!r.reached || r.reached->sequence != events.back().sequence) {
                    breaks("the report names another position than the last event's");
                }
                return;
            }
            case batch_end::redeliver:
            case batch_end::cancelled:
                if (applied) breaks("reported as not committed, and is");
                return;
            case batch_end::unknown:
                if (!read_back_failed_) breaks("reported as unknown, and could have been read");
                return;
            case batch_end::abandoned: return breaks("abandoned, and nobody else is there");
            case batch_end::empty:
            case batch_end::invalid: return breaks("a good batch was not taken");
        }
    }

    std::string finished(std::uint64_t done)
    {
        std::uint64_t reachable = extent_.events;
        if (stays_transient_ && policy_.on_exhausted == waybill::when_exhausted::redeliver) {
            reachable = 0;
            while (outcomes_[reachable] != outcome::transient_for_ever) ++reachable;
            reachable -= reachable % extent_.batch;
        }
        if (done != reachable) breaks("the log is not drained as far as it can be");
        return broken_;
    }

    const extent& extent_;
    choices& choices_;
    const Driver& driver_;
    Store kept_;
    std::string* told_;
    std::uint32_t left_;
    waybill::testing::faulty<Store, script> store_;
    batch_policy policy_;
    std::array<outcome, 8> outcomes_{};
    std::array<std::uint32_t, 8> calls_{};
    bool stays_transient_ = false;
    bool read_back_failed_ = false;
    std::string broken_;
};

using right_store = waybill::testing::memory_store<std::uint64_t>;

template <class Store, class Driver>
std::string run(const extent& x, choices& c, const Driver& driver, Store kept, std::string* told = nullptr)
{
    world<Store, Driver> w(x, c, driver, std::move(kept), told);
    return w.run();
}

struct verdict {
    std::uint64_t schedules = 0;
    std::uint64_t broken = 0;
    std::string rule;  // the first that was broken, and the line that breaks it
    std::string line;
};

template <class Driver, class MakeStore>
verdict enumerate(const char* what, const extent& x, const Driver& driver, MakeStore make)
{
    choices c;
    verdict v;
    do {
        const std::string broken = run(x, c, driver, make());
        if (broken.empty()) continue;
        if (v.broken++ == 0) {
            v.rule = broken;
            v.line = c.line();
        }
    } while (c.next());
    CHECK(!c.diverged());
    v.schedules = c.completed();
    std::printf("faults: %-44s %9llu schedules, %8llu broken%s%s\n", what,
                static_cast<unsigned long long>(v.schedules), static_cast<unsigned long long>(v.broken),
                v.broken == 0 ? "" : ", the first: ", v.rule.c_str());
    if (v.broken != 0) std::printf("        WAYBILL_REPLAY='%s'\n", v.line.c_str());
    return v;
}

right_store make_right() { return right_store(); }

using tests_support::sanitized;
constexpr extent singles{sanitized ? 3 : 4, 2, 1, sanitized ? 4 : 6};
constexpr extent doubles{sanitized ? 3 : 4, 2, 2, sanitized ? 2 : 3};
constexpr extent doubles_of_all{2, 2, 2, sanitized ? 2 : 6};
constexpr extent for_mutants{sanitized ? 2 : 3, 2, 1, 6, false};

TEST_CASE("faults: every single fault, every outcome of four events in batches of two")
{
    CHECK(enumerate("one fault, batches of two", singles, process_batch_itself{}, make_right).broken == 0);
}

TEST_CASE("faults: every two faults, four events in batches of two that work, fail or are late")
{
    CHECK(enumerate("two faults, batches of two, fewer outcomes", doubles, process_batch_itself{}, make_right).broken == 0);
}

TEST_CASE("faults: every two faults, every outcome of two events in a batch")
{
    CHECK(enumerate("two faults, one batch of two", doubles_of_all, process_batch_itself{}, make_right).broken == 0);
}

TEST_CASE("faults: the driver by hand is right where nothing is made wrong in it")
{
    CHECK(enumerate("by hand", for_mutants, by_hand{wrong::nothing}, make_right).broken == 0);
}

// A wrong driver is caught, by the rule that it breaks; and its line replays to the same end.
void is_caught(const char* what, wrong w, const char* rule)
{
    const by_hand driver{w};
    const verdict v = enumerate(what, for_mutants, driver, make_right);
    CHECK(v.broken > 0);
    bool by_that_rule = false;
    choices c;
    do {
        by_that_rule = run(for_mutants, c, driver, right_store()) == rule;
    } while (!by_that_rule && c.next());
    INFO("no schedule breaks: ", std::string(rule));
    CHECK(by_that_rule);

    auto again = choices::replay(v.line);
    REQUIRE(again.has_value());
    std::string told;
    CHECK(run(for_mutants, *again, driver, right_store(), &told) == v.rule);
    CHECK(told.find("BROKEN: " + v.rule) != std::string::npos);
    CHECK(again->line() == v.line);
}

TEST_CASE("faults: mutant caught: checkpoint before dead letters")
{
    is_caught("checkpoint before dead letters", wrong::checkpoint_before_letters,
              "an event before the checkpoint is lost");
}

TEST_CASE("faults: mutant caught: dead letters before checkpoint without a transaction")
{
    is_caught("dead letters before checkpoint, no transaction", wrong::letters_before_checkpoint,
              "there are effects beyond the checkpoint, or of a failed handler");
}

TEST_CASE("faults: mutant caught: dead letters in a transaction of their own")
{
    is_caught("dead letters in their own transaction", wrong::letters_in_their_own,
              "there are dead letters beyond the checkpoint, or of good events");
}

TEST_CASE("faults: mutant caught: store fault counted as event failure")
{
    is_caught("store fault counted as event failure", wrong::store_fault_is_event_fault,
              "the effects up to the checkpoint are not those of each event once, in order");
}

TEST_CASE("faults: mutant caught: partial effect of a failed handler kept")
{
    is_caught("partial effect of a failed handler kept", wrong::partial_effect_kept,
              "there are effects beyond the checkpoint, or of a failed handler");
}

TEST_CASE("faults: mutant caught: unknown commit treated as not applied")
{
    is_caught("unknown commit treated as not applied", wrong::unknown_is_not_applied,
              "reported as not committed, and is");
}

TEST_CASE("faults: mutant caught: unknown commit treated as applied")
{
    is_caught("unknown commit treated as applied", wrong::unknown_is_applied,
              "reported as committed, and is not");
}

TEST_CASE("faults: mutant caught: a commit that reports an error treated as not applied")
{
    is_caught("commit error treated as not applied", wrong::error_is_not_applied,
              "reported as not committed, and is");
}

TEST_CASE("faults: mutant caught: cancelled counted as event failure")
{
    is_caught("cancelled counted as event failure", wrong::cancelled_is_event_fault,
              "the effects up to the checkpoint are not those of each event once, in order");
}

TEST_CASE("faults: mutant caught: what stays transient is passed over")
{
    is_caught("what stays transient is passed over", wrong::exhausted_is_done,
              "an event before the checkpoint is lost");
}

// The right driver over stores that are wrong.
void store_is_caught(const char* what, tests_support::flaw f)
{
    const auto make = [f] { return tests_support::wrong_store(f); };
    CHECK(enumerate(what, for_mutants, process_batch_itself{}, make).broken > 0);
}

TEST_CASE("faults: wrong stores caught")
{
    using tests_support::flaw;
    const auto right = [] { return tests_support::wrong_store(); };
    CHECK(enumerate("a right store", for_mutants, process_batch_itself{}, right).broken == 0);
    store_is_caught("undo does nothing", flaw::undo_does_nothing);
    store_is_caught("undo removes all", flaw::undo_removes_all);
    store_is_caught("release removes", flaw::release_removes);
    store_is_caught("rollback commits", flaw::rollback_commits);
    store_is_caught("dead letters outside of the transaction", flaw::put_at_once);
    store_is_caught("checkpoint outside of the transaction", flaw::advance_at_once);
    store_is_caught("commit lies", flaw::commit_lies);
    store_is_caught("dead letters are forgotten", flaw::put_is_forgotten);
}

TEST_CASE("faults: replays the line in WAYBILL_REPLAY")
{
    const char* line = std::getenv("WAYBILL_REPLAY");
    if (!line) return;
    for (const extent& x : {singles, doubles, doubles_of_all}) {
        auto c = choices::replay(line);
        REQUIRE_MESSAGE(c.has_value(), "not a line of choices");
        std::string told;
        const std::string broken = run(x, *c, process_batch_itself{}, right_store(), &told);
        const bool whole = !c->next() && !c->diverged();
        if (!whole) continue;
        std::printf("faults: %u events, %u faults at most\n%s", x.events, x.faults, told.c_str());
        CHECK(broken == "");
    }
}

}  // namespace
}  // namespace faults_test

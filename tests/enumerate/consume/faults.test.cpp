// SPDX-License-Identifier: MIT
//
// Every fault at every store call of process_batch, for every outcome of the events.
//
// The simulation is in batch_simulation.hpp. WAYBILL_REPLAY=<line> in the environment runs only the
// schedule of that line and prints its steps. The same enumeration runs over drivers with one
// mistake each, and must catch them.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <enumerate/consume/batch_simulation.hpp>
#include <support/brief.hpp>
#include <support/wrong_store.hpp>

namespace faults_test {
namespace {

using namespace batch_simulation;
using waybill::commit_outcome;

// ---------------------------------------------------------------------------------------------
// A manual driver with optional mistakes.

enum class wrong : std::uint8_t {
    nothing,
    checkpoint_before_letters,  // two transactions
    letters_before_checkpoint,  // no transaction around effects, letters and checkpoint
    // effects with the checkpoint, letters in a transaction before it
    letters_in_their_own,
    store_fault_is_event_fault,
    partial_effect_kept,
    unknown_is_not_applied,  // delivered again without a check of the commit
    unknown_is_applied,
    error_is_not_applied,  // the same for a commit that reports an error
    cancelled_is_event_fault,
    exhausted_is_done,  // an event that stays transient counts as done
    nobody_is_asked,    // no question before all events of a batch become dead letters
    skipped_keeps_its_effect,
    skipped_is_event_fault,
};

struct by_hand {
    wrong what;

    template <class Store, class Handler, class Ask>
    batch_report operator()(Store& store, const waybill::assignment& mine,
                            const std::vector<event>& events, Handler& handler,
                            const batch_policy& p, Ask& ask) const
    {
        const waybill::position to = waybill::position_of(events.back());
        const bool apart = what == wrong::letters_before_checkpoint;
        batch_report r{.outcome = batch_outcome::redeliver};
        std::vector<waybill::dead_letter> letters;

        auto tx = store.begin();
        if (!tx) return r;
        for (const event& e : events) {
            for (std::uint32_t tries = 1;; ++tries) {
                fault f;
                if (const auto s = tx->savepoint(); !s) f = s.error();
                const bool handled = f.ok();
                if (handled) {
                    const event_outcome o = handler(*tx, e);
                    f = o.reason;
                    if (o.skipped && what == wrong::skipped_is_event_fault)
                        f = waybill::permanent("skipped");
                    if (o.skipped && what != wrong::skipped_is_event_fault) {
                        if (!(what == wrong::skipped_keeps_its_effect
                                  ? tx->release_savepoint()
                                  : tx->rollback_to_savepoint()))
                            return r;
                        ++r.skipped;
                        break;
                    }
                }
                if (f.ok()) {
                    const auto s = tx->release_savepoint();
                    if (s) break;
                    if (what != wrong::store_fault_is_event_fault) return r;
                    f = s.error();
                } else if (handled && what != wrong::partial_effect_kept) {
                    if (!tx->rollback_to_savepoint()) return r;
                } else if (handled && !tx->release_savepoint()) {
                    return r;
                }
                const bool blamed =
                    what == wrong::store_fault_is_event_fault ||
                    (what == wrong::cancelled_is_event_fault && f.kind == fault_kind::cancelled);
                if (f.kind == fault_kind::cancelled && !blamed)
                    return {.outcome = batch_outcome::cancelled};
                if (f.kind == fault_kind::infrastructure && !blamed) return r;
                if (f.kind == fault_kind::transient) {
                    if (tries < p.tries) continue;
                    if (what == wrong::exhausted_is_done) break;
                    if (p.on_exhausted == waybill::batch_policy::when_exhausted::redeliver)
                        return r;
                }
                letters.push_back(
                    {key, waybill::position_of(e), f.kind, f.text, {}, tries, {}, parked_at});
                break;
            }
            if (apart) {
                if (const auto c = tx->commit(); !c || *c != commit_outcome::applied) return r;
                if (!(tx = store.begin())) return r;
            }
        }
        r.handled = events.size() - letters.size() - r.skipped;
        r.dead_lettered = letters.size();
        if (r.handled == 0 && !letters.empty() && what != wrong::nobody_is_asked) {
            if (ask(letters.size()) == waybill::batch_policy::if_all_failed::redeliver) return r;
        }

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
        if (*moved != waybill::advance_outcome::applied)
            return {.outcome = batch_outcome::ownership_lost};
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
            if (!stored) return {.outcome = batch_outcome::unknown};
            if (!*stored || (*stored)->at.sequence != to.sequence) return r;
        }
        if (what == wrong::checkpoint_before_letters) {
            if ((tx = store.begin()) && write_letters()) (void)tx->commit();
        }
        r.outcome = batch_outcome::committed;
        r.reached = to;
        return r;
    }
};

// ---------------------------------------------------------------------------------------------

using tests_support::brief;
constexpr auto the_first(std::size_t n)
{
    return std::span<const outcome>(of_the_first).first(n);
}
constexpr extent singles{brief ? 3 : 4, 2, 1, the_first(brief ? 4 : 6)};
constexpr extent doubles{brief ? 2 : 4, 2, 2, the_first(brief ? 2 : 3)};
constexpr extent doubles_of_all{2, 2, 2, the_first(brief ? 2 : 6)};
constexpr extent triples{brief ? 1 : 2, 2, 3, the_first(brief ? 1 : 3)};
constexpr extent skips{brief ? 2 : 3, 2, brief ? 1 : 2, with_skipped};
constexpr extent skips_of_four{4, 2, 2, with_skipped};
constexpr extent outages{brief ? 2 : 4, 2, 1, the_first(brief ? 2 : 3), true, 0, 1};
constexpr extent read_back_always{brief ? 2 : 4,
                                  2,
                                  brief ? 1 : 2,
                                  the_first(2),
                                  true,
                                  0,
                                  0,
                                  waybill::batch_policy::commit_check::always,
                                  true};
constexpr extent lies{brief ? 2 : 4,
                      2,
                      brief ? 1 : 2,
                      the_first(2),
                      true,
                      0,
                      0,
                      waybill::batch_policy::commit_check::unknown,
                      true};
constexpr extent for_mutants{3, 2, 1, of_the_first, false};
constexpr extent for_skip_mutants{2, 2, 1, with_skipped, false};
constexpr extent for_ask_mutants{2, 2, 0, the_first(2), false, 0, 1};

TEST_CASE("process_batch: any fault, any outcomes of four events: all invariants hold")
{
    holds("one fault, batches of two", singles, 420'000, 18'000);
}

TEST_CASE("process_batch: any two faults, four events, few outcomes: all invariants hold")
{
    holds("two faults, batches of two, fewer outcomes", doubles, 660'000, 9'600);
}

TEST_CASE("process_batch: any two faults, any outcomes of two events: all invariants hold")
{
    holds("two faults, one batch of two", doubles_of_all, 380'000, 9'600);
}

TEST_CASE("process_batch: any three faults, two events, few outcomes: all invariants hold")
{
    holds("three faults, one batch of two", triples, 820'000, 20'000);
}

TEST_CASE("process_batch: skipped events: all invariants hold")
{
    holds("some skipped", skips, 380'000, 1'200);
}

TEST_CASE("deep: process_batch: skipped events, four events, two faults: all invariants hold" *
          doctest::skip())
{
    holds("some of four skipped", skips_of_four, 2'100'000, 0);
}

TEST_CASE("process_batch: outages in which whole batches fail: all invariants hold")
{
    holds("an outage that looks like bad events", outages, 57'000, 1'000);
}

TEST_CASE(
    "process_batch: a store that reports false commits, read back each time: all invariants "
    "hold")
{
    holds("lies about commits, read back always", read_back_always, 130'000, 320);
}

TEST_CASE("process_batch: a false commit report is found at the next advance: all invariants hold")
{
    holds("lies about commits, found later", lies, 120'000, 300);
}

TEST_CASE("process_batch: the manual driver without a mistake keeps all invariants")
{
    CHECK(enumerate("by hand", for_mutants, by_hand{wrong::nothing}, make_right).rule == "");
}

void is_caught(const char* what, wrong w, const char* rule)
{
    batch_simulation::is_caught(what, for_mutants, by_hand{w}, rule);
}

TEST_CASE("process_batch: mutant caught: checkpoint before dead letters")
{
    is_caught("checkpoint before dead letters", wrong::checkpoint_before_letters,
              "an event before the checkpoint is lost");
}

TEST_CASE("process_batch: mutant caught: dead letters before checkpoint without a transaction")
{
    is_caught("dead letters before checkpoint, no transaction", wrong::letters_before_checkpoint,
              "there are effects beyond the checkpoint, or of a failed handler");
}

TEST_CASE("process_batch: mutant caught: dead letters in a separate transaction")
{
    is_caught("dead letters in their own transaction", wrong::letters_in_their_own,
              "there are dead letters beyond the checkpoint, or of good events");
}

TEST_CASE("process_batch: mutant caught: store fault counted as event failure")
{
    is_caught("store fault counted as event failure", wrong::store_fault_is_event_fault,
              "the effects up to the checkpoint are not those of each event once, in order");
}

TEST_CASE("process_batch: mutant caught: partial effect of a failed handler kept")
{
    is_caught("partial effect of a failed handler kept", wrong::partial_effect_kept,
              "there are effects beyond the checkpoint, or of a failed handler");
}

TEST_CASE("process_batch: mutant caught: unknown commit treated as not applied")
{
    is_caught("unknown commit treated as not applied", wrong::unknown_is_not_applied,
              "reported as not committed, and is");
}

TEST_CASE("process_batch: mutant caught: unknown commit treated as applied")
{
    is_caught("unknown commit treated as applied", wrong::unknown_is_applied,
              "reported as committed, and is not");
}

TEST_CASE("process_batch: mutant caught: a commit error treated as not applied")
{
    is_caught("commit error treated as not applied", wrong::error_is_not_applied,
              "reported as not committed, and is");
}

TEST_CASE("process_batch: mutant caught: cancelled counted as event failure")
{
    is_caught("cancelled counted as event failure", wrong::cancelled_is_event_fault,
              "the effects up to the checkpoint are not those of each event once, in order");
}

TEST_CASE("process_batch: mutant caught: an event with exhausted retries is skipped")
{
    is_caught("what stays transient is passed over", wrong::exhausted_is_done,
              "an event before the checkpoint is lost");
}

TEST_CASE("process_batch: mutant caught: an all-failed batch is dead-lettered without a query")
{
    CHECK(enumerate("by hand, with outages", for_ask_mutants, by_hand{wrong::nothing}, make_right)
              .rule == "");
    batch_simulation::is_caught(
        "all-failed dead-lettered without asking", for_ask_mutants, by_hand{wrong::nobody_is_asked},
        "the effects up to the checkpoint are not those of each event once, in order");
}

TEST_CASE("process_batch: mutant caught: the effect of a skipped event kept")
{
    CHECK(enumerate("by hand, with skipped events", for_skip_mutants, by_hand{wrong::nothing},
                    make_right)
              .rule == "");
    batch_simulation::is_caught("effect of a skipped event kept", for_skip_mutants,
                                by_hand{wrong::skipped_keeps_its_effect},
                                "there are effects beyond the checkpoint, or of a failed handler");
}

TEST_CASE("process_batch: mutant caught: skipped counted as event failure")
{
    batch_simulation::is_caught("skipped counted as event failure", for_skip_mutants,
                                by_hand{wrong::skipped_is_event_fault},
                                "there are dead letters beyond the checkpoint, or of good events");
}

// The library's driver over wrong stores.
void store_is_caught(const char* what, tests_support::flaw f)
{
    const auto make = [f] { return tests_support::wrong_store(f); };
    CHECK(enumerate(what, for_mutants, process_batch_itself{}, make).rule != "");
}

TEST_CASE("process_batch: mutants of the store are caught")
{
    using tests_support::flaw;
    const auto right = [] { return tests_support::wrong_store(); };
    CHECK(enumerate("a right store", for_mutants, process_batch_itself{}, right).rule == "");
    store_is_caught("undo does nothing", flaw::undo_does_nothing);
    store_is_caught("undo removes all", flaw::undo_removes_all);
    store_is_caught("release removes", flaw::release_removes);
    store_is_caught("rollback commits", flaw::rollback_commits);
    store_is_caught("dead letters outside of the transaction", flaw::put_at_once);
    store_is_caught("checkpoint outside of the transaction", flaw::advance_at_once);
    store_is_caught("commit lies", flaw::commit_lies);
    store_is_caught("dead letters are forgotten", flaw::put_is_forgotten);
}

TEST_CASE("process_batch: WAYBILL_REPLAY selects one schedule")
{
    replay({&singles, &doubles, &doubles_of_all, &triples, &skips, &skips_of_four, &outages,
            &read_back_always, &lies});
}

}  // namespace
}  // namespace faults_test

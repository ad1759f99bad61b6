// SPDX-License-Identifier: MIT
//
// Every fault at every call of a pipeline, for every outcome of the steps.
//
// The simulation is in pipeline_simulation.hpp. WAYBILL_REPLAY=<line> in the environment runs only
// the schedule of that line and prints its steps. The same enumeration runs over processes with one
// mistake each, and must catch them.

#include <cstdint>
#include <span>

#include <doctest/doctest.h>
#include <enumerate/session/pipeline_simulation.hpp>
#include <support/brief.hpp>

namespace pipeline_enumeration {
namespace {

using namespace pipeline_simulation;
using tests_support::brief;

constexpr auto stop = pipeline_policy::pipeline_mode::stop_on_failure;
constexpr auto alone = pipeline_policy::pipeline_mode::independent;
constexpr auto the_first(std::size_t n)
{
    return std::span<const outcome>(of_all).first(n);
}

constexpr extent none{stop, brief ? 3 : 5, 0, the_first(6)};
constexpr extent none_alone{alone, brief ? 3 : 5, 0, the_first(6)};
constexpr extent singles{stop, brief ? 2 : 4, 1, the_first(6), 1, true, true};
constexpr extent singles_alone{alone, brief ? 2 : 4, 1, the_first(6), 1, true, true};
constexpr extent doubles{stop, brief ? 2 : 4, 2, the_first(brief ? 2 : 3)};
constexpr extent doubles_alone{alone, brief ? 1 : 3, 2, the_first(brief ? 2 : 3)};
constexpr extent doubles_of_all{stop, brief ? 1 : 2, 2, the_first(brief ? 4 : 6), 1, true, true};
constexpr extent triples{stop, brief ? 1 : 2, brief ? 2 : 3, the_first(2)};
constexpr extent triples_alone{alone, brief ? 1 : 2, brief ? 2 : 3, the_first(2)};
constexpr extent triples_overtaken{stop, 1, brief ? 2 : 3, the_first(2), 1, true, true};
constexpr extent triples_of_all{stop, 2, 3, the_first(6)};
constexpr extent triples_of_all_alone{alone, 2, 3, the_first(5)};
constexpr extent triples_of_two_overtaken{stop, 2, 3, the_first(2), 1, true, true};
constexpr extent refusals{stop, brief ? 1 : 3, 2, the_first(brief ? 2 : 3), 1, false, false, true};
constexpr extent refusals_alone{alone, brief ? 1 : 3, 2,     the_first(brief ? 2 : 3),
                                1,     false,         false, true};
constexpr extent uncounted{stop, brief ? 2 : 4, 1, the_first(6), 1, false, false, false, true};
constexpr extent uncounted_alone{alone, brief ? 1 : 3, 2,   the_first(brief ? 2 : 3), 1, false,
                                 false, false,         true};
constexpr extent uncounted_triples{stop,  1,     brief ? 2 : 3, the_first(brief ? 2 : 6), 1, false,
                                   false, false, true};
constexpr extent uncounted_triples_of_two{stop, 2, 3, the_first(3), 1, false, false, false, true};
constexpr extent pauses{stop,  brief ? 1 : 3, 2,   the_first(brief ? 3 : 4), 1, false, false,
                        false, false,         true};
constexpr extent pauses_uncounted{
    stop, brief ? 1 : 2, 2, the_first(brief ? 4 : 5), 1, false, false, false, true, true};
constexpr extent pauses_alone{alone, brief ? 1 : 2, 2,   the_first(brief ? 4 : 5), 1, false, false,
                              false, true,          true};
constexpr extent redriven{stop, brief ? 2 : 3, 1,     the_first(6), 1, true,
                          true, false,         false, false,        2};
constexpr extent redriven_doubles{
    stop, brief ? 1 : 3, 2, the_first(brief ? 2 : 3), 1, false, false, false, false, false, 2};
constexpr extent open_end{stop, brief ? 2 : 3, 1,     the_first(6), 1, true,
                          true, false,         false, false,        0, true};
constexpr extent open_end_redriven{stop,  brief ? 1 : 3, 2,     the_first(brief ? 2 : 3),
                                   1,     false,         false, false,
                                   false, false,         2,     true};
constexpr extent open_end_alone{alone, brief ? 2 : 3, 1,     the_first(6), 1, true,
                                true,  false,         false, false,        0, true};
constexpr extent arriving{stop,  brief ? 2 : 3, 1, the_first(6), 1,   true, true, false,
                          false, false,         0, true,         true};
constexpr extent arriving_doubles{
    stop, brief ? 1 : 3, 2,   the_first(brief ? 2 : 3), 1, false, false, false, false, false,
    0,    true,          true};
constexpr extent arriving_uncounted{stop, brief ? 2 : 3, 1, the_first(6), 1,   false, false, false,
                                    true, false,         0, true,         true};
constexpr extent arriving_alone{alone, brief ? 2 : 3, 1, the_first(6), 1,   true, true, false,
                                false, false,         0, true,         true};
constexpr extent arriving_alone_uncounted{
    alone, brief ? 1 : 2, 2,   the_first(brief ? 2 : 4), 1, false, false, false, true, false,
    0,     true,          true};
constexpr extent two_sessions{stop, 2, 1, the_first(brief ? 1 : 3), 2};
constexpr extent two_without_faults{stop, brief ? 2 : 3, 0, the_first(3), 2};

constexpr extent for_mutants{stop, 3, 1, the_first(6), 1, false, true};
constexpr extent for_mutants_alone{alone, 3, 1, the_first(6)};
constexpr extent arriving_mutants{stop,  3,     2, the_first(3), 1,   false, false, false,
                                  false, false, 0, true,         true};
constexpr extent redriven_mutants{stop, 3, 1, the_first(6), 1, true, true, false, false, false, 2};
constexpr extent pauses_mutants{stop, 2, 2, the_first(5), 1, false, false, false, true, true};
constexpr extent for_mutants_uncounted{stop, 2, 1, the_first(6), 1, false, false, false, true};
constexpr outcome for_the_broker[] = {outcome::ok, outcome::infrastructure_once};
constexpr extent for_gaps{stop, 2, 3, for_the_broker};

TEST_CASE("pipeline: any outcomes of five steps, no faults: all invariants hold")
{
    holds("no fault, five steps", none, 60'000);
    holds("no fault, five independent steps", none_alone, 60'000);
}

TEST_CASE("pipeline: any fault, any outcomes of four steps: all invariants hold")
{
    holds("one fault, four steps", singles, 1'000'000);
    holds("one fault, four independent steps", singles_alone, 1'300'000);
}

TEST_CASE("pipeline: any two faults: all invariants hold")
{
    holds("two faults, four steps, fewer outcomes", doubles, 1'400'000);
    holds("two faults, three independent steps", doubles_alone, 500'000);
    holds("two faults, two steps", doubles_of_all, 650'000);
}

TEST_CASE("pipeline: any three faults: all invariants hold")
{
    holds("three faults, two steps, two outcomes", triples, 470'000);
    holds("three faults, two independent steps, two outcomes", triples_alone, 590'000);
    holds("three faults, one step, overtaken", triples_overtaken, 230'000);
}

TEST_CASE("deep: pipeline: any three faults, any outcomes of two steps: all invariants hold" *
          doctest::skip())
{
    holds("three faults, two steps", triples_of_all, 6'000'000);
    holds("three faults, two independent steps", triples_of_all_alone, 5'000'000);
    holds("three faults, two steps, overtaken", triples_of_two_overtaken, 1'400'000);
    holds("three faults, two steps, uncounted", uncounted_triples_of_two, 2'000'000);
}

TEST_CASE("pipeline: permanently refused states and dead letters: all invariants hold")
{
    holds("two faults, three steps, refusals", refusals, 660'000);
    holds("two faults, three independent steps, refusals", refusals_alone, 1'050'000);
}

TEST_CASE("pipeline: a broker without delivery counts: all invariants hold")
{
    holds("one fault, four steps, uncounted", uncounted, 850'000);
    holds("two faults, three independent steps, uncounted", uncounted_alone, 800'000);
    holds("three faults, one step, uncounted", uncounted_triples, 710'000);
}

TEST_CASE("pipeline: a death, stop or lost lock in a pause does not count as an attempt")
{
    holds("two faults, three steps, pauses", pauses, 900'000);
    holds("two faults, two steps, pauses, uncounted", pauses_uncounted, 380'000);
    holds("two faults, two independent steps, pauses", pauses_alone, 480'000);
}

TEST_CASE("pipeline: continued sessions, and sessions of unknown total: all invariants hold")
{
    holds("one fault, steps 3 to 5", redriven, 142'000);
    holds("two faults, steps 3 to 5", redriven_doubles, 338'000);
    holds("one fault, three steps, an open end", open_end, 142'000);
    holds("two faults, steps 3 to 5, an open end", open_end_redriven, 338'000);
    holds("one fault, three independent steps, an open end", open_end_alone, 179'000);
}

TEST_CASE("pipeline: steps without numbers are numbered by arrival, with any two faults")
{
    holds("one fault, three steps by arrival", arriving, 30'000);
    holds("two faults, three steps by arrival", arriving_doubles, 200'000);
    holds("one fault, three steps by arrival, uncounted", arriving_uncounted, 30'000);
    holds("one fault, three independent steps by arrival", arriving_alone, 30'000);
    holds("two faults, two independent steps by arrival, uncounted", arriving_alone_uncounted,
          30'000);
    is_caught("arrival forgotten", arriving_mutants, wrong::arrival_forgotten,
              "a step runs that is done");
    is_caught("arrival not saved", arriving_mutants, wrong::arrival_not_saved,
              "a letter has another number than its message");
}

TEST_CASE("pipeline: two sessions in every order of their holders: all invariants hold")
{
    holds("two sessions, one fault", two_sessions, 350'000);
    holds("two sessions, no fault", two_without_faults, 20'000);
}

TEST_CASE("pipeline: mutants are caught")
{
    is_caught("clear before complete", for_mutants, wrong::clear_before_complete,
              "a step that nothing stopped is parked for a failure before it");
    is_caught("settle before state", for_mutants, wrong::settle_before_state,
              "a step that nothing stopped is parked for a failure before it");
    is_caught("letter before state", for_mutants, wrong::letter_before_state,
              "a step after a failure is dead-lettered with another reason");
    is_caught("gap ignored", for_gaps, wrong::gap_ignored,
              "a step has run and the one before it has not");
    is_caught("corrupt read as absent", for_mutants, wrong::corrupt_is_absent,
              "a step runs, and the state of its session cannot be read");
    is_caught("tries not saved", for_mutants, wrong::tries_not_saved,
              "the sessions are not drained in so many holdings");
    is_caught("tries not saved, uncounted", for_mutants_uncounted, wrong::tries_not_saved,
              "the sessions are not drained in so many holdings");
    is_caught("park after save, independent", for_mutants_alone, wrong::park_after_save,
              "a message is complete, and its step neither done nor parked");
    is_caught("failed state ignored", for_mutants, wrong::failed_state_ignored,
              "a step runs after its session has failed");
    is_caught("unsure complete is done", for_mutants, wrong::unsure_complete_is_done,
              "a step that nothing stopped is parked for a failure before it");
    is_caught("unsure save is saved", for_mutants, wrong::unsure_save_is_saved,
              "a step that nothing stopped is parked for a failure before it");
    is_caught("unsure park is parked", for_mutants, wrong::unsure_park_is_parked,
              "a message is complete, and its step neither done nor parked");
    is_caught("store fault is step fault", for_mutants, wrong::store_fault_is_step_fault,
              "a step is parked that never failed");
    is_caught("deliveries ignored", for_mutants, wrong::deliveries_ignored,
              "the broker has parked a step itself, and nothing had gone wrong in that delivery");
    is_caught("never cleared", for_mutants, wrong::never_cleared,
              "a state is left without a fault that allows it");
    is_caught("every step is new", for_mutants, wrong::every_step_is_new,
              "a step runs that is done");
    is_caught("cause not named", for_mutants, wrong::cause_not_named,
              "a letter does not name what stopped its session");
    is_caught("first forgotten", redriven_mutants, wrong::first_forgotten,
              "a step that nothing stopped is parked for a failure before it");
    is_caught("charged in pauses", pauses_mutants, wrong::charged_in_pauses,
              "a letter counts tries that never began");
    is_caught("parked and run", for_mutants, wrong::parked_and_run,
              "a step has run and the one before it has not");
}

TEST_CASE("pipeline: WAYBILL_REPLAY selects one schedule")
{
    replay({&none,
            &none_alone,
            &singles,
            &singles_alone,
            &doubles,
            &doubles_alone,
            &doubles_of_all,
            &triples,
            &triples_alone,
            &triples_overtaken,
            &triples_of_all,
            &triples_of_all_alone,
            &triples_of_two_overtaken,
            &uncounted_triples_of_two,
            &refusals,
            &refusals_alone,
            &uncounted,
            &uncounted_alone,
            &uncounted_triples,
            &pauses,
            &pauses_uncounted,
            &pauses_alone,
            &redriven,
            &redriven_doubles,
            &open_end,
            &open_end_redriven,
            &open_end_alone,
            &arriving,
            &arriving_doubles,
            &arriving_uncounted,
            &arriving_alone,
            &arriving_alone_uncounted,
            &two_sessions,
            &two_without_faults});
}

}  // namespace
}  // namespace pipeline_enumeration

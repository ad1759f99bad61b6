// SPDX-License-Identifier: MIT
//
// Events that end their process, with every fault at every store call.
//
// The simulation of batch_simulation.hpp, with crash records. A deadly event becomes a dead letter
// after the deaths that the policy grants. No other event is blamed for them, even with outages or
// other deaths. Stores and drivers that keep crash records wrongly die without end, or blame good
// events.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <enumerate/consume/batch_simulation.hpp>
#include <enumerate/consume/wrong_attempts.hpp>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

namespace attempts_test {
namespace {

using namespace batch_simulation;
using namespace wrong_attempts;
using tests_support::brief;

constexpr outcome deadly_or_not[] = {outcome::ok, outcome::deadly};
constexpr outcome down_for_long[] = {outcome::ok, outcome::infrastructure_long};
constexpr outcome all_kinds[] = {outcome::ok,
                                 outcome::deadly,
                                 outcome::permanent,
                                 outcome::skipped,
                                 outcome::infrastructure_once,
                                 outcome::infrastructure_long};

// Without faults, so that the number of deaths is known: batches of up to eight.
constexpr extent alone{8, 8, 0, deadly_or_not, true, 2};
constexpr extent in_twos{8, 2, 0, deadly_or_not, true, 3};
constexpr extent in_fives{8, 5, 0, deadly_or_not, true, 1};
constexpr extent with_outage{brief ? 3 : 4, 3, 0, with_deadly, true, 2, 2};
constexpr extent with_outage_of_five{5, 3, 0, with_deadly, true, 2, 2};
// With faults there is at most one more death without a deadly event than there are faults.
constexpr extent one_fault{brief ? 2 : 4, 4, 1, with_deadly, true, 2};
constexpr extent one_fault_in_twos{brief ? 2 : 3, 2, 1, std::span(all_kinds).first(brief ? 3 : 6),
                                   true,          2};
constexpr extent one_fault_in_twos_of_four{4, 2, 1, all_kinds, true, 2};
constexpr extent two_faults{brief ? 1 : 2, 3, 2, deadly_or_not, false, 3};
constexpr extent two_faults_of_three{3, 3, 2, deadly_or_not, false, 3};
constexpr extent three_faults{1, 1, brief ? 1 : 3, deadly_or_not, false, 4};
constexpr extent singly{2, 1, brief ? 1 : 2, deadly_or_not, true, 3};
constexpr extent always_read{brief ? 2 : 3, 3, 1, with_deadly,
                             true,          2, 0, waybill::batch_policy::commit_check::always,
                             true};
constexpr auto unknown = waybill::batch_policy::commit_check::unknown;
constexpr extent leaving{brief ? 3 : 5, 5, 0, deadly_or_not, true, 2, 0, unknown, false, 3};
constexpr extent leaving_in_twos{brief ? 3 : 5, 2, 0, deadly_or_not, true, 3, 0, unknown, false, 3};
constexpr extent leaving_singly{brief ? 3 : 5, 1, 0, deadly_or_not, true, 2, 0, unknown, false, 4};
constexpr extent leaving_with_fault{brief ? 2 : 3, 3,     1, deadly_or_not, false, 2, 0,
                                    unknown,       false, 2};
constexpr extent long_outage{brief ? 1 : 2, 2, 1, down_for_long, false, 2};
constexpr extent long_outage_alone{1, 1, brief ? 1 : 2, down_for_long, false, 3};

TEST_CASE("crash records: deadly events at all positions of a batch: all invariants hold")
{
    holds("deadly events, a batch of eight", alone, 512, 512);
    holds("deadly events, batches of five, one death is enough", in_fives, 512, 512);
    holds("deadly events, batches of two", in_twos, 512, 512);
}

TEST_CASE(
    "crash records: deadly events, and outages that look like bad events: all invariants "
    "hold")
{
    holds("deadly events and outages", with_outage, 40'000, 6'000);
}

TEST_CASE("crash records: deadly events and up to three faults: all invariants hold")
{
    holds("deadly events, one fault, one batch of four", one_fault, 300'000, 6'000);
    holds("deadly events, one fault, batches of two", one_fault_in_twos, 100'000, 2'400);
    holds("deadly events, two faults", two_faults, 130'000, 10'000);
    holds("a deadly event, three faults", three_faults, 840'000, 190);
    holds("deadly events, batches of one, two faults", singly, 100'000, 1'200);
}

TEST_CASE("deep: crash records: up to five events, outages and two faults: all invariants hold" *
          doctest::skip())
{
    holds("deadly events and outages, five events", with_outage_of_five, 300'000, 0);
    holds("deadly events, one fault, four events in twos", one_fault_in_twos_of_four, 1'000'000, 0);
    holds("deadly events, two faults, three events", two_faults_of_three, 600'000, 0);
}

TEST_CASE("crash records: deadly events and false commit reports: all invariants hold")
{
    holds("deadly events, lies, read back always", always_read, 49'000, 6'600);
}

TEST_CASE("crash records: deadly events, and events that leave the log: all invariants hold")
{
    holds("deadly events that leave, a batch of five", leaving, 20'000, 920);
    holds("deadly events that leave, batches of two", leaving_in_twos, 10'000, 1'500);
    holds("deadly events that leave, batches of one", leaving_singly, 10'000, 430);
    holds("deadly events that leave, one fault", leaving_with_fault, 10'000, 7'700);
}

TEST_CASE("crash records: a long outage causes no dead letter")
{
    holds("long outages, one fault", long_outage, 1'500, 400);
    holds("long outages, two faults", long_outage_alone, 65'000, 400);
}

// Owners that all live, and lose the partition in the middle of a batch of one event. At any call
// another owner may take over, and the robbed owner continues without knowing it. The store fails,
// too.
class robbed_owners {
public:
    robbed_owners(choices& c, std::uint32_t robberies, std::uint32_t faults,
                  bool live_owners_visible)
        : choices_(c),
          robberies_(robberies),
          faults_(faults),
          live_owners_visible_(live_owners_visible)
    {
        policy_.deaths = 1 + c.pick(3);
    }

    std::string run()
    {
        owner();
        robberies_ = faults_ = 0;
        owner();
        if (!kept_.letters().empty()) return "a good event is a dead letter";
        if (kept_.records() != std::vector<std::uint64_t>{10}) return "not one effect";
        // A crash record of a robbed owner may remain, but only one from before the checkpoint.
        const auto row = *kept_.load_crash_record(key);
        return row && row->from ? "a crash record is left" : "";
    }

private:
    void owner()
    {
        const std::uint64_t me = ++owners_;
        const auto stored = *kept_.load(key);
        waybill::testing::faulty store(kept_, [this](store_call call) { return at_call(call); });
        waybill::assignment mine{key, waybill::position_of(stored), me, 100 + me, {}};
        if (live_owners_visible_) mine.expired_incarnation = 0;
        const std::vector<event> one{{10}};
        const auto handle = [](auto& tx, const event& e) -> fault {
            tx.inner()->record(e.sequence);
            return {};
        };
        // A second delivery follows before the owner learns of the takeover.
        for (int n = 0; n != 2; ++n) {
            const auto r = waybill::process_batch(store, mine, one, handle, parked_at, policy_);
            if (r.outcome != batch_outcome::redeliver) return;
        }
    }

    injected_fault at_call(store_call call)
    {
        if (robberies_ != 0 && choices_.pick(2) != 0) {
            --robberies_;
            owner();
        }
        if (faults_ == 0) return injected_fault::none;
        std::vector<injected_fault> alive;
        for (const injected_fault m : waybill::testing::faults_of(call)) {
            if (m != injected_fault::dies_before && m != injected_fault::dies_after)
                alive.push_back(m);
        }
        const injected_fault m = alive[choices_.pick(static_cast<std::uint32_t>(alive.size()))];
        if (m != injected_fault::none) --faults_;
        return m;
    }

    choices& choices_;
    std::uint32_t robberies_;
    std::uint32_t faults_;
    bool live_owners_visible_;
    right_store kept_;
    batch_policy policy_;
    std::uint64_t owners_ = 0;
};

std::string rob(std::uint32_t robberies, std::uint32_t faults, std::uint64_t at_least,
                bool live_owners_visible = true)
{
    const std::string what =
        std::to_string(robberies) + " robberies, " + std::to_string(faults) + " faults";
    const auto v = tests_support::every_schedule("attempts", what.c_str(), [&](choices& c) {
        return robbed_owners(c, robberies, faults, live_owners_visible).run();
    });
    if (!brief) CHECK(v.schedules >= at_least);
    return v.rule;
}

TEST_CASE("crash records: live owners that lose the partition in a batch cause no dead letter")
{
    CHECK(rob(1, brief ? 1 : 2, 80'000) == "");
    CHECK(rob(brief ? 1 : 2, 1, 45'000) == "");
    CHECK(rob(brief ? 2 : 4, 0, 100'000) == "");
}

TEST_CASE("crash records: mutant caught: every other incarnation is treated as dead")
{
    CHECK(rob(1, 0, 0, false) == "a good event is a dead letter");
}

constexpr extent mutants{2, 2, 0, deadly_or_not, false, 2};
constexpr extent leaving_mutants{2, 1, 0, deadly_or_not, false, 2, 0, unknown, false, 1};
constexpr extent outage_mutants{2, 1, 0, down_for_long, false, 2};

TEST_CASE("crash records: mutant caught: attempts are counted in memory only")
{
    is_caught("attempts counted in memory only", mutants,
              with_wrong_attempts{keeps_attempts::in_memory},
              "the log is not drained in so many deliveries");
}

TEST_CASE("crash records: mutant caught: an event is suspected by its position in the batch")
{
    is_caught("an event condemned by its place", leaving_mutants,
              with_wrong_attempts{keeps_attempts::by_place},
              "the effects up to the checkpoint are not those of each event once, in order");
}

TEST_CASE("crash records: mutant caught: the record is stored after handling")
{
    is_caught("attempt row written after handling", mutants,
              with_wrong_attempts{keeps_attempts::after_handling},
              "the log is not drained in so many deliveries");
}

TEST_CASE("crash records: mutant caught: an orderly failure is counted as a death")
{
    is_caught("a failure in order counted as a death", outage_mutants,
              with_wrong_attempts{keeps_attempts::never_called_off},
              "the effects up to the checkpoint are not those of each event once, in order");
}

TEST_CASE("crash records: mutant caught: the record is not removed with the checkpoint")
{
    is_caught("attempt row never removed", mutants,
              with_wrong_attempts{keeps_attempts::never_forgotten}, "a crash record is left");
}

TEST_CASE("crash records: WAYBILL_REPLAY selects one schedule")
{
    replay({&alone, &in_twos, &in_fives, &with_outage, &with_outage_of_five, &one_fault,
            &one_fault_in_twos, &one_fault_in_twos_of_four, &two_faults, &two_faults_of_three,
            &three_faults, &singly, &always_read, &leaving, &leaving_in_twos, &leaving_singly,
            &leaving_with_fault, &long_outage, &long_outage_alone});
}

}  // namespace
}  // namespace attempts_test

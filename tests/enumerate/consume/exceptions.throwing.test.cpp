// SPDX-License-Identifier: MIT
//
// Handlers that throw, in each set of events, with every fault at every store call.
//
// One process lives all the time. It catches the exceptions of process_batch and delivers again.
// Each event whose handler throws becomes a dead letter in a bounded number of rounds. No other
// event does, and each of the others takes effect once. A driver that records no exception repeats
// without end. A caller that makes a new assignment for each delivery blames good events for faults
// of the store.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/consume/process_batch.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace exceptions_test {
namespace {

using waybill::batch_outcome;
using waybill::fault;
using waybill::testing::choices;
using waybill::testing::injected_fault;
using waybill::testing::store_call;

const waybill::partition_key key{"log", "test", "0"};

struct event {
    std::uint64_t sequence;
};

enum class driver : std::uint8_t {
    rightly,
    // the mutant: the record of an exception counts as one of a failed store
    records_no_exception,
    makes_a_new_assignment,  // the mistake that the documentation warns of
};

struct trial {
    std::uint32_t events;
    std::uint32_t faults;   // of the store
    std::uint32_t outages;  // deliveries in which the handler returns `infrastructure`
    driver how = driver::rightly;
};

class process {
public:
    process(const trial& t, choices& c)
        : trial_(t), choices_(c), faults_(t.faults), outages_(t.outages)
    {
        policy_.deaths = 1 + c.pick(2);
        policy_.savepoints = c.pick(2) == 0;
        for (std::uint32_t n = 1; n <= t.events; ++n) {
            if (c.pick(2) != 0) bad_.insert(n);
        }
    }

    // The first broken rule, or an empty text.
    std::string run()
    {
        const std::uint64_t each = waybill::detail::deaths_at_most(trial_.events, policy_.deaths);
        const std::uint64_t most = bad_.size() * each;
        const std::uint64_t rounds =
            most + 2 * (trial_.events + trial_.faults + trial_.outages + 1);
        for (std::uint64_t round = 0; round != rounds; ++round) {
            if (mine_.from && mine_.from->sequence == trial_.events) break;
            deliver();
        }
        for (const auto& [at, letter] : kept_.letters()) {
            if (!bad_.contains(at.second)) return "a good event is a dead letter";
            if (letter.tries != policy_.deaths) return "a dead letter has wrong fields";
        }
        if (!mine_.from || mine_.from->sequence != trial_.events)
            return "the log is not drained in so many rounds";
        if (exceptions_ > most + trial_.faults) return "more exceptions than there may be";
        if (kept_.letters().size() != bad_.size()) return "an event is lost";
        std::vector<std::uint64_t> good;
        for (std::uint64_t n = 1; n <= trial_.events; ++n) {
            if (!bad_.contains(n)) good.push_back(n);
        }
        if (kept_.records() != good)
            return "the effects are not those of each good event once, in order";
        return "";
    }

private:
    void deliver()
    {
        std::vector<event> rest;
        for (std::uint64_t n = mine_.from ? mine_.from->sequence + 1 : 1; n <= trial_.events; ++n)
            rest.push_back({n});
        const bool down = outages_ != 0 && choices_.pick(2) != 0;
        if (down) --outages_;
        waybill::testing::faulty store(kept_, [this](store_call call) { return at_call(call); });
        const auto handle = [&](auto& tx, const event& e) -> fault {
            tx.inner()->record(e.sequence);
            if (down) return waybill::infrastructure("down");
            if (bad_.contains(e.sequence)) throw std::runtime_error("out of order");
            return {};
        };
        if (trial_.how == driver::records_no_exception) mine_.last.report_returned = true;
        if (trial_.how == driver::makes_a_new_assignment) mine_.last = {};
        try {
            const auto r = waybill::process_batch(store, mine_, rest, handle, {}, policy_);
            if (r.outcome == batch_outcome::committed) mine_.from = r.reached;
            if (r.outcome == batch_outcome::unknown || r.outcome == batch_outcome::ownership_lost)
                load();
        } catch (const std::runtime_error&) {
            ++exceptions_;
        }
    }

    void load() { mine_.from = waybill::position_of(*kept_.load(key)); }

    injected_fault at_call(store_call call)
    {
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

    const trial& trial_;
    choices& choices_;
    std::uint32_t faults_;
    std::uint32_t outages_;
    std::set<std::uint64_t> bad_;
    waybill::batch_policy policy_;
    waybill::testing::memory_store<std::uint64_t> kept_;
    waybill::assignment mine_{key, {}, 1, 7};
    std::uint64_t exceptions_ = 0;
};

tests_support::verdict enumerate(const char* what, const trial& t)
{
    return tests_support::every_schedule("exceptions", what,
                                         [&](choices& c) { return process(t, c).run(); });
}

void holds(const char* what, const trial& t, std::uint64_t at_least)
{
    const auto v = enumerate(what, t);
    CHECK(v.rule == "");
    if (!tests_support::brief) CHECK(v.schedules >= at_least);
}

constexpr bool few = tests_support::brief;

TEST_CASE("exceptions: any set of throwing handlers, with store faults: all invariants hold")
{
    holds("a batch of eight", {few ? 5U : 8U, 0, 0}, 1'000);
    holds("one fault", {few ? 2U : 3U, 1, 0}, 1'000);
    holds("two faults", {few ? 1U : 2U, 2, 0}, 1'000);
    holds("one fault, two outages", {few ? 1U : 2U, 1, 2}, 1'000);
    holds("two faults, one outage", {1, 2, 1}, 1'000);
}

void is_caught(const char* what, driver how, const char* rule)
{
    CHECK(enumerate(what, {1, 1, 1, how}).rule == rule);
}

TEST_CASE("exceptions: mutant caught: an exception is not recorded")
{
    is_caught("no exception is recorded", driver::records_no_exception,
              "the log is not drained in so many rounds");
}

TEST_CASE("exceptions: mutant caught: each delivery gets a new assignment")
{
    is_caught("a new assignment for each delivery", driver::makes_a_new_assignment,
              "a good event is a dead letter");
}

}  // namespace
}  // namespace exceptions_test

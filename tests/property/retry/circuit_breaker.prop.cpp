// SPDX-License-Identifier: MIT
//
// Random calls, late, repeated and lost results, and clocks that jump, against a model that stores
// all events in lists.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/naive_breaker.hpp>

#include <waybill/retry/circuit_breaker.hpp>

namespace breaker_properties {
namespace {

using waybill::duration;
using waybill::fault_kind;
using waybill::steady_time;

constexpr std::size_t most = 5;
using small_breaker = waybill::circuit_breaker_of<most>;

steady_time ms(std::int64_t n)
{
    return steady_time::at(duration::milliseconds(n));
}

waybill::circuit_breaker::config any_options()
{
    waybill::circuit_breaker::config o;
    o.failure_ratio = *rc::gen::element(0.1, 0.3, 0.5, 0.55, 1.0);
    o.minimum_throughput =
        *rc::gen::element<std::uint64_t>(1, 2, 5, waybill::circuit_breaker::config::never);
    o.consecutive_failures =
        *rc::gen::element<std::uint64_t>(1, 2, 4, waybill::circuit_breaker::config::never);
    o.sampling_duration = duration::milliseconds(*rc::gen::element(100, 1'000, 30'000));
    o.timeout = duration::milliseconds(*rc::gen::element(1, 70, 2'000));
    o.break_duration = {.base = duration::milliseconds(*rc::gen::element(1, 50, 500)),
                        .cap = duration::milliseconds(*rc::gen::element(500, 3'000)),
                        .spread = *rc::gen::element(waybill::backoff::jitter::none,
                                                    waybill::backoff::jitter::full)};
    o.half_open_steps = *rc::gen::inRange<std::uint32_t>(1, 6);
    o.transient_counts = *rc::gen::arbitrary<bool>();
    return o;
}

constexpr fault_kind classes[]{fault_kind::none,           fault_kind::infrastructure,
                               fault_kind::transient,      fault_kind::permanent,
                               fault_kind::cancelled,      fault_kind::ownership_lost,
                               fault_kind::infrastructure, fault_kind::none};

struct pair_of_permits {
    waybill::circuit_breaker::permit ours;
    waybill::circuit_breaker::permit theirs;
};

void agree(const small_breaker& v, const tests_support::naive_breaker& naive, steady_time at)
{
    RC_ASSERT(v.state(at) == naive.state(at));
    RC_ASSERT(v.generation(at) == naive.generation(at));
    RC_ASSERT(v.room(at) == naive.room(at));
    RC_ASSERT(v.next_change(at) == naive.next_change(at));
    RC_ASSERT(v.suspects_outage(at) == naive.suspects_outage(at));
}

// A third circuit_breaker, `often`, also gets intermediate times and must have the same state.
void equals_the_model()
{
    const auto o = any_options();
    const bool never = o.minimum_throughput == o.never && o.consecutive_failures == o.never;
    RC_ASSERT(waybill::validate(o).has_value() == never);
    small_breaker v(o);
    small_breaker often(o);
    tests_support::naive_breaker naive(o, most);
    std::vector<pair_of_permits> permits;
    std::int64_t now = *rc::gen::element<std::int64_t>(-100'000, 0, 5'000);
    const auto steps = *rc::gen::inRange(0, 120);
    for (int i = 0; i != steps; ++i) {
        const auto what =
            *rc::gen::weightedElement<int>({{8, 0}, {8, 1}, {2, 2}, {1, 3}, {1, 4}, {1, 5}});
        const auto by = *rc::gen::weightedElement<std::int64_t>(
            {{6, 0}, {6, 1}, {4, 20}, {3, 100}, {2, 700}, {1, 5'000}, {1, -30}, {1, 100'000}});
        if (by > 0) (void)often.record({}, fault_kind::none, ms(now + by / 2));
        now += by;
        const steady_time at = ms(now);
        (void)v.record({}, fault_kind::none, at);
        (void)often.record({}, fault_kind::none, at);
        (void)naive.record({}, fault_kind::none, at);
        if (what == 0) {
            const auto p = v.try_acquire(at);
            const auto q = naive.try_acquire(at);
            const auto r = often.try_acquire(at);
            RC_ASSERT(p.has_value() == q.has_value());
            RC_ASSERT(p == r);
            if (p) {
                RC_ASSERT(p->generation == q->generation);
                RC_ASSERT(p->deadline == q->deadline);
                permits.push_back({*p, *q});
            }
        } else if (what <= 2 && !permits.empty()) {
            // Mostly one of the last permits, sometimes any permit of the run.
            const auto n = permits.size();
            const auto back = *rc::gen::inRange<std::size_t>(0, what == 1 && n > most ? most : n);
            const auto& p = permits[n - 1 - back];
            const auto how = classes[*rc::gen::inRange<std::size_t>(0, 8)];
            const double draw = *rc::gen::element(0.0, 0.3, 0.9, 1.0);
            RC_ASSERT(v.has(p.ours, at) == naive.has(p.theirs, at));
            const small_breaker before = v;
            const auto result = v.record(p.ours, how, at, draw);
            RC_ASSERT(result == naive.record(p.theirs, how, at, draw));
            RC_ASSERT(result == often.record(p.ours, how, at, draw));
            if (result == waybill::event_result::stale) {
                small_breaker reference = before;
                (void)reference.record({}, how, at, draw);
                RC_ASSERT(reference == v);
            }
        } else if (what == 3) {
            v.force_closed(at), often.force_closed(at), naive.force_closed(at);
        } else if (what == 4) {
            v.force_open(at), often.force_open(at), naive.force_open(at);
        } else if (what == 5) {
            v.release_force(at), often.release_force(at), naive.release_force(at);
        }
        agree(v, naive, at);
        agree(often, naive, at);
        agree(v, naive, ms(now + *rc::gen::element(-50, 1, 60, 800, 10'000)));
    }
}

TEST_CASE("circuit breaker: results and states equal those of a model that stores all events")
{
    CHECK(rc::check("any calls, results and clocks", equals_the_model));
}

}  // namespace
}  // namespace breaker_properties

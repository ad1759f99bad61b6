// SPDX-License-Identifier: MIT
//
// Every sequence of a few moves of a small circuit_breaker. Calls begin, end with each kind, end
// twice, end too late or never. Time passes by a little, to the next change, by a lot, or
// backwards. The circuit breaker is forced closed or open. After each step its guarantees are
// checked through its public queries. Circuit breakers with the mistakes of other implementations
// must be caught.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/naive_breaker.hpp>

#include <waybill/retry/circuit_breaker.hpp>

namespace breaker_enumeration {
namespace {

using tests_support::breaker_mistake;
using tests_support::naive_breaker;
using waybill::circuit_breaker;
using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using waybill::steady_time;

constexpr std::size_t most = 3;
constexpr waybill::circuit_breaker::config options{
    .failure_ratio = 0.5,
    .minimum_throughput = 2,
    .sampling_duration = duration::seconds(10),
    .consecutive_failures = waybill::circuit_breaker::config::never,
    .timeout = duration::seconds(4),
    .break_duration = {.base = duration::seconds(2),
                       .cap = duration::seconds(8),
                       .spread = waybill::backoff::jitter::none},
    .half_open_steps = 2};

enum class move {
    pass,
    first_answered,
    first_fails,
    first_permanent,
    first_cancelled,
    last_answered,
    last_fails,
    again,
    second,
    next_change,
    long_time,
    clock_back,
    hold_open,
    hold_shut,
    let_go,
    count_
};
constexpr const char* names[]{
    "pass",          "first answered", "first fails", "first permanent", "first cancelled",
    "last answered", "last fails",     "again",       "second",          "next change",
    "long time",     "clock back",     "hold open",   "hold shut",       "let go"};

struct call {
    waybill::circuit_breaker::permit given{};
    bool reported = false;
    bool held_open = false;
};

struct seen {
    circuit_breaker::circuit_state state;
    std::uint64_t generation;
    std::uint64_t room;
    steady_time next_change;
    friend bool operator==(const seen&, const seen&) = default;
};

template <class Breaker>
struct simulation {
    Breaker v;
    steady_time now = steady_time::at(duration::seconds(1'000));
    steady_time latest = now;
    std::array<call, 8> calls{};
    std::size_t given = 0;
    std::uint64_t answered = 0;    // probes with a result, in this generation
    std::uint64_t generation = 1;  // the generation of `answered`
    bool any_failed = false;
    bool was_held = false;

    [[nodiscard]] seen look() const
    {
        return {v.state(latest), v.generation(latest), v.room(latest), v.next_change(latest)};
    }
};

// Returns true if time and successful calls alone close the circuit breaker.
template <class Breaker>
bool comes_to_flow(Breaker v, steady_time now)
{
    if (v.state(now) == circuit_breaker::circuit_state::forced_open) return true;
    for (int i = 0; i != 40; ++i) {
        if (v.state(now) == circuit_breaker::circuit_state::forced_closed) return true;
        if (v.state(now) == circuit_breaker::circuit_state::closed && v.room(now) != 0) return true;
        if (const auto p = v.try_acquire(now)) {
            v.record(*p, fault_kind::none, now);
            continue;
        }
        const steady_time next = v.next_change(now);
        if (!(now < next) || next == steady_time::highest()) return false;
        now = next;
    }
    return false;
}

template <class Breaker>
class enumeration {
public:
    enumeration(Breaker v, int depth) : first_{std::move(v)}, depth_(depth) {}

    void run()
    {
        simulation<Breaker> w = first_;
        (void)w.v.record({}, fault_kind::none, w.now);
        go(w, 0);
    }

    std::uint64_t sequences = 0;
    std::string broken;  // the first broken rule
    std::string moves;

private:
    void go(const simulation<Breaker>& w, int level)
    {
        if (level == depth_) {
            ++sequences;
            return;
        }
        for (int m = 0; m != static_cast<int>(move::count_) && broken.empty(); ++m) {
            path_[static_cast<std::size_t>(level)] = m;
            simulation<Breaker> next = w;
            if (!make(next, static_cast<move>(m))) continue;  // not possible in this state
            check(next, level);
            if (broken.empty()) go(next, level + 1);
        }
    }

    bool make(simulation<Breaker>& w, move m)
    {
        switch (m) {
            case move::pass: return pass(w);
            case move::first_answered: return report(w, true, fault_kind::none);
            case move::first_fails: return report(w, true, fault_kind::infrastructure);
            case move::first_permanent: return report(w, true, fault_kind::permanent);
            case move::first_cancelled: return report(w, true, fault_kind::cancelled);
            case move::last_answered: return report(w, false, fault_kind::none);
            case move::last_fails: return report(w, false, fault_kind::infrastructure);
            case move::again: return again(w);
            case move::second: return to(w, w.now + duration::seconds(1));
            case move::next_change:
                if (w.v.next_change(w.now) == steady_time::highest()) return false;
                return to(w, w.v.next_change(w.now));
            case move::long_time: return to(w, w.now + duration::seconds(100'000));
            case move::clock_back: return to(w, w.now - duration::seconds(3));
            case move::hold_open: w.v.force_closed(w.now); return true;
            case move::hold_shut:
                w.was_held = true;
                w.v.force_open(w.now);
                return true;
            case move::let_go:
                if (w.v.state(w.now) < circuit_breaker::circuit_state::forced_closed) return false;
                w.v.release_force(w.now);
                return true;
            case move::count_: break;
        }
        return false;
    }

    bool pass(simulation<Breaker>& w)
    {
        const circuit_breaker::circuit_state s = w.v.state(w.now);
        const auto p = w.v.try_acquire(w.now);
        if (!p)
            return s == circuit_breaker::circuit_state::forced_closed &&
                   wrong("held open and lets none pass");
        if (s == circuit_breaker::circuit_state::open ||
            s == circuit_breaker::circuit_state::forced_open)
            wrong("lets one pass while it is shut");
        w.calls[w.given++] = {*p, false, s == circuit_breaker::circuit_state::forced_closed};
        return true;
    }

    bool report(simulation<Breaker>& w, bool from_the_first, fault_kind how)
    {
        std::size_t n = w.given;
        for (std::size_t i = 0; i != w.given; ++i) {
            const std::size_t at = from_the_first ? i : w.given - 1 - i;
            if (w.calls[at].reported) continue;
            n = at;
            break;
        }
        if (n == w.given) return false;
        if (!from_the_first && first_open(w) == n) return false;  // the same call
        tell(w, n, how);
        w.calls[n].reported = true;
        return true;
    }

    static std::size_t first_open(const simulation<Breaker>& w)
    {
        std::size_t n = 0;
        while (w.calls[n].reported) ++n;
        return n;
    }

    bool again(simulation<Breaker>& w)
    {
        for (std::size_t i = w.given; i != 0; --i) {
            if (!w.calls[i - 1].reported) continue;
            tell(w, i - 1, fault_kind::infrastructure);
            return true;
        }
        return false;
    }

    void tell(simulation<Breaker>& w, std::size_t n, fault_kind how)
    {
        const call& c = w.calls[n];
        const bool late = c.held_open || c.reported || !(w.latest < c.given.deadline) ||
                          c.given.generation != w.v.generation(w.now);
        const seen before = w.look();
        const bool was_probing = before.state == circuit_breaker::circuit_state::half_open;
        const event_result h = w.v.record(c.given, how, w.now);
        if (late) {
            if (w.look() != before) wrong("a late result has changed something");
            if (h != event_result::stale) wrong("a late result was taken");
            return;
        }
        if (h != event_result::applied) wrong("a result in time was not taken");
        if (how == fault_kind::infrastructure) w.any_failed = true;
        const bool said = how == fault_kind::none || how == fault_kind::permanent;
        if (!was_probing) return;
        if (w.generation != before.generation) w.answered = 0;
        w.generation = before.generation;
        if (said) ++w.answered;
        // A ramp of two steps: one probe, then two more.
        if (w.look().state == circuit_breaker::circuit_state::closed && w.answered != 3) {
            wrong("flows though too few probes were answered");
        }
    }

    bool to(simulation<Breaker>& w, steady_time t)
    {
        const seen before = w.look();
        if (w.latest < t) lose(w, t);
        w.now = t;
        w.latest = waybill::detail::later(w.latest, t);
        (void)w.v.record({}, fault_kind::none, t);
        if (t < w.latest && w.look() != before)
            wrong("a clock that went back has changed something");
        return true;
    }

    void lose(simulation<Breaker>& w, steady_time t)
    {
        for (std::size_t i = 0; i != w.given; ++i) {
            const call& c = w.calls[i];
            const bool counts =
                !c.reported && !c.held_open && c.given.generation == w.v.generation(w.latest);
            if (counts && c.given.deadline <= t) w.any_failed = true;
        }
    }

    void check(const simulation<Breaker>& w, int level)
    {
        const seen s = w.look();
        if (!w.any_failed && !w.was_held && s.state != circuit_breaker::circuit_state::closed &&
            s.state != circuit_breaker::circuit_state::forced_closed) {
            wrong("shuts though nothing failed");
        }
        if (s.state == circuit_breaker::circuit_state::half_open) probes(w, s);
        if (!comes_to_flow(w.v, w.now)) wrong("is stuck");
        if (!broken.empty() && moves.empty()) {
            for (int i = 0; i <= level; ++i)
                moves += std::string(names[path_[static_cast<std::size_t>(i)]]) + ", ";
        }
    }

    // Steps of 1, 2, 3, 3 ... probes. The current step has probes with a result and open ones.
    void probes(const simulation<Breaker>& w, const seen& s)
    {
        std::uint64_t rest = w.generation == s.generation ? w.answered : 0;
        std::uint64_t size = 1;
        while (rest >= size) {
            rest -= size;
            size = size * 2 < most ? size * 2 : most;
        }
        std::uint64_t out = 0;
        for (std::size_t i = 0; i != w.given; ++i) {
            const call& c = w.calls[i];
            if (c.reported || c.given.generation != s.generation) continue;
            ++out;
            if (!(w.latest < c.given.deadline)) wrong("waits for a probe that was lost");
        }
        if (out + rest > size) wrong("more probes than the ramp allows");
    }

    bool wrong(const char* what)
    {
        if (broken.empty()) broken = what;
        return true;
    }

    simulation<Breaker> first_;
    int depth_;
    std::array<int, 8> path_{};
};

template <class Breaker>
auto enumerate(const char* what, Breaker v, int depth)
{
    enumeration<Breaker> e(std::move(v), depth);
    e.run();
    std::printf("%-24s %12llu sequences of %d moves  %s%s%s\n", what,
                static_cast<unsigned long long>(e.sequences), depth, e.broken.c_str(),
                e.broken.empty() ? "" : " after ", e.moves.c_str());
    return e.broken;
}

constexpr int depth = tests_support::brief ? 5 : 8;

TEST_CASE("circuit breaker: every sequence of moves keeps all guarantees")
{
    CHECK(enumerate("circuit breaker", waybill::circuit_breaker_of<most>(options), depth) == "");
    waybill::circuit_breaker::config in_a_row = options;
    in_a_row.minimum_throughput = waybill::circuit_breaker::config::never;
    in_a_row.consecutive_failures = 1;
    CHECK(enumerate("circuit breaker, one in a row", waybill::circuit_breaker_of<most>(in_a_row),
                    depth) == "");
    CHECK(enumerate("naive model", naive_breaker(options, most), depth - 3) == "");
}

std::string with(const char* what, breaker_mistake m)
{
    // One failure opens it, so that mistakes show after few moves.
    waybill::circuit_breaker::config o = options;
    o.consecutive_failures = 1;
    return enumerate(what, naive_breaker(o, most, m), 6);
}

TEST_CASE("circuit breaker: mutant caught: results of an older generation count")
{
    CHECK(with("no generation", breaker_mistake::no_generation) == "a late result was taken");
}

TEST_CASE("circuit breaker: mutant caught: permits without a deadline")
{
    const std::string how = with("no deadline", breaker_mistake::no_deadline);
    CHECK((how == "waits for a probe that was lost" || how == "is stuck"));
}

TEST_CASE("circuit breaker: mutant caught: half-open permits all calls at once")
{
    CHECK(with("stampede", breaker_mistake::stampede) == "more probes than the ramp allows");
}

TEST_CASE("circuit breaker: mutant caught: permanent faults count as failures")
{
    CHECK(with("counts permanent", breaker_mistake::counts_permanent) ==
          "shuts though nothing failed");
}

TEST_CASE("circuit breaker: mutant caught: one successful probe closes it")
{
    CHECK(with("one probe", breaker_mistake::one_probe) ==
          "flows though too few probes were answered");
}

TEST_CASE("circuit breaker: mutant caught: cancelled calls count as successes")
{
    CHECK(with("counts cancelled", breaker_mistake::counts_cancelled) ==
          "more probes than the ramp allows");
}

TEST_CASE("circuit breaker: mutant caught: a second result of a permit counts")
{
    CHECK(with("reported twice", breaker_mistake::reported_twice) ==
          "a late result has changed something");
}

}  // namespace
}  // namespace breaker_enumeration

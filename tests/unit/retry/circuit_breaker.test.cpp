// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/retry/circuit_breaker.hpp>

namespace breaker_test {
namespace {

using namespace std::chrono_literals;
using waybill::circuit_breaker;
using waybill::circuit_breaker_of;
using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using waybill::steady_time;

constexpr steady_time s(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

// Two of two failed calls open it, for 5, 10, 20 ... seconds; then 1, 2, 4 probes.
constexpr circuit_breaker::config quick{
    .failure_ratio = 0.5, .minimum_throughput = 2, .half_open_steps = 3};

constexpr void call(circuit_breaker_of<8>& v, fault_kind how, steady_time at)
{
    v.record(v.try_acquire(at).value_or(circuit_breaker::permit{}), how, at);
}

constexpr circuit_breaker_of<8> shut_at(steady_time at, const circuit_breaker::config& o = quick)
{
    circuit_breaker_of<8> v(o);
    call(v, fault_kind::infrastructure, at);
    call(v, fault_kind::infrastructure, at);
    return v;
}

static_assert(sizeof(circuit_breaker({})) != 0, "braces are default options, not a copy");
static_assert(name(circuit_breaker::circuit_state::closed) == "closed" &&
              name(circuit_breaker::circuit_state::open) == "open");
static_assert(name(circuit_breaker::circuit_state::half_open) == "half_open" &&
              name(circuit_breaker::circuit_state::forced_closed) == "forced_closed");
static_assert(name(circuit_breaker::circuit_state::forced_open) == "forced_open" &&
              name(static_cast<circuit_breaker::circuit_state>(9)) == "?");

// It opens, and reports the time of the next probe. Then one probe may pass, then two, then four,
// then all.
static_assert([] {
    circuit_breaker_of<8> v = shut_at(s(1));
    if (v.state(s(1)) != circuit_breaker::circuit_state::open || v.next_change(s(1)) != s(6))
        return false;
    if (v.try_acquire(s(5)) || v.room(s(5)) != 0) return false;
    if (v.state(s(6)) != circuit_breaker::circuit_state::half_open || v.room(s(6)) != 1)
        return false;
    for (const int size : {1, 2, 4}) {
        circuit_breaker::permit out[4]{};
        for (int i = 0; i != size; ++i) {
            const auto p = v.try_acquire(s(6));
            if (!p) return false;
            out[i] = *p;
        }
        if (v.try_acquire(s(6))) return false;  // no stampede
        for (int i = 0; i != size; ++i) {
            if (v.state(s(7)) != circuit_breaker::circuit_state::half_open) return false;
            if (v.record(out[i], fault_kind::none, s(7)) != event_result::applied) return false;
        }
    }
    return v.state(s(7)) == circuit_breaker::circuit_state::closed && v.room(s(7)) == 8;
}());

// A failed probe opens it for longer, up to the cap. After it has closed, the pauses start again.
static_assert([] {
    circuit_breaker_of<8> v = shut_at(s(0));
    std::int64_t at = 0;
    for (const std::int64_t pause : {5, 10, 20, 40, 80, 160, 300, 300}) {
        if (v.next_change(s(at)) != s(at + pause)) return false;
        at += pause;
        call(v, fault_kind::infrastructure, s(at));
    }
    at += 300;
    for (int i = 0; i != 7; ++i) call(v, fault_kind::none, s(at));
    if (v.state(s(at)) != circuit_breaker::circuit_state::closed) return false;
    call(v, fault_kind::infrastructure, s(at));
    call(v, fault_kind::infrastructure, s(at));
    return v.next_change(s(at)) == s(at + 5);
}());

// Results of an earlier state have no effect, neither good nor bad.
static_assert([] {
    circuit_breaker_of<8> v(quick);
    const auto early = v.try_acquire(s(0));
    const auto early_too = v.try_acquire(s(0));
    call(v, fault_kind::infrastructure, s(1));
    call(v, fault_kind::infrastructure, s(1));
    const auto probe = v.try_acquire(s(6));
    const circuit_breaker_of<8> before = v;
    if (v.record(*early, fault_kind::none, s(6)) != event_result::stale || v != before)
        return false;
    if (v.record(*early_too, fault_kind::infrastructure, s(6)) != event_result::stale ||
        v != before)
        return false;
    return v.has(*probe, s(6)) && !v.has(*early, s(6));
}());

// A permit that is reported twice, made up, or of another breaker changes nothing.
static_assert([] {
    circuit_breaker_of<8> v(quick);
    const auto p = v.try_acquire(s(0));
    const auto other = v.try_acquire(s(0));
    if (v.record(*p, fault_kind::infrastructure, s(0)) != event_result::applied) return false;
    const circuit_breaker_of<8> before = v;
    const circuit_breaker::permit made_up[]{
        *p,
        circuit_breaker::permit{},
        circuit_breaker::permit{1, 0, s(60), p->place},
        circuit_breaker::permit{1, 77, s(60), 0},
        circuit_breaker::permit{1, other->number, s(60), 77},
        circuit_breaker::permit{2, other->number, s(60), other->place}};
    for (const circuit_breaker::permit& wrong : made_up) {
        if (v.record(wrong, fault_kind::infrastructure, s(0)) != event_result::stale || v != before)
            return false;
    }
    return true;
}());

// The place of a returned permit is used again, and the two permits stay different.
static_assert([] {
    circuit_breaker_of<1> v(quick);
    const auto p = v.try_acquire(s(0));
    if (v.try_acquire(s(0)) || v.next_change(s(0)) != s(60)) return false;  // all are out
    v.record(*p, fault_kind::none, s(0));
    const auto q = v.try_acquire(s(0));
    return q->place == p->place && v.record(*p, fault_kind::none, s(0)) == event_result::stale &&
           v.record(*q, fault_kind::none, s(0)) == event_result::applied;
}());

// A probe without a result fails at its deadline, at any query after it.
static_assert([] {
    circuit_breaker_of<8> v = shut_at(s(0));
    const auto p = v.try_acquire(s(5));
    if (p->deadline != s(65) || v.next_change(s(5)) != s(65)) return false;
    if (v.state(s(64)) != circuit_breaker::circuit_state::half_open ||
        v.state(s(65)) != circuit_breaker::circuit_state::open)
        return false;
    if (v.next_change(s(65)) != s(75) ||
        v.state(s(75)) != circuit_breaker::circuit_state::half_open)
        return false;
    return v.record(*p, fault_kind::none, s(65)) == event_result::stale &&
           v.state(s(65)) == circuit_breaker::circuit_state::open;
}());

// While it is closed, lost permits count at their deadline.
static_assert([] {
    circuit_breaker_of<8> v(quick);
    (void)v.try_acquire(s(0));
    (void)v.try_acquire(s(2));
    return v.state(s(61)) == circuit_breaker::circuit_state::closed &&
           v.state(s(62)) == circuit_breaker::circuit_state::open &&
           v.next_change(s(62)) == s(67) && v.next_change(s(60)) == s(62);
}());

// Only faults of the surroundings count.
constexpr circuit_breaker::circuit_state after_ten(fault_kind how, bool transient_counts = false)
{
    circuit_breaker_of<8> v({.minimum_throughput = 10, .transient_counts = transient_counts});
    for (int i = 0; i != 10; ++i) call(v, how, s(0));
    return v.state(s(0));
}
static_assert(after_ten(fault_kind::infrastructure) == circuit_breaker::circuit_state::open);
static_assert(after_ten(fault_kind::none) == circuit_breaker::circuit_state::closed);
static_assert(after_ten(fault_kind::permanent) == circuit_breaker::circuit_state::closed);
static_assert(after_ten(fault_kind::cancelled) == circuit_breaker::circuit_state::closed);
static_assert(after_ten(fault_kind::ownership_lost) == circuit_breaker::circuit_state::closed);
static_assert(after_ten(fault_kind::transient) == circuit_breaker::circuit_state::closed);
static_assert(after_ten(fault_kind::transient, true) == circuit_breaker::circuit_state::open);

// A cancelled probe has no result: another one replaces it.
static_assert([] {
    circuit_breaker_of<8> v = shut_at(s(0));
    for (const fault_kind how : {fault_kind::cancelled, fault_kind::ownership_lost}) {
        call(v, how, s(5));
        if (v.state(s(5)) != circuit_breaker::circuit_state::half_open || v.room(s(5)) != 1)
            return false;
    }
    call(v, fault_kind::permanent, s(5));  // the service has replied
    return v.room(s(5)) == 2;
}());

// The share is of the calls within the period, and of enough of them. A success may be the call
// that makes them enough.
static_assert([] {
    circuit_breaker_of<8> v({.failure_ratio = 0.3, .minimum_throughput = 10});
    for (int i = 0; i != 3; ++i) call(v, fault_kind::infrastructure, s(0));
    for (int i = 0; i != 6; ++i) call(v, fault_kind::none, s(0));
    if (v.state(s(0)) != circuit_breaker::circuit_state::closed) return false;
    circuit_breaker_of<8> old = v;
    call(v, fault_kind::none, s(0));
    call(old, fault_kind::none, s(31));
    return v.state(s(0)) == circuit_breaker::circuit_state::open &&
           old.state(s(31)) == circuit_breaker::circuit_state::closed;
}());
static_assert([] {  // 55 of 100 are 0.55, in spite of rounding
    circuit_breaker_of<8> v({.failure_ratio = 0.55,
                             .minimum_throughput = 100,
                             .consecutive_failures = circuit_breaker::config::never});
    for (int i = 0; i != 45; ++i) call(v, fault_kind::none, s(0));
    for (int i = 0; i != 54; ++i) call(v, fault_kind::infrastructure, s(0));
    if (v.state(s(0)) != circuit_breaker::circuit_state::closed) return false;
    call(v, fault_kind::infrastructure, s(0));
    return v.state(s(0)) == circuit_breaker::circuit_state::open;
}());

// Consecutive failures count over any time.
static_assert([] {
    circuit_breaker_of<8> v(
        {.minimum_throughput = circuit_breaker::config::never, .consecutive_failures = 3});
    for (const int hour : {0, 3'600, 7'200}) {
        if (v.state(s(hour)) != circuit_breaker::circuit_state::closed) return false;
        call(v, fault_kind::infrastructure, s(hour));
        if (hour == 0) call(v, fault_kind::cancelled, s(hour));  // no information
    }
    if (v.state(s(7'200)) != circuit_breaker::circuit_state::open) return false;
    circuit_breaker_of<8> w(
        {.minimum_throughput = circuit_breaker::config::never, .consecutive_failures = 3});
    for (int i = 0; i != 99; ++i)
        call(w, i % 3 == 0 ? fault_kind::permanent : fault_kind::infrastructure, s(0));
    return w.state(s(0)) == circuit_breaker::circuit_state::closed;
}());

// Forced closed, all calls may pass, more than it has permits, and nothing counts. Forced open,
// none may. After the release, a forced-closed one is closed, and a forced-open one is half open.
static_assert([] {
    circuit_breaker_of<8> v = shut_at(s(0));
    v.force_closed(s(0));
    if (v.room(s(0)) != ~std::uint64_t{0} || v.next_change(s(0)) != steady_time::highest())
        return false;
    std::optional<circuit_breaker::permit> last;
    for (int i = 0; i != 20; ++i) {
        last = v.try_acquire(s(1));
        if (!last || v.record(*last, fault_kind::infrastructure, s(1)) != event_result::stale)
            return false;
    }
    if (v.state(s(999)) != circuit_breaker::circuit_state::forced_closed || v.suspects_outage(s(1)))
        return false;
    v.release_force(s(2));
    if (v.state(s(2)) != circuit_breaker::circuit_state::closed || v.room(s(2)) != 8) return false;
    if (v.record(*last, fault_kind::infrastructure, s(2)) != event_result::stale) return false;
    v.force_open(s(3));
    if (v.state(s(9'999)) != circuit_breaker::circuit_state::forced_open ||
        v.try_acquire(s(9'999)) || !v.suspects_outage(s(4)))
        return false;
    v.release_force(s(10'000));
    return v.state(s(10'000)) == circuit_breaker::circuit_state::half_open &&
           v.room(s(10'000)) == 1;
}());
static_assert([] {  // a repeated force, or a release without a force, changes nothing
    circuit_breaker_of<8> v = shut_at(s(0));
    circuit_breaker_of<8> before = v;
    v.release_force(s(0));
    if (v != before) return false;
    v.force_open(s(1));
    before = v;
    v.force_open(s(1));
    return v == before && v.generation(s(1)) == 3;
}());

// A clock that jumps back counts as standing still.
static_assert([] {
    circuit_breaker_of<8> v = shut_at(s(100));
    if (v.state(s(0)) != circuit_breaker::circuit_state::open || v.try_acquire(s(0)) ||
        v.next_change(s(0)) != s(105))
        return false;
    const auto p = v.try_acquire(s(105));
    if (v.try_acquire(s(1)) || v.state(s(1)) != circuit_breaker::circuit_state::half_open)
        return false;
    return v.record(*p, fault_kind::none, s(1)) == event_result::applied &&
           v.try_acquire(s(1))->deadline == s(165);
}());

// After a jump ahead, the state equals that with intermediate times: the permit was lost long ago,
// and the following pause is over.
static_assert([] {
    circuit_breaker_of<8> v(quick);
    (void)v.try_acquire(s(0));
    (void)v.try_acquire(s(0));
    circuit_breaker_of<8> w = v;
    for (const std::int64_t t : {59, 60, 61, 64, 65, 70})
        (void)w.record({}, fault_kind::none, s(t));
    (void)v.record({}, fault_kind::none, s(1'000'000));
    (void)w.record({}, fault_kind::none, s(1'000'000));
    return v == w && v.state(s(1'000'000)) == circuit_breaker::circuit_state::half_open;
}());

// No overflow, for any options and clock.
static_assert([] {
    for (const steady_time at : {steady_time::lowest(), s(0), steady_time::highest()}) {
        for (const duration d :
             {duration::lowest(), duration{}, duration::nanoseconds(1), duration::highest()}) {
            circuit_breaker_of<2> v({.failure_ratio = std::numeric_limits<double>::quiet_NaN(),
                                     .minimum_throughput = 0,
                                     .sampling_duration = d,
                                     .consecutive_failures = 1,
                                     .timeout = d,
                                     .break_duration = {.base = d, .cap = d},
                                     .half_open_steps = 0});
            const auto p = v.try_acquire(at);
            if (!p || p->deadline < at) return false;
            v.record(*p, fault_kind::infrastructure, at, std::numeric_limits<double>::quiet_NaN());
            (void)v.next_change(steady_time::highest());
            if (v.has(*p, steady_time::highest()) || v.room(steady_time::highest()) > 2)
                return false;
            if (const auto q = v.try_acquire(steady_time::highest()))
                v.record(*q, fault_kind::none, at);
            if (v.suspects_outage(at) && v.state(at) == circuit_breaker::circuit_state::closed)
                return false;
        }
    }
    return true;
}());

// The defaults: 1,000 successful calls within the period. 50 consecutive failures open it, and so
// does a share of a tenth.
constexpr int failures_until_shut(int one_in)
{
    circuit_breaker v;
    for (int n = 0; n != 1'000; ++n) v.record(*v.try_acquire(s(0)), fault_kind::none, s(0));
    for (int n = 1; n != 10'000; ++n) {
        const bool failed = n % one_in == 0;
        v.record(*v.try_acquire(s(0)), failed ? fault_kind::infrastructure : fault_kind::none,
                 s(0));
        if (v.state(s(0)) == circuit_breaker::circuit_state::open) return n / one_in;
    }
    return 10'000;
}
TEST_CASE(
    "circuit breaker: the default opens at 50 consecutive failures or a failure ratio of a tenth")
{
    CHECK(failures_until_shut(1) == 50);
    CHECK(failures_until_shut(2) == 125);      // of 1,250
    CHECK(failures_until_shut(11) == 10'000);  // fewer than a tenth
}

// It suspects an outage while it is not closed, and after a recent fault of the surroundings.
static_assert([] {
    circuit_breaker_of<8> v(circuit_breaker::config{});
    if (v.suspects_outage(s(0))) return false;
    call(v, fault_kind::infrastructure, s(0));
    if (!v.suspects_outage(s(1)) || !v.suspects_outage(s(26)) || v.suspects_outage(s(31)))
        return false;
    call(v, fault_kind::cancelled, s(1));
    if (!v.suspects_outage(s(1))) return false;
    call(v, fault_kind::permanent, s(1));
    if (v.suspects_outage(s(1))) return false;
    const circuit_breaker_of<8> w = shut_at(s(0));
    return w.suspects_outage(s(0)) && w.suspects_outage(s(5));
}());

constexpr std::string_view bad(const circuit_breaker::config& o)
{
    const auto error = validate(o);
    return error ? error->field : "";
}
static_assert(bad({}) == "" && bad({.failure_ratio = 1}) == "" &&
              bad({.minimum_throughput = circuit_breaker::config::never,
                   .consecutive_failures = 3}) == "");
static_assert(bad({.minimum_throughput = circuit_breaker::config::never,
                   .consecutive_failures = circuit_breaker::config::never}) ==
              "circuit_breaker.consecutive_failures");
static_assert(bad({.failure_ratio = 0}) == "circuit_breaker.failure_ratio" &&
              bad({.failure_ratio = 1.5}) == "circuit_breaker.failure_ratio");
static_assert(bad({.failure_ratio = -0.5}) == "circuit_breaker.failure_ratio");
static_assert(bad({.failure_ratio = std::numeric_limits<double>::quiet_NaN()}) ==
              "circuit_breaker.failure_ratio");
static_assert(bad({.failure_ratio = 1e300}) == "circuit_breaker.failure_ratio");
static_assert(bad({.minimum_throughput = 0}) == "circuit_breaker.minimum_throughput" &&
              bad({.consecutive_failures = 0}) == "circuit_breaker.consecutive_failures");
static_assert(bad({.sampling_duration = {}}) == "circuit_breaker.sampling_duration" &&
              bad({.sampling_duration = duration::lowest()}) ==
                  "circuit_breaker.sampling_duration");
static_assert(bad({.timeout = {}}) == "circuit_breaker.timeout" &&
              bad({.timeout = -1s}) == "circuit_breaker.timeout");
static_assert(bad({.half_open_steps = 0}) == "circuit_breaker.half_open_steps" &&
              bad({.half_open_steps = 33}) == "circuit_breaker.half_open_steps");
static_assert(bad({.break_duration = {.base = {}}}) == "backoff.base");

TEST_CASE("circuit breaker: errors of validate contain the field, its value and the bound")
{
    CHECK(describe(*validate(circuit_breaker::config{.failure_ratio = 1.5})) ==
          "circuit_breaker.failure_ratio is 1500: must be a number of thousandths above 0, and at "
          "most "
          "(1000)");
    CHECK(validate(circuit_breaker::config{.failure_ratio = -0.5})->negative);
    CHECK(validate(circuit_breaker::config{.failure_ratio = -0.5})->value == 500);
    CHECK(validate(circuit_breaker::config{.failure_ratio = 1.004})->value == 1'004);
    CHECK(validate(circuit_breaker::config{.failure_ratio = 1.0004})->value == 1'001);
    CHECK(validate(circuit_breaker::config{.failure_ratio = 0})->value == 0);
    CHECK(describe(*validate(circuit_breaker::config{.timeout = -1ns})) ==
          "circuit_breaker.timeout is -1: nanoseconds must be more than (0)");
    CHECK(describe(*validate(circuit_breaker::config{.half_open_steps = 33})) ==
          "circuit_breaker.half_open_steps is 33: must be at most (32)");
    CHECK(waybill::make<circuit_breaker>(circuit_breaker::config{}).has_value());
    CHECK(waybill::make<circuit_breaker>(circuit_breaker::config{.half_open_steps = 0})
              .error()
              .field == "circuit_breaker.half_open_steps");
}

// The state that follows on each thing that can happen in each state.
TEST_CASE("circuit breaker: each event in each state leads to the state in the table")
{
    using enum circuit_breaker::circuit_state;
    const auto in = [](circuit_breaker::circuit_state wanted) {
        circuit_breaker_of<8> v(
            circuit_breaker::config{.minimum_throughput = 1, .half_open_steps = 1});
        if (wanted == closed) return v;
        if (wanted == forced_closed) v.force_closed(s(0));
        if (wanted == forced_open) v.force_open(s(0));
        if (wanted == open || wanted == half_open) call(v, fault_kind::infrastructure, s(0));
        if (wanted == half_open) (void)v.record({}, fault_kind::none, s(5));
        return v;
    };
    const auto after = [](circuit_breaker_of<8> v, auto what) {
        what(v);
        return v.state(s(5));
    };
    const auto calls = [](fault_kind how) {
        return [how](circuit_breaker_of<8>& v) { call(v, how, s(v.state(s(0)) == open ? 0 : 5)); };
    };
    struct row {
        circuit_breaker::circuit_state from, on_success, on_failure, on_permanent, on_time, on_open,
            on_shut, on_let_go;
    };
    const std::vector<row> table{
        {closed, closed, open, closed, closed, forced_closed, forced_open, closed},
        {open, half_open, half_open, half_open, half_open, forced_closed, forced_open,
         half_open},  // five seconds on
        {half_open, closed, open, closed, half_open, forced_closed, forced_open, half_open},
        {forced_closed, forced_closed, forced_closed, forced_closed, forced_closed, forced_closed,
         forced_open, closed},
        {forced_open, forced_open, forced_open, forced_open, forced_open, forced_closed,
         forced_open, half_open},
    };
    for (const row& r : table) {
        const auto v = in(r.from);
        CHECK(v.state(s(r.from == half_open ? 5 : 0)) == r.from);
        CHECK(after(v, calls(fault_kind::none)) == r.on_success);
        CHECK(after(v, calls(fault_kind::infrastructure)) == r.on_failure);
        CHECK(after(v, calls(fault_kind::permanent)) == r.on_permanent);
        CHECK(after(v, [](auto&) {}) == r.on_time);
        CHECK(after(v, [](auto& x) { x.force_closed(s(0)); }) == r.on_open);
        CHECK(after(v, [](auto& x) { x.force_open(s(0)); }) == r.on_shut);
        CHECK(after(v, [](auto& x) { x.release_force(s(0)); }) == r.on_let_go);
    }
}

TEST_CASE("circuit breaker: copies are independent")
{
    circuit_breaker v(quick);
    const auto p = v.try_acquire(s(0));
    circuit_breaker w = v;
    CHECK(v == w);
    v.record(*p, fault_kind::infrastructure, s(0));
    CHECK(v != w);
    CHECK(w.record(*p, fault_kind::none, s(0)) == event_result::applied);
    CHECK(sizeof(circuit_breaker) <= 8'192);
}

}  // namespace
}  // namespace breaker_test

// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/retry/valve.hpp>

namespace valve_test {
namespace {

using namespace std::chrono_literals;
using waybill::duration;
using waybill::fault_class;
using waybill::heard;
using waybill::permit;
using waybill::steady_time;
using waybill::valve;
using waybill::valve_of;
using waybill::valve_options;
using waybill::valve_state;

constexpr steady_time s(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

// Two of two calls that fail shut it, for 5, 10, 20 ... seconds; then 1, 2, 4 probes.
constexpr valve_options quick{.trip_at = 0.5, .min_calls = 2, .ramp = 3};

constexpr void call(valve_of<8>& v, fault_class how, steady_time at)
{
    v.report(v.try_pass(at).value_or(permit{}), how, at);
}

constexpr valve_of<8> shut_at(steady_time at, const valve_options& o = quick)
{
    valve_of<8> v(o);
    call(v, fault_class::infrastructure, at);
    call(v, fault_class::infrastructure, at);
    return v;
}

static_assert(name(valve_state::flowing) == "flowing" && name(valve_state::shut) == "shut");
static_assert(name(valve_state::probing) == "probing" && name(valve_state::held_open) == "held_open");
static_assert(name(valve_state::held_shut) == "held_shut" && name(static_cast<valve_state>(9)) == "?");

// It shuts, and says when to come again; then one may find out, then two, then four, then all.
static_assert([] {
    valve_of<8> v = shut_at(s(1));
    if (v.state(s(1)) != valve_state::shut || v.next_change(s(1)) != s(6)) return false;
    if (v.try_pass(s(5)) || v.room(s(5)) != 0) return false;
    if (v.state(s(6)) != valve_state::probing || v.room(s(6)) != 1) return false;
    for (const int size : {1, 2, 4}) {
        permit out[4]{};
        for (int i = 0; i != size; ++i) {
            const auto p = v.try_pass(s(6));
            if (!p) return false;
            out[i] = *p;
        }
        if (v.try_pass(s(6))) return false;  // no stampede
        for (int i = 0; i != size; ++i) {
            if (v.state(s(7)) != valve_state::probing) return false;
            if (v.report(out[i], fault_class::none, s(7)) != heard::taken) return false;
        }
    }
    return v.state(s(7)) == valve_state::flowing && v.room(s(7)) == 8;
}());

// A probe that fails shuts it for longer, up to the cap; when it flows again the pauses start anew.
static_assert([] {
    valve_of<8> v = shut_at(s(0));
    std::int64_t at = 0;
    for (const std::int64_t pause : {5, 10, 20, 40, 80, 160, 300, 300}) {
        if (v.next_change(s(at)) != s(at + pause)) return false;
        at += pause;
        call(v, fault_class::infrastructure, s(at));
    }
    at += 300;
    for (int i = 0; i != 7; ++i) call(v, fault_class::none, s(at));
    if (v.state(s(at)) != valve_state::flowing) return false;
    call(v, fault_class::infrastructure, s(at));
    call(v, fault_class::infrastructure, s(at));
    return v.next_change(s(at)) == s(at + 5);
}());

// What was given before the state changed says nothing after it, neither good nor bad.
static_assert([] {
    valve_of<8> v(quick);
    const auto early = v.try_pass(s(0));
    const auto early_too = v.try_pass(s(0));
    call(v, fault_class::infrastructure, s(1));
    call(v, fault_class::infrastructure, s(1));
    const auto probe = v.try_pass(s(6));
    const valve_of<8> before = v;
    if (v.report(*early, fault_class::none, s(6)) != heard::late || v != before) return false;
    if (v.report(*early_too, fault_class::infrastructure, s(6)) != heard::late || v != before) return false;
    return v.has(*probe, s(6)) && !v.has(*early, s(6));
}());

// A permit that is reported twice, made up, or another's, changes nothing.
static_assert([] {
    valve_of<8> v(quick);
    const auto p = v.try_pass(s(0));
    const auto other = v.try_pass(s(0));
    if (v.report(*p, fault_class::infrastructure, s(0)) != heard::taken) return false;
    const valve_of<8> before = v;
    const permit made_up[]{*p,
                           permit{},
                           permit{1, 0, s(60), p->place},
                           permit{1, 77, s(60), 0},
                           permit{1, other->number, s(60), 77},
                           permit{2, other->number, s(60), other->place}};
    for (const permit& wrong : made_up) {
        if (v.report(wrong, fault_class::infrastructure, s(0)) != heard::late || v != before) return false;
    }
    return true;
}());

// The place of one that is back is another's then, and they are still told apart.
static_assert([] {
    valve_of<1> v(quick);
    const auto p = v.try_pass(s(0));
    if (v.try_pass(s(0)) || v.next_change(s(0)) != s(60)) return false;  // all are out
    v.report(*p, fault_class::none, s(0));
    const auto q = v.try_pass(s(0));
    return q->place == p->place && v.report(*p, fault_class::none, s(0)) == heard::late &&
           v.report(*q, fault_class::none, s(0)) == heard::taken;
}());

// A probe that is never heard of again is a failed one at its deadline, whoever asks and when.
static_assert([] {
    valve_of<8> v = shut_at(s(0));
    const auto p = v.try_pass(s(5));
    if (p->deadline != s(65) || v.next_change(s(5)) != s(65)) return false;
    if (v.state(s(64)) != valve_state::probing || v.state(s(65)) != valve_state::shut) return false;
    if (v.next_change(s(65)) != s(75) || v.state(s(75)) != valve_state::probing) return false;
    return v.report(*p, fault_class::none, s(65)) == heard::late && v.state(s(65)) == valve_state::shut;
}());

// While it flows, lost permits count when they are lost.
static_assert([] {
    valve_of<8> v(quick);
    (void)v.try_pass(s(0));
    (void)v.try_pass(s(2));
    return v.state(s(61)) == valve_state::flowing && v.state(s(62)) == valve_state::shut &&
           v.next_change(s(62)) == s(67) && v.next_change(s(60)) == s(62);
}());

// Only what tells of the surroundings counts.
constexpr valve_state after_ten(fault_class how, bool transient_counts = false)
{
    valve_of<8> v({.min_calls = 10, .transient_counts = transient_counts});
    for (int i = 0; i != 10; ++i) call(v, how, s(0));
    return v.state(s(0));
}
static_assert(after_ten(fault_class::infrastructure) == valve_state::shut);
static_assert(after_ten(fault_class::none) == valve_state::flowing);
static_assert(after_ten(fault_class::permanent) == valve_state::flowing);
static_assert(after_ten(fault_class::cancelled) == valve_state::flowing);
static_assert(after_ten(fault_class::ownership_lost) == valve_state::flowing);
static_assert(after_ten(fault_class::transient) == valve_state::flowing);
static_assert(after_ten(fault_class::transient, true) == valve_state::shut);

// A probe that was cancelled has found out nothing: another one goes in its place.
static_assert([] {
    valve_of<8> v = shut_at(s(0));
    for (const fault_class how : {fault_class::cancelled, fault_class::ownership_lost}) {
        call(v, how, s(5));
        if (v.state(s(5)) != valve_state::probing || v.room(s(5)) != 1) return false;
    }
    call(v, fault_class::permanent, s(5));  // it was answered
    return v.room(s(5)) == 2;
}());

// The share is of the calls within the period, and of enough of them. A success may be the call that
// makes them enough.
static_assert([] {
    valve_of<8> v({.trip_at = 0.3, .min_calls = 10});
    for (int i = 0; i != 3; ++i) call(v, fault_class::infrastructure, s(0));
    for (int i = 0; i != 6; ++i) call(v, fault_class::none, s(0));
    if (v.state(s(0)) != valve_state::flowing) return false;
    valve_of<8> old = v;
    call(v, fault_class::none, s(0));
    call(old, fault_class::none, s(31));
    return v.state(s(0)) == valve_state::shut && old.state(s(31)) == valve_state::flowing;
}());
static_assert([] {  // 55 of 100 are 0.55, whatever a double makes of it
    valve_of<8> v({.trip_at = 0.55, .min_calls = 100, .in_a_row = valve_options::never});
    for (int i = 0; i != 45; ++i) call(v, fault_class::none, s(0));
    for (int i = 0; i != 54; ++i) call(v, fault_class::infrastructure, s(0));
    if (v.state(s(0)) != valve_state::flowing) return false;
    call(v, fault_class::infrastructure, s(0));
    return v.state(s(0)) == valve_state::shut;
}());

// So many in a row, however long that takes.
static_assert([] {
    valve_of<8> v({.min_calls = valve_options::never, .in_a_row = 3});
    for (const int hour : {0, 3'600, 7'200}) {
        if (v.state(s(hour)) != valve_state::flowing) return false;
        call(v, fault_class::infrastructure, s(hour));
        if (hour == 0) call(v, fault_class::cancelled, s(hour));  // says nothing
    }
    if (v.state(s(7'200)) != valve_state::shut) return false;
    valve_of<8> w({.min_calls = valve_options::never, .in_a_row = 3});
    for (int i = 0; i != 99; ++i) call(w, i % 3 == 0 ? fault_class::permanent : fault_class::infrastructure, s(0));
    return w.state(s(0)) == valve_state::flowing;
}());

// Held open all may pass, more than it has permits, and nothing counts; held shut none. Let go, what
// was held open flows, and what was held shut is probed.
static_assert([] {
    valve_of<8> v = shut_at(s(0));
    v.hold_open(s(0));
    if (v.room(s(0)) != ~std::uint64_t{0} || v.next_change(s(0)) != steady_time::highest()) return false;
    std::optional<permit> last;
    for (int i = 0; i != 20; ++i) {
        last = v.try_pass(s(1));
        if (!last || v.report(*last, fault_class::infrastructure, s(1)) != heard::late) return false;
    }
    if (v.state(s(999)) != valve_state::held_open || v.suspects(s(1))) return false;
    v.let_go(s(2));
    if (v.state(s(2)) != valve_state::flowing || v.room(s(2)) != 8) return false;
    if (v.report(*last, fault_class::infrastructure, s(2)) != heard::late) return false;
    v.hold_shut(s(3));
    if (v.state(s(9'999)) != valve_state::held_shut || v.try_pass(s(9'999)) || !v.suspects(s(4))) return false;
    v.let_go(s(10'000));
    return v.state(s(10'000)) == valve_state::probing && v.room(s(10'000)) == 1;
}());
static_assert([] {  // who holds twice, or lets go of what nobody holds, changes nothing
    valve_of<8> v = shut_at(s(0));
    valve_of<8> before = v;
    v.let_go(s(0));
    if (v != before) return false;
    v.hold_shut(s(1));
    before = v;
    v.hold_shut(s(1));
    return v == before && v.generation(s(1)) == 3;
}());

// A clock that goes back stands still.
static_assert([] {
    valve_of<8> v = shut_at(s(100));
    if (v.state(s(0)) != valve_state::shut || v.try_pass(s(0)) || v.next_change(s(0)) != s(105)) return false;
    const auto p = v.try_pass(s(105));
    if (v.try_pass(s(1)) || v.state(s(1)) != valve_state::probing) return false;
    return v.report(*p, fault_class::none, s(1)) == heard::taken && v.try_pass(s(1))->deadline == s(165);
}());

// One that jumps ahead finds what it would have found on the way: the permit was lost long ago, and
// the pause that followed is over.
static_assert([] {
    valve_of<8> v(quick);
    (void)v.try_pass(s(0));
    (void)v.try_pass(s(0));
    valve_of<8> w = v;
    for (const std::int64_t t : {59, 60, 61, 64, 65, 70}) (void)w.report({}, fault_class::none, s(t));
    (void)v.report({}, fault_class::none, s(1'000'000));
    (void)w.report({}, fault_class::none, s(1'000'000));
    return v == w && v.state(s(1'000'000)) == valve_state::probing;
}());

// Nothing wraps, whatever the options and the clock are.
static_assert([] {
    for (const steady_time at : {steady_time::lowest(), s(0), steady_time::highest()}) {
        for (const duration d : {duration::lowest(), duration{}, duration::nanoseconds(1), duration::highest()}) {
            valve_of<2> v({.trip_at = std::numeric_limits<double>::quiet_NaN(),
                           .min_calls = 0,
                           .period = d,
                           .in_a_row = 1,
                           .timeout = d,
                           .shut_for = {.base = d, .cap = d},
                           .ramp = 0});
            const auto p = v.try_pass(at);
            if (!p || p->deadline < at) return false;
            v.report(*p, fault_class::infrastructure, at, std::numeric_limits<double>::quiet_NaN());
            (void)v.next_change(steady_time::highest());
            if (v.has(*p, steady_time::highest()) || v.room(steady_time::highest()) > 2) return false;
            if (const auto q = v.try_pass(steady_time::highest())) v.report(*q, fault_class::none, at);
            if (v.suspects(at) && v.state(at) == valve_state::flowing) return false;
        }
    }
    return true;
}());

// The defaults: 1,000 calls that worked within the period. 50 failures in a row shut it, and so does a
// tenth of all that failed.
constexpr int failures_until_shut(int one_in)
{
    valve v;
    for (int n = 0; n != 1'000; ++n) v.report(*v.try_pass(s(0)), fault_class::none, s(0));
    for (int n = 1; n != 10'000; ++n) {
        const bool failed = n % one_in == 0;
        v.report(*v.try_pass(s(0)), failed ? fault_class::infrastructure : fault_class::none, s(0));
        if (v.state(s(0)) == valve_state::shut) return n / one_in;
    }
    return 10'000;
}
TEST_CASE("valve: the default shuts after 50 failures in a row, or a tenth of its calls")
{
    CHECK(failures_until_shut(1) == 50);
    CHECK(failures_until_shut(2) == 125);      // of 1,250
    CHECK(failures_until_shut(11) == 10'000);  // fewer than a tenth
}

// It suspects the surroundings while it does not flow, and when the last that said anything said so,
// as long as that is not too long ago.
static_assert([] {
    valve_of<8> v(valve_options{});
    if (v.suspects(s(0))) return false;
    call(v, fault_class::infrastructure, s(0));
    if (!v.suspects(s(1)) || !v.suspects(s(26)) || v.suspects(s(31))) return false;
    call(v, fault_class::cancelled, s(1));
    if (!v.suspects(s(1))) return false;
    call(v, fault_class::permanent, s(1));
    if (v.suspects(s(1))) return false;
    const valve_of<8> w = shut_at(s(0));
    return w.suspects(s(0)) && w.suspects(s(5));
}());

constexpr std::string_view bad(const valve_options& o)
{
    const auto error = check(o);
    return error ? error->field : "";
}
static_assert(bad({}) == "" && bad({.trip_at = 1}) == "" && bad({.min_calls = valve_options::never, .in_a_row = 3}) == "");
static_assert(bad({.min_calls = valve_options::never, .in_a_row = valve_options::never}) == "valve.in_a_row");
static_assert(bad({.trip_at = 0}) == "valve.trip_at" && bad({.trip_at = 1.5}) == "valve.trip_at");
static_assert(bad({.trip_at = -0.5}) == "valve.trip_at");
static_assert(bad({.trip_at = std::numeric_limits<double>::quiet_NaN()}) == "valve.trip_at");
static_assert(bad({.trip_at = 1e300}) == "valve.trip_at");
static_assert(bad({.min_calls = 0}) == "valve.min_calls" && bad({.in_a_row = 0}) == "valve.in_a_row");
static_assert(bad({.period = {}}) == "valve.period" && bad({.period = duration::lowest()}) == "valve.period");
static_assert(bad({.timeout = {}}) == "valve.timeout" && bad({.timeout = -1s}) == "valve.timeout");
static_assert(bad({.ramp = 0}) == "valve.ramp" && bad({.ramp = 33}) == "valve.ramp");
static_assert(bad({.shut_for = {.base = {}}}) == "backoff.base");

TEST_CASE("valve: what is wrong with its options is said in words")
{
    CHECK(text(*check(valve_options{.trip_at = 1.5})) ==
          "valve.trip_at is 1500: must be a number of thousandths above 0, and at most (1000)");
    CHECK(check(valve_options{.trip_at = -0.5})->negative);
    CHECK(check(valve_options{.trip_at = -0.5})->value == 500);
    CHECK(check(valve_options{.trip_at = 1.004})->value == 1'004);
    CHECK(check(valve_options{.trip_at = 1.0004})->value == 1'001);
    CHECK(check(valve_options{.trip_at = 0})->value == 0);
    CHECK(text(*check(valve_options{.timeout = -1ns})) ==
          "valve.timeout is -1: nanoseconds must be more than (0)");
    CHECK(text(*check(valve_options{.ramp = 33})) == "valve.ramp is 33: must be at most (32)");
    CHECK(waybill::make<valve>(valve_options{}).has_value());
    CHECK(waybill::make<valve>(valve_options{.ramp = 0}).error().field == "valve.ramp");
}

// The state that follows on each thing that can happen in each state.
TEST_CASE("valve: the table of transitions")
{
    using enum valve_state;
    const auto in = [](valve_state wanted) {
        valve_of<8> v(valve_options{.min_calls = 1, .ramp = 1});
        if (wanted == flowing) return v;
        if (wanted == held_open) v.hold_open(s(0));
        if (wanted == held_shut) v.hold_shut(s(0));
        if (wanted == shut || wanted == probing) call(v, fault_class::infrastructure, s(0));
        if (wanted == probing) (void)v.report({}, fault_class::none, s(5));
        return v;
    };
    const auto after = [](valve_of<8> v, auto what) {
        what(v);
        return v.state(s(5));
    };
    const auto calls = [](fault_class how) {
        return [how](valve_of<8>& v) { call(v, how, s(v.state(s(0)) == shut ? 0 : 5)); };
    };
    struct row {
        valve_state from, on_success, on_failure, on_permanent, on_time, on_open, on_shut, on_let_go;
    };
    const std::vector<row> table{
        {flowing, flowing, shut, flowing, flowing, held_open, held_shut, flowing},
        {shut, probing, probing, probing, probing, held_open, held_shut, probing},  // five seconds on
        {probing, flowing, shut, flowing, probing, held_open, held_shut, probing},
        {held_open, held_open, held_open, held_open, held_open, held_open, held_shut, flowing},
        {held_shut, held_shut, held_shut, held_shut, held_shut, held_open, held_shut, probing},
    };
    for (const row& r : table) {
        const auto v = in(r.from);
        CHECK(v.state(s(r.from == probing ? 5 : 0)) == r.from);
        CHECK(after(v, calls(fault_class::none)) == r.on_success);
        CHECK(after(v, calls(fault_class::infrastructure)) == r.on_failure);
        CHECK(after(v, calls(fault_class::permanent)) == r.on_permanent);
        CHECK(after(v, [](auto&) {}) == r.on_time);
        CHECK(after(v, [](auto& x) { x.hold_open(s(0)); }) == r.on_open);
        CHECK(after(v, [](auto& x) { x.hold_shut(s(0)); }) == r.on_shut);
        CHECK(after(v, [](auto& x) { x.let_go(s(0)); }) == r.on_let_go);
    }
}

TEST_CASE("valve: copies go their own ways")
{
    valve v(quick);
    const auto p = v.try_pass(s(0));
    valve w = v;
    CHECK(v == w);
    v.report(*p, fault_class::infrastructure, s(0));
    CHECK(v != w);
    CHECK(w.report(*p, fault_class::none, s(0)) == heard::taken);
    CHECK(sizeof(valve) <= 8'192);
}

}  // namespace
}  // namespace valve_test

// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/retry/intake.hpp>

namespace intake_test {
namespace {

using namespace std::chrono_literals;
using waybill::broker_said;
using waybill::duration;
using waybill::fault_class;
using waybill::heard;
using waybill::intake;
using waybill::intake_options;
using waybill::message_settled;
using waybill::messages_received;
using waybill::original_fetched;
using waybill::original_settled;
using waybill::pairs_taken;
using waybill::settle_as;
using waybill::steady_time;
using waybill::valve_state;
using waybill::work_done;
namespace act = waybill::act;
using action = intake::action;

steady_time s(std::int64_t n) { return steady_time::at(duration::seconds(n)); }

// One failure shuts it for five seconds; then one, then two may pass.
const intake_options quick{.at_once = 4, .guard = {.trip_at = 0.5, .min_calls = 1, .ramp = 2}};

static_assert(name(settle_as::complete) == "complete" && name(settle_as::give_back) == "give_back");
static_assert(name(settle_as::dead_letter) == "dead_letter" && name(static_cast<settle_as>(9)) == "?");
static_assert(name(broker_said::done) == "done" && name(broker_said::gone) == "gone");
static_assert(name(broker_said::failed) == "failed" && name(static_cast<broker_said>(9)) == "?");

constexpr std::string_view bad(const intake_options& o)
{
    const auto error = check(o);
    return error ? error->field : "";
}
static_assert(bad({}) == "" && bad({.at_once = 256}) == "" && bad({.pause = {}}) == "");
static_assert(bad({.at_once = 0}) == "intake.at_once" && bad({.at_once = 257}) == "intake.at_once");
static_assert(bad({.pause = -1s}) == "intake.pause" && bad({.look_every = {}}) == "intake.look_every");
static_assert(bad({.guard = {.ramp = 0}}) == "valve.ramp");

// All of a pair that is handled in this way, from when it is taken.
void pair(intake& in, std::uint64_t n, fault_class how, steady_time at)
{
    CHECK(in.next(at) == action(act::receive_deferred{n}));
    CHECK(in.on(original_fetched{n}, at) == heard::taken);
    CHECK(in.on(work_done{n, how}, at) == heard::taken);
    CHECK(in.on(original_settled{n}, at) == heard::taken);
    CHECK(in.on(message_settled{n}, at) == heard::taken);
}

// An intake whose first message has shut the valve.
intake shut_at_zero()
{
    intake in(quick);
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{1}, s(0));
    in.on(work_done{0, fault_class::infrastructure}, s(0));
    in.on(message_settled{0}, s(0));
    return in;
}

TEST_CASE("intake: pairs that are due come before fresh messages, pointer and original together")
{
    intake in(quick);
    CHECK(in.next(s(0)) == action(act::take_due{0, 4}));
    CHECK(in.next(s(0)) == action(act::take_due{0, 4}));
    in.on(pairs_taken{1}, s(0));
    CHECK(in.next(s(0)) == action(act::receive_deferred{0}));
    in.on(original_fetched{0}, s(0));
    CHECK(in.next(s(0)) == action(act::take_due{1, 3}));  // while it is handled
    in.on(pairs_taken{}, s(0));
    CHECK(in.next(s(0)) == action(act::receive{1, 3}));
    in.on(messages_received{2}, s(0));
    CHECK(in.in_hand() == 3);

    in.on(work_done{0}, s(1));
    in.on(work_done{2, fault_class::permanent}, s(1));
    CHECK(in.next(s(1)) == action(act::settle_original{0, settle_as::complete}));
    in.on(original_settled{0}, s(1));
    CHECK(in.next(s(1)) == action(act::settle_message{0, settle_as::complete}));
    in.on(message_settled{0}, s(1));
    CHECK(in.next(s(1)) == action(act::settle_message{2, settle_as::dead_letter}));
    in.on(message_settled{2}, s(1));
    CHECK(in.in_hand() == 1);
}

TEST_CASE("intake: when the valve opens again, deferred pairs are the probes and are drained first")
{
    intake in = shut_at_zero();
    CHECK(in.guard().state(s(0)) == valve_state::shut);
    CHECK(in.next(s(0)) == action(act::wait{s(5)}));
    CHECK(in.next(s(4)) == action(act::wait{s(5)}));
    CHECK(in.next(s(5)) == action(act::take_due{1, 1}));  // one probe
    in.on(pairs_taken{1}, s(5));
    pair(in, 1, fault_class::none, s(5));
    CHECK(in.next(s(5)) == action(act::take_due{2, 2}));  // then two
    in.on(pairs_taken{2}, s(5));
    pair(in, 2, fault_class::none, s(5));
    pair(in, 3, fault_class::none, s(5));
    CHECK(in.guard().state(s(5)) == valve_state::flowing);
    CHECK(in.next(s(5)) == action(act::take_due{4, 4}));  // then as many as it can
    in.on(pairs_taken{4}, s(5));
    for (std::uint64_t n = 4; n != 8; ++n) pair(in, n, fault_class::none, s(5));
    in.on(pairs_taken{}, s(5));
    CHECK(in.next(s(5)) == action(act::receive{8, 4}));  // and fresh ones when none is left
}

TEST_CASE("intake: where no pair is due a fresh message is the probe")
{
    intake in = shut_at_zero();
    in.on(pairs_taken{}, s(5));
    CHECK(in.next(s(5)) == action(act::receive{1, 1}));
    in.on(messages_received{1}, s(5));
    CHECK(in.next(s(5)) == action(act::wait{s(65)}));  // its deadline
    in.on(work_done{1, fault_class::infrastructure}, s(6));
    CHECK(in.next(s(6)) == action(act::settle_message{1, settle_as::give_back}));
    in.on(message_settled{1}, s(6));
    CHECK(in.next(s(6)) == action(act::wait{s(16)}));  // twice as long
}

TEST_CASE("intake: a probe whose original is gone has found out nothing, and another goes in its place")
{
    for (const broker_said said : {broker_said::gone, broker_said::failed}) {
        intake in = shut_at_zero();
        in.on(pairs_taken{1}, s(5));
        CHECK(in.guard().room(s(5)) == 0);
        in.on(original_fetched{1, said}, s(5));
        CHECK(in.guard().state(s(5)) == valve_state::probing);
        CHECK(in.guard().room(s(5)) == 1);
    }
}

TEST_CASE("intake: a valve that shuts gives back what nobody has begun with")
{
    intake in(quick);
    in.on(pairs_taken{3}, s(0));
    in.on(original_fetched{0}, s(0));
    in.on(original_fetched{1}, s(0));
    in.on(work_done{0, fault_class::infrastructure}, s(0));
    CHECK(in.next(s(0)) == action(act::settle_original{0, settle_as::give_back}));
    in.on(original_settled{0}, s(0));
    in.on(message_settled{0}, s(0));
    CHECK(in.next(s(0)) == action(act::settle_message{2, settle_as::give_back}));  // never fetched
    CHECK(in.on(original_fetched{2}, s(0)) == heard::late);
    in.on(message_settled{2}, s(0));

    // What is with its handler is settled as it ends. The valve has heard enough.
    CHECK(in.on(work_done{1}, s(1)) == heard::taken);
    CHECK(in.next(s(1)) == action(act::settle_original{1, settle_as::complete}));
    CHECK(in.guard().state(s(1)) == valve_state::shut);
}

TEST_CASE("intake: waits for its handlers even where the valve waits for nobody")
{
    intake in(quick);
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{1}, s(0));
    in.hold_shut(s(1));
    CHECK(in.next(s(1)) == action(act::wait{s(60)}));
    CHECK(in.next(s(60)) == action(act::settle_message{0, settle_as::give_back}));
    in.on(message_settled{0}, s(60));
    CHECK(in.next(s(60)) == action(act::idle{}));
}

TEST_CASE("intake: an answer after the deadline is late, and what is given back is not completed")
{
    intake in({.at_once = 1, .guard = {.timeout = 10s}});
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{1}, s(0));
    intake in_time = in;
    CHECK(in_time.on(work_done{0}, steady_time::at(9999ms)) == heard::taken);
    CHECK(in_time.next(s(11)) == action(act::settle_message{0, settle_as::complete}));
    for (const fault_class how : {fault_class::none, fault_class::permanent}) {
        CHECK(in.next(s(10)) == action(act::settle_message{0, settle_as::give_back}));
        const intake before = in;
        CHECK(in.on(work_done{0, how}, s(10)) == heard::late);
        CHECK(in.on(work_done{0, how, true}, s(11)) == heard::late);
        CHECK(in == before);
        CHECK(in.next(s(11)) == action(act::settle_message{0, settle_as::give_back}));
    }
    CHECK(in.on(message_settled{0}, s(12)) == heard::taken);
    CHECK(in.in_hand() == 0);
}

TEST_CASE("intake: messages that arrive when the valve has shut go back untouched")
{
    intake in = shut_at_zero();
    CHECK(in.on(messages_received{2}, s(1)) == heard::taken);
    CHECK(in.on(work_done{1}, s(1)) == heard::late);
    for (const std::uint64_t n : {1U, 2U}) {
        CHECK(in.next(s(1)) == action(act::settle_message{n, settle_as::give_back}));
        in.on(message_settled{n}, s(1));
    }
    CHECK(in.next(s(1)) == action(act::wait{s(5)}));
}

TEST_CASE("intake: an original that is gone, cannot be fetched, or cannot be settled")
{
    intake in(quick);
    in.on(pairs_taken{3}, s(0));
    in.on(original_fetched{0, broker_said::gone}, s(0));
    CHECK(in.next(s(0)) == action(act::settle_message{0, settle_as::complete, true}));
    in.on(message_settled{0}, s(0));
    in.on(original_fetched{1, broker_said::failed}, s(0));
    CHECK(in.next(s(0)) == action(act::settle_message{1, settle_as::give_back}));
    in.on(message_settled{1}, s(0));
    CHECK(in.guard().state(s(0)) == valve_state::flowing);

    in.on(original_fetched{2}, s(0));
    in.on(work_done{2}, s(0));
    intake gone = in;
    in.on(original_settled{2, broker_said::failed}, s(0));
    CHECK(in.next(s(0)) == action(act::settle_message{2, settle_as::give_back}));
    gone.on(original_settled{2, broker_said::gone}, s(0));
    CHECK(gone.next(s(0)) == action(act::settle_message{2, settle_as::complete}));
    CHECK(in.on(message_settled{2, broker_said::failed}, s(0)) == heard::taken);  // its lock will run out
    CHECK(in.in_hand() == 0);
}

TEST_CASE("intake: what is deferred again has a new pointer, and the old one goes")
{
    intake in(quick);
    in.on(pairs_taken{1}, s(0));
    in.on(original_fetched{0}, s(0));
    in.on(work_done{0, fault_class::transient, true}, s(0));
    CHECK(in.next(s(0)) == action(act::settle_original{0, settle_as::give_back}));
    in.on(original_settled{0, broker_said::failed}, s(0));  // its lock will run out
    CHECK(in.next(s(0)) == action(act::settle_message{0, settle_as::complete}));
    in.on(message_settled{0}, s(0));
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{1}, s(0));
    in.on(work_done{1, fault_class::transient, true}, s(0));
    CHECK(in.in_hand() == 0);  // of a fresh one nothing is left to settle
}

TEST_CASE("intake: a pair that fails again and again lets fresh messages pass")
{
    intake in(quick);
    in.on(pairs_taken{1}, s(0));
    pair(in, 0, fault_class::transient, s(0));
    CHECK(in.next(s(0)) == action(act::receive{1, 4}));
    in.on(messages_received{}, s(0));
    CHECK(in.next(s(0)) == action(act::wait{s(1)}));
    CHECK(in.next(s(1)) == action(act::take_due{1, 4}));
}

TEST_CASE("intake: looks for pairs when the next is due, or was scheduled, and every now and then")
{
    intake in(quick);
    in.on(pairs_taken{0, s(20)}, s(0));
    in.on(messages_received{}, s(0));
    CHECK(in.next(s(0)) == action(act::wait{s(1)}));
    CHECK(in.next(s(19)) == action(act::receive{0, 4}));
    CHECK(in.next(s(20)) == action(act::take_due{0, 4}));
    in.on(waybill::pair_scheduled{s(7)}, s(1));
    in.on(waybill::pair_scheduled{s(9)}, s(1));
    CHECK(in.next(s(7)) == action(act::take_due{0, 4}));
    in.on(pairs_taken{}, s(7));
    CHECK(in.next(s(36)) == action(act::receive{0, 4}));
    CHECK(in.next(s(37)) == action(act::take_due{0, 4}));
    in.on(pairs_taken{0, s(37)}, s(37));  // due, and nobody got it: no busy loop
    CHECK(in.next(s(37)) == action(act::receive{0, 4}));
    in.on(pairs_taken{0, s(99), fault_class::infrastructure}, s(37));
    in.on(messages_received{0, fault_class::infrastructure}, s(37));
    CHECK(in.next(s(37)) == action(act::wait{s(38)}));
    CHECK(in.guard().state(s(37)) == valve_state::flowing);
}

TEST_CASE("intake: what no handler answers is given back, and its answer comes too late")
{
    intake in(quick);
    in.on(pairs_taken{1}, s(0));
    in.on(original_fetched{0}, s(0));
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{3}, s(0));
    CHECK(in.next(s(0)) == action(act::wait{s(60)}));
    for (std::uint64_t n = 0; n != 4; ++n) {
        CHECK(in.next(s(60)) == action(act::settle_message{n, settle_as::give_back}));
        CHECK(in.on(message_settled{n}, s(60)) == heard::taken);
        CHECK(in.on(work_done{n}, s(61)) == heard::late);
    }
    CHECK(in.next(s(60)) == action(act::wait{s(65)}));  // lost calls have shut the valve
}

TEST_CASE("intake: held shut it takes nothing, held open all")
{
    intake in(quick);
    in.hold_shut(s(0));
    CHECK(in.next(s(0)) == action(act::idle{}));
    CHECK(in.next(s(999)) == action(act::idle{}));
    in.let_go(s(1'000));
    CHECK(in.next(s(1'000)) == action(act::take_due{0, 1}));
    in.hold_open(s(1'000));
    CHECK(in.next(s(1'000)) == action(act::take_due{0, 4}));
    in.on(pairs_taken{4}, s(1'000));
    for (std::uint64_t n = 0; n != 4; ++n) pair(in, n, fault_class::infrastructure, s(1'000));
    CHECK(in.guard().state(s(1'000)) == valve_state::held_open);
    CHECK(in.next(s(1'001)) == action(act::take_due{4, 4}));
}

TEST_CASE("intake: stopped it ends what is in hand and takes nothing more")
{
    intake in(quick);
    in.on(pairs_taken{2}, s(0));
    in.on(original_fetched{0}, s(0));
    in.stop();
    CHECK(in.next(s(0)) == action(act::settle_message{1, settle_as::give_back}));
    in.on(message_settled{1}, s(0));
    CHECK(in.next(s(0)) == action(act::wait{s(60)}));
    in.on(work_done{0}, s(1));
    in.on(original_settled{0}, s(1));
    in.on(message_settled{0}, s(1));
    CHECK(in.in_hand() == 0);
    CHECK(in.next(s(1)) == action(act::idle{}));
}

TEST_CASE("intake: what contradicts itself or comes twice changes nothing")
{
    intake in(quick);
    const intake fresh = in;
    CHECK(in.on(pairs_taken{5}, s(0)) == heard::invalid);
    CHECK(in.on(messages_received{~std::uint64_t{0}}, s(0)) == heard::invalid);
    CHECK(in.on(original_fetched{0}, s(0)) == heard::late);
    CHECK(in.on(work_done{0}, s(0)) == heard::late);
    CHECK(in.on(original_settled{0}, s(0)) == heard::late);
    CHECK(in.on(message_settled{0}, s(0)) == heard::late);
    CHECK(in == fresh);
    in.on(pairs_taken{1}, s(0));
    CHECK(in.on(message_settled{0}, s(0)) == heard::late);
    CHECK(in.on(work_done{0}, s(0)) == heard::late);
    in.on(original_fetched{0}, s(0));
    CHECK(in.on(original_fetched{0}, s(0)) == heard::late);
    in.on(work_done{0}, s(0));
    intake copy = in;
    CHECK(copy == in);
    CHECK(in.on(work_done{0, fault_class::infrastructure}, s(0)) == heard::late);
    CHECK(in == copy);
    copy.on(original_settled{0}, s(0));
    CHECK(in != copy);
    CHECK(in.next(s(0)) == action(act::settle_original{0, settle_as::complete}));
}

TEST_CASE("intake: extreme options and clocks")
{
    for (const steady_time at : {steady_time::lowest(), s(0), steady_time::highest()}) {
        intake in({.at_once = ~std::uint64_t{0}, .pause = duration::lowest(), .look_every = duration::lowest()});
        CHECK(in.next(at) == action(act::take_due{0, 256}));
        in.on(pairs_taken{256}, at);
        CHECK(in.in_hand() == 256);
        (void)in.next(steady_time::lowest());
        (void)in.next(steady_time::highest());
    }
    intake none({.at_once = 0});
    CHECK(none.next(s(0)) == action(act::idle{}));
    CHECK(none.on(pairs_taken{1}, s(0)) == heard::invalid);
    CHECK(waybill::make<intake>(intake_options{.at_once = 300}).error().field == "intake.at_once");
}

}  // namespace
}  // namespace intake_test

// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/queue/receive_planner.hpp>

namespace intake_test {
namespace {

using namespace std::chrono_literals;
using waybill::circuit_breaker;
using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using message_settled = waybill::receive_planner::message_settled;
using messages_received = waybill::receive_planner::messages_received;
using original_fetched = waybill::receive_planner::original_fetched;
using original_settled = waybill::receive_planner::original_settled;
using pairs_taken = waybill::receive_planner::pairs_taken;
using waybill::receive_planner;
using waybill::steady_time;
using work_done = waybill::receive_planner::work_done;
using action = receive_planner::action;

steady_time s(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

// One failure opens it for five seconds; then one, then two calls may pass.
const receive_planner::config quick{
    .max_in_flight = 4,
    .breaker = {.failure_ratio = 0.5, .minimum_throughput = 1, .half_open_steps = 2}};

static_assert(sizeof(receive_planner({})) != 0, "braces are default options, not a copy");
static_assert(name(receive_planner::settle_as::complete) == "complete" &&
              name(receive_planner::settle_as::give_back) == "give_back");
static_assert(name(receive_planner::settle_as::dead_letter) == "dead_letter" &&
              name(static_cast<receive_planner::settle_as>(9)) == "?");
static_assert(name(receive_planner::settle_result::done) == "done" &&
              name(receive_planner::settle_result::not_found) == "not_found");
static_assert(name(receive_planner::settle_result::failed) == "failed" &&
              name(static_cast<receive_planner::settle_result>(9)) == "?");

constexpr std::string_view bad(const receive_planner::config& o)
{
    const auto error = validate(o);
    return error ? error->field : "";
}
static_assert(bad({}) == "" && bad({.max_in_flight = 256}) == "" && bad({.pause = {}}) == "");
static_assert(bad({.max_in_flight = 0}) == "receive_planner.max_in_flight" &&
              bad({.max_in_flight = 257}) == "receive_planner.max_in_flight");
static_assert(bad({.pause = -1s}) == "receive_planner.pause" &&
              bad({.poll_interval = {}}) == "receive_planner.poll_interval");
static_assert(bad({.breaker = {.half_open_steps = 0}}) == "circuit_breaker.half_open_steps");

// All actions for a pair that is handled with this outcome.
void pair(receive_planner& in, std::uint64_t n, fault_kind how, steady_time at)
{
    CHECK(in.next(at) == action(receive_planner::receive_deferred{n}));
    CHECK(in.on(original_fetched{n}, at) == event_result::applied);
    CHECK(in.on(work_done{n, how}, at) == event_result::applied);
    CHECK(in.on(original_settled{n}, at) == event_result::applied);
    CHECK(in.on(message_settled{n}, at) == event_result::applied);
}

// A planner whose first message has opened the circuit breaker, so that nothing is received.
receive_planner shut_at_zero()
{
    receive_planner in(quick);
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{1}, s(0));
    in.on(work_done{0, fault_kind::infrastructure}, s(0));
    in.on(message_settled{0}, s(0));
    return in;
}

TEST_CASE(
    "receive_planner: due pairs come before fresh messages, originals are settled before pointers")
{
    receive_planner in(quick);
    CHECK(in.next(s(0)) == action(receive_planner::take_due_pairs{0, 4}));
    CHECK(in.next(s(0)) == action(receive_planner::take_due_pairs{0, 4}));
    in.on(pairs_taken{1}, s(0));
    CHECK(in.next(s(0)) == action(receive_planner::receive_deferred{0}));
    in.on(original_fetched{0}, s(0));
    CHECK(in.next(s(0)) == action(receive_planner::take_due_pairs{1, 3}));  // while it is handled
    in.on(pairs_taken{}, s(0));
    CHECK(in.next(s(0)) == action(receive_planner::receive{1, 3}));
    in.on(messages_received{2}, s(0));
    CHECK(in.in_hand() == 3);

    in.on(work_done{0}, s(1));
    in.on(work_done{2, fault_kind::permanent}, s(1));
    CHECK(in.next(s(1)) ==
          action(receive_planner::settle_original{0, receive_planner::settle_as::complete}));
    in.on(original_settled{0}, s(1));
    CHECK(in.next(s(1)) ==
          action(receive_planner::settle_message{0, receive_planner::settle_as::complete}));
    in.on(message_settled{0}, s(1));
    CHECK(in.next(s(1)) ==
          action(receive_planner::settle_message{2, receive_planner::settle_as::dead_letter}));
    in.on(message_settled{2}, s(1));
    CHECK(in.in_hand() == 1);
}

TEST_CASE(
    "receive_planner: after the break, deferred pairs are the probes and come before fresh "
    "messages")
{
    receive_planner in = shut_at_zero();
    CHECK(in.breaker().state(s(0)) == circuit_breaker::circuit_state::open);
    CHECK(in.next(s(0)) == action(waybill::wait_until{s(5)}));
    CHECK(in.next(s(4)) == action(waybill::wait_until{s(5)}));
    CHECK(in.next(s(5)) == action(receive_planner::take_due_pairs{1, 1}));  // one probe
    in.on(pairs_taken{1}, s(5));
    pair(in, 1, fault_kind::none, s(5));
    CHECK(in.next(s(5)) == action(receive_planner::take_due_pairs{2, 2}));  // then two
    in.on(pairs_taken{2}, s(5));
    pair(in, 2, fault_kind::none, s(5));
    pair(in, 3, fault_kind::none, s(5));
    CHECK(in.breaker().state(s(5)) == circuit_breaker::circuit_state::closed);
    CHECK(in.next(s(5)) ==
          action(receive_planner::take_due_pairs{4, 4}));  // then as many as possible
    in.on(pairs_taken{4}, s(5));
    for (std::uint64_t n = 4; n != 8; ++n) pair(in, n, fault_kind::none, s(5));
    in.on(pairs_taken{}, s(5));
    CHECK(in.next(s(5)) == action(receive_planner::receive{8, 4}));  // then fresh ones
}

TEST_CASE("receive_planner: if no pair is due, a fresh message is the probe")
{
    receive_planner in = shut_at_zero();
    in.on(pairs_taken{}, s(5));
    CHECK(in.next(s(5)) == action(receive_planner::receive{1, 1}));
    in.on(messages_received{1}, s(5));
    CHECK(in.next(s(5)) == action(waybill::wait_until{s(65)}));  // its deadline
    in.on(work_done{1, fault_kind::infrastructure}, s(6));
    CHECK(in.next(s(6)) ==
          action(receive_planner::settle_message{1, receive_planner::settle_as::give_back}));
    in.on(message_settled{1}, s(6));
    CHECK(in.next(s(6)) == action(waybill::wait_until{s(16)}));  // twice as long
}

TEST_CASE(
    "receive_planner: a probe whose original cannot be fetched is cancelled, and its place is free")
{
    for (const receive_planner::settle_result said :
         {receive_planner::settle_result::not_found, receive_planner::settle_result::failed}) {
        receive_planner in = shut_at_zero();
        in.on(pairs_taken{1}, s(5));
        CHECK(in.breaker().room(s(5)) == 0);
        in.on(original_fetched{1, said}, s(5));
        CHECK(in.breaker().state(s(5)) == circuit_breaker::circuit_state::half_open);
        CHECK(in.breaker().room(s(5)) == 1);
    }
}

TEST_CASE("receive_planner: a pointer that finds no original at first is left to its lock")
{
    receive_planner in(quick);
    in.on(pairs_taken{2}, s(0));
    CHECK(in.on(original_fetched{0, receive_planner::settle_result::not_found}, s(0)) ==
          event_result::applied);
    CHECK(in.in_hand() == 1);
    CHECK(in.next(s(0)) == action(receive_planner::receive_deferred{1}));
}

TEST_CASE("receive_planner: an opening circuit breaker returns the work that has not begun")
{
    receive_planner in(quick);
    in.on(pairs_taken{3}, s(0));
    in.on(original_fetched{0}, s(0));
    in.on(original_fetched{1}, s(0));
    in.on(work_done{0, fault_kind::infrastructure}, s(0));
    CHECK(in.next(s(0)) ==
          action(receive_planner::settle_original{0, receive_planner::settle_as::give_back}));
    in.on(original_settled{0}, s(0));
    in.on(message_settled{0}, s(0));
    CHECK(in.next(s(0)) == action(receive_planner::settle_message{
                               2, receive_planner::settle_as::give_back}));  // never fetched
    CHECK(in.on(original_fetched{2}, s(0)) == event_result::stale);
    in.on(message_settled{2}, s(0));

    // Messages at their handler are settled when it ends. The circuit breaker has enough results.
    CHECK(in.on(work_done{1}, s(1)) == event_result::applied);
    CHECK(in.next(s(1)) ==
          action(receive_planner::settle_original{1, receive_planner::settle_as::complete}));
    CHECK(in.breaker().state(s(1)) == circuit_breaker::circuit_state::open);
}

TEST_CASE("receive_planner: waits for its handlers also while the circuit breaker is forced open")
{
    receive_planner in(quick);
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{1}, s(0));
    in.force_open(s(1));
    CHECK(in.next(s(1)) == action(waybill::wait_until{s(60)}));
    CHECK(in.next(s(60)) ==
          action(receive_planner::settle_message{0, receive_planner::settle_as::give_back}));
    in.on(message_settled{0}, s(60));
    CHECK(in.next(s(60)) == action(waybill::idle{}));
}

TEST_CASE("receive_planner: work_done after the deadline is stale, and the message is given back")
{
    receive_planner in({.max_in_flight = 1, .breaker = {.timeout = 10s}});
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{1}, s(0));
    receive_planner in_time = in;
    CHECK(in_time.on(work_done{0}, steady_time::at(9999ms)) == event_result::applied);
    CHECK(in_time.next(s(11)) ==
          action(receive_planner::settle_message{0, receive_planner::settle_as::complete}));
    for (const fault_kind how : {fault_kind::none, fault_kind::permanent}) {
        CHECK(in.next(s(10)) ==
              action(receive_planner::settle_message{0, receive_planner::settle_as::give_back}));
        const receive_planner before = in;
        CHECK(in.on(work_done{0, how}, s(10)) == event_result::stale);
        CHECK(in.on(work_done{0, how, true}, s(11)) == event_result::stale);
        CHECK(in == before);
        CHECK(in.next(s(11)) ==
              action(receive_planner::settle_message{0, receive_planner::settle_as::give_back}));
    }
    CHECK(in.on(message_settled{0}, s(12)) == event_result::applied);
    CHECK(in.in_hand() == 0);
}

TEST_CASE(
    "receive_planner: messages received while the circuit breaker is open are given back unhandled")
{
    receive_planner in = shut_at_zero();
    CHECK(in.on(messages_received{2}, s(1)) == event_result::applied);
    CHECK(in.on(work_done{1}, s(1)) == event_result::stale);
    for (const std::uint64_t n : {1U, 2U}) {
        CHECK(in.next(s(1)) ==
              action(receive_planner::settle_message{n, receive_planner::settle_as::give_back}));
        in.on(message_settled{n}, s(1));
    }
    CHECK(in.next(s(1)) == action(waybill::wait_until{s(5)}));
}

TEST_CASE(
    "receive_planner: a failed fetch or settlement of the original decides how its pointer is "
    "settled")
{
    receive_planner in(quick);
    in.on(pairs_taken{3}, s(0));
    in.on(original_fetched{0, receive_planner::settle_result::not_found, true}, s(0));
    CHECK(in.next(s(0)) ==
          action(receive_planner::settle_message{0, receive_planner::settle_as::complete, true}));
    in.on(message_settled{0}, s(0));
    in.on(original_fetched{1, receive_planner::settle_result::failed}, s(0));
    CHECK(in.next(s(0)) ==
          action(receive_planner::settle_message{1, receive_planner::settle_as::give_back}));
    in.on(message_settled{1}, s(0));
    CHECK(in.breaker().state(s(0)) == circuit_breaker::circuit_state::closed);

    in.on(original_fetched{2}, s(0));
    in.on(work_done{2}, s(0));
    receive_planner gone = in;
    in.on(original_settled{2, receive_planner::settle_result::failed}, s(0));
    CHECK(in.next(s(0)) ==
          action(receive_planner::settle_message{2, receive_planner::settle_as::give_back}));
    gone.on(original_settled{2, receive_planner::settle_result::not_found}, s(0));
    CHECK(gone.next(s(0)) ==
          action(receive_planner::settle_message{2, receive_planner::settle_as::complete}));
    CHECK(in.on(message_settled{2, receive_planner::settle_result::failed}, s(0)) ==
          event_result::applied);  // its lock will run out
    CHECK(in.in_hand() == 0);
}

TEST_CASE("receive_planner: the old pointer of a pair deferred again is completed")
{
    receive_planner in(quick);
    in.on(pairs_taken{1}, s(0));
    in.on(original_fetched{0}, s(0));
    in.on(work_done{0, fault_kind::transient, true}, s(0));
    CHECK(in.next(s(0)) ==
          action(receive_planner::settle_original{0, receive_planner::settle_as::give_back}));
    in.on(original_settled{0, receive_planner::settle_result::failed},
          s(0));  // its lock will run out
    CHECK(in.next(s(0)) ==
          action(receive_planner::settle_message{0, receive_planner::settle_as::complete}));
    in.on(message_settled{0}, s(0));
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{1}, s(0));
    in.on(work_done{1, fault_kind::transient, true}, s(0));
    CHECK(in.in_hand() == 0);  // the fresh one needs no settlement
}

TEST_CASE("receive_planner: after a failed pair, fresh messages are received before the next take")
{
    receive_planner in(quick);
    in.on(pairs_taken{1}, s(0));
    pair(in, 0, fault_kind::transient, s(0));
    CHECK(in.next(s(0)) == action(receive_planner::receive{1, 4}));
    in.on(messages_received{}, s(0));
    CHECK(in.next(s(0)) == action(waybill::wait_until{s(1)}));
    CHECK(in.next(s(1)) == action(receive_planner::take_due_pairs{1, 4}));
}

TEST_CASE("receive_planner: takes pairs at the next due time, at a scheduled time and periodically")
{
    receive_planner in(quick);
    in.on(pairs_taken{0, s(20)}, s(0));
    in.on(messages_received{}, s(0));
    CHECK(in.next(s(0)) == action(waybill::wait_until{s(1)}));
    CHECK(in.next(s(19)) == action(receive_planner::receive{0, 4}));
    CHECK(in.next(s(20)) == action(receive_planner::take_due_pairs{0, 4}));
    in.on(waybill::receive_planner::pair_scheduled{s(7)}, s(1));
    in.on(waybill::receive_planner::pair_scheduled{s(9)}, s(1));
    CHECK(in.next(s(7)) == action(receive_planner::take_due_pairs{0, 4}));
    in.on(pairs_taken{}, s(7));
    CHECK(in.next(s(36)) == action(receive_planner::receive{0, 4}));
    CHECK(in.next(s(37)) == action(receive_planner::take_due_pairs{0, 4}));
    in.on(pairs_taken{0, s(37)}, s(37));  // due, and no consumer got it: no busy loop
    CHECK(in.next(s(37)) == action(receive_planner::receive{0, 4}));
    in.on(pairs_taken{0, s(99), fault_kind::infrastructure}, s(37));
    in.on(messages_received{0, fault_kind::infrastructure}, s(37));
    CHECK(in.next(s(37)) == action(waybill::wait_until{s(38)}));
    CHECK(in.breaker().state(s(37)) == circuit_breaker::circuit_state::closed);
}

TEST_CASE("receive_planner: without work_done, messages are given back at the deadline")
{
    receive_planner in(quick);
    in.on(pairs_taken{1}, s(0));
    in.on(original_fetched{0}, s(0));
    in.on(pairs_taken{}, s(0));
    in.on(messages_received{3}, s(0));
    CHECK(in.next(s(0)) == action(waybill::wait_until{s(60)}));
    for (std::uint64_t n = 0; n != 4; ++n) {
        CHECK(in.next(s(60)) ==
              action(receive_planner::settle_message{n, receive_planner::settle_as::give_back}));
        CHECK(in.on(message_settled{n}, s(60)) == event_result::applied);
        CHECK(in.on(work_done{n}, s(61)) == event_result::stale);
    }
    CHECK(in.next(s(60)) ==
          action(waybill::wait_until{s(65)}));  // lost calls have shut the circuit breaker
}

TEST_CASE("receive_planner: forced open, it takes nothing; forced closed, everything")
{
    receive_planner in(quick);
    in.force_open(s(0));
    CHECK(in.next(s(0)) == action(waybill::idle{}));
    CHECK(in.next(s(999)) == action(waybill::idle{}));
    in.release_force(s(1'000));
    CHECK(in.next(s(1'000)) == action(receive_planner::take_due_pairs{0, 1}));
    in.force_closed(s(1'000));
    CHECK(in.next(s(1'000)) == action(receive_planner::take_due_pairs{0, 4}));
    in.on(pairs_taken{4}, s(1'000));
    for (std::uint64_t n = 0; n != 4; ++n) pair(in, n, fault_kind::infrastructure, s(1'000));
    CHECK(in.breaker().state(s(1'000)) == circuit_breaker::circuit_state::forced_closed);
    CHECK(in.next(s(1'001)) == action(receive_planner::take_due_pairs{4, 4}));
}

TEST_CASE("receive_planner: after stop, it settles the messages in hand and takes no more")
{
    receive_planner in(quick);
    in.on(pairs_taken{2}, s(0));
    in.on(original_fetched{0}, s(0));
    in.stop();
    CHECK(in.next(s(0)) ==
          action(receive_planner::settle_message{1, receive_planner::settle_as::give_back}));
    in.on(message_settled{1}, s(0));
    CHECK(in.next(s(0)) == action(waybill::wait_until{s(60)}));
    in.on(work_done{0}, s(1));
    in.on(original_settled{0}, s(1));
    in.on(message_settled{0}, s(1));
    CHECK(in.in_hand() == 0);
    CHECK(in.next(s(1)) == action(waybill::idle{}));
}

TEST_CASE("receive_planner: contradictory and repeated events change nothing")
{
    receive_planner in(quick);
    const receive_planner fresh = in;
    CHECK(in.on(pairs_taken{5}, s(0)) == event_result::invalid);
    CHECK(in.on(messages_received{~std::uint64_t{0}}, s(0)) == event_result::invalid);
    CHECK(in.on(original_fetched{0}, s(0)) == event_result::stale);
    CHECK(in.on(work_done{0}, s(0)) == event_result::stale);
    CHECK(in.on(original_settled{0}, s(0)) == event_result::stale);
    CHECK(in.on(message_settled{0}, s(0)) == event_result::stale);
    CHECK(in == fresh);
    in.on(pairs_taken{1}, s(0));
    CHECK(in.on(message_settled{0}, s(0)) == event_result::stale);
    CHECK(in.on(work_done{0}, s(0)) == event_result::stale);
    in.on(original_fetched{0}, s(0));
    CHECK(in.on(original_fetched{0}, s(0)) == event_result::stale);
    in.on(work_done{0}, s(0));
    receive_planner copy = in;
    CHECK(copy == in);
    CHECK(in.on(work_done{0, fault_kind::infrastructure}, s(0)) == event_result::stale);
    CHECK(in == copy);
    copy.on(original_settled{0}, s(0));
    CHECK(in != copy);
    CHECK(in.next(s(0)) ==
          action(receive_planner::settle_original{0, receive_planner::settle_as::complete}));
}

TEST_CASE("receive_planner: extreme options are bounded, and extreme clocks are accepted")
{
    for (const steady_time at : {steady_time::lowest(), s(0), steady_time::highest()}) {
        receive_planner in({.max_in_flight = ~std::uint64_t{0},
                            .pause = duration::lowest(),
                            .poll_interval = duration::lowest()});
        CHECK(in.next(at) == action(receive_planner::take_due_pairs{0, 256}));
        in.on(pairs_taken{256}, at);
        CHECK(in.in_hand() == 256);
        (void)in.next(steady_time::lowest());
        (void)in.next(steady_time::highest());
    }
    receive_planner none({.max_in_flight = 0});
    CHECK(none.next(s(0)) == action(waybill::idle{}));
    CHECK(none.on(pairs_taken{1}, s(0)) == event_result::invalid);
    CHECK(waybill::make<receive_planner>(receive_planner::config{.max_in_flight = 300})
              .error()
              .field == "receive_planner.max_in_flight");
}

}  // namespace
}  // namespace intake_test

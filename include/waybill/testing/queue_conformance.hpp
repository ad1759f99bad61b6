// SPDX-License-Identifier: MIT
//
// queue_conformance: checks that a queue meets the requirements of run_queue.
//
//     const auto report = waybill::testing::queue_conformance(
//         [&] { return my_queue(new_empty_database()); },           // an empty queue at each call
//         [](my_queue& q, std::string body) { q.put(body); },       // adds a message
//         env,                                                      // to wait for locks to end
//         [](my_queue& q) { return q.reasons(); },                  // the texts of dead letters
//         [](my_queue& q) { return my_queue(q.path()); },           // a second connection
//         2s, {.shortest_body = 1});                                // the lock, and the limits
//     for (const auto& rule : report.broken) log(rule);             // empty if it conforms
//
//   1. The arguments after `env` may be omitted. Their rules are then reported as untested.
//   2. Rules of optional calls are tried if the queue has these calls. A queue without deferral is
//      not reported as broken.
//   3. The sixth argument is the lock, by default 2 s. If the queue has a lock of its own, both
//      must be equal. The suite waits about thirty times as long, in `env`. Messages may be
//      received in any order.
//   4. Locks and deferrals of hours are tried if `env` has `advance`, as manual_environment.
//   5. A reason, lock or deferral outside the limits must be obeyed, or be an error with a text.
//   6. `queue_outage_conformance` checks a queue that cannot be reached.

#ifndef WAYBILL_TESTING_QUEUE_CONFORMANCE_HPP
#define WAYBILL_TESTING_QUEUE_CONFORMANCE_HPP

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/environment.hpp>
#include <waybill/queue/message_queue.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/queue_rules.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

/// Tries the rules of a message_queue:
///
///   - `make()` returns a new, empty queue at each call.
///   - `put(queue, body)` adds a message. `body` is a std::string.
///   - `env` is an environment, to wait for locks to end.
///   - `reasons(queue)` returns the reasons of the dead letters, a range of strings.
///   - `again(queue)` returns a second connection to the same queue.
///   - `limits` are those of the queue. No body outside of them is put.
template <class Make, class Put, environment Environment, class Reasons = no_reasons,
          class Again = no_second>
[[nodiscard]] conformance_report queue_conformance(Make make, Put put, Environment& env,
                                                   Reasons reasons = {}, Again again = {},
                                                   duration lock = duration::seconds(2),
                                                   const store_limits& limits = {})
{
    static_assert(std::invocable<Make&>,
                  "queue_conformance: make() must return a new, empty queue");
    using queue = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(message_queue<queue>,
                  "queue_conformance: make() must return a message queue, see "
                  "queue/message_queue.hpp");
    static_assert(std::invocable<Put&, queue&, std::string>,
                  "queue_conformance: put(queue, body) must add a message to the queue");
    static_assert(std::invocable<Reasons&, queue&>,
                  "queue_conformance: reasons(queue) must return the reasons of dead letters");
    static_assert(std::invocable<Again&, queue&>,
                  "queue_conformance: again(queue) must return a second connection to the queue");
    using trial = detail::queue_trial<queue, Put, Environment, Reasons, Again>;
    using std::string_view;
    constexpr string_view two = detail::has_second<Again> ? "" : detail::second_connection;
    constexpr string_view texts = std::is_same_v<Reasons, no_reasons> ? detail::stored_reasons : "";
    constexpr string_view body =
        detail::has_body<typename queue::message> ? "" : "messages with a body";
    constexpr string_view days =
        trial::is_virtual ? "" : "an environment with advance(), such as manual_environment";
    const detail::rule<trial> rules[] = {
        {"receive: locks a message", detail::queue_receive_rules},
        {"complete, abandon, dead_letter: settle it", detail::queue_settle_rules},
        {"no settlement without the lock", detail::queue_stale_rules},
        {"renew: lengthens the lock", detail::queue_renew_rules},
        {"defer: until a time", detail::queue_defer_rules},
        {"schedule_copy: until a time", detail::queue_copy_rules},
        {"schedule_pointer: until a time", detail::queue_pointer_rules},
        {"empty: no message is left", detail::queue_empty_rules},
        {"receive: locks for the requested time", detail::queue_lock_rules},
        {"schedule_copy: copies all of a message", detail::queue_copied_value_rules},
        {"receive: delivers all messages", detail::queue_page_rules},
        {detail::queue_bodies, detail::queue_body_rules, body},
        {detail::queue_long_times, detail::queue_long_rules, days},
        {detail::queue_reasons, detail::queue_reason_rules, texts},
        {detail::queue_second, detail::queue_second_rules, two},
        {detail::queue_second, detail::queue_reopened_rules, two}};
    detail::trial t;
    detail::run_rules<Again>(t, rules, {detail::way::plain}, [&](detail::way, auto body_of) {
        decltype(auto) q = make();
        trial x{q, put, env, reasons, again, lock, limits, t};
        body_of(x);
    });
    return std::move(t.report);
}

/// Tries the rules of a queue that cannot be reached: `receive` must return `transient` or
/// `infrastructure`, and no empty result.
template <message_queue Q>
[[nodiscard]] conformance_report queue_outage_conformance(Q& unreachable)
{
    detail::trial t;
    const auto received = unreachable.receive(duration::seconds(2));
    t.holds(!received.has_value(),
            "receive: while the queue cannot be reached, the result is an error, and not empty");
    t.holds(received.has_value() || received.error().kind == fault_kind::transient ||
                received.error().kind == fault_kind::infrastructure,
            "receive: a queue that cannot be reached is infrastructure or transient; permanent and "
            "ownership_lost end the driver");
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_QUEUE_CONFORMANCE_HPP

// SPDX-License-Identifier: MIT
//
// queue_conformance: checks that a queue meets the requirements of run_queue.
//
//     const auto report = waybill::testing::queue_conformance(
//         [&] { return my_queue(new_empty_database()); },           // an empty queue at each call
//         [](my_queue& q, std::string body) { q.put(body); },       // adds a message
//         env,                                                      // to wait for locks to end
//         [](my_queue& q) { return q.reasons(); },                  // the texts of dead letters
//         [](my_queue& q) { return my_queue(q.path()); });          // a second connection
//     for (const auto& rule : report.broken) log(rule);             // empty if it conforms
//
//   1. The last two arguments may be omitted. Their rules are then reported as untested.
//   2. Rules of optional calls are tried if the queue has these calls. A queue without deferral is
//      not reported as broken.
//   3. The sixth argument is the lock, by default 2 s. If the queue has a lock of its own, both
//      must be equal. The suite waits about twenty times as long, in `env`. Messages may be
//      received in any order.
//   4. `queue_outage_conformance` checks a queue that cannot be reached.

#ifndef WAYBILL_TESTING_QUEUE_CONFORMANCE_HPP
#define WAYBILL_TESTING_QUEUE_CONFORMANCE_HPP

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/core/environment.hpp>
#include <waybill/queue/message_queue.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/queue_rules.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

/// Stands for the function that returns the reasons of dead letters.
struct no_reasons {
    template <class Q>
    std::vector<std::string> operator()(Q&) const
    {
        return {};
    }
};

/// Tries the rules of a message_queue:
///
///   - `make()` returns a new, empty queue at each call.
///   - `put(queue, body)` adds a message. `body` is a std::string.
///   - `env` is an environment, to wait for locks to end.
///   - `reasons(queue)` returns the reasons of the dead letters, a range of strings.
///   - `again(queue)` returns a second connection to the same queue.
template <class Make, class Put, environment Environment, class Reasons = no_reasons,
          class Again = no_second>
[[nodiscard]] conformance_report queue_conformance(Make make, Put put, Environment& env,
                                                   Reasons reasons = {}, Again again = {},
                                                   duration lock = duration::seconds(2))
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
    detail::trial t;
    const auto with_new_queue = [&](auto rules) {
        decltype(auto) q = make();
        detail::queue_trial<queue, Put, Environment> x{q, put, env, lock, t};
        rules(x);
    };
    with_new_queue([](auto& x) { detail::queue_receive_rules(x); });
    with_new_queue([](auto& x) { detail::queue_settle_rules(x); });
    with_new_queue([](auto& x) { detail::queue_stale_rules(x); });
    with_new_queue([](auto& x) { detail::queue_renew_rules(x); });
    with_new_queue([](auto& x) { detail::queue_defer_rules(x); });
    with_new_queue([](auto& x) { detail::queue_copy_rules(x); });
    with_new_queue([](auto& x) { detail::queue_pointer_rules(x); });
    with_new_queue([](auto& x) { detail::queue_empty_rules(x); });
    constexpr const char* reason_rule = "dead_letter: the reason is stored with the message";
    if constexpr (std::is_same_v<Reasons, no_reasons>) {
        t.untested(reason_rule, "a function that returns the reasons of dead letters");
    } else {
        with_new_queue([&](auto& x) {
            const std::string reason = "permanent: no such customer";
            auto m = x.received();
            if (!m) return;
            (void)x.queue.dead_letter(*m, reason);
            const auto all = reasons(x.queue);
            t.holds(all.size() == 1 && *all.begin() == reason, reason_rule);
        });
    }
    constexpr const char* second_rule =
        "receive: a locked message is not delivered through a second connection";
    if constexpr (detail::has_second<Again>) {
        with_new_queue([&](auto& x) {
            decltype(auto) other = again(x.queue);
            const auto m = x.received();
            const auto n = other.receive(lock);
            t.holds(m && n.has_value() && !n->has_value(), second_rule);
        });
    } else {
        t.untested(second_rule, detail::second_connection);
    }
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

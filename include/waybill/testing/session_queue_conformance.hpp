// SPDX-License-Identifier: MIT
//
// session_queue_conformance: checks that a queue meets the requirements of `run_session`.
//
//     using waybill::testing::sent_message;
//     const auto report = waybill::testing::session_queue_conformance(
//         [&] { return my_queue(new_empty_database(), {.lock = 500ms}); },  // empty at each call
//         [](auto& q, const sent_message& m) { q.send(m.session, m.id, m.body, m.properties); },
//         [](my_queue&, waybill::duration d) { std::this_thread::sleep_for(d.to_chrono()); },
//         waybill::duration::milliseconds(500));                            // the lock duration
//     for (const auto& rule : report.broken) log(rule);    // empty if the queue conforms
//
// The arguments after the second one may be omitted. Without `wait`, the rules of locks that expire
// and of pauses are reported as untested. So are the rules of states and transactions if the queue
// has none. The last argument, `store_limits`, has the limits of bodies and states.

#ifndef WAYBILL_TESTING_SESSION_QUEUE_CONFORMANCE_HPP
#define WAYBILL_TESTING_SESSION_QUEUE_CONFORMANCE_HPP

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/time.hpp>
#include <waybill/session/session_queue.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/session_queue_rules.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

/// A message that session_queue_conformance sends.
struct sent_message {
    std::string session{};
    std::string id{};  ///< Different for each message.
    std::string body{};
    std::map<std::string, std::string> properties{};

    friend bool operator==(const sent_message&, const sent_message&) = default;
};

/// Stands for a missing function that lets time pass.
struct no_wait {
    template <class Q>
    void operator()(Q&, duration) const noexcept
    {
    }
};

/// Tries the rules of a `session_queue`. `make()` returns a new, empty queue at each call.
/// `send(queue, message)` sends a `sent_message`. `wait(queue, d)` lets `d` pass: it sleeps, or
/// moves the clock of the queue. `lock` is the lock duration of the queue.
/// No body or state outside of `limits` is used.
template <class Make, class Send, class Wait = no_wait>
[[nodiscard]] conformance_report session_queue_conformance(Make make, Send send, Wait wait = {},
                                                           duration lock = duration::seconds(30),
                                                           const store_limits& limits = {})
{
    using queue = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(waybill::detail::checked_session_queue<queue>::ok);
    using trial = detail::session_queue_trial<sent_message, queue, Send, Wait>;
    using rule = detail::session_queue_rule;
    using std::string_view;
    constexpr string_view states = detail::stores_session_states<queue> ? "" : "these calls";
    constexpr string_view transactions =
        detail::saves_in_transactions<queue> && detail::stores_session_states<queue>
            ? ""
            : "these calls";
    constexpr string_view time =
        std::is_same_v<Wait, no_wait> ? "a function that lets time pass" : "";
    constexpr string_view pause =
        detail::closes_with_pause<queue, typename queue::lock> ? time : "close(lock, pause)";
    const detail::rule<trial> rules[] = {
        {"receive: returns the messages of the session", [](trial& x) { x.messages(); }},
        {"receive: returns all of a message", [](trial& x) { x.contents(); }},
        {"accept: locks a session", [](trial& x) { x.locks(); }},
        {"accept: ids are compared byte for byte", [](trial& x) { x.similar_ids(); }},
        {"load, save, clear: states", [](trial& x) { x.states(); }, states},
        {"begin, save(tx): transactions", [](trial& x) { x.transactions(); }, transactions},
        {rule::expired, [](trial& x) { x.expired_locks(); }, time},
        {rule::renewed, [](trial& x) { x.renewals(); }, time},
        {rule::paused, [](trial& x) { x.pauses(); }, pause},
        {"receive, save: values of all sizes", [](trial& x) { x.values(); }, "", 0, true},
        {rule::all_messages, [](trial& x) { x.pages(); }, "", 0, true}};
    detail::trial t;
    detail::run_rules<no_second>(t, rules, {detail::way::plain}, [&](detail::way, auto body) {
        decltype(auto) q = make();
        trial x(q, send, wait, lock, limits, t);
        body(x);
    });
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_SESSION_QUEUE_CONFORMANCE_HPP

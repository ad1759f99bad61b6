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
// The third and fourth argument may be omitted: the rules of locks that expire and of pauses are
// then reported as untested. So are the rules of states and transactions if the queue has none.

#ifndef WAYBILL_TESTING_SESSION_QUEUE_CONFORMANCE_HPP
#define WAYBILL_TESTING_SESSION_QUEUE_CONFORMANCE_HPP

#include <map>
#include <string>
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
template <class Make, class Send, class Wait = no_wait>
[[nodiscard]] conformance_report session_queue_conformance(Make make, Send send, Wait wait = {},
                                                           duration lock = duration::seconds(30))
{
    using queue = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(waybill::detail::checked_session_queue<queue>::ok);
    detail::trial t;
    detail::session_queue_rules<Make, Send, sent_message, queue> rules(make, send, t);
    rules.messages();
    rules.locks();
    rules.states();
    rules.transactions();
    if constexpr (std::is_same_v<Wait, no_wait>) rules.untested_times();
    else rules.times(wait, lock);
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_SESSION_QUEUE_CONFORMANCE_HPP

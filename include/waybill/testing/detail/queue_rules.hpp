// SPDX-License-Identifier: MIT
//
// queue_rules: the rules of a message_queue. Part of queue_conformance.

#ifndef WAYBILL_TESTING_DETAIL_QUEUE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_QUEUE_RULES_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/message_queue.hpp>
#include <waybill/queue/scheduled_id.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

namespace in_queue = waybill::detail;

inline constexpr std::string_view queue_reasons =
    "dead_letter: the reason is stored with the message byte for byte; one above the declared "
    "limit "
    "may be an error";
inline constexpr std::string_view queue_second =
    "receive: a locked message is not delivered through a second connection";
inline constexpr std::string_view queue_bodies =
    "receive: bodies of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 bytes are those that "
    "were "
    "put";
inline constexpr std::string_view queue_long_times =
    "locks and deferrals of 10 minutes, 2 hours and 60 days last until their time";

/// An environment in which the suite can wait for days.
template <class Environment>
concept moves_clock = requires(Environment& env, duration d) { env.advance(d); };

template <class Message>
concept has_body = requires(const Message& m) {
    { m.body } -> std::convertible_to<std::string_view>;
};

/// A queue under test, and the calls that several rules need.
template <class Q, class Put, class Environment, class Reasons, class Again>
struct queue_trial {
    using message = typename Q::message;
    static constexpr bool is_virtual = moves_clock<Environment>;

    Q& queue;
    Put& put;
    Environment& env;
    Reasons& reasons;
    Again& again;
    duration lock;
    const store_limits& limits;
    trial& t;

    /// Adds a message and receives it.
    [[nodiscard]] std::optional<message> received()
    {
        put(queue, body());
        return next();
    }
    [[nodiscard]] std::optional<message> next() { return next(lock); }
    /// The next message, which must exist.
    [[nodiscard]] std::optional<message> next(duration locked)
    {
        auto m = queue.receive(locked);
        t.holds(m.has_value() && m->has_value(), "receive returns a message that is visible");
        if (!m) return {};
        return *std::move(m);
    }
    [[nodiscard]] bool is_empty()
    {
        const auto m = queue.receive(lock);
        return m.has_value() && !m->has_value();
    }
    [[nodiscard]] fault abandon(message& m, bool failed)
    {
        if constexpr (in_queue::abandons_uncounted<Q>) return queue.abandon(m, failed);
        else return queue.abandon(m);
    }
    [[nodiscard]] fault defer(message& m, duration delay, bool failed)
    {
        if constexpr (in_queue::defers_uncounted<Q>) return queue.defer(m, delay, failed);
        else return queue.defer(m, delay);
    }
    /// The copy of a message.
    [[nodiscard]] static queue_policy::scheduled_copy copy_of(const message& m, std::uint64_t tries,
                                                              duration delay)
    {
        return {scheduled_id("a key of the tests", m.number, m.id), std::string(m.id), tries,
                delay};
    }
    [[nodiscard]] std::string body() const
    {
        return limits.shortest_body > 4  ? value_of(limits.shortest_body, false)
               : limits.longest_body < 4 ? value_of(limits.longest_body, false)
                                         : "body";
    }
    /// Values within the limits, and texts that a queue could change.
    [[nodiscard]] std::vector<std::string> values(std::uint64_t shortest,
                                                  std::uint64_t longest) const
    {
        auto all = sized_values(shortest, longest, limits.any_bytes);
        for (const std::string& text : odd_texts()) {
            if (limits.any_bytes && text.size() >= shortest && text.size() <= longest)
                all.push_back(text);
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }
    /// Waits until a lock of now has ended.
    void wait_for_lock() { wait(lock * 1.5); }
    void wait(duration d) { env.sleep_until(env.now() + d); }
};

template <class X>
void queue_receive_rules(X& x)
{
    x.t.holds(x.is_empty(), "receive: an empty queue returns nothing, and no error");
    const auto first = x.received();
    if (!first) return;
    x.t.holds(first->deliveries == 1, "receive: the first delivery of a message has the number 1");
    x.t.holds(x.is_empty(),
              "receive: a locked message is not delivered again before its lock ends");
    if constexpr (in_queue::reports_lock<typename std::remove_reference_t<X>::message>) {
        const duration reported = first->locked_for;
        x.t.holds(reported > duration{}, "receive: locked_for is more than 0");
        x.wait(reported * 0.75);
        x.t.holds(x.is_empty(), "receive: the lock lasts for locked_for");
    }
    x.wait_for_lock();
    auto again = x.next();
    if (!again) return;
    x.t.holds(again->deliveries == 2, "receive: a delivery whose lock has ended counts");
    x.t.holds(in_queue::id_of_message(*first) == in_queue::id_of_message(*again),
              "receive: a message has the same id in each delivery");
    if constexpr (in_queue::reports_crashes<typename std::remove_reference_t<X>::message>) {
        x.t.holds(first->crashes == 0 && again->crashes == 1,
                  "receive: `crashes` counts the deliveries in a row without a settlement");
        (void)x.abandon(*again, true);
        again = x.next();
        x.t.holds(again && again->crashes == 0, "receive: `crashes` is 0 after a settlement");
    }
}

template <class X>
void queue_settle_rules(X& x)
{
    if (auto m = x.received()) {
        x.t.holds(x.queue.complete(*m).ok(), "complete: succeeds during the lock");
        x.wait_for_lock();
        x.t.holds(x.is_empty(), "complete: removes the message");
    }
    if (auto m = x.received()) {
        x.t.holds(x.abandon(*m, true).ok(), "abandon: succeeds during the lock");
        auto again = x.next();
        x.t.holds(again.has_value(), "abandon: the message is visible at once");
        if (!again) return;
        x.t.holds(again->deliveries == 2, "abandon: a delivery that failed counts");
        if constexpr (in_queue::abandons_uncounted<std::remove_reference_t<decltype(x.queue)>>) {
            (void)x.queue.abandon(*again, false);
            auto third = x.next();
            if (!third) return;
            x.t.holds(third->deliveries == 2,
                      "abandon: a delivery that did not fail does not count");
            again = std::move(third);
        }
        x.t.holds(x.queue.dead_letter(*again, "reason").ok(),
                  "dead_letter: succeeds during the lock");
        x.wait_for_lock();
        x.t.holds(x.is_empty(), "dead_letter: removes the message");
    }
}

/// A consumer that is late must not settle the message of another one.
template <class X>
void queue_stale_rules(X& x)
{
    auto late = x.received();
    if (!late) return;
    x.wait_for_lock();
    auto now = x.next();
    if (!now) return;
    const auto refused = [&](const fault& f, std::string_view rule) {
        x.t.holds(f.kind == fault_kind::ownership_lost, rule);
    };
    refused(x.abandon(*late, true), "abandon: after the loss of the lock it is ownership_lost");
    refused(x.queue.dead_letter(*late, "late"),
            "dead_letter: after the loss of the lock it is ownership_lost");
    refused(x.queue.complete(*late), "complete: after the loss of the lock it is ownership_lost");
    x.t.holds(x.is_empty(), "a settlement without the lock does not make the message visible");
    x.t.holds(x.queue.complete(*now).ok(),
              "a settlement without the lock changes nothing for the holder of the lock");
    refused(x.queue.complete(*now), "complete: a second time it is ownership_lost");
}

template <class X>
void queue_renew_rules(X& x)
{
    using queue = std::remove_reference_t<decltype(x.queue)>;
    if constexpr (in_queue::renews<queue, typename queue::message>) {
        auto m = x.received();
        if (!m) return;
        for (int i = 0; i != 3; ++i) {
            x.wait(x.lock * 0.6);
            x.t.holds(x.queue.renew(*m, x.lock).ok(), "renew: succeeds during the lock");
        }
        x.t.holds(x.is_empty(), "renew: the lock lasts from the renewal");
        x.wait_for_lock();
        auto now = x.next();
        if (!now) return;
        x.t.holds(x.queue.renew(*m, x.lock).kind == fault_kind::ownership_lost,
                  "renew: after the loss of the lock it is ownership_lost");
        x.t.holds(now->deliveries == 2, "renew: a renewal is no delivery");
        x.t.holds(x.queue.renew(*now, x.lock).ok() && x.queue.complete(*now).ok(),
                  "renew: a message can be settled after it");
    }
}

template <class X>
void queue_defer_rules(X& x)
{
    using queue = std::remove_reference_t<decltype(x.queue)>;
    if constexpr (in_queue::queue_abilities<queue>::by_time) {
        auto m = x.received();
        if (!m) return;
        x.t.holds(x.defer(*m, x.lock * 3, true).ok(), "defer: succeeds during the lock");
        x.wait_for_lock();
        x.t.holds(x.is_empty(), "defer: the message is not visible before its time");
        x.wait(x.lock * 2);
        auto again = x.next();
        x.t.holds(again.has_value(), "defer: the message is visible at its time");
        if (!again) return;
        x.t.holds(again->deliveries == 2, "defer: a delivery that failed counts");
        x.t.holds(x.defer(*m, duration{}, true).kind == fault_kind::ownership_lost,
                  "defer: after the loss of the lock it is ownership_lost");
        x.t.holds(x.defer(*again, duration{}, false).ok(), "defer: accepts a delay of 0");
        auto third = x.next();
        x.t.holds(third.has_value(), "defer: after a delay of 0 the message is visible");
        if (third && in_queue::defers_uncounted<queue>) {
            x.t.holds(third->deliveries == 2, "defer: a delivery that did not fail does not count");
        }
    }
}

template <class X>
void queue_copy_rules(X& x)
{
    using queue = std::remove_reference_t<decltype(x.queue)>;
    if constexpr (in_queue::queue_abilities<queue>::by_copy) {
        auto m = x.received();
        if (!m) return;
        const auto copy = x.copy_of(*m, 5, x.lock * 3);
        x.t.holds(x.queue.schedule_copy(*m, copy).ok(), "schedule_copy: succeeds");
        (void)x.queue.schedule_copy(*m, copy);
        (void)x.queue.complete(*m);
        x.wait_for_lock();
        x.t.holds(x.is_empty(), "schedule_copy: the copy is not visible before its time");
        x.wait(x.lock * 2);
        auto c = x.next();
        x.t.holds(c.has_value(), "schedule_copy: the copy is visible at its time");
        if (!c) return;
        x.t.holds(c->id == copy.id && c->original_id == copy.original_id && c->tries == 5,
                  "schedule_copy: the copy has the given id, original id and tries");
        x.t.holds(c->number != m->number, "schedule_copy: the copy has a number of its own");
        x.t.holds(c->deliveries == 1, "schedule_copy: the deliveries of a copy count from 1");
        x.t.holds(x.is_empty(), "schedule_copy: a second copy with the same id is dropped");
    }
}

template <class X>
void queue_pointer_rules(X& x)
{
    using queue = std::remove_reference_t<decltype(x.queue)>;
    if constexpr (in_queue::queue_abilities<queue>::by_pointer) {
        auto m = x.received();
        if (!m) return;
        x.t.holds(x.queue.schedule_pointer(*m, 5, x.lock * 3).ok() && x.queue.defer(*m).ok(),
                  "defer: succeeds during the lock, after the pointer is scheduled");
        const auto pointer = [&] {
            auto p = x.queue.receive_pointer(x.lock);
            return p.has_value() ? *std::move(p) : std::optional<typename queue::pointer>();
        };
        x.wait_for_lock();
        x.t.holds(!pointer().has_value(),
                  "receive_pointer: a pointer is not visible before its time");
        x.wait(x.lock * 2);
        x.t.holds(x.is_empty(), "receive: a deferred message is returned for its pointer only");
        auto p = pointer();
        x.t.holds(p && p->tries == 5, "receive_pointer: a pointer has the given tries");
        if (!p) return;
        x.t.holds(p->deliveries == 1, "receive_pointer: deliveries of a pointer count from 1");
        x.t.holds(!pointer().has_value(), "receive_pointer: a pointer is locked");
        auto original = x.queue.receive_deferred(*p, x.lock);
        x.t.holds(original.has_value() && original->has_value(),
                  "receive_deferred: returns the message of the pointer");
        if (!original.has_value() || !original->has_value()) return;
        x.t.holds((**original).deliveries == 1, "defer: a deferral does not count as a delivery");
        const auto locked = x.queue.receive_deferred(*p, x.lock);
        x.t.holds(!locked.has_value() && locked.error().kind == fault_kind::transient,
                  "receive_deferred: a locked message is transient, and not gone");
        (void)x.abandon(**original, false);
        x.t.holds(x.is_empty(), "abandon: an original stays deferred");
        x.wait_for_lock();
        p = pointer();
        x.t.holds(p && p->deliveries == 2,
                  "receive_pointer: a pointer is received again after its lock, and counts that");
        if (!p) return;
        x.t.holds(x.queue.schedule_pointer(*p, 6, duration{}).ok() && x.queue.complete(*p).ok(),
                  "schedule_pointer: succeeds with a pointer");
        p = pointer();
        x.t.holds(p && p->tries == 6 && p->deliveries == 1,
                  "schedule_pointer: a further pointer has the given tries, and counts from 1");
        if (!p) return;
        original = x.queue.receive_deferred(*p, x.lock);
        if (!original.has_value() || !original->has_value()) return;
        (void)x.queue.complete(**original);
        const auto gone = x.queue.receive_deferred(*p, x.lock);
        x.t.holds(gone.has_value() && !gone->has_value(),
                  "receive_deferred: a message that is gone is no error");
        x.t.holds(x.queue.complete(*p).ok(), "complete: removes a pointer");
        x.wait_for_lock();
        x.t.holds(!pointer().has_value(), "complete: removes a pointer");
    }
}

template <class X>
void queue_empty_rules(X& x)
{
    using queue = std::remove_reference_t<decltype(x.queue)>;
    if constexpr (in_queue::reports_empty<queue>) {
        const auto empty = [&] { return x.queue.empty().value_or(false); };
        x.t.holds(empty(), "empty: a new queue is empty");
        auto m = x.received();
        if (!m) return;
        x.t.holds(!empty(), "empty: a queue with a locked message is not empty");
        if constexpr (in_queue::defers_uncounted<queue>) {
            (void)x.queue.defer(*m, x.lock, false);
            x.t.holds(!empty(), "empty: a queue with a deferred message is not empty");
            x.wait_for_lock();
            m = x.next();
            if (!m) return;
        }
        (void)x.queue.complete(*m);
        x.t.holds(empty(), "empty: a queue whose messages are completed is empty");
    }
}

template <class X>
void queue_body_rules(X& x)
{
    if constexpr (has_body<typename X::message>) {
        const auto expected = x.values(x.limits.shortest_body, x.limits.longest_body);
        std::vector<std::string> found;
        for (const std::string& body : expected) x.put(x.queue, body);
        for (std::uint64_t n = 0; n != expected.size(); ++n) {
            auto m = x.next();
            if (!m) return;
            found.emplace_back(std::string_view(m->body));
            x.t.holds(x.queue.complete(*m).ok(), "complete: succeeds during the lock");
        }
        std::sort(found.begin(), found.end());
        x.t.holds(found == expected && x.is_empty(), queue_bodies);
    }
}

/// A copy has the body and the tries of its message.
template <class X>
void queue_copied_value_rules(X& x)
{
    using queue = std::remove_reference_t<decltype(x.queue)>;
    if constexpr (in_queue::queue_abilities<queue>::by_copy && has_body<typename X::message>) {
        std::uint64_t tries = 1;
        for (const std::string& body : x.values(x.limits.shortest_body, x.limits.longest_body)) {
            x.put(x.queue, body);
            auto m = x.next();
            if (!m) return;
            const auto copy = x.copy_of(*m, tries, duration{});
            x.t.holds(x.queue.schedule_copy(*m, copy).ok() && x.queue.complete(*m).ok(),
                      "schedule_copy: succeeds");
            auto c = x.next();
            if (!c) return;
            x.t.holds(std::string_view(c->body) == body,
                      "schedule_copy: the body of a copy is that of its message, byte for byte");
            x.t.holds(c->tries == tries, "schedule_copy: tries are numbers of 63 bits");
            (void)x.queue.complete(*c);
            if (tries < std::uint64_t{1} << 61U) tries = tries * 4 + 1;
        }
    }
}

/// More messages than a request returns.
template <class X>
void queue_page_rules(X& x)
{
    constexpr std::uint64_t messages = 1'100;
    for (std::uint64_t n = 0; n != messages; ++n) x.put(x.queue, x.body());
    std::uint64_t found = 0;
    while (found <= messages) {
        auto m = x.queue.receive(x.lock);
        if (!m || !*m) break;
        ++found;
        x.t.holds(x.queue.complete(**m).ok(), "complete: succeeds during the lock");
    }
    x.t.holds(found == messages, "receive: each of 1,100 messages is delivered once");
}

template <class X>
void queue_reason_rules(X& x)
{
    auto expected = x.values(0, x.limits.longest_reason);
    for (const std::string& reason : expected) {
        auto m = x.received();
        if (!m) return;
        x.t.holds(x.queue.dead_letter(*m, reason).ok(), queue_reasons);
    }
    if (x.limits.longest_reason < 1'000'000) {
        const std::string reason = value_of(x.limits.longest_reason + 1, x.limits.any_bytes);
        auto m = x.received();
        if (!m) return;
        const fault refused = x.queue.dead_letter(*m, reason);
        if (refused.ok()) {
            expected.push_back(reason);
        } else {
            x.t.holds(!refused.text.empty(),
                      "dead_letter: the error for a reason above the limit has a text");
            x.wait_for_lock();
            x.t.holds(x.next().has_value(),
                      "dead_letter: after an error the message is delivered again");
        }
    }
    const auto all = x.reasons(x.queue);
    std::vector<std::string> found(all.begin(), all.end());
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    x.t.holds(found == expected, queue_reasons);
}

/// A lock longer than that of all other rules. A queue with a lock of its own ends here, too.
template <class X>
void queue_lock_rules(X& x)
{
    const auto locked = [&](duration d, double part) {
        x.wait(d * part);
        return x.is_empty();
    };
    std::vector<duration> locks{x.lock * 2};
    if (X::is_virtual) locks.insert(locks.end(), {x.lock * 30, duration::seconds(7'200)});
    for (const duration d : locks) {
        x.put(x.queue, x.body());
        auto m = x.queue.receive(d);
        if (d > x.limits.longest_lock && !m) {
            x.t.holds(!m.error().text.empty(),
                      "receive: the error for a lock above the limit has a text");
            m = x.queue.receive(x.lock);
            if (m && *m) (void)x.queue.complete(**m);
            continue;
        }
        x.t.holds(m && *m, "receive returns a message that is visible");
        if (!m || !*m) return;
        duration lasts = d;
        if constexpr (in_queue::reports_lock<typename X::message>) lasts = (**m).locked_for;
        x.t.holds(locked(lasts, 0.75),
                  "receive: the lock lasts for the requested time, or for the reported locked_for");
        x.wait(lasts * 0.5);
        auto again = x.next();
        x.t.holds(again.has_value(),
                  "receive: the lock ends after the requested time, or after locked_for");
        if (!again) return;
        (void)x.queue.complete(*again);
    }
}

/// Locks and deferrals for which only a clock of the test can wait.
template <class X>
void queue_long_rules(X& x)
{
    using queue = std::remove_reference_t<decltype(x.queue)>;
    using abilities = in_queue::queue_abilities<queue>;
    const auto lasts = [&](duration d, auto receive, std::string_view rule) {
        x.wait(d * 0.9);
        const bool early = receive();
        x.wait(d * 0.2);
        x.t.holds(!early && receive(), rule);
    };
    const auto received = [&] {
        auto m = x.queue.receive(x.lock);
        return m && *m && x.queue.complete(**m).ok();
    };
    for (const std::int64_t seconds : {600, 7'200, 5'184'000}) {
        const auto d = duration::seconds(seconds);
        const bool fits = d <= x.limits.longest_defer;
        const auto refused = [&](const fault& f, auto& m) {
            if (fits || f.ok()) return false;
            x.t.holds(!f.text.empty(), "defer: the error for a time above the limit has a text");
            x.t.holds(x.queue.complete(m).ok(),
                      "defer: after an error the message is still locked");
            return true;
        };
        auto m = x.received();
        if (!m) return;
        if constexpr (abilities::by_time) {
            const fault f = x.defer(*m, d, true);
            if (!refused(f, *m)) {
                x.t.holds(f.ok(), "defer: succeeds during the lock");
                lasts(d, received,
                      "defer: a deferral of 10 minutes, 2 hours or 60 days lasts until its time");
            }
        } else if constexpr (abilities::by_copy) {
            const auto copy = x.copy_of(*m, 1, d);
            const fault f = x.queue.schedule_copy(*m, copy);
            if (!refused(f, *m)) {
                (void)x.queue.complete(*m);
                lasts(d, received,
                      "schedule_copy: a copy due in 10 minutes, 2 hours or 60 days is visible at "
                      "its time");
            }
        } else if constexpr (abilities::by_pointer) {
            const fault f = x.queue.schedule_pointer(*m, 1, d);
            if (!refused(f, *m)) {
                (void)x.queue.defer(*m);
                const auto pointed = [&] {
                    auto p = x.queue.receive_pointer(x.lock);
                    return p && *p && x.queue.complete(**p).ok();
                };
                lasts(d, pointed,
                      "receive_pointer: a pointer due in 10 minutes, 2 hours or 60 days is "
                      "visible at its time");
            }
        } else {
            (void)x.queue.complete(*m);
        }
        if constexpr (in_queue::renews<queue, typename X::message> &&
                      !in_queue::reports_lock<typename X::message>) {
            if (d > x.limits.longest_lock) continue;
            auto renewed = x.received();
            if (!renewed) return;
            x.t.holds(x.queue.renew(*renewed, d).ok(), "renew: succeeds during the lock");
            lasts(d, received, "renew: the lock lasts for the requested time");
        }
    }
}

template <class X>
void queue_second_rules(X& x)
{
    decltype(auto) other = x.again(x.queue);
    const auto m = x.received();
    const auto n = other.receive(x.lock);
    x.t.holds(m && n.has_value() && !n->has_value(), queue_second);
}

/// The connection that has a lock is closed.
template <class X>
void queue_reopened_rules(X& x)
{
    x.put(x.queue, x.body());
    {
        decltype(auto) closed = x.again(x.queue);
        const auto m = closed.receive(x.lock);
        x.t.holds(m && *m, "receive returns a message that is visible");
    }
    x.wait_for_lock();
    auto m = x.next();
    if (!m) return;
    x.t.holds(m->deliveries == 2 && x.queue.complete(*m).ok(),
              "receive: a message of a closed connection is delivered again");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_QUEUE_RULES_HPP

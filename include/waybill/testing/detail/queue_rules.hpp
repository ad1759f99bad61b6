// SPDX-License-Identifier: MIT
//
// queue_rules: the rules of a message_queue. Part of queue_conformance.

#ifndef WAYBILL_TESTING_DETAIL_QUEUE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_QUEUE_RULES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/message_queue.hpp>
#include <waybill/queue/scheduled_id.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing::detail {

namespace in_queue = waybill::detail;

/// A queue under test, and the calls that several rules need.
template <class Q, class Put, class Environment>
struct queue_trial {
    using message = typename Q::message;

    Q& queue;
    Put& put;
    Environment& env;
    duration lock;
    trial& t;

    /// Adds a message and receives it.
    [[nodiscard]] std::optional<message> received()
    {
        put(queue, std::string("body"));
        return next();
    }
    /// The next message, which must exist.
    [[nodiscard]] std::optional<message> next()
    {
        auto m = queue.receive(lock);
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
        const auto defer = [&](auto& m, wall_time until, bool failed) -> fault {
            if constexpr (in_queue::defers_uncounted<queue>) return x.queue.defer(m, until, failed);
            else return x.queue.defer(m, until);
        };
        auto m = x.received();
        if (!m) return;
        x.t.holds(defer(*m, x.env.wall_now() + x.lock * 3, true).ok(),
                  "defer: succeeds during the lock");
        x.wait_for_lock();
        x.t.holds(x.is_empty(), "defer: the message is not visible before its time");
        x.wait(x.lock * 2);
        auto again = x.next();
        x.t.holds(again.has_value(), "defer: the message is visible at its time");
        if (!again) return;
        x.t.holds(again->deliveries == 2, "defer: a delivery that failed counts");
        x.t.holds(defer(*m, x.env.wall_now(), true).kind == fault_kind::ownership_lost,
                  "defer: after the loss of the lock it is ownership_lost");
        x.t.holds(defer(*again, x.env.wall_now() - x.lock, false).ok(),
                  "defer: accepts a time in the past");
        auto third = x.next();
        x.t.holds(third.has_value(), "defer: after a time in the past the message is visible");
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
        const std::string id = scheduled_id("a key of the tests", m->number, m->id);
        const queue_policy::scheduled_copy copy{id, std::string(m->id), 5,
                                                x.env.wall_now() + x.lock * 3};
        x.t.holds(x.queue.schedule_copy(*m, copy).ok(), "schedule_copy: succeeds");
        (void)x.queue.schedule_copy(*m, copy);
        (void)x.queue.complete(*m);
        x.wait_for_lock();
        x.t.holds(x.is_empty(), "schedule_copy: the copy is not visible before its time");
        x.wait(x.lock * 2);
        auto c = x.next();
        x.t.holds(c.has_value(), "schedule_copy: the copy is visible at its time");
        if (!c) return;
        x.t.holds(c->id == id && c->original_id == copy.original_id && c->tries == 5,
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
        x.t.holds(x.queue.schedule_pointer(*m, 5, x.env.wall_now() + x.lock * 3).ok() &&
                      x.queue.defer(*m).ok(),
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
        (void)x.queue.abandon(*p);
        p = pointer();
        x.t.holds(p.has_value(), "abandon: a pointer is visible at once");
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
            (void)x.queue.defer(*m, x.env.wall_now() + x.lock, false);
            x.t.holds(!empty(), "empty: a queue with a deferred message is not empty");
            x.wait_for_lock();
            m = x.next();
            if (!m) return;
        }
        (void)x.queue.complete(*m);
        x.t.holds(empty(), "empty: a queue whose messages are completed is empty");
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_QUEUE_RULES_HPP

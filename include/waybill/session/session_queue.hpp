// SPDX-License-Identifier: MIT
//
// session_queue: a message queue with sessions, as `run_session` uses it.
//
//     class my_queue {
//     public:
//         struct lock    { std::string session; ... };
//         struct message { std::uint64_t sequence, deliveries; std::string id, body; ...
//                          std::optional<std::string_view> find(std::string_view name) const; };
//         result<std::optional<lock>> accept();
//         result<std::optional<message>> receive(const lock&);
//         fault complete(const lock&, const message&);
//         fault renew(const lock&);
//         fault close(const lock&, duration pause);
//         ...
//     };
//
// Queues of this kind: Azure Service Bus, SQS FIFO (one message group), ActiveMQ (message groups),
// or a table. waybill/testing/session_queue_conformance.hpp tests an implementation,
// testing/memory_session_queue.hpp is one.

#ifndef WAYBILL_SESSION_SESSION_QUEUE_HPP
#define WAYBILL_SESSION_SESSION_QUEUE_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// True for a `fault` and for a `result<void>`.
template <class R>
concept fault_or_result = std::same_as<R, fault> || std::same_as<R, result<void>>;

/// `deliveries` includes this delivery; 0 if the broker does not count them. `enqueued` is
/// optional.
template <class M>
concept session_message = requires(const M& m, std::string_view property) {
    { m.sequence } -> std::convertible_to<std::uint64_t>;
    { m.deliveries } -> std::convertible_to<std::uint64_t>;
    { m.id } -> std::convertible_to<std::string_view>;
    { m.body } -> std::convertible_to<std::string_view>;
    static_cast<bool>(m.find(property));
    std::string_view(*m.find(property));
};

template <class Q, class Lock>
concept closes_with_pause = requires(Q& q, const Lock& l, duration pause) {
    { q.close(l, pause) } -> fault_or_result;
};
template <class Q, class Lock>
concept closes_session = closes_with_pause<Q, Lock> || requires(Q& q, const Lock& l) {
    { q.close(l) } -> fault_or_result;
};

/// The queue stores the state of a session under its lock.
template <class Q>
concept stores_session_states =
    requires(Q& q, const typename Q::lock& l, const std::string& bytes) {
        { q.load(l) } -> std::same_as<result<std::optional<std::string>>>;
        { q.save(l, bytes) } -> fault_or_result;
        { q.clear(l) } -> fault_or_result;
    };

/// A transaction of the queue can contain the state of a session and other writes.
template <class Q>
concept saves_in_transactions = requires(Q& q, typename Q::transaction& tx,
                                         const typename Q::lock& l, const std::string& bytes) {
    { q.begin() } -> std::same_as<result<typename Q::transaction>>;
    { q.save(tx, l, bytes) } -> fault_or_result;
    tx.commit();
};

}  // namespace detail

/// A queue with sessions. Where a call returns `fault`, it may also return `result<void>`.
///
///     accept()          locks a session that has messages and no lock; nullopt if there is none.
///                       `session` of the lock is its id
///     receive(l)        the next message of the session in order that this lock has not received;
///                       nullopt if there is none now
///     complete(l, m)    removes a message that was received
///     renew(l)          the lock expires later
///     close(l, pause)   releases the session. Its messages that are not complete are delivered
///                       again, in order, and no consumer accepts it before `pause` is over
///
/// After a lock has expired, each call with it returns `ownership_lost` and changes nothing.
/// `sequence` of a message is the same in each delivery, and differs from that of other messages.
///
/// Optional:
///
///     close(l)             instead of close(l, pause): the driver then holds the session
///     load(l), save(l, bytes), clear(l)
///                          the state of the session; `load` returns nullopt if there is none.
///                          Without them, `run_session` needs a `session_store`
///     begin(), save(tx, l, bytes)
///                          a transaction that contains the state and the effect of a step
template <class Q>
concept session_queue = requires(Q& q, const typename Q::lock& l, const typename Q::message& m) {
    { q.accept() } -> std::same_as<result<std::optional<typename Q::lock>>>;
    { q.receive(l) } -> std::same_as<result<std::optional<typename Q::message>>>;
    { q.complete(l, m) } -> detail::fault_or_result;
    { q.renew(l) } -> detail::fault_or_result;
    { l.session } -> std::convertible_to<std::string_view>;
    requires detail::closes_session<Q, typename Q::lock>;
    requires detail::session_message<typename Q::message>;
};

namespace detail {

/// Refuses a type that is no `session_queue`. The error text names the first missing member.
template <class Q>
struct checked_session_queue {
    static_assert(
        requires {
            typename Q::lock;
            typename Q::message;
        }, "session queue: the types `lock` and `message` must exist");
    static_assert(
        requires(Q& q) {
            { q.accept() } -> std::same_as<result<std::optional<typename Q::lock>>>;
        }, "session queue: accept() must exist and return result<std::optional<lock>>");
    static_assert(
        requires(Q& q, const typename Q::lock& l) {
            { q.receive(l) } -> std::same_as<result<std::optional<typename Q::message>>>;
        }, "session queue: receive(lock) must exist and return result<std::optional<message>>");
    static_assert(
        requires(Q& q, const typename Q::lock& l, const typename Q::message& m) {
            { q.complete(l, m) } -> fault_or_result;
            { q.renew(l) } -> fault_or_result;
        }, "session queue: complete(lock, message) and renew(lock) must exist and return a fault");
    static_assert(closes_session<Q, typename Q::lock>,
                  "session queue: close(lock, duration) or close(lock) must exist and return a "
                  "fault");
    static_assert(session_message<typename Q::message>,
                  "session queue: a message must have sequence, deliveries, id, body and "
                  "find(property), which returns an optional text");
    static constexpr bool ok = session_queue<Q>;
};

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_SESSION_QUEUE_HPP

// SPDX-License-Identifier: MIT
//
// message_queue: a queue as run_queue uses it.
//
//     class my_queue {
//     public:
//         struct message { std::string id, body; std::uint64_t deliveries; };
//
//         waybill::result<std::optional<message>> receive(waybill::duration lock);
//         waybill::fault complete(message&);
//         waybill::fault abandon(message&, bool failed);      // or abandon(message&)
//         waybill::fault dead_letter(message&, std::string_view reason);
//         waybill::fault defer(message&, waybill::duration delay, bool failed);    // if it can
//         waybill::fault renew(message&, waybill::duration lock);                  // if it can
//         waybill::fault make_due();                                               // if it can
//         waybill::result<bool> empty();                                           // if it can
//         waybill::fault dead_letter_by_reference(message&, std::string_view reason);   // if it can
//     };
//
// The guide has a table of these calls for six brokers. queue_conformance.hpp checks a queue.

#ifndef WAYBILL_QUEUE_MESSAGE_QUEUE_HPP
#define WAYBILL_QUEUE_MESSAGE_QUEUE_HPP

#include <waybill/queue/detail/queue_abilities.hpp>

namespace waybill::inline v0_2 {

/// The calls that every queue has:
///
///   - `receive` returns one message, locked for `lock` from the request on, or nothing. It may
///     wait for a message. A queue with a lock of its own may ignore `lock` if its message has
///     `duration locked_for`: the duration of the lock, counted from the call of `receive` or,
///     after a `renew`, from that call. Without `locked_for`, the queue must refuse a `lock` longer
///     than its own with a fault.
///   - `deliveries` of a message counts from 1.
///   - `complete`, `abandon` and `dead_letter` settle it. If the lock is lost they change nothing,
///     as far as the queue can check that, and return `ownership_lost`.
///   - `abandon` makes it visible at once. With `failed` false the delivery does not count. A queue
///     that must count it has no second parameter.
///   - `dead_letter` stores the message with the reason, then removes it. If the letter is too large
///     for its store, the fault is `permanent`: the driver repeats it with a shorter reason.
///
/// A fault `permanent` of `receive` ends the driver. If the queue cannot be reached, the fault is
/// `infrastructure`. Optional calls: see the guide.
template <class Q>
concept message_queue =
    detail::names_message<Q> && detail::receives<Q> && detail::completes<Q> &&
    detail::dead_letters<Q> && (detail::abandons_uncounted<Q> || detail::abandons_counted<Q>);

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_MESSAGE_QUEUE_HPP

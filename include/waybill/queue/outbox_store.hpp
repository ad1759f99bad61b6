// SPDX-License-Identifier: MIT
//
// outbox_store: the calls of a table of messages that are to be sent (transactional outbox).
//
//     auto tx = db.begin();
//     orders.insert(tx, o);
//     if (outbox.add(tx, {.key = o.customer, .id = o.id, .body = confirmation(o)})) tx.commit();
//
// A message is a row of the table. It is written in the transaction of the effect that it reports,
// so both are stored or neither. `relay` claims rows, sends them and marks them.
//
// Rules, which waybill/testing/outbox_conformance.hpp tests:
//   1. Rows of one key are claimed in the order in which they were added. An empty key has none.
//   2. A row is in at most one claim whose time has not ended. While an earlier row of its key is
//      in another claim, it is in none.
//   3. A call with a claim changes only rows that no later claim contains. Other rows stay as they
//      are.
//   4. Keys, ids and bodies are bytes: they are stored unchanged and compared byte for byte.

#ifndef WAYBILL_QUEUE_OUTBOX_STORE_HPP
#define WAYBILL_QUEUE_OUTBOX_STORE_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// A message with key, id and body. The id is the message id for the broker. A member function
/// `wire_size()` returns the bytes that the limits of the sender count; without it these are the
/// bytes of the body.
template <class M>
concept outbox_message = requires(const M& m) {
    { m.key } -> std::convertible_to<std::string_view>;
    { m.id } -> std::convertible_to<std::string_view>;
    { m.body } -> std::convertible_to<std::string_view>;
};

/// The rows of one claim. `messages` are in the order in which they must be sent. If there are
/// none, `pending` is true while rows are left that a relay can claim later. These are rows of
/// other claims, rows that wait until a time, and later rows of their keys.
template <class C, class M>
concept outbox_claim = requires(const C& c, std::uint64_t n) {
    { c.messages.size() } -> std::convertible_to<std::uint64_t>;
    { c.messages[n] } -> std::convertible_to<const M&>;
    { c.pending } -> std::convertible_to<bool>;
};

}  // namespace detail

/// A table of messages that are to be sent:
///
///     add(tx, message)        adds a row in the transaction; an error if it cannot be stored
///     claim(max, now, until)  claims at most `max` rows, which can be claimed again at `until`
///     hold(claim, rows, until)
///                             these rows can be claimed again at `until`, and not before. An
///                             earlier time ends the claim of these rows. `ownership_lost` if one
///                             of them is in a later claim, or already marked.
///     mark_sent(claim, rows)  removes these rows, or marks them. No error if they are marked
///                             already or in a later claim.
///     mark_dead(claim, row, reason, blocks_key)
///                             the row is not claimed any more; `reason` is stored with it. If
///                             `blocks_key`, later rows of its key are not claimed either, until
///                             the row is removed by hand.
///
/// `rows` are positions in `messages` of the claim. Each call takes effect completely or returns an
/// error; after an error it may have taken effect, too.
template <class S>
concept outbox_store =
    detail::outbox_message<typename S::message> &&
    detail::outbox_claim<typename S::claimed_rows, typename S::message> &&
    requires(S& s, typename S::transaction& tx, const typename S::message& m,
             const typename S::claimed_rows& claim, const std::vector<std::uint64_t>& rows,
             std::uint64_t row, wall_time t, const std::string& reason, bool blocks_key) {
        { s.add(tx, m) } -> std::same_as<result<void>>;
        { s.claim(row, t, t) } -> std::same_as<result<typename S::claimed_rows>>;
        { s.hold(claim, rows, t) } -> std::same_as<result<void>>;
        { s.mark_sent(claim, rows) } -> std::same_as<result<void>>;
        { s.mark_dead(claim, row, reason, blocks_key) } -> std::same_as<result<void>>;
    };

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_OUTBOX_STORE_HPP

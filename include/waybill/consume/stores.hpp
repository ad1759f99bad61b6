// SPDX-License-Identifier: MIT
//
// stores: what a database must do so that each event takes effect once.
//
// The effects of a batch, its dead letters and the checkpoint are written in one transaction. A
// store is any type that has these calls; `waybill/testing/conformance.hpp` finds out whether they do
// what is said here.
//
//   begin()                              opens a transaction
//   load(key)                            the committed checkpoint, absent, or an error: three answers
//   advance(tx, key, from, to, epoch)    compares and sets: only if `from` is what is stored
//   put(tx, letter)                      inserts a dead letter, or replaces that of the same event
//   find(key, sequence)                  a committed dead letter
//
// More things that a store may have:
//
//   reset(tx, key, from, epoch)          compares as advance does, and leaves the checkpoint in front
//                                        of the first event: load answers absent, advance works from
//                                        absent, and not under an epoch that is lower than this
//
//   attempted(key)                       the committed row of attempts, absent, or an error
//   note(tx, key, row)                   inserts the row of attempts, or replaces it
//   forget(tx, key)                      removes it; where there is none that is no error
//
//   remove(tx, key, sequence)            removes a dead letter; whether there was one to remove
//   list(key, after, most)               dead letters behind `after`, by their sequence
//
// Of two transactions that remove the same dead letter at most one may find it there and commit:
// whoever removes it takes its event into effect in the same transaction.
//
// Keys are compared in each part, byte for byte. Reasons, bodies and offsets are kept unchanged,
// with NUL and with bytes that are not UTF-8. Sequences, epochs and times have all 64 bits. A store
// takes parts of a key of up to 128 bytes and offsets of up to 1,024. A longer one, or a key that the
// database cannot hold, is kept whole or refused with an error, and never changed.
//
// "Only forward" is not enough for a checkpoint: with two owners whose batches differ in size, a
// guard of `to > stored` lets an event take effect twice. Compare-and-set on `from` does not.

#ifndef WAYBILL_CONSUME_STORES_HPP
#define WAYBILL_CONSUME_STORES_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume/attempt.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// What became of a transaction that was told to commit.
enum class commit_outcome : std::uint8_t {
    applied,      ///< All of it is there, for good.
    not_applied,  ///< Nothing of it is there.
    unknown,      ///< The answer got lost. Read back what is there.
};

/// What became of a checkpoint that was told to advance.
enum class advance_outcome : std::uint8_t {
    applied,      ///< It will be there when the transaction is.
    conflict,     ///< Something else is stored than what this owner started from.
    stale_epoch,  ///< A later owner has written already.
};

[[nodiscard]] constexpr std::string_view name(commit_outcome o) noexcept
{
    switch (o) {
        case commit_outcome::applied: return "applied";
        case commit_outcome::not_applied: return "not_applied";
        case commit_outcome::unknown: return "unknown";
    }
    return "?";
}

[[nodiscard]] constexpr std::string_view name(advance_outcome o) noexcept
{
    switch (o) {
        case advance_outcome::applied: return "applied";
        case advance_outcome::conflict: return "conflict";
        case advance_outcome::stale_epoch: return "stale_epoch";
    }
    return "?";
}

/// An event that could not be handled, with why. One for each (key, sequence).
struct dead_letter {
    partition_key key{};
    position at{};
    fault_class how = fault_class::permanent;
    std::string reason{};   ///< Bounded, cut between characters.
    std::string body{};     ///< The event's own bytes, where it has any; see `kept`.
    std::uint32_t tries = 0;  ///< How often it was handled in the delivery that parked it, and later.
    wall_time occurred{};   ///< The event's own time, where it has one.
    wall_time parked{};     ///< When it became a dead letter, or failed again.
    letter_keeps kept = letter_keeps::body;  ///< How much of the event's bytes `body` is.
    std::uint64_t size = 0;                  ///< Of all of the event's bytes.
    std::uint32_t checksum = 0;              ///< CRC-32C of all of them.

    friend bool operator==(const dead_letter&, const dead_letter&) = default;
};

/// A transaction: moved, not copied, and rolled back when it goes out of scope without a commit.
/// An error from commit() reads as `unknown`.
template <class T>
concept transaction_scope = std::movable<T> && requires(T& tx) {
    { tx.commit() } -> std::same_as<result<commit_outcome>>;
    { tx.rollback() } noexcept;
};

/// With savepoints: after savepoint() comes one of release(), which keeps what was written since, or
/// undo(), which removes it. They do not nest.
template <class T>
concept savepoint_scope = transaction_scope<T> && requires(T& tx) {
    { tx.savepoint() } -> std::same_as<result<void>>;
    { tx.release() } -> std::same_as<result<void>>;
    { tx.undo() } -> std::same_as<result<void>>;
};

template <class S>
concept transactional = transaction_scope<typename S::transaction> && requires(S& s) {
    { s.begin() } -> std::same_as<result<typename S::transaction>>;
};

template <class S>
concept checkpoint_store =
    transactional<S> && requires(S& s, typename S::transaction& tx, const partition_key& key,
                                 const std::optional<position>& from, const position& to,
                                 std::uint64_t epoch) {
        { s.load(key) } -> std::same_as<result<std::optional<checkpoint>>>;
        { s.advance(tx, key, from, to, epoch) } -> std::same_as<result<advance_outcome>>;
    };

/// Can go back to the beginning, where no position is, and keeps its guard against older owners there.
template <class S>
concept checkpoint_reset =
    checkpoint_store<S> && requires(S& s, typename S::transaction& tx, const partition_key& key,
                                    const position& from, std::uint64_t epoch) {
        { s.reset(tx, key, from, epoch) } -> std::same_as<result<advance_outcome>>;
    };

template <class S>
concept dead_letter_store =
    transactional<S> && requires(S& s, typename S::transaction& tx, const dead_letter& letter,
                                 const partition_key& key, std::uint64_t sequence) {
        { s.put(tx, letter) } -> std::same_as<result<void>>;
        { s.find(key, sequence) } -> std::same_as<result<std::optional<dead_letter>>>;
    };

template <class S>
concept attempt_store =
    transactional<S> && requires(S& s, typename S::transaction& tx, const partition_key& key,
                                 const attempt& row) {
        { s.attempted(key) } -> std::same_as<result<std::optional<attempt>>>;
        { s.note(tx, key, row) } -> std::same_as<result<void>>;
        { s.forget(tx, key) } -> std::same_as<result<void>>;
    };

template <class S>
concept dead_letter_queue =
    dead_letter_store<S> &&
    requires(S& s, typename S::transaction& tx, const partition_key& key, std::uint64_t sequence,
             const std::optional<std::uint64_t>& after, std::uint64_t most) {
        { s.remove(tx, key, sequence) } -> std::same_as<result<bool>>;
        { s.list(key, after, most) } -> std::same_as<result<std::vector<dead_letter>>>;
    };

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_STORES_HPP

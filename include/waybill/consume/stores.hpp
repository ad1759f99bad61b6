// SPDX-License-Identifier: MIT
//
// stores: the calls of a database that make each event take effect once.
//
// The effects of a batch, its dead letters and the checkpoint are written in one transaction. Any
// type that satisfies the concepts below is a store; `waybill/testing/conformance.hpp` tests
// whether its calls work as described here. process_batch requires checkpoint_store and
// dead_letter_store. The other concepts are optional.
//
// Rules for all stores
//   1. Keys are compared in each part, byte for byte.
//   2. Reasons, bodies and offsets are stored unchanged, with NUL and bytes that are not UTF-8.
//   3. Sequences, epochs and times have 64 bits.
//   4. A store accepts parts of a key of up to 128 bytes, and offsets of up to 1,024 bytes. Longer
//      ones, and keys that the database cannot store, are refused with an error or stored whole.
//
// A checkpoint requires a compare-and-set on `from`. A guard of `to > stored` is not enough: with
// two owners whose batches differ in size, an event could take effect twice.

#ifndef WAYBILL_CONSUME_STORES_HPP
#define WAYBILL_CONSUME_STORES_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The outcome of the commit of a transaction.
enum class commit_outcome : std::uint8_t {
    applied,      ///< All its writes are stored durably.
    not_applied,  ///< No write of it is stored.
    unknown,      ///< The reply was lost. Read the stored data to find out.
};

/// The outcome of the advance of a checkpoint.
enum class advance_outcome : std::uint8_t {
    applied,      ///< The checkpoint is written, and stored when the transaction commits.
    conflict,     ///< The stored checkpoint is not the one that this owner started from.
    stale_epoch,  ///< An owner with a higher epoch has already written.
};

[[nodiscard]] constexpr std::string_view texts_of(commit_outcome) noexcept
{
    return "applied, not_applied, unknown";
}

[[nodiscard]] constexpr std::string_view texts_of(advance_outcome) noexcept
{
    return "applied, conflict, stale_epoch";
}

/// An event that could not be handled, with the reason. At most one for each (key, sequence).
struct dead_letter {
    struct run_policy;  ///< The options of `resubmit` and `reprocess_all`.
    struct run_report;  ///< Their report.

    partition_key key{};
    position at{};
    fault_kind kind = fault_kind::permanent;
    std::string reason{};  ///< Bounded, cut between characters.
    std::string body{};    ///< The bytes of the event's body, as far as `kept` specifies.
    /// Tries in the delivery that dead-lettered the event, and one for each later reprocessing.
    std::uint32_t tries = 0;
    wall_time occurred{};          ///< The event's own time, if it has one.
    wall_time dead_lettered_at{};  ///< When it was dead-lettered or failed again.
    /// The part of the event's body that `body` contains.
    dead_letter_body kept = dead_letter_body::body;
    std::uint64_t size = 0;      ///< Size of the event's whole body, in bytes.
    std::uint32_t checksum = 0;  ///< CRC-32C of the event's whole body.

    friend bool operator==(const dead_letter&, const dead_letter&) = default;
};

namespace detail {

/// A transaction. It is movable, and rolled back when it is destroyed without a commit. An error
/// from commit() is treated as `unknown`.
template <class T>
concept transaction_scope = std::movable<T> && requires(T& tx) {
    { tx.commit() } -> std::same_as<result<commit_outcome>>;
    { tx.rollback() } noexcept;
};

}  // namespace detail

/// A transaction with savepoints. Each savepoint() is followed by release_savepoint(), which keeps
/// the writes since then, or by rollback_to_savepoint(), which removes them. Savepoints do not
/// nest.
template <class T>
concept savepoint_scope = detail::transaction_scope<T> && requires(T& tx) {
    { tx.savepoint() } -> std::same_as<result<void>>;
    { tx.release_savepoint() } -> std::same_as<result<void>>;
    { tx.rollback_to_savepoint() } -> std::same_as<result<void>>;
};

/// A store with transactions:
///
///     begin()  opens a transaction
template <class S>
concept transactional = detail::transaction_scope<typename S::transaction> && requires(S& s) {
    { s.begin() } -> std::same_as<result<typename S::transaction>>;
};

/// A store of checkpoints:
///
///     load(key)                          returns the committed checkpoint, no value if there is
///                                        none, or an error
///     advance(tx, key, from, to, epoch)  compare-and-set: writes `to` only if `from` is stored
///
/// advance() compares the sequence of `from`, not its offset. An empty `from` means that no
/// checkpoint is stored. `epoch` must not be lower than the stored one.
template <class S>
concept checkpoint_store =
    transactional<S> &&
    requires(S& s, typename S::transaction& tx, const partition_key& key,
             const std::optional<position>& from, const position& to, std::uint64_t epoch) {
        { s.load(key) } -> std::same_as<result<std::optional<checkpoint>>>;
        { s.advance(tx, key, from, to, epoch) } -> std::same_as<result<advance_outcome>>;
    };

/// A store of checkpoints that can return to the beginning, before the first event:
///
///     reset(tx, key, from, epoch)  compare-and-set like advance(), but removes the position
///
/// After reset(), load() returns no value, and advance() works from an empty `from`. The epoch
/// stays: advance() with a lower epoch than that of reset() is refused.
template <class S>
concept checkpoint_reset =
    checkpoint_store<S> && requires(S& s, typename S::transaction& tx, const partition_key& key,
                                    const position& from, std::uint64_t epoch) {
        { s.reset(tx, key, from, epoch) } -> std::same_as<result<advance_outcome>>;
    };

/// A store of dead letters:
///
///     put(tx, letter)      inserts a dead letter, or replaces that of the same event
///     find(key, sequence)  returns the committed dead letter, or no value
template <class S>
concept dead_letter_store =
    transactional<S> && requires(S& s, typename S::transaction& tx, const dead_letter& letter,
                                 const partition_key& key, std::uint64_t sequence) {
        { s.put(tx, letter) } -> std::same_as<result<void>>;
        { s.find(key, sequence) } -> std::same_as<result<std::optional<dead_letter>>>;
    };

/// A store of crash records, at most one for each key:
///
///     load_crash_record(key)            returns the committed crash record, no value if there is
///                                       none, or an error
///     store_crash_record(tx, key, row)  inserts the crash record, or replaces it
///     clear_crash_record(tx, key)       removes it; a missing record is no error
template <class S>
concept crash_record_store =
    transactional<S> &&
    requires(S& s, typename S::transaction& tx, const partition_key& key, const crash_record& row) {
        { s.load_crash_record(key) } -> std::same_as<result<std::optional<crash_record>>>;
        { s.store_crash_record(tx, key, row) } -> std::same_as<result<void>>;
        { s.clear_crash_record(tx, key) } -> std::same_as<result<void>>;
    };

/// A store of dead letters that can be reprocessed:
///
///     remove(tx, key, sequence)    removes a dead letter; returns whether there was one
///     list(key, after, max_count)  returns at most `max_count` dead letters after the sequence
///                                  `after`, in ascending order; from the first one if `after` is
///                                  empty
///
/// If two transactions remove the same dead letter, at most one may find it and commit. The
/// transaction that removes a dead letter also contains the effects of its event.
///
/// Optional, for `resubmit` and `reprocess_all` without keys:
///
///     dead_letter_keys()  returns result<std::vector<partition_key>>: each key that has a dead
///                         letter, once
template <class S>
concept dead_letter_queue =
    dead_letter_store<S> &&
    requires(S& s, typename S::transaction& tx, const partition_key& key, std::uint64_t sequence,
             const std::optional<std::uint64_t>& after, std::uint64_t max_count) {
        { s.remove(tx, key, sequence) } -> std::same_as<result<bool>>;
        { s.list(key, after, max_count) } -> std::same_as<result<std::vector<dead_letter>>>;
    };

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_STORES_HPP

// SPDX-License-Identifier: MIT
//
// checked_stores: refuses a store without a required call, with one sentence for each call.
//
// One struct for each concept of stores.hpp and separate_stores.hpp. A driver instantiates it
// before anything else, so that its sentence is the first error.

#ifndef WAYBILL_CONSUME_DETAIL_CHECKED_STORES_HPP
#define WAYBILL_CONSUME_DETAIL_CHECKED_STORES_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2::detail {

struct no_transaction {};

/// `S::transaction`, or `no_transaction` if it is missing, so that the checks below compile.
template <class S>
struct transaction_type {
    using type = no_transaction;
};
template <class S>
    requires requires { typename S::transaction; }
struct transaction_type<S> {
    using type = typename S::transaction;
};

template <class S>
struct checked_transactions {
    using transaction = typename transaction_type<S>::type;

    static constexpr bool has_type = !std::same_as<transaction, no_transaction>;
    static constexpr bool movable = std::movable<transaction>;
    static constexpr bool begins = requires(S& s) {
        { s.begin() } -> std::same_as<result<transaction>>;
    };
    static constexpr bool commits = requires(transaction& tx) {
        { tx.commit() } -> std::same_as<result<commit_outcome>>;
    };
    static constexpr bool rolls_back = requires(transaction& tx) {
        { tx.rollback() } noexcept;
    };

    static_assert(has_type, "store: the type `transaction` must exist");
    static_assert(movable, "store: a transaction must be movable");
    static_assert(begins, "store: begin() must exist and return result<transaction>");
    static_assert(commits, "transaction: commit() must exist and return result<commit_outcome>");
    static_assert(rolls_back, "transaction: rollback() must exist and be noexcept");
};

template <class S>
struct checked_checkpoint_store : checked_transactions<S> {
    using transaction = typename transaction_type<S>::type;

    static constexpr bool ok = checkpoint_store<S>;
    static constexpr bool loads = requires(S& s, const partition_key& key) {
        { s.load(key) } -> std::same_as<result<std::optional<checkpoint>>>;
    };
    static constexpr bool advances =
        requires(S& s, transaction& tx, const partition_key& key,
                 const std::optional<position>& from, const position& to, std::uint64_t epoch) {
            { s.advance(tx, key, from, to, epoch) } -> std::same_as<result<advance_outcome>>;
        };

    static_assert(loads,
                  "store: load(key) must exist and return "
                  "result<std::optional<checkpoint>>");
    static_assert(advances,
                  "store: advance(tx, key, from, to, epoch) must exist and return "
                  "result<advance_outcome>");
};

/// A store needs no reset(). If it has one, rewind uses it.
template <class S>
struct checked_checkpoint_reset : checked_checkpoint_store<S> {
    using transaction = typename transaction_type<S>::type;

    static constexpr bool has_reset =
        requires(S& s, transaction& tx, const partition_key& key, const position& from,
                 std::uint64_t epoch) { s.reset(tx, key, from, epoch); };
    static constexpr bool resets = !has_reset || checkpoint_reset<S>;
    static constexpr bool ok = checkpoint_store<S> && resets;

    static_assert(resets,
                  "store: reset(tx, key, from, epoch) must return "
                  "result<advance_outcome>");
};

template <class S>
struct checked_dead_letter_store : checked_transactions<S> {
    using transaction = typename transaction_type<S>::type;

    static constexpr bool ok = dead_letter_store<S>;
    static constexpr bool puts = requires(S& s, transaction& tx, const dead_letter& letter) {
        { s.put(tx, letter) } -> std::same_as<result<void>>;
    };
    static constexpr bool finds = requires(S& s, const partition_key& key, std::uint64_t sequence) {
        { s.find(key, sequence) } -> std::same_as<result<std::optional<dead_letter>>>;
    };

    static_assert(puts, "store: put(tx, letter) must exist and return result<void>");
    static_assert(finds,
                  "store: find(key, sequence) must exist and return "
                  "result<std::optional<dead_letter>>");
};

template <class S>
struct checked_dead_letter_queue : checked_dead_letter_store<S> {
    using transaction = typename transaction_type<S>::type;

    static constexpr bool ok = dead_letter_queue<S>;
    static constexpr bool removes =
        requires(S& s, transaction& tx, const partition_key& key, std::uint64_t sequence) {
            { s.remove(tx, key, sequence) } -> std::same_as<result<bool>>;
        };
    static constexpr bool lists =
        requires(S& s, const partition_key& key, const std::optional<std::uint64_t>& after,
                 std::uint64_t max_count) {
            { s.list(key, after, max_count) } -> std::same_as<result<std::vector<dead_letter>>>;
        };

    static_assert(removes, "store: remove(tx, key, sequence) must exist and return result<bool>");
    static_assert(lists,
                  "store: list(key, after, max_count) must exist and return "
                  "result<std::vector<dead_letter>>");
};

/// A store needs no crash records. If it has one of the calls for them, it needs all.
template <class S>
struct checked_crash_records {
    using transaction = typename transaction_type<S>::type;

    static constexpr bool ok_load = requires(S& s, const partition_key& key) {
        { s.load_crash_record(key) } -> std::same_as<result<std::optional<crash_record>>>;
    };
    static constexpr bool ok_store =
        requires(S& s, transaction& tx, const partition_key& key, const crash_record& row) {
            { s.store_crash_record(tx, key, row) } -> std::same_as<result<void>>;
        };
    static constexpr bool ok_clear = requires(S& s, transaction& tx, const partition_key& key) {
        { s.clear_crash_record(tx, key) } -> std::same_as<result<void>>;
    };
    static constexpr bool has_no_call = !requires(S& s, const partition_key& key) {
        s.load_crash_record(key);
    } && !requires(S& s, transaction& tx, const partition_key& key, const crash_record& row) {
        s.store_crash_record(tx, key, row);
    } && !requires(S& s, transaction& tx, const partition_key& key) {
        s.clear_crash_record(tx, key);
    };

    static constexpr bool loads = has_no_call || ok_load;
    static constexpr bool stores = has_no_call || ok_store;
    static constexpr bool clears = has_no_call || ok_clear;
    static constexpr bool ok = loads && stores && clears;

    static_assert(loads,
                  "store with crash records: load_crash_record(key) must exist and return "
                  "result<std::optional<crash_record>>");
    static_assert(stores,
                  "store with crash records: store_crash_record(tx, key, row) must exist "
                  "and return result<void>");
    static_assert(clears,
                  "store with crash records: clear_crash_record(tx, key) must exist and "
                  "return result<void>");
};

/// The store of process_batch.
template <class S>
struct checked_batch_store {
    static constexpr bool ok = checked_checkpoint_store<S>::ok &&
                               checked_dead_letter_store<S>::ok && checked_crash_records<S>::ok;
};

template <class C>
struct checked_checkpoint_writer {
    static constexpr bool loads = requires(C& c, const partition_key& key) {
        { c.load(key) } -> std::same_as<result<std::optional<checkpoint>>>;
    };
    static constexpr bool commits =
        requires(C& c, const partition_key& key, const std::optional<position>& from,
                 const position& to, std::uint64_t epoch) {
            { c.commit(key, from, to, epoch) } -> std::same_as<result<advance_outcome>>;
        };
    static constexpr bool ok = loads && commits;

    static_assert(loads,
                  "checkpoints: load(key) must exist and return "
                  "result<std::optional<checkpoint>>");
    static_assert(commits,
                  "checkpoints: commit(key, from, to, epoch) must exist and return "
                  "result<advance_outcome>");
};

template <class L>
struct checked_dead_letter_sink {
    static constexpr bool ok = requires(L& l, const dead_letter& letter) {
        { l.put(letter) } -> std::same_as<result<void>>;
    };

    static_assert(ok, "letters: put(letter) must exist and return result<void>");
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_CHECKED_STORES_HPP

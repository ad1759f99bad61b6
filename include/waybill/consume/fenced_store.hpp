// SPDX-License-Identifier: MIT
//
// fenced_store: a store that lets only the holder of the lease advance a checkpoint.
//
// A lease that is checked before a transaction may be gone when it commits. Here the lease row is
// read inside of the transaction, so the database itself says who comes first: a claim waits for
// the commit, or the commit finds the later epoch. A lease is given back under a later one, too
// (lease_keeper.hpp): what its former holder still has in hand is refused even before somebody else
// claims it. Compare-and-set on the position stays behind it as the second guard.
//
//     engines::database db("sink.sqlite");
//     engines::sqlite_store checkpoints(db);
//     engines::sqlite_leases leases(db);                      // the same database
//     waybill::fenced_store store(checkpoints, leases);
//     auto r = waybill::process_batch(store, mine, events, handler, now);
//
// It refers to both, and has what the store has.

#ifndef WAYBILL_CONSUME_FENCED_STORE_HPP
#define WAYBILL_CONSUME_FENCED_STORE_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/consume/stores.hpp>

namespace waybill::inline v0_2 {

/// Answers the epoch of a lease as the transaction sees it; empty if there is no such row. The row
/// must not change before the transaction ends: read it under a lock, or where writes are serial.
template <class L, class Transaction>
concept lease_fence = requires(L& l, Transaction& tx, const partition_key& key) {
    { l.epoch(tx, key) } -> std::same_as<result<std::optional<std::uint64_t>>>;
};

template <checkpoint_store Store, lease_fence<typename Store::transaction> Leases>
class fenced_store {
public:
    using transaction = typename Store::transaction;

    fenced_store(Store& store, Leases& leases) : store_(&store), leases_(&leases) {}

    [[nodiscard]] result<transaction> begin() { return store_->begin(); }
    [[nodiscard]] result<std::optional<checkpoint>> load(const partition_key& key)
    {
        return store_->load(key);
    }

    /// stale_epoch unless the lease is held under just this epoch.
    [[nodiscard]] result<advance_outcome> advance(transaction& tx, const partition_key& key,
                                                  const std::optional<position>& from,
                                                  const position& to, std::uint64_t epoch)
    {
        const result<std::optional<std::uint64_t>> held = leases_->epoch(tx, key);
        if (!held) return unexpected(held.error());
        if (*held != epoch) return advance_outcome::stale_epoch;
        return store_->advance(tx, key, from, to, epoch);
    }

    /// The same for the way back to the beginning, where the store has it.
    [[nodiscard]] result<advance_outcome> reset(transaction& tx, const partition_key& key,
                                                const position& from, std::uint64_t epoch)
        requires checkpoint_reset<Store>
    {
        const result<std::optional<std::uint64_t>> held = leases_->epoch(tx, key);
        if (!held) return unexpected(held.error());
        if (*held != epoch) return advance_outcome::stale_epoch;
        return store_->reset(tx, key, from, epoch);
    }

    // What follows is the store's own, where it has it. No lease is asked for there.

    [[nodiscard]] result<void> put(transaction& tx, const dead_letter& letter)
        requires dead_letter_store<Store>
    {
        return store_->put(tx, letter);
    }
    [[nodiscard]] result<std::optional<dead_letter>> find(const partition_key& key,
                                                          std::uint64_t sequence)
        requires dead_letter_store<Store>
    {
        return store_->find(key, sequence);
    }
    [[nodiscard]] result<bool> remove(transaction& tx, const partition_key& key,
                                      std::uint64_t sequence)
        requires dead_letter_queue<Store>
    {
        return store_->remove(tx, key, sequence);
    }
    [[nodiscard]] result<std::vector<dead_letter>> list(const partition_key& key,
                                                        const std::optional<std::uint64_t>& after,
                                                        std::uint64_t most)
        requires dead_letter_queue<Store>
    {
        return store_->list(key, after, most);
    }
    [[nodiscard]] result<std::optional<attempt>> attempted(const partition_key& key)
        requires attempt_store<Store>
    {
        return store_->attempted(key);
    }
    [[nodiscard]] result<void> note(transaction& tx, const partition_key& key, const attempt& row)
        requires attempt_store<Store>
    {
        return store_->note(tx, key, row);
    }
    [[nodiscard]] result<void> forget(transaction& tx, const partition_key& key)
        requires attempt_store<Store>
    {
        return store_->forget(tx, key);
    }

private:
    Store* store_;
    Leases* leases_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_FENCED_STORE_HPP

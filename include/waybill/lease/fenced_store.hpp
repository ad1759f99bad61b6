// SPDX-License-Identifier: MIT
//
// fenced_store: a store in which only the holder of the lease can advance a checkpoint.
//
//     engines::database db("sink.sqlite");
//     engines::sqlite_store checkpoints(db);
//     engines::sqlite_leases leases(db);                      // the same database
//     waybill::fenced_store store(checkpoints, leases);
//     auto r = waybill::process_batch(store, mine, events, handler, now);
//
// A lease checked before a transaction may be lost before the commit. So the lease row is read
// within the transaction, and the database decides the order. Either a claim waits for the commit,
// or the transaction reads the later epoch. A released lease also has a later epoch
// (lease_manager.hpp). So writes of its former holder are refused even before the next claim.
// Compare-and-set on the position remains the second guard.
//
// The fenced store refers to both arguments and has all calls that the store has.

#ifndef WAYBILL_LEASE_FENCED_STORE_HPP
#define WAYBILL_LEASE_FENCED_STORE_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/consume/stores.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// A store of leases that the transaction can read. `epoch` returns the epoch of a lease; empty if
/// there is no such row. The row must not change before the transaction ends: read it under a lock,
/// or use serialised writes.
template <class L, class Transaction>
concept lease_fence = requires(L& l, Transaction& tx, const partition_key& key) {
    { l.epoch(tx, key) } -> std::same_as<result<std::optional<std::uint64_t>>>;
};

}  // namespace detail

template <class Store, class Leases>
class fenced_store {
    static_assert(checkpoint_store<Store>,
                  "fenced_store: the store must be a checkpoint_store, with begin(), load(key) and "
                  "advance(tx, key, from, to, epoch)");
    static_assert(detail::lease_fence<Leases, typename Store::transaction>,
                  "fenced_store: the leases must have epoch(tx, key), and it must return "
                  "result<std::optional<std::uint64_t>>");

public:
    using transaction = typename Store::transaction;

    fenced_store(Store& store, Leases& leases) : store_(&store), leases_(&leases) {}

    [[nodiscard]] result<transaction> begin() { return store_->begin(); }
    [[nodiscard]] result<std::optional<checkpoint>> load(const partition_key& key)
    {
        return store_->load(key);
    }

    /// Advances the checkpoint. `stale_epoch` if the lease is not held under exactly this epoch.
    [[nodiscard]] result<advance_outcome> advance(transaction& tx, const partition_key& key,
                                                  const std::optional<position>& from,
                                                  const position& to, std::uint64_t epoch)
    {
        const result<std::optional<std::uint64_t>> lease_epoch = leases_->epoch(tx, key);
        if (!lease_epoch) return unexpected(lease_epoch.error());
        if (*lease_epoch != epoch) return advance_outcome::stale_epoch;
        return store_->advance(tx, key, from, to, epoch);
    }

    /// Resets the checkpoint to the beginning. `stale_epoch` if the lease is not held under exactly
    /// this epoch.
    [[nodiscard]] result<advance_outcome> reset(transaction& tx, const partition_key& key,
                                                const position& from, std::uint64_t epoch)
        requires checkpoint_reset<Store>
    {
        const result<std::optional<std::uint64_t>> lease_epoch = leases_->epoch(tx, key);
        if (!lease_epoch) return unexpected(lease_epoch.error());
        if (*lease_epoch != epoch) return advance_outcome::stale_epoch;
        return store_->reset(tx, key, from, epoch);
    }

    // The following calls exist if the store has them. They do not check the lease.

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
                                                        std::uint64_t max_count)
        requires dead_letter_queue<Store>
    {
        return store_->list(key, after, max_count);
    }
    [[nodiscard]] result<std::optional<crash_record>> load_crash_record(const partition_key& key)
        requires crash_record_store<Store>
    {
        return store_->load_crash_record(key);
    }
    [[nodiscard]] result<void> store_crash_record(transaction& tx, const partition_key& key,
                                                  const crash_record& row)
        requires crash_record_store<Store>
    {
        return store_->store_crash_record(tx, key, row);
    }
    [[nodiscard]] result<void> clear_crash_record(transaction& tx, const partition_key& key)
        requires crash_record_store<Store>
    {
        return store_->clear_crash_record(tx, key);
    }

private:
    Store* store_;
    Leases* leases_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_FENCED_STORE_HPP

// SPDX-License-Identifier: MIT
//
// forwarding: a store that owns its connection, for suites that make stores one after the other.

#ifndef WAYBILL_TESTS_FORWARDING_HPP
#define WAYBILL_TESTS_FORWARDING_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <waybill/consume/stores.hpp>

namespace engines_test {

/// Forwards all calls to a store on a connection that this object owns.
template <class Connection, class Store>
class forwarding {
public:
    using transaction = typename Store::transaction;

    template <class... Options>
    explicit forwarding(std::unique_ptr<Connection> db, Options&&... options)
        : db_(std::move(db)),
          store_(std::make_unique<Store>(*db_, std::forward<Options>(options)...))
    {
    }

    auto begin() { return store_->begin(); }
    auto load(const waybill::partition_key& key) { return store_->load(key); }
    auto advance(transaction& tx, const waybill::partition_key& key,
                 const std::optional<waybill::position>& from, const waybill::position& to,
                 std::uint64_t epoch)
    {
        return store_->advance(tx, key, from, to, epoch);
    }
    auto reset(transaction& tx, const waybill::partition_key& key, const waybill::position& from,
               std::uint64_t epoch)
    {
        return store_->reset(tx, key, from, epoch);
    }
    auto put(transaction& tx, const waybill::dead_letter& d) { return store_->put(tx, d); }
    auto find(const waybill::partition_key& key, std::uint64_t sequence)
    {
        return store_->find(key, sequence);
    }
    auto remove(transaction& tx, const waybill::partition_key& key, std::uint64_t sequence)
    {
        return store_->remove(tx, key, sequence);
    }
    auto list(const waybill::partition_key& key, const std::optional<std::uint64_t>& after,
              std::uint64_t most)
    {
        return store_->list(key, after, most);
    }
    auto dead_letter_keys() { return store_->dead_letter_keys(); }
    auto load_crash_record(const waybill::partition_key& key)
    {
        return store_->load_crash_record(key);
    }
    auto store_crash_record(transaction& tx, const waybill::partition_key& key,
                            const waybill::crash_record& row)
    {
        return store_->store_crash_record(tx, key, row);
    }
    auto clear_crash_record(transaction& tx, const waybill::partition_key& key)
    {
        return store_->clear_crash_record(tx, key);
    }

    [[nodiscard]] Connection& db() { return *db_; }
    [[nodiscard]] Store& bare() { return *store_; }

private:
    std::unique_ptr<Connection> db_;
    std::unique_ptr<Store> store_;
};

}  // namespace engines_test

#endif  // WAYBILL_TESTS_FORWARDING_HPP

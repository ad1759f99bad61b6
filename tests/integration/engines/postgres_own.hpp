// SPDX-License-Identifier: MIT
//
// postgres_own: stores on a server that the test has to itself, each in a schema of its own.

#ifndef WAYBILL_TESTS_POSTGRES_OWN_HPP
#define WAYBILL_TESTS_POSTGRES_OWN_HPP

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <engines/postgres_store.hpp>

namespace postgres_test {

inline std::string where;

/// The address of a schema, with how long a lock is waited for.
[[nodiscard]] inline std::string address_of(const std::string& schema, const std::string& patience)
{
    return where + " options='-c search_path=" + schema + " -c lock_timeout=" + patience + "'";
}

[[nodiscard]] inline std::string fresh_schema()
{
    static int made = 0;
    const std::string name = "s" + std::to_string(++made);
    engines::postgres db(where);
    db.connect();
    db.exec(("CREATE SCHEMA " + name).c_str());
    return name;
}

/// A store with its connection.
class store_at {
public:
    using transaction = engines::postgres_store::transaction;

    explicit store_at(std::string schema, const std::string& patience = "5s",
                      engines::isolation i = engines::isolation::read_committed)
        : schema_(std::move(schema)),
          db_(std::make_unique<engines::postgres>(address_of(schema_, patience))),
          store_(std::make_unique<engines::postgres_store>(*db_, i))
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
    auto attempted(const waybill::partition_key& key) { return store_->attempted(key); }
    auto note(transaction& tx, const waybill::partition_key& key, const waybill::attempt& a)
    {
        return store_->note(tx, key, a);
    }
    auto forget(transaction& tx, const waybill::partition_key& key)
    {
        return store_->forget(tx, key);
    }
    auto reset(transaction& tx, const waybill::partition_key& key, const waybill::position& from,
               std::uint64_t epoch)
    {
        return store_->reset(tx, key, from, epoch);
    }

    [[nodiscard]] const std::string& schema() const { return schema_; }
    [[nodiscard]] engines::postgres& db() { return *db_; }
    [[nodiscard]] engines::postgres_store& bare() { return *store_; }

private:
    std::string schema_;
    std::unique_ptr<engines::postgres> db_;
    std::unique_ptr<engines::postgres_store> store_;
};

[[nodiscard]] inline waybill::partition_key key_of(const std::string& partition)
{
    return {"orders", "billing", partition};
}

/// Says what does not hold, and counts it.
[[nodiscard]] inline int expect(bool holds, const char* what)
{
    if (!holds) std::printf("wrong: %s\n", what);
    return holds ? 0 : 1;
}

}  // namespace postgres_test

#endif  // WAYBILL_TESTS_POSTGRES_OWN_HPP

// SPDX-License-Identifier: MIT
//
// The store of the examples does what process_batch relies on, and so would the one that a user
// writes after it.

#include <cstdio>
#include <memory>
#include <string>

#include <engines/sqlite_store.hpp>

#include <waybill/testing/conformance.hpp>

namespace {

// A store with its connection, which does not wait for a lock: all of the suite is one thread.
class connection {
public:
    explicit connection(std::string path)
        : path_(std::move(path)), db_(std::make_unique<engines::database>(path_))
    {
        sqlite3_busy_timeout(db_->handle(), 0);
        store_ = std::make_unique<engines::sqlite_store>(*db_);
    }

    using transaction = engines::sqlite_store::transaction;

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
    auto note(transaction& tx, const waybill::partition_key& key, const waybill::attempt& row)
    {
        return store_->note(tx, key, row);
    }
    auto forget(transaction& tx, const waybill::partition_key& key)
    {
        return store_->forget(tx, key);
    }

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    std::unique_ptr<engines::database> db_;
    std::unique_ptr<engines::sqlite_store> store_;
};

static_assert(waybill::dead_letter_queue<connection> && waybill::attempt_store<connection>);

}  // namespace

int main(int, char** argv)
{
    int stores = 0;
    const auto broken = waybill::testing::conformance(
        [&] {
            return connection(std::string(argv[1]) + "/" + std::to_string(++stores) + ".sqlite");
        },
        [](const connection& c) { return connection(c.path()); });
    for (const std::string& rule : broken) std::printf("%s\n", rule.c_str());
    std::printf("%d stores, %zu rules broken\n", stores, broken.size());
    return broken.empty() && stores > 3 ? 0 : 1;
}

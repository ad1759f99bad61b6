// SPDX-License-Identifier: MIT
//
// memory_store: checkpoints, dead letters, crash records and effects in memory, with transactions.
//
// For tests of applications. The tests that enumerate faults use it as the model, too.
//
//     waybill::testing::memory_store<std::string> store;
//     auto r = waybill::process_batch(store, mine, events, [](auto& tx, const order& o) {
//         tx.record(o.name);                                   // an effect, in order of commits
//         return waybill::fault{};
//     }, now);
//     store.records();
//
//   1. It behaves like a database with row locks: reads return committed rows only.
//   2. `advance`, `reset` and `remove` check the committed rows and the earlier writes of the
//      transaction. The commit compares again. If another transaction has changed such a row, the
//      commit returns `not_applied`.
//   3. If a commit runs out of memory, the store is unchanged.
//
// Cost: reads are logarithmic in the rows. A commit is at most quadratic in its own writes.

#ifndef WAYBILL_TESTING_MEMORY_STORE_HPP
#define WAYBILL_TESTING_MEMORY_STORE_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/consume/stores.hpp>

namespace waybill::inline v0_2::testing {

template <class Record = std::string>
class memory_store {
    struct checkpoint_write {
        partition_key key;
        std::optional<position> from;
        std::optional<position> to;  // empty for a reset
        std::uint64_t epoch;
    };
    // The stored part of a checkpoint. After a reset it contains only the epoch.
    struct checkpoint_row {
        std::optional<position> at;
        std::uint64_t epoch;
    };
    struct crash_record_write {
        partition_key key;
        std::optional<crash_record> row;
    };
    struct letter_removal {
        partition_key key;
        std::uint64_t sequence;
    };
    // The changes of a commit to one table. `put` and `erase` allocate all memory, so a failed
    // allocation leaves the table unchanged. `apply_to` allocates nothing.
    template <class Table>
    class changes {
    public:
        using key_type = typename Table::key_type;
        void put(key_type key, typename Table::mapped_type row)
        {
            keys_.push_back(key);
            rows_.insert_or_assign(std::move(key), std::move(row));
        }
        void erase(key_type key)
        {
            rows_.erase(key);
            keys_.push_back(std::move(key));
        }
        void apply_to(Table& table) noexcept
        {
            for (const key_type& key : keys_) table.erase(key);
            table.merge(rows_);
        }

    private:
        std::vector<key_type> keys_;
        Table rows_;
    };
    using write =
        std::variant<Record, dead_letter, checkpoint_write, crash_record_write, letter_removal>;
    // The alternatives are selected by index, because `Record` may be any type.
    static constexpr std::size_t effect_index = 0;
    static constexpr std::size_t letter_index = 1;
    static constexpr std::size_t checkpoint_index = 2;
    static constexpr std::size_t crash_record_index = 3;
    static constexpr std::size_t removal_index = 4;

public:
    class transaction {
    public:
        explicit transaction(memory_store& s) : store_(&s) {}
        transaction(transaction&& other) noexcept
            : store_(std::exchange(other.store_, nullptr)),
              writes_(std::exchange(other.writes_, {})),
              savepoint_at_(other.savepoint_at_)
        {
        }
        transaction& operator=(transaction&& other) noexcept
        {
            store_ = std::exchange(other.store_, nullptr);
            writes_ = std::exchange(other.writes_, {});
            savepoint_at_ = other.savepoint_at_;
            return *this;
        }

        /// Adds an effect. records() contains it after the commit.
        void record(Record r)
        {
            writes_.emplace_back(std::in_place_index<effect_index>, std::move(r));
        }

        /// Sets the savepoint and replaces an earlier one.
        [[nodiscard]] result<void> savepoint()
        {
            if (!store_) return closed();
            savepoint_at_ = writes_.size();
            return {};
        }
        /// Keeps the writes since the savepoint. An error if there is no savepoint.
        [[nodiscard]] result<void> release_savepoint()
        {
            if (!store_ || !savepoint_at_) return closed();
            savepoint_at_.reset();
            return {};
        }
        /// Removes the writes since the savepoint. An error if there is no savepoint.
        [[nodiscard]] result<void> rollback_to_savepoint()
        {
            if (!store_ || !savepoint_at_) return closed();
            while (writes_.size() > *savepoint_at_) writes_.pop_back();
            savepoint_at_.reset();
            return {};
        }
        /// Applies all writes or none. Returns `not_applied` after a conflict with another commit,
        /// and if the transaction has ended.
        [[nodiscard]] result<commit_outcome> commit()
        {
            if (!store_) return commit_outcome::not_applied;
            return std::exchange(store_, nullptr)->apply(writes_);
        }
        void rollback() noexcept { store_ = nullptr; }

    private:
        friend memory_store;
        static result<void> closed()
        {
            return unexpected(infrastructure("no transaction or savepoint is open"));
        }

        memory_store* store_;
        std::vector<write> writes_;
        std::optional<std::size_t> savepoint_at_;
    };

    [[nodiscard]] result<transaction> begin() { return transaction(*this); }

    [[nodiscard]] result<std::optional<checkpoint>> load(const partition_key& key) const
    {
        const checkpoint_row* found = committed(key);
        if (!found || !found->at) return std::optional<checkpoint>();
        return std::optional<checkpoint>(checkpoint{*found->at, found->epoch});
    }

    [[nodiscard]] result<advance_outcome> advance(transaction& tx, const partition_key& key,
                                                  const std::optional<position>& from,
                                                  const position& to, std::uint64_t epoch)
    {
        return add_checkpoint_write(tx, {key, from, to, epoch});
    }

    [[nodiscard]] result<advance_outcome> reset(transaction& tx, const partition_key& key,
                                                const position& from, std::uint64_t epoch)
    {
        return add_checkpoint_write(tx, {key, from, {}, epoch});
    }

    [[nodiscard]] result<void> put(transaction& tx, const dead_letter& letter)
    {
        tx.writes_.emplace_back(std::in_place_index<letter_index>, letter);
        return {};
    }

    [[nodiscard]] result<std::optional<dead_letter>> find(const partition_key& key,
                                                          std::uint64_t sequence) const
    {
        const auto found = letters_.find({key, sequence});
        if (found == letters_.end()) return std::optional<dead_letter>();
        return std::optional<dead_letter>(found->second);
    }

    /// Returns whether the dead letter exists, committed or written by this transaction. The commit
    /// checks it again. Linear in the writes of the transaction.
    [[nodiscard]] result<bool> remove(transaction& tx, const partition_key& key,
                                      std::uint64_t sequence)
    {
        bool exists = letters_.contains({key, sequence});
        for (const write& w : tx.writes_) {
            const auto* d = std::get_if<letter_index>(&w);
            if (d && d->key == key && d->at.sequence == sequence) exists = true;
            const auto* r = std::get_if<removal_index>(&w);
            if (r && r->key == key && r->sequence == sequence) exists = false;
        }
        if (exists) {
            tx.writes_.emplace_back(std::in_place_index<removal_index>,
                                    letter_removal{key, sequence});
        }
        return exists;
    }

    [[nodiscard]] result<std::vector<dead_letter>> list(const partition_key& key,
                                                        const std::optional<std::uint64_t>& after,
                                                        std::uint64_t max_count) const
    {
        std::vector<dead_letter> found;
        auto row = letters_.lower_bound({key, after.value_or(0)});
        for (; row != letters_.end() && row->first.first == key && found.size() < max_count;
             ++row) {
            if (!after || row->first.second != *after) found.push_back(row->second);
        }
        return found;
    }

    /// The keys that have committed dead letters. Linear in the dead letters.
    [[nodiscard]] result<std::vector<partition_key>> dead_letter_keys() const
    {
        std::vector<partition_key> keys;
        for (const auto& row : letters_) {
            if (keys.empty() || keys.back() != row.first.first) keys.push_back(row.first.first);
        }
        return keys;
    }

    [[nodiscard]] result<std::optional<crash_record>> load_crash_record(
        const partition_key& key) const
    {
        const auto found = crash_records_.find(key);
        if (found == crash_records_.end()) return std::optional<crash_record>();
        return std::optional<crash_record>(found->second);
    }
    [[nodiscard]] result<void> store_crash_record(transaction& tx, const partition_key& key,
                                                  const crash_record& row)
    {
        tx.writes_.emplace_back(std::in_place_index<crash_record_index>,
                                crash_record_write{key, row});
        return {};
    }
    [[nodiscard]] result<void> clear_crash_record(transaction& tx, const partition_key& key)
    {
        tx.writes_.emplace_back(std::in_place_index<crash_record_index>,
                                crash_record_write{key, std::nullopt});
        return {};
    }

    /// All committed effects, in the order of the commits.
    [[nodiscard]] const std::vector<Record>& records() const noexcept { return records_; }
    /// All committed dead letters by key and sequence.
    [[nodiscard]] const auto& letters() const noexcept { return letters_; }

private:
    advance_outcome add_checkpoint_write(transaction& tx, const checkpoint_write& a)
    {
        const checkpoint_row* stored = committed(a.key);
        std::optional<checkpoint_row> own;
        for (const write& w : tx.writes_) {
            const auto* earlier = std::get_if<checkpoint_index>(&w);
            if (earlier && earlier->key == a.key) own = checkpoint_row{earlier->to, earlier->epoch};
        }
        const advance_outcome o = compare(own ? &*own : stored, a.from, a.epoch);
        if (o == advance_outcome::applied) tx.writes_.emplace_back(a);
        return o;
    }

    [[nodiscard]] const checkpoint_row* committed(const partition_key& key) const
    {
        const auto found = checkpoints_.find(key);
        return found == checkpoints_.end() ? nullptr : &found->second;
    }

    static advance_outcome compare(const checkpoint_row* stored,
                                   const std::optional<position>& from, std::uint64_t epoch)
    {
        if (stored && stored->epoch > epoch) return advance_outcome::stale_epoch;
        const bool exists = stored && stored->at;
        const bool same = exists ? from && from->sequence == stored->at->sequence : !from;
        return same ? advance_outcome::applied : advance_outcome::conflict;
    }

    /// True if another commit has changed a row since this transaction compared it. Only the first
    /// `advance` or `reset` of a key is checked; later ones depend on it alone. A dead letter that
    /// this transaction has put may be absent.
    [[nodiscard]] bool has_conflict(const std::vector<write>& writes) const
    {
        for (std::size_t i = 0; i != writes.size(); ++i) {
            if (const auto* r = std::get_if<removal_index>(&writes[i]);
                r && !letters_.contains({r->key, r->sequence})) {
                bool own = false;
                for (std::size_t before = 0; before != i; ++before) {
                    const auto* d = std::get_if<letter_index>(&writes[before]);
                    if (d && d->key == r->key && d->at.sequence == r->sequence) own = true;
                }
                if (!own) return true;
            }
            const auto* a = std::get_if<checkpoint_index>(&writes[i]);
            if (!a) continue;
            bool first = true;
            for (std::size_t before = 0; before != i; ++before) {
                const auto* earlier = std::get_if<checkpoint_index>(&writes[before]);
                if (earlier && earlier->key == a->key) first = false;
            }
            if (first &&
                compare(committed(a->key), a->from, a->epoch) != advance_outcome::applied) {
                return true;
            }
        }
        return false;
    }

    commit_outcome apply(std::vector<write>& writes)
    {
        if (has_conflict(writes)) return commit_outcome::not_applied;
        changes<decltype(letters_)> letters;
        changes<decltype(checkpoints_)> checkpoints;
        changes<decltype(crash_records_)> crash_records;
        std::size_t effects = 0;
        for (write& w : writes) {
            if (w.index() == effect_index) {
                ++effects;
            } else if (auto* d = std::get_if<letter_index>(&w)) {
                std::pair row(d->key, d->at.sequence);
                letters.put(std::move(row), std::move(*d));
            } else if (auto* a = std::get_if<checkpoint_index>(&w)) {
                checkpoints.put(std::move(a->key), checkpoint_row{std::move(a->to), a->epoch});
            } else if (auto* n = std::get_if<crash_record_index>(&w)) {
                if (n->row) crash_records.put(std::move(n->key), *n->row);
                else crash_records.erase(std::move(n->key));
            } else if (auto* x = std::get_if<removal_index>(&w)) {
                letters.erase({std::move(x->key), x->sequence});
            }
        }
        // The capacity at least doubles, so that consecutive commits take amortized constant time.
        if (records_.capacity() - records_.size() < effects) {
            records_.reserve(records_.size() +
                             (records_.size() < effects ? effects : records_.size()));
        }
        for (write& w : writes) {
            if (auto* r = std::get_if<effect_index>(&w)) records_.push_back(std::move(*r));
        }
        letters.apply_to(letters_);
        checkpoints.apply_to(checkpoints_);
        crash_records.apply_to(crash_records_);
        return commit_outcome::applied;
    }

    std::map<partition_key, checkpoint_row> checkpoints_;
    std::map<std::pair<partition_key, std::uint64_t>, dead_letter> letters_;
    std::map<partition_key, crash_record> crash_records_;
    std::vector<Record> records_;
};

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_STORE_HPP

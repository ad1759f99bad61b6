// SPDX-License-Identifier: MIT
//
// faulty: a store for tests that injects faults into the calls of another store.
//
// A script chooses the fault of each call: an error before or after its effect, the end of the
// process, or an unknown commit outcome. This loop tries all combinations:
//
//     waybill::testing::choices c;
//     do {
//         waybill::testing::memory_store<std::string> kept;
//         waybill::testing::faulty store(kept, [&](store_call call) {
//             const auto faults = waybill::testing::faults_of(call);
//             return faults[c.pick(static_cast<std::uint32_t>(faults.size()))];
//         });
//         run(store);
//     } while (c.next());
//
// The end of the process rolls back all open transactions. Until revive(), each call returns an
// infrastructure fault without effect, so that the code under test ends soon. Exception: the commit
// of a transaction that was rolled back returns `not_applied`.

#ifndef WAYBILL_TESTING_FAULTY_HPP
#define WAYBILL_TESTING_FAULTY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2::testing {

using v0_2::name;

/// The calls that can fail. A rollback cannot fail: without a commit nothing is stored.
enum class store_call : std::uint8_t {
    begin,
    load,
    find,
    savepoint,
    release_savepoint,
    rollback_to_savepoint,
    put,
    advance,
    commit,
    load_crash_record,
    store_crash_record,
    clear_crash_record,
    remove,
    list,
    reset,
};

/// The fault of one call.
enum class injected_fault : std::uint8_t {
    none,
    fails,                ///< The call has no effect and returns an error.
    fails_though_done,    ///< The call takes effect and returns an error.
    dies_before,          ///< The process ends before the call takes effect.
    dies_after,           ///< The process ends after the call took effect.
    not_applied,          ///< commit: no effect, returns `not_applied`.
    unknown_not_applied,  ///< commit: no effect, returns `unknown`.
    unknown_applied,      ///< commit: takes effect, returns `unknown`.
    says_applied,         ///< commit: no effect, but returns `applied`. Wrong result.
    says_not_applied,     ///< commit: takes effect, but returns `not_applied`. Wrong result.
};

[[nodiscard]] constexpr std::string_view texts_of(store_call) noexcept
{
    return "begin, load, find, savepoint, release_savepoint, rollback_to_savepoint, put, advance, "
           "commit, load_crash_record, store_crash_record, clear_crash_record, remove, list, reset";
}

[[nodiscard]] constexpr std::string_view texts_of(injected_fault) noexcept
{
    return "none, fails, fails_though_done, dies_before, dies_after, not_applied, "
           "unknown_not_applied, unknown_applied, says_applied, says_not_applied";
}

namespace detail {

inline constexpr injected_fault all_faults[] = {injected_fault::none,
                                                injected_fault::fails,
                                                injected_fault::dies_before,
                                                injected_fault::fails_though_done,
                                                injected_fault::dies_after,
                                                injected_fault::not_applied,
                                                injected_fault::unknown_not_applied,
                                                injected_fault::unknown_applied,
                                                injected_fault::says_applied,
                                                injected_fault::says_not_applied};

// The numbers of first elements of `all_faults` that a call of a correct store can have.
inline constexpr std::size_t faults_of_reads = 3;   // up to dies_before
inline constexpr std::size_t faults_of_writes = 5;  // up to dies_after
inline constexpr std::size_t faults_of_commit = 8;  // up to unknown_applied

}  // namespace detail

/// All faults that a correct store can have at a call, `none` first. For a read, a fault after the
/// call equals the fault before it, so it is not included.
[[nodiscard]] constexpr std::span<const injected_fault> faults_of(store_call c) noexcept
{
    const std::span<const injected_fault> all(detail::all_faults);
    const bool reads = c == store_call::load || c == store_call::find ||
                       c == store_call::load_crash_record || c == store_call::list;
    if (reads) return all.first(detail::faults_of_reads);
    return all.first(c == store_call::commit ? detail::faults_of_commit : detail::faults_of_writes);
}

/// As `faults_of`, and the wrong commit outcomes of an incorrect store.
[[nodiscard]] constexpr std::span<const injected_fault> faults_and_lies_of(store_call c) noexcept
{
    return c == store_call::commit ? std::span<const injected_fault>(detail::all_faults)
                                   : faults_of(c);
}

/// A store that calls script(store_call) before each call and applies the returned
/// `injected_fault`. The inner store must outlive this object. Moving a transaction is linear in
/// the open transactions.
template <transactional Store, class Script>
class faulty {
    using inner_transaction = typename Store::transaction;

public:
    class transaction {
    public:
        transaction(transaction&& other) noexcept
            : store_(std::exchange(other.store_, nullptr)), inner_(std::move(other.inner_))
        {
            other.inner_.reset();
            if (store_) store_->replace_open(&other, this);
        }
        transaction& operator=(transaction&& other) noexcept
        {
            if (this == &other) return *this;
            close();
            store_ = std::exchange(other.store_, nullptr);
            inner_ = std::move(other.inner_);
            other.inner_.reset();
            if (store_) store_->replace_open(&other, this);
            return *this;
        }
        ~transaction() { close(); }

        /// The transaction of the inner store, for effects. Null after the transaction has ended.
        [[nodiscard]] inner_transaction* inner() noexcept { return inner_ ? &*inner_ : nullptr; }

        [[nodiscard]] result<void> savepoint()
            requires savepoint_scope<inner_transaction>
        {
            return call_with_fault(store_call::savepoint, [&] { return inner_->savepoint(); });
        }
        [[nodiscard]] result<void> release_savepoint()
            requires savepoint_scope<inner_transaction>
        {
            return call_with_fault(store_call::release_savepoint,
                                   [&] { return inner_->release_savepoint(); });
        }
        [[nodiscard]] result<void> rollback_to_savepoint()
            requires savepoint_scope<inner_transaction>
        {
            return call_with_fault(store_call::rollback_to_savepoint,
                                   [&] { return inner_->rollback_to_savepoint(); });
        }

        [[nodiscard]] result<commit_outcome> commit()
        {
            if (!store_ || !inner_) return commit_outcome::not_applied;
            faulty& s = *store_;
            const injected_fault chosen = s.script_(store_call::commit);
            const bool takes_effect =
                chosen == injected_fault::none || chosen == injected_fault::fails_though_done ||
                chosen == injected_fault::dies_after || chosen == injected_fault::unknown_applied ||
                chosen == injected_fault::says_not_applied;
            result<commit_outcome> result_of_commit = commit_outcome::not_applied;
            if (takes_effect) result_of_commit = inner_->commit();
            close();
            if (chosen == injected_fault::dies_before || chosen == injected_fault::dies_after)
                return unexpected(s.die());
            if (chosen == injected_fault::fails || chosen == injected_fault::fails_though_done)
                return unexpected(call_failed());
            if (chosen == injected_fault::unknown_applied ||
                chosen == injected_fault::unknown_not_applied) {
                return commit_outcome::unknown;
            }
            if (chosen == injected_fault::says_applied) return commit_outcome::applied;
            if (chosen == injected_fault::says_not_applied) return commit_outcome::not_applied;
            return result_of_commit;
        }

        void rollback() noexcept { close(); }

    private:
        friend faulty;
        transaction(faulty& s, inner_transaction inner) : store_(&s), inner_(std::move(inner))
        {
            s.open_transactions_.push_back(this);
        }

        template <class F>
        auto call_with_fault(store_call call, F&& f) -> decltype(f())
        {
            if (!store_ || !inner_) return unexpected(process_ended());
            faulty& s = *store_;
            return s.call_with_fault(call, std::forward<F>(f));
        }

        void close() noexcept
        {
            if (inner_) inner_->rollback();
            inner_.reset();
            if (store_) store_->remove_open(this);
            store_ = nullptr;
        }

        faulty* store_;
        std::optional<inner_transaction> inner_;
    };

    faulty(Store& store, Script script) : store_(store), script_(std::move(script)) {}
    faulty(const faulty&) = delete;
    faulty& operator=(const faulty&) = delete;

    [[nodiscard]] result<transaction> begin()
    {
        if (!alive_) return unexpected(process_ended());
        // If the call takes effect but returns an error, its transaction goes out of scope here and
        // is rolled back.
        return call_with_fault(store_call::begin, [&]() -> result<transaction> {
            auto begun = store_.begin();
            if (!begun) return unexpected(std::move(begun).error());
            return transaction(*this, *std::move(begun));
        });
    }

    [[nodiscard]] auto load(const partition_key& key)
        requires checkpoint_store<Store>
    {
        return call_with_fault(store_call::load, [&] { return store_.load(key); });
    }

    [[nodiscard]] result<advance_outcome> advance(transaction& tx, const partition_key& key,
                                                  const std::optional<position>& from,
                                                  const position& to, std::uint64_t epoch)
        requires checkpoint_store<Store>
    {
        return tx.call_with_fault(store_call::advance,
                                  [&] { return store_.advance(*tx.inner_, key, from, to, epoch); });
    }

    [[nodiscard]] result<advance_outcome> reset(transaction& tx, const partition_key& key,
                                                const position& from, std::uint64_t epoch)
        requires checkpoint_reset<Store>
    {
        return tx.call_with_fault(store_call::reset,
                                  [&] { return store_.reset(*tx.inner_, key, from, epoch); });
    }

    [[nodiscard]] result<void> put(transaction& tx, const dead_letter& letter)
        requires dead_letter_store<Store>
    {
        return tx.call_with_fault(store_call::put, [&] { return store_.put(*tx.inner_, letter); });
    }

    [[nodiscard]] auto find(const partition_key& key, std::uint64_t sequence)
        requires dead_letter_store<Store>
    {
        return call_with_fault(store_call::find, [&] { return store_.find(key, sequence); });
    }

    [[nodiscard]] result<bool> remove(transaction& tx, const partition_key& key,
                                      std::uint64_t sequence)
        requires dead_letter_queue<Store>
    {
        return tx.call_with_fault(store_call::remove,
                                  [&] { return store_.remove(*tx.inner_, key, sequence); });
    }

    [[nodiscard]] result<std::vector<dead_letter>> list(const partition_key& key,
                                                        const std::optional<std::uint64_t>& after,
                                                        std::uint64_t max_count)
        requires dead_letter_queue<Store>
    {
        return call_with_fault(store_call::list,
                               [&] { return store_.list(key, after, max_count); });
    }

    [[nodiscard]] result<std::optional<crash_record>> load_crash_record(const partition_key& key)
        requires crash_record_store<Store>
    {
        return call_with_fault(store_call::load_crash_record,
                               [&] { return store_.load_crash_record(key); });
    }

    [[nodiscard]] result<void> store_crash_record(transaction& tx, const partition_key& key,
                                                  const crash_record& row)
        requires crash_record_store<Store>
    {
        return tx.call_with_fault(store_call::store_crash_record,
                                  [&] { return store_.store_crash_record(*tx.inner_, key, row); });
    }

    [[nodiscard]] result<void> clear_crash_record(transaction& tx, const partition_key& key)
        requires crash_record_store<Store>
    {
        return tx.call_with_fault(store_call::clear_crash_record,
                                  [&] { return store_.clear_crash_record(*tx.inner_, key); });
    }

    /// Ends the process, for example within a handler. Rolls back all open transactions. Returns
    /// the fault that each call returns until revive().
    fault die()
    {
        alive_ = false;
        while (!open_transactions_.empty()) open_transactions_.back()->close();
        return process_ended();
    }
    /// False after the end of the process, until revive().
    [[nodiscard]] bool alive() const noexcept { return alive_; }
    /// Starts a new process: calls reach the inner store again.
    void revive() noexcept { alive_ = true; }

private:
    static fault call_failed() { return infrastructure("store failed"); }
    static fault process_ended() { return infrastructure("process gone"); }

    template <class F>
    auto call_with_fault(store_call call, F&& f) -> decltype(f())
    {
        if (!alive_) return unexpected(process_ended());
        const injected_fault chosen = script_(call);
        if (chosen == injected_fault::none) return f();
        if (chosen == injected_fault::dies_before) return unexpected(die());
        if (chosen == injected_fault::dies_after || chosen == injected_fault::fails_though_done ||
            chosen == injected_fault::unknown_applied) {
            (void)f();
        }
        if (chosen == injected_fault::dies_after) return unexpected(die());
        return unexpected(call_failed());
    }

    void replace_open(transaction* from, transaction* to) noexcept
    {
        for (transaction*& t : open_transactions_) {
            if (t == from) t = to;
        }
    }
    void remove_open(transaction* closed) noexcept
    {
        for (std::size_t i = open_transactions_.size(); i-- != 0;) {
            if (open_transactions_[i] == closed)
                open_transactions_.erase(open_transactions_.begin() +
                                         static_cast<std::ptrdiff_t>(i));
        }
    }

    Store& store_;
    Script script_;
    bool alive_ = true;
    std::vector<transaction*> open_transactions_;
};

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_FAULTY_HPP

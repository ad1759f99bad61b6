// SPDX-License-Identifier: MIT
//
// ext/exceptions_store: a store whose calls throw, as a store that returns errors.
//
//     waybill::catching_store safe(store);
//     auto r = waybill::process_batch(safe, mine, events, waybill::catching(handle), now);
//
//     waybill::catching_store own(store, [](const std::exception& e) {
//         return dynamic_cast<const constraint_error*>(&e) ? waybill::fault_kind::permanent
//                                                          : waybill::fault_kind::infrastructure;
//     });
//
// The store has the functions of its concepts (consume/stores.hpp), and lets exceptions of its
// database library pass. The handler gets the transaction of the store, with all its members.
//
//   1. An exception of a call becomes the error of its result. Without `classify`, or if that
//      throws, its kind is `infrastructure`: the database is the cause, not an event.
//   2. An exception of `commit` is an unknown outcome: the transaction may have been applied.
//   3. An exception of `rollback` is dropped.
//   4. The wrapper has the functions that the store has, and no others.

#ifndef WAYBILL_EXT_EXCEPTIONS_STORE_HPP
#define WAYBILL_EXT_EXCEPTIONS_STORE_HPP

#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/ext/detail/exceptions_catcher.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// The default `classify` of `catching_store`.
struct store_is_down {
    [[nodiscard]] fault_kind operator()(const std::exception&) const noexcept
    {
        return fault_kind::infrastructure;
    }
};

/// The result of `call`, or the fault of its exception as the error.
template <class Classify, class Call>
[[nodiscard]] auto caught(const Classify& classify, Call&& call) -> decltype(call())
{
    try {
        return call();
    } catch (const std::exception& e) {
        fault_kind kind = fault_kind::none;
        try {
            kind = classify(e);
        } catch (...) {
            kind = fault_kind::infrastructure;
        }
        if (kind == fault_kind::none) kind = fault_kind::infrastructure;
        const char* what = e.what();
        return unexpected(exception_fault(kind, what ? what : ""));
    } catch (...) {
        constexpr std::string_view what = "an exception that is not a std::exception";
        return unexpected(exception_fault(fault_kind::infrastructure, what));
    }
}

}  // namespace detail

/// Refers to `store`, which must outlive it. `classify` maps an exception to a fault_kind; it is
/// copied into each transaction.
template <class Store, class Classify = detail::store_is_down>
class catching_store {
    using inner_tx = typename Store::transaction;

    // The concepts of stores require a rollback that does not throw, so they cannot be used here.
    static constexpr bool has_savepoints = requires(inner_tx& tx) { tx.savepoint(); };
    static constexpr bool has_checkpoints =
        requires(Store& s, const partition_key& key) { s.load(key); };
    static constexpr bool has_reset =
        requires(Store& s, inner_tx& tx, const partition_key& key, const position& from) {
            s.reset(tx, key, from, std::uint64_t{});
        };
    static constexpr bool has_letters =
        requires(Store& s, const partition_key& key) { s.find(key, std::uint64_t{}); };
    static constexpr bool has_list = requires(Store& s, const partition_key& key) {
        s.list(key, std::optional<std::uint64_t>(), std::uint64_t{});
    };
    static constexpr bool has_crash_records =
        requires(Store& s, const partition_key& key) { s.load_crash_record(key); };

public:
    explicit catching_store(Store& store, Classify classify = {})
        : store_(&store), classify_(std::move(classify))
    {
    }

    class transaction : public inner_tx {
    public:
        transaction(inner_tx&& tx, const Classify& classify)
            : inner_tx(std::move(tx)), classify_(classify)
        {
        }

        /// An error of a commit is an unknown outcome.
        [[nodiscard]] result<commit_outcome> commit()
        {
            return detail::caught(classify_, [&] { return inner_tx::commit(); });
        }
        void rollback() noexcept
        {
            try {
                inner_tx::rollback();
            } catch (...) {
                return;  // a rollback reports nothing
            }
        }
        [[nodiscard]] result<void> savepoint()
            requires has_savepoints
        {
            return detail::caught(classify_, [&] { return inner_tx::savepoint(); });
        }
        [[nodiscard]] result<void> release_savepoint()
            requires has_savepoints
        {
            return detail::caught(classify_, [&] { return inner_tx::release_savepoint(); });
        }
        [[nodiscard]] result<void> rollback_to_savepoint()
            requires has_savepoints
        {
            return detail::caught(classify_, [&] { return inner_tx::rollback_to_savepoint(); });
        }

    private:
        Classify classify_;
    };

    [[nodiscard]] result<transaction> begin()
    {
        return detail::caught(classify_, [&]() -> result<transaction> {
            auto tx = store_->begin();
            if (!tx) return unexpected(tx.error());
            return transaction(std::move(*tx), classify_);
        });
    }

    [[nodiscard]] result<std::optional<checkpoint>> load(const partition_key& key)
        requires has_checkpoints
    {
        return detail::caught(classify_, [&] { return store_->load(key); });
    }
    [[nodiscard]] result<advance_outcome> advance(transaction& tx, const partition_key& key,
                                                  const std::optional<position>& from,
                                                  const position& to, std::uint64_t epoch)
        requires has_checkpoints
    {
        return detail::caught(classify_, [&] { return store_->advance(tx, key, from, to, epoch); });
    }
    [[nodiscard]] result<advance_outcome> reset(transaction& tx, const partition_key& key,
                                                const position& from, std::uint64_t epoch)
        requires has_reset
    {
        return detail::caught(classify_, [&] { return store_->reset(tx, key, from, epoch); });
    }

    [[nodiscard]] result<void> put(transaction& tx, const dead_letter& letter)
        requires has_letters
    {
        return detail::caught(classify_, [&] { return store_->put(tx, letter); });
    }
    [[nodiscard]] result<std::optional<dead_letter>> find(const partition_key& key,
                                                          std::uint64_t sequence)
        requires has_letters
    {
        return detail::caught(classify_, [&] { return store_->find(key, sequence); });
    }
    [[nodiscard]] result<bool> remove(transaction& tx, const partition_key& key,
                                      std::uint64_t sequence)
        requires has_list
    {
        return detail::caught(classify_, [&] { return store_->remove(tx, key, sequence); });
    }
    [[nodiscard]] result<std::vector<dead_letter>> list(const partition_key& key,
                                                        const std::optional<std::uint64_t>& after,
                                                        std::uint64_t max_count)
        requires has_list
    {
        return detail::caught(classify_, [&] { return store_->list(key, after, max_count); });
    }

    [[nodiscard]] result<std::optional<crash_record>> load_crash_record(const partition_key& key)
        requires has_crash_records
    {
        return detail::caught(classify_, [&] { return store_->load_crash_record(key); });
    }
    [[nodiscard]] result<void> store_crash_record(transaction& tx, const partition_key& key,
                                                  const crash_record& row)
        requires has_crash_records
    {
        return detail::caught(classify_, [&] { return store_->store_crash_record(tx, key, row); });
    }
    [[nodiscard]] result<void> clear_crash_record(transaction& tx, const partition_key& key)
        requires has_crash_records
    {
        return detail::caught(classify_, [&] { return store_->clear_crash_record(tx, key); });
    }

private:
    Store* store_;
    Classify classify_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_EXCEPTIONS_STORE_HPP

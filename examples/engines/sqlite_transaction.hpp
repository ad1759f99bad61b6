// SPDX-License-Identifier: MIT
//
// sqlite_transaction: transactions of SQLite with one savepoint, for waybill's stores.
//
//     class my_store : public engines::sqlite_transactions { ... };      // begin() and transaction
//     auto handle = waybill::catching(apply, engines::classify);        // exceptions of statements
//
//   1. All statements on the same connection are part of the open transaction.
//   2. SQLite can roll a transaction back by itself, for example if the disk is full. From then on
//      each call of this transaction fails, and so does each further write until its end.
//
// Failure                               Fault
// CONSTRAINT, TOOBIG, MISMATCH          permanent: a value of the event is wrong
// all others                            infrastructure

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_TRANSACTION_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_TRANSACTION_HPP

#include <exception>
#include <type_traits>
#include <utility>

#include "sqlite.hpp"
#include <waybill/consume.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/lease.hpp>

namespace engines {

/// For waybill::catching, if the handler's statements use the connection of the store. Values that
/// a table refuses are `permanent`. Other errors of SQLite are not caused by the event.
[[nodiscard]] inline waybill::fault_kind classify(const std::exception& e) noexcept
{
    const auto* const own = dynamic_cast<const sqlite_error*>(&e);
    return own && own->of_values() ? waybill::fault_kind::permanent : waybill::by_default{}(e);
}

class sqlite_transactions {
public:
    /// Rolled back at its end unless it was committed.
    class transaction {
    public:
        explicit transaction(sqlite_transactions& s) : store_(&s)
        {
            if (s.db_.keeps_transaction()) throw sqlite_error("another transaction has not ended");
            s.begin_.run();
            s.db_.keep_transaction();
        }
        transaction(transaction&& other) noexcept : store_(std::exchange(other.store_, nullptr)) {}
        transaction& operator=(transaction&& other) noexcept
        {
            if (this != &other) {
                rollback();
                store_ = std::exchange(other.store_, nullptr);
            }
            return *this;
        }
        ~transaction() { rollback(); }

        [[nodiscard]] waybill::result<void> savepoint()
        {
            return within(*this, [&] { store_->savepoint_.run(); });
        }
        [[nodiscard]] waybill::result<void> release_savepoint()
        {
            return within(*this, [&] { store_->release_.run(); });
        }
        [[nodiscard]] waybill::result<void> rollback_to_savepoint()
        {
            return within(*this, [&] {
                store_->undo_.run();
                store_->release_.run();
            });
        }

        /// True until it has ended or is lost.
        [[nodiscard]] bool open() const noexcept
        {
            return store_ && !store_->db_.transaction_lost();
        }

        /// If a commit fails and the transaction is open, it is not applied. If it fails and the
        /// transaction has ended, it is unknown.
        [[nodiscard]] waybill::result<waybill::commit_outcome> commit()
        {
            if (!open()) {
                rollback();
                return waybill::commit_outcome::not_applied;
            }
            database& db = store_->db_;
            db.let_transaction_go();
            const auto done = answer([&] { store_->commit_.run(); });
            const bool still_open = db.in_transaction();
            rollback();
            if (done) return waybill::commit_outcome::applied;
            if (still_open) return waybill::commit_outcome::not_applied;
            return waybill::commit_outcome::unknown;
        }

        void rollback() noexcept
        {
            sqlite_transactions* const s = std::exchange(store_, nullptr);
            if (!s) return;
            s->db_.let_transaction_go();
            if (s->db_.in_transaction()) static_cast<void>(answer([&] { s->rollback_.run(); }));
        }

    private:
        sqlite_transactions* store_;
    };

    explicit sqlite_transactions(database& db) : db_(db) {}

    /// BEGIN IMMEDIATE: it has the only write lock of the database from the beginning, so its reads
    /// stay valid until its end.
    [[nodiscard]] waybill::result<transaction> begin()
    {
        return answer([&] { return transaction(*this); });
    }

protected:
    /// The result of f, or its exception as a fault.
    template <class F>
    [[nodiscard]] static auto answer(F&& f) -> waybill::result<decltype(f())>
    {
        try {
            if constexpr (std::is_void_v<decltype(f())>) {
                f();
                return {};
            } else {
                return f();
            }
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
    }

    /// The same for writes of f in a transaction, only while that is open. The fault is `permanent`
    /// if a table refuses the values.
    template <class F>
    [[nodiscard]] static auto within(const transaction& tx, F&& f) -> waybill::result<decltype(f())>
    {
        constexpr auto lost = "the transaction has ended: SQLite, or its owner, has rolled it back";
        if (!tx.open()) return waybill::unexpected(waybill::infrastructure(lost));
        bool of_values = false;
        auto r = answer([&] {
            try {
                return f();
            } catch (const sqlite_error& e) {
                of_values = e.of_values();
                throw;
            }
        });
        if (of_values && tx.open()) r = waybill::unexpected(waybill::permanent(r.error().text));
        return r;
    }

    database& db_;

private:
    statement begin_{db_, "BEGIN IMMEDIATE"};
    statement commit_{db_, "COMMIT"};
    statement rollback_{db_, "ROLLBACK"};
    statement savepoint_{db_, "SAVEPOINT event"};
    statement release_{db_, "RELEASE event"};
    statement undo_{db_, "ROLLBACK TO event"};
};

static_assert(waybill::transactional<sqlite_transactions>);
static_assert(waybill::savepoint_scope<sqlite_transactions::transaction>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_TRANSACTION_HPP

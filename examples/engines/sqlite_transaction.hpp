// SPDX-License-Identifier: MIT
//
// sqlite_transaction: transactions of SQLite with one savepoint, as waybill's stores have them.
//
//     class my_store : public engines::sqlite_transactions { ... };      // begin() and transaction
//
// Whatever a statement on the same connection writes while one is open is a part of it.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_TRANSACTION_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_TRANSACTION_HPP

#include <utility>

#include "sqlite.hpp"
#include <waybill/consume.hpp>

namespace engines {

class sqlite_transactions {
public:
    /// Open until it is committed; without that it is rolled back.
    class transaction {
    public:
        explicit transaction(sqlite_transactions& s) : store_(&s) { s.begin_.run(); }
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
            return attempt([&] { store_->savepoint_.run(); });
        }
        [[nodiscard]] waybill::result<void> release()
        {
            return attempt([&] { store_->release_.run(); });
        }
        [[nodiscard]] waybill::result<void> undo()
        {
            return attempt([&] {
                store_->undo_.run();
                store_->release_.run();
            });
        }

        /// A commit that failed and left the transaction open has not happened; of one that failed
        /// and closed it nobody knows.
        [[nodiscard]] waybill::result<waybill::commit_outcome> commit()
        {
            if (!store_) return waybill::commit_outcome::not_applied;
            const auto done = attempt([&] { store_->commit_.run(); });
            if (done) {
                store_ = nullptr;
                return waybill::commit_outcome::applied;
            }
            const bool open = store_->db_.in_transaction();
            rollback();
            return open ? waybill::commit_outcome::not_applied : waybill::commit_outcome::unknown;
        }

        void rollback() noexcept
        {
            sqlite_transactions* const s = std::exchange(store_, nullptr);
            if (!s || !s->db_.in_transaction()) return;
            static_cast<void>(attempt([&] { s->rollback_.run(); }));
        }

    private:
        sqlite_transactions* store_;
    };

    explicit sqlite_transactions(database& db) : db_(db) {}

    /// BEGIN IMMEDIATE: it holds the only write lock of the database from the beginning, so what it
    /// reads stays so until it ends.
    [[nodiscard]] waybill::result<transaction> begin()
    {
        try {
            return transaction(*this);
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
    }

protected:
    template <class F>
    [[nodiscard]] static waybill::result<void> attempt(F&& f)
    {
        try {
            f();
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
        return {};
    }

    /// What f answers, or why it could not.
    template <class F>
    [[nodiscard]] static auto answer(F&& f) -> waybill::result<decltype(f())>
    {
        try {
            return f();
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
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

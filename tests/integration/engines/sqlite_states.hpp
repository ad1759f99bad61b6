// SPDX-License-Identifier: MIT
//
// Two stores for the states of sessions, each with its connection: a separate table, as for a
// broker without session states, and the states in the queue.

#ifndef WAYBILL_TESTS_INTEGRATION_ENGINES_SQLITE_STATES_HPP
#define WAYBILL_TESTS_INTEGRATION_ENGINES_SQLITE_STATES_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <engines/sqlite_sessions.hpp>

#include <waybill/session/session_store.hpp>

class table_states : engines::sqlite_transactions {
public:
    using version = std::uint64_t;
    using stored = waybill::stored_state<version>;

    explicit table_states(engines::database& db) : sqlite_transactions(db) {}

    waybill::result<std::optional<stored>> load(const std::string& session)
    {
        return answer([&] {
            std::optional<stored> found;
            load_.each([&] { found = stored{load_.bytes(0), load_.size(1)}; }, session);
            return found;
        });
    }
    /// One statement, so no other write can come between the comparison and this one.
    waybill::result<waybill::save_result<version>> save(const std::string& session,
                                                        const std::string& bytes,
                                                        const std::optional<version>& expected)
    {
        return answer([&] {
            waybill::save_result<version> s;
            save_.each([&] { s = {waybill::state_write::applied, save_.size(0)}; }, session,
                       engines::blob{bytes}, expected);
            return s;
        });
    }
    waybill::result<waybill::state_write> clear(const std::string& session, const version& expected)
    {
        return answer([&] {
            clear_.run(session, expected);
            const bool done = sqlite3_changes(db_.handle()) != 0;
            return done ? waybill::state_write::applied : waybill::state_write::conflict;
        });
    }

private:
    // A replaced row gets a new number, and AUTOINCREMENT never repeats one.
    static constexpr const char* table =
        "CREATE TABLE IF NOT EXISTS states (version INTEGER PRIMARY KEY AUTOINCREMENT,"
        " session TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL)";
    engines::statement load_{db_.exec(table),
                             "SELECT bytes, version FROM states WHERE session = ?"};
    engines::statement save_{
        db_,
        "REPLACE INTO states (session, bytes) SELECT ?1, ?2"
        " WHERE (SELECT version FROM states WHERE session = ?1) IS ?3 RETURNING version"};
    engines::statement clear_{db_, "DELETE FROM states WHERE session = ? AND version = ?"};
};

/// The version is the token of the lock under which the state was written. It precedes the state.
class queue_states {
public:
    using version = std::uint64_t;
    using stored = waybill::stored_state<version>;

    explicit queue_states(engines::database& db) : queue_(db) {}

    waybill::result<std::optional<stored>> load(const std::string& session)
    {
        return held<std::optional<stored>>(
            session, [&](const engines::session_lock&, std::optional<stored> s) { return s; });
    }
    waybill::result<waybill::save_result<version>> save(const std::string& session,
                                                        const std::string& bytes,
                                                        const std::optional<version>& expected)
    {
        using saving = waybill::save_result<version>;
        return held<saving>(session,
                            [&](const engines::session_lock& l,
                                std::optional<stored> s) -> waybill::result<saving> {
                                if (expected != (s ? std::optional(s->version) : std::nullopt))
                                    return saving{};
                                auto f = queue_.set_state(l, std::to_string(l.token) + ' ' + bytes);
                                if (!f.ok()) return waybill::unexpected(std::move(f));
                                return saving{waybill::state_write::applied, l.token};
                            });
    }
    waybill::result<waybill::state_write> clear(const std::string& session, const version& expected)
    {
        using waybill::state_write;
        return held<state_write>(session,
                                 [&](const engines::session_lock& l,
                                     std::optional<stored> s) -> waybill::result<state_write> {
                                     if (!s || s->version != expected) return state_write::conflict;
                                     auto f = queue_.set_state(l, {});
                                     if (!f.ok()) return waybill::unexpected(std::move(f));
                                     return state_write::applied;
                                 });
    }

private:
    template <class T, class F>
    waybill::result<T> held(const std::string& session, F&& f)
    {
        const auto lock = queue_.accept(session);
        if (!lock) return waybill::unexpected(lock.error());
        if (!*lock) return waybill::unexpected(waybill::transient("somebody has it"));
        const auto bytes = queue_.state(**lock);
        if (!bytes) return waybill::unexpected(bytes.error());
        std::optional<stored> s;
        if (*bytes) s = stored{(*bytes)->substr((*bytes)->find(' ') + 1), std::stoull(**bytes)};
        waybill::result<T> r = f(**lock, std::move(s));
        const auto closed = queue_.close(**lock);
        if (!closed.ok()) return waybill::unexpected(closed);
        return r;
    }

    engines::sqlite_sessions queue_;
};

/// A store in a file, and its connection.
template <class Store>
class file_states {
public:
    using version = typename Store::version;

    explicit file_states(std::string path)
        : path_(std::move(path)),
          db_(std::make_unique<engines::database>(path_)),
          store_(std::make_unique<Store>(*db_))
    {
        sqlite3_busy_timeout(db_->handle(), 10'000);
    }

    auto load(const std::string& session) { return store_->load(session); }
    auto save(const std::string& session, const std::string& bytes,
              const std::optional<version>& expected)
    {
        return store_->save(session, bytes, expected);
    }
    auto clear(const std::string& session, const version& expected)
    {
        return store_->clear(session, expected);
    }

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    std::unique_ptr<engines::database> db_;
    std::unique_ptr<Store> store_;
};

#endif  // WAYBILL_TESTS_INTEGRATION_ENGINES_SQLITE_STATES_HPP

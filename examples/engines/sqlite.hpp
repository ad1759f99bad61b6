// SPDX-License-Identifier: MIT
//
// sqlite: SQLite's C interface with destructors, as far as the adapters in this folder need it.
//
//     engines::database db("sink.sqlite");
//     engines::statement put(db, "INSERT INTO t VALUES (?, ?)");
//     put.run(7, "seven");
//     engines::statement all(db, "SELECT a, b FROM t WHERE a > ?");
//     for (all.query(3); all.step();) use(all.integer(0), all.text(1));
//     all.each([&] { use(all.whole<std::uint32_t>(0), all.bytes(1)); }, 3);
//
//   1. The file has WAL and synchronous=NORMAL: a commit survives a kill of the process, and a
//      power cut after `sync()`.
//   2. A SELECT that stops before its last row keeps a snapshot for the whole connection. After a
//      commit of another connection, this one can then begin no transaction that writes ("database
//      is locked") until the statement is run again or destroyed. `each`, `item_range` and `number`
//      always end the SELECT, also if an exception leaves them. With `query` and `step` the caller
//      reads to the end.
//   3. A connection belongs to one thread.
//
// Failures throw sqlite_error. `classify` (sqlite_transaction.hpp) is for waybill::catching:
//
//     CONSTRAINT, TOOBIG, MISMATCH     a value of the event is wrong        permanent
//     all others                       full disk, lock, damaged file ...    infrastructure

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_HPP

#include <concepts>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace engines {

class sqlite_category : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "sqlite"; }
    [[nodiscard]] std::string message(int code) const override
    {
        return "SQLite's code " + std::to_string(code);
    }
};

/// A system error, because most failures of a database are not caused by an event: a full disk, a
/// lock, a missing file.
class sqlite_error : public std::system_error {
public:
    /// `code` is an extended result code.
    explicit sqlite_error(const std::string& text, int code = SQLITE_ERROR)
        : std::system_error(code, category(), text)
    {
    }

    /// True if the values were refused: a repetition fails again. False for a vetoed commit.
    [[nodiscard]] bool of_values() const noexcept
    {
        const int extended = code().value();
        const int primary = extended & 0xFF;
        return (primary == SQLITE_CONSTRAINT && extended != SQLITE_CONSTRAINT_COMMITHOOK) ||
               primary == SQLITE_TOOBIG || primary == SQLITE_MISMATCH;
    }

private:
    static const std::error_category& category() noexcept
    {
        static const sqlite_category all;
        return all;
    }
};

class database {
public:
    /// Opens the file. If it is missing, creates it for its owner alone (0600), because it will have
    /// messages; SQLite gives its other files the same permissions.
    ///
    /// WAL with synchronous=NORMAL: a commit is a write without a sync. It survives a kill of this
    /// process, because the operating system has the data. A power cut can remove the last commits,
    /// from the end and each as a whole; `sync()` protects from that.
    explicit database(const std::string& path)
    {
        if (open_private(path) != SQLITE_OK) {
            const int code = sqlite3_extended_errcode(db_);
            std::string why = path + ": " + sqlite3_errmsg(db_);
            const int e = sqlite3_system_errno(db_);
            if (e != 0) why += std::string(" (") + std::strerror(e) + ")";
            sqlite3_close(db_);
            throw sqlite_error(why, code);
        }
        sqlite3_busy_timeout(db_, 5'000);
        try {
            exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
        } catch (...) {
            sqlite3_close(db_);
            throw;
        }
        sqlite3_commit_hook(db_, &vetoed, this);
        sqlite3_rollback_hook(db_, &lost, this);
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database() { sqlite3_close_v2(db_); }

    database& exec(const char* sql)
    {
        if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
        return *this;
    }

    /// After this call all commits survive a power cut.
    void sync() { exec("PRAGMA wal_checkpoint(FULL)"); }

    /// True if a transaction is open, according to SQLite.
    [[nodiscard]] bool in_transaction() const noexcept { return sqlite3_get_autocommit(db_) == 0; }

    /// Keeps the open transaction until `let_transaction_go`: all commits on this connection are
    /// refused. SQLite rolls back on its own if the disk is full or fails. Without this, each
    /// later statement would be its own transaction.
    void keep_transaction() noexcept { kept_ = kept::open; }
    void let_transaction_go() noexcept { kept_ = kept::none; }
    [[nodiscard]] bool keeps_transaction() const noexcept { return kept_ != kept::none; }
    [[nodiscard]] bool transaction_lost() const noexcept { return kept_ != kept::open; }

    [[noreturn]] void fail() const
    {
        const int code = sqlite3_extended_errcode(db_);
        const char* const file = sqlite3_db_filename(db_, "main");
        const bool veto = code == SQLITE_CONSTRAINT_COMMITHOOK;
        std::string why = (file ? file + std::string(": ") : "") +
                          (veto ? "its transaction was rolled back" : sqlite3_errmsg(db_));
        sqlite3_stmt* s = code == SQLITE_BUSY_SNAPSHOT ? sqlite3_next_stmt(db_, nullptr) : nullptr;
        for (; s; s = sqlite3_next_stmt(db_, s)) {
            if (sqlite3_stmt_busy(s)) why += ", half read: " + std::string(sqlite3_sql(s));
        }
        throw sqlite_error(why, code);
    }
    [[nodiscard]] sqlite3* handle() const noexcept { return db_; }

private:
    enum class kept { none, open, lost };

    /// One at a time: a thread that closes the new file would release the locks that another thread
    /// has on it by then.
    int open_private(const std::string& path)
    {
        static std::mutex creating;
        const std::lock_guard alone(creating);
        if (!path.empty() && path != ":memory:") {
            const int created =
                ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
            if (created >= 0) ::close(created);
        }
        return sqlite3_open(path.c_str(), &db_);
    }

    /// A result other than 0 turns the commit into a rollback.
    static int vetoed(void* db) { return static_cast<database*>(db)->keeps_transaction() ? 1 : 0; }
    static void lost(void* db)
    {
        kept& k = static_cast<database*>(db)->kept_;
        if (k == kept::open) k = kept::lost;
    }

    sqlite3* db_ = nullptr;
    kept kept_ = kept::none;
};

/// Bytes that need not be text.
struct blob {
    std::string_view bytes{};
};

class statement {
public:
    statement(database& db, std::string_view sql) : db_(&db)
    {
        const int n = static_cast<int>(sql.size());
        if (sqlite3_prepare_v3(db.handle(), sql.data(), n, SQLITE_PREPARE_PERSISTENT, &s_,
                               nullptr) != SQLITE_OK) {
            db.fail();
        }
    }
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement() { sqlite3_finalize(s_); }

    /// Runs a statement without rows.
    template <class... V>
    void run(const V&... values)
    {
        query(values...);
        const int code = sqlite3_step(s_);
        reset();
        if (code != SQLITE_DONE && code != SQLITE_ROW) db_->fail();
    }

    /// Binds the values and begins the query. Texts must live until the last step.
    template <class... V>
    void query(const V&... values)
    {
        if (begun_) reset();
        begun_ = true;
        int place = 0;
        (bind(++place, values), ...);
    }

    /// The next row; at the end the statement is ready for another query.
    [[nodiscard]] bool step()
    {
        const int code = sqlite3_step(s_);
        if (code == SQLITE_ROW) return true;
        reset();
        if (code != SQLITE_DONE) db_->fail();
        return false;
    }

    /// Calls f for each row; f reads the columns.
    template <class F, class... V>
    void each(F&& f, const V&... values)
    {
        struct at_end {
            statement& s;
            ~at_end() { s.reset(); }
        } const whatever_comes{*this};
        query(values...);
        while (step()) f();
    }

    /// The first number of the first row, if there is one.
    template <class... V>
    [[nodiscard]] std::optional<std::int64_t> number(const V&... values)
    {
        query(values...);
        std::optional<std::int64_t> n;
        if (step()) {
            if (!null(0)) n = integer(0);
            reset();
        }
        return n;
    }

    [[nodiscard]] int columns() const noexcept { return sqlite3_column_count(s_); }
    [[nodiscard]] bool null(int column) const noexcept
    {
        return sqlite3_column_type(s_, column) == SQLITE_NULL;
    }
    [[nodiscard]] std::int64_t integer(int column) const noexcept
    {
        return sqlite3_column_int64(s_, column);
    }
    /// An unsigned number of 64 bits. SQLite stores it as the signed number with the same bits.
    [[nodiscard]] std::uint64_t size(int column) const noexcept
    {
        return static_cast<std::uint64_t>(integer(column));
    }
    /// Valid until the next step.
    [[nodiscard]] std::string_view text(int column) const noexcept
    {
        const void* bytes = sqlite3_column_blob(s_, column);
        const int n = sqlite3_column_bytes(s_, column);
        return {static_cast<const char*>(bytes), static_cast<std::size_t>(n)};
    }

    /// These check the value. SQLite stores any type in any column and converts it when it is read:
    /// a word as 0. These throw instead; the text names the column.
    ///
    /// A number in [0, most]; any number if it has 64 bits.
    template <std::unsigned_integral N>
    [[nodiscard]] N whole(int column, N most = static_cast<N>(-1)) const
    {
        const bool fits = sizeof(N) == sizeof(std::uint64_t) || size(column) <= most;
        if (sqlite3_column_type(s_, column) != SQLITE_INTEGER || !fits) unreadable(column);
        return static_cast<N>(integer(column));
    }
    template <std::unsigned_integral N>
    [[nodiscard]] std::optional<N> whole_or_null(int column) const
    {
        if (null(column)) return {};
        return whole<N>(column);
    }
    /// A value of an enumeration without gaps that begins at 0.
    template <class E>
    [[nodiscard]] E one_of(int column, E last) const
    {
        return static_cast<E>(whole(column, static_cast<std::uint8_t>(last)));
    }
    /// A text, or any bytes.
    [[nodiscard]] std::string bytes(int column) const
    {
        const int type = sqlite3_column_type(s_, column);
        if (type != SQLITE_TEXT && type != SQLITE_BLOB) unreadable(column);
        if (type == SQLITE_TEXT) static_cast<void>(sqlite3_column_text(s_, column));  // as UTF-8
        return std::string(text(column));
    }

private:
    [[noreturn]] void unreadable(int column) const
    {
        const auto shown = [&](int c) {
            const auto* const value = reinterpret_cast<const char*>(sqlite3_column_text(s_, c));
            const std::string of = value ? std::string("'").append(value, 0, 100) + "'" : "NULL";
            return sqlite3_column_name(s_, c) + (" is " + of);
        };
        std::string why = shown(column) + ", which cannot be";
        if (column != 0) why += ", in the row whose " + shown(0);
        if (char* const sql = sqlite3_expanded_sql(s_)) {
            why += std::string(": ") + sql;
            sqlite3_free(sql);
        }
        throw sqlite_error(why, SQLITE_CORRUPT);
    }

    template <std::integral N>
    void bind(int place, N n)
    {
        check(sqlite3_bind_int64(s_, place, static_cast<sqlite3_int64>(n)));
    }
    void bind(int place, std::string_view t)
    {
        // An empty view may be a null pointer, which SQLite would bind as NULL.
        const char* bytes = t.empty() ? "" : t.data();
        check(sqlite3_bind_text64(s_, place, bytes, t.size(), nullptr, SQLITE_UTF8));
    }
    void bind(int place, const blob& b)
    {
        const char* bytes = b.bytes.empty() ? "" : b.bytes.data();
        check(sqlite3_bind_blob64(s_, place, bytes, b.bytes.size(), nullptr));
    }
    template <class V>
    void bind(int place, const std::optional<V>& v)
    {
        if (v) bind(place, *v);
        else check(sqlite3_bind_null(s_, place));
    }
    void check(int code) const
    {
        if (code != SQLITE_OK) db_->fail();
    }

    void reset() noexcept
    {
        sqlite3_reset(s_);
        begun_ = false;
    }

    database* db_;
    sqlite3_stmt* s_ = nullptr;
    bool begun_ = false;  // true until the reset; saves a reset, which takes a lock
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_HPP

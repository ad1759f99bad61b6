// SPDX-License-Identifier: MIT
//
// sqlite: as much of SQLite's C interface as the adapters beside this file need, with destructors.
//
//     engines::database db("sink.sqlite");
//     engines::statement put(db, "INSERT INTO t VALUES (?, ?)");
//     put.run(7, "seven");
//     engines::statement all(db, "SELECT a, b FROM t WHERE a > ?");
//     for (all.query(3); all.step();) use(all.integer(0), all.text(1));
//
// What fails throws `engines::sqlite_error`. A connection belongs to one thread.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

namespace engines {

struct sqlite_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class database {
public:
    /// Opens the file, and makes it if need be.
    ///
    /// WAL with synchronous=NORMAL: a commit is a write without a sync, yet it is there for
    /// everyone who opens the file later, also if this process is killed at once: what is written
    /// belongs to the operating system by then. Only a power cut may take the last commits, and
    /// then from the end and whole. `sync()` is for the moments when even that would matter.
    explicit database(const std::string& path)
    {
        if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) {
            const std::string why = path + ": " + sqlite3_errmsg(db_);
            sqlite3_close(db_);
            throw sqlite_error(why);
        }
        sqlite3_busy_timeout(db_, 5'000);
        try {
            exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
        } catch (...) {
            sqlite3_close(db_);
            throw;
        }
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database() { sqlite3_close_v2(db_); }

    void exec(const char* sql)
    {
        if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
    }

    /// From here on not even a power cut can take what has been committed.
    void sync() { exec("PRAGMA wal_checkpoint(FULL)"); }

    /// Neither a commit nor a rollback has been missed.
    [[nodiscard]] bool in_transaction() const noexcept { return sqlite3_get_autocommit(db_) == 0; }

    [[noreturn]] void fail() const
    {
        const char* const file = sqlite3_db_filename(db_, "main");
        throw sqlite_error((file ? file + std::string(": ") : "") + sqlite3_errmsg(db_));
    }
    [[nodiscard]] sqlite3* handle() const noexcept { return db_; }

private:
    sqlite3* db_ = nullptr;
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

    /// Runs what answers no rows.
    template <class... V>
    void run(const V&... values)
    {
        query(values...);
        const int code = sqlite3_step(s_);
        reset();
        if (code != SQLITE_DONE && code != SQLITE_ROW) db_->fail();
    }

    /// Binds and begins. Texts must live until the last step.
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
    /// 64 bits without a sign, which SQLite keeps as the signed number of the same bits.
    [[nodiscard]] std::uint64_t size(int column) const noexcept
    {
        return static_cast<std::uint64_t>(integer(column));
    }
    /// Good until the next step.
    [[nodiscard]] std::string_view text(int column) const noexcept
    {
        const void* bytes = sqlite3_column_blob(s_, column);
        const int n = sqlite3_column_bytes(s_, column);
        return {static_cast<const char*>(bytes), static_cast<std::size_t>(n)};
    }

private:
    template <std::integral N>
    void bind(int place, N n)
    {
        check(sqlite3_bind_int64(s_, place, static_cast<sqlite3_int64>(n)));
    }
    void bind(int place, std::string_view t)
    {
        // An empty view may point nowhere, which SQLite would read as NULL.
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
        if (v)
            bind(place, *v);
        else
            check(sqlite3_bind_null(s_, place));
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
    bool begun_ = false;  // and not reset since, which costs a lock
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_HPP

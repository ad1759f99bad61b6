// SPDX-License-Identifier: MIT
//
// postgres: PostgreSQL's C interface with destructors, as far as the adapters in this folder need
// it.
//
//     engines::postgres db("host=127.0.0.1 dbname=sink");
//     engines::prepared put(db, "INSERT INTO t VALUES ($1, $2)");
//     put.run(7, "seven");
//     engines::prepared all(db, "SELECT a, b FROM t WHERE a > $1");
//     const engines::rows r = all.run(3);
//     for (int i = 0; i != r.size(); ++i) use(r.number(i, 0), r.text(i, 1));
//
//   1. Only `connect` and `outside` connect again. Any other call after a lost connection fails: on
//      another connection, the statement would be outside of its transaction.
//   2. A connection belongs to one thread.
//
// Failures throw postgres_error. `classify_postgres` is for waybill::catching, by the class of the
// SQLSTATE:
//
//     22, 23, 54       a value, a constraint or a size: the event is wrong      permanent
//     none, 08, 57     no connection, or it was ended by the server             infrastructure
//     25, 40, 53, 55   a standby, a rollback, no resources, a lock              infrastructure
//     all others       the statement or the server is wrong, not the event      infrastructure

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_HPP

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <libpq-fe.h>

#include <waybill/core/fault.hpp>
#include <waybill/ext/exceptions_by_default.hpp>

namespace engines {

/// `state` is the SQLSTATE of the server's error; empty without a reply.
struct postgres_error : std::runtime_error {
    postgres_error(const std::string& text, std::string sqlstate)
        : std::runtime_error(text), state(std::move(sqlstate))
    {
    }
    std::string state;
};

/// A fault of the server is not caused by the event: its batch is repeated.
[[nodiscard]] inline waybill::fault_kind classify_postgres(const std::exception& e) noexcept
{
    const auto* const own = dynamic_cast<const postgres_error*>(&e);
    if (own == nullptr) return waybill::by_default{}(e);
    for (const std::string_view of_event : {"22", "23", "54"}) {
        if (own->state.starts_with(of_event)) return waybill::fault_kind::permanent;
    }
    return waybill::fault_kind::infrastructure;
}

/// The result of a statement.
class rows {
public:
    explicit rows(PGresult* r) : r_(r, &PQclear) {}

    [[nodiscard]] bool ok() const noexcept
    {
        const ExecStatusType s = PQresultStatus(r_.get());
        return s == PGRES_COMMAND_OK || s == PGRES_TUPLES_OK || s == PGRES_EMPTY_QUERY;
    }
    /// The command tag: "COMMIT", "INSERT 0 1".
    [[nodiscard]] std::string_view tag() const noexcept { return PQcmdStatus(r_.get()); }
    [[nodiscard]] std::string state() const
    {
        const char* const s = PQresultErrorField(r_.get(), PG_DIAG_SQLSTATE);
        return s ? s : "";
    }

    [[nodiscard]] int size() const noexcept { return PQntuples(r_.get()); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// The number of rows that were inserted, changed or removed.
    [[nodiscard]] std::uint64_t touched() const
    {
        return read<std::uint64_t>(PQcmdTuples(r_.get())).value_or(0);
    }

    [[nodiscard]] bool null(int row, int column) const noexcept
    {
        return PQgetisnull(r_.get(), row, column) != 0;
    }
    [[nodiscard]] std::string_view text(int row, int column) const noexcept
    {
        const int n = PQgetlength(r_.get(), row, column);
        return {PQgetvalue(r_.get(), row, column), static_cast<std::size_t>(n)};
    }
    /// The value of an integer or a numeric. Throws if it does not fit in an N.
    template <std::integral N = std::int64_t>
    [[nodiscard]] N number(int row, int column) const
    {
        const std::string_view t = text(row, column);
        const auto n = read<N>(t);
        if (!n) throw postgres_error("not a number, or out of range: " + std::string(t), "");
        return *n;
    }
    /// The value of a bytea.
    [[nodiscard]] std::string bytes(int row, int column) const
    {
        std::size_t n = 0;
        const char* const t = PQgetvalue(r_.get(), row, column);
        const std::unique_ptr<unsigned char, decltype(&PQfreemem)> raw(
            PQunescapeBytea(reinterpret_cast<const unsigned char*>(t), &n), &PQfreemem);
        if (!raw) throw std::bad_alloc();
        return {reinterpret_cast<const char*>(raw.get()), n};
    }

private:
    template <class N>
    static std::optional<N> read(std::string_view t)
    {
        N n{};
        const char* const end = t.data() + t.size();
        const auto [at, error] = std::from_chars(t.data(), end, n);
        if (error != std::errc{} || at != end) return {};
        return n;
    }

    std::unique_ptr<PGresult, decltype(&PQclear)> r_;
};

class postgres {
public:
    /// Does not connect yet. `where` is as for psql: "host=... dbname=..." or postgresql://...
    /// Without options in it, a statement that waits five seconds for a lock is an error.
    explicit postgres(std::string where) : where_(std::move(where)) {}
    postgres(const postgres&) = delete;
    postgres& operator=(const postgres&) = delete;
    ~postgres() { PQfinish(c_); }

    /// Begins a new connection, if there is none or it is lost.
    void connect()
    {
        if (alive()) return;
        drop();
        // `where` can override settings before dbname, but not those after it.
        const std::array keys{"connect_timeout", "options", "dbname", "client_encoding",
                              static_cast<const char*>(nullptr)};
        const std::array values{"10", "-c lock_timeout=5s", where_.c_str(), "UTF8",
                                static_cast<const char*>(nullptr)};
        c_ = PQconnectdbParams(keys.data(), values.data(), 1);
        ++life_;
        if (!alive()) {
            const postgres_error why = failure(nullptr);
            drop();
            throw why;
        }
        PQsetNoticeReceiver(c_, [](void*, const PGresult*) {}, nullptr);
        // If it is off, a crash can lose a confirmed commit.
        exec(
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off'");
    }

    void drop() noexcept { PQfinish(std::exchange(c_, nullptr)); }

    /// False after a failed use of a lost connection. Does not test the connection.
    [[nodiscard]] bool alive() const noexcept { return PQstatus(c_) == CONNECTION_OK; }
    /// True if a transaction is open, also if it has failed and needs a rollback.
    [[nodiscard]] bool in_transaction() const noexcept
    {
        const PGTransactionStatusType s = PQtransactionStatus(c_);
        return s == PQTRANS_INTRANS || s == PQTRANS_INERROR;
    }

    /// Runs f, which begins a transaction or reads outside of one. Only this call replaces a lost
    /// connection. It runs f once more if f has found the loss.
    template <class F>
    auto outside(F&& f) -> decltype(f())
    {
        if (alive()) {
            try {
                return f();
            } catch (const postgres_error&) {
                if (alive()) throw;
            }
        }
        connect();
        return f();
    }

    /// One or several statements without parameters.
    rows exec(const char* sql)
    {
        rows r = ask(sql);
        if (!r.ok()) throw failure(&r);
        return r;
    }
    /// The same, but the caller checks the result.
    [[nodiscard]] rows ask(const char* sql) noexcept { return rows(PQexec(c_, sql)); }

    [[nodiscard]] postgres_error failure(const rows* r) const
    {
        std::string text = PQerrorMessage(c_);
        while (!text.empty() && text.back() == '\n') text.pop_back();
        if (text.empty()) text = c_ ? "the server gave no reason" : "there is no connection";
        return {text, r ? r->state() : std::string()};
    }
    [[nodiscard]] PGconn* handle() const noexcept { return c_; }
    /// The number of this connection. Prepared statements of another one do not exist here.
    [[nodiscard]] std::uint64_t life() const noexcept { return life_; }
    [[nodiscard]] std::string new_name() { return "s" + std::to_string(++names_); }

private:
    std::string where_;
    PGconn* c_ = nullptr;
    std::uint64_t life_ = 0;
    std::uint64_t names_ = 0;
};

/// Values of a parameter of type bytea[], for several rows in one statement:
///
///     engines::bytea_array ids;
///     for (const order& o : all) ids.add(o.id);
///     put_all.run(ids.value());            // INSERT ... SELECT id FROM unnest($1::bytea[]) AS id
class bytea_array {
public:
    void add(std::string_view bytes)
    {
        // The server's limit of a parameter. Its reply to a larger one would be the same error.
        if ((bytes.size() + all_.size()) >> 30U != 0)
            throw postgres_error("the values are longer than 1 GiB", "54000");
        append(all_, bytes.size());
        all_ += bytes;
        ++size_;
    }

    /// In the binary format of arrays.
    [[nodiscard]] std::string value() const
    {
        constexpr std::uint64_t bytea = 17;  // OID of the type
        std::string v;
        v.reserve(all_.size() + 20);
        append(v, size_ == 0 ? 0 : 1);  // dimensions
        append(v, 0);                   // no element is NULL
        append(v, bytea);
        if (size_ == 0) return v;
        append(v, size_);
        append(v, 1);  // index of the first element
        return v += all_;
    }

private:
    /// 32 bits, the highest byte first.
    static void append(std::string& to, std::uint64_t n)
    {
        for (const unsigned shift : {24U, 16U, 8U, 0U})
            to += static_cast<char>((n >> shift) & 255U);
    }

    std::string all_{};
    std::uint64_t size_ = 0;
};

/// A statement that is prepared when it is first run, and again on another connection.
class prepared {
public:
    prepared(postgres& db, std::string sql) : db_(&db), name_(db.new_name()), sql_(std::move(sql))
    {
    }

    /// A number is for any numeric column, a text for text or bytea. An empty optional is NULL. The
    /// value of a bytea_array is passed as a text.
    template <class... V>
    rows run(const V&... values)
    {
        prepare();
        constexpr std::size_t n = sizeof...(V);
        const std::array<value, n> all{value_of(values)...};
        std::array<const char*, n + 1> data{};
        std::array<int, n + 1> sizes{};
        std::array<int, n + 1> formats{};
        for (std::size_t i = 0; i != n; ++i) {
            data[i] = all[i].null ? nullptr : all[i].data();
            sizes[i] = static_cast<int>(all[i].size());
            formats[i] = all[i].digits.empty() ? 1 : 0;
        }
        rows r(PQexecPrepared(db_->handle(), name_.c_str(), static_cast<int>(n), data.data(),
                              sizes.data(), formats.data(), 0));
        if (!r.ok()) throw db_->failure(&r);
        return r;
    }

private:
    // Bytes are sent in binary format, as a NUL would end a text.
    struct value {
        std::string digits{};
        std::string_view bytes{};
        bool null = false;

        [[nodiscard]] const char* data() const
        {
            if (!digits.empty()) return digits.c_str();
            return bytes.empty() ? "" : bytes.data();
        }
        [[nodiscard]] std::size_t size() const { return bytes.size(); }
    };
    template <std::integral N>
    static value value_of(N n)
    {
        return {std::to_string(n), {}, false};
    }
    static value value_of(std::string_view t)
    {
        // libpq's lengths are int. The server would refuse such a value with the same error.
        if (t.size() >> 30U != 0) throw postgres_error("a value is longer than 1 GiB", "54000");
        return {{}, t, false};
    }
    template <class V>
    static value value_of(const std::optional<V>& v)
    {
        return v ? value_of(*v) : value{{}, {}, true};
    }

    void prepare()
    {
        if (life_ == db_->life()) return;
        const rows r(PQprepare(db_->handle(), name_.c_str(), sql_.c_str(), 0, nullptr));
        if (!r.ok()) throw db_->failure(&r);
        life_ = db_->life();
    }

    postgres* db_;
    std::string name_;
    std::string sql_;
    std::uint64_t life_ = 0;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_HPP

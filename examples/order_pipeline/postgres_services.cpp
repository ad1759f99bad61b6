// SPDX-License-Identifier: MIT
//
// The queue, the dead letters and the tables of the shop in one database of PostgreSQL.
//
// The effect of a step and the state of its session are one transaction. So no step takes effect
// twice; `read_postgres` sets this requirement for the check.

#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "../engines/postgres.hpp"
#include "../engines/postgres_pair.hpp"
#include "../engines/postgres_sessions.hpp"
#include "../engines/postgres_step_letters.hpp"
#include "../support/program.hpp"
#include "audit_rows.hpp"
#include "sessions_server.hpp"
#include "shop_services.hpp"

namespace order_pipeline {

namespace {

constexpr std::string_view own_server = "postgres:";

/// A long lock, as hanging workers are rare, and a slow disk must not cost a worker its session.
constexpr engines::postgres_session_options options_of_queue{
    .lock = 10s,
    .deliveries = queue_options.deliveries,
    .remembers = queue_options.remembers,
    .batch_bytes = queue_options.batch_bytes,
    .state_bytes = queue_options.state_bytes};

/// The own server of this process, if it has one.
engines::postgres_pair* running = nullptr;

/// Calls f again for some seconds, if the server does not respond. For reads.
template <class F>
auto repeated(F&& f) -> decltype(f())
{
    for (int tries = 1;; ++tries) {
        try {
            return f();
        } catch (const engines::postgres_error& e) {
            if (tries == 50) {
                throw support::complaint(std::string("the database of --sessions: ") + e.what());
            }
        }
        if (running != nullptr) running->step();
        std::this_thread::sleep_for(100ms);
    }
}

std::string address_in(const options& o)
{
    std::ifstream file(sessions_file(o));
    std::string line;
    if (!std::getline(file, line) || !std::getline(file, line)) {
        throw support::complaint(
            fmt::format("{}: the file has no address of a server", sessions_file(o)));
    }
    return line;
}

class postgres_server : public sessions_server {
public:
    explicit postgres_server(const options& o)
    {
        std::string where = o.sessions;
        if (o.sessions == own_server) {
            own_.emplace(o.db + "/postgres", false);
            where = own_->where();
            running = &*own_;
        }
        alone_.emplace(where);
        try {
            alone_->connect();
            // Another run may be about to end.
            for (int tries = 0; !locked(); ++tries) {
                if (tries == 30) {
                    throw support::complaint(
                        "another order_pipeline is at work in the database of --sessions: wait for "
                        "its end, "
                        "or name another database");
                }
                std::this_thread::sleep_for(100ms);
            }
            alone_->exec(tables);
        } catch (const engines::postgres_error& e) {
            throw support::complaint(std::string("the database of --sessions: ") + e.what());
        }
        // A killed run leaves the old file or the new one.
        const std::string path = sessions_file(o);
        const std::string fresh = path + ".new";
        std::ofstream(fresh).close();
        chmod(fresh.c_str(), S_IRUSR | S_IWUSR);
        support::write_file("address", fresh, fmt::format("{}\n{}\n", o.sessions, where));
        std::filesystem::rename(fresh, path);
    }
    ~postgres_server() override { running = nullptr; }

    void step() override
    {
        if (own_) own_->step();
    }

private:
    static constexpr const char* tables =
        "CREATE TABLE IF NOT EXISTS order_jobs (place bigserial PRIMARY KEY,"
        " job text COLLATE \"C\" NOT NULL UNIQUE, checksum bigint NOT NULL,"
        " total bigint NOT NULL CHECK (total BETWEEN 1 AND 100000));"
        "CREATE TABLE IF NOT EXISTS order_effects (place bigserial PRIMARY KEY,"
        " job text COLLATE \"C\" NOT NULL, step bigint NOT NULL, session text NOT NULL,"
        " what bytea NOT NULL, runs bigint NOT NULL DEFAULT 1, UNIQUE (job, step))";

    [[nodiscard]] bool locked()
    {
        return alone_->exec("SELECT pg_try_advisory_lock(7742136607)").text(0, 0) == "t";
    }

    std::optional<engines::postgres_pair> own_{};
    std::optional<engines::postgres> alone_{};  // with the lock of this program
};

class postgres_queue : public queue_on<engines::postgres_sessions> {
public:
    using queue_on::queue_on;

    fault begin_step() override
    {
        auto tx = queue_.begin();
        if (!tx) return std::move(tx).error();
        step_.emplace(*std::move(tx));
        return {};
    }
    fault commit_step() override
    {
        const auto end = step_->commit();
        step_.reset();
        if (end && *end == waybill::commit_outcome::applied) return {};
        return waybill::infrastructure("the step did not commit, or the reply was lost");
    }
    void drop_step() override { step_.reset(); }

    fault set_state(const lock& l, std::optional<std::string_view> s) override
    {
        if (!step_) return queue_.set_state(l, s);
        const fault f = queue_.save(*step_, l, std::string(s.value_or("")));
        if (f.ok()) return commit_step();
        step_.reset();
        return f;
    }

    /// A dead letter, if its session is still held.
    fault upsert(engines::postgres_step_letters& to, const waybill::pipeline_dead_letter& letter,
                 const lock& l)
    {
        if (const fault f = begin_step(); !f.ok()) return f;
        fault f = queue_.confirm(*step_, l);
        if (f.ok()) f = to.upsert(*step_, letter);
        if (f.ok()) return commit_step();
        step_.reset();
        return f;
    }

private:
    std::optional<engines::postgres_sessions::transaction> step_{};
};

class postgres_letters : public letters_in<engines::postgres_step_letters> {
public:
    postgres_letters(engines::postgres& db, postgres_queue& queue) : letters_in(db), queue_(queue)
    {
    }

    using letters_in::upsert;
    waybill::fault upsert(const letter& written, const engines::session_lock& l) override
    {
        return queue_.upsert(table_, written, l);
    }

private:
    postgres_queue& queue_;
};

class postgres_tables : public shop_tables {
public:
    postgres_tables(engines::postgres& db, std::string_view place)
        : db_(db),
          place_(place),
          jobs_(db, "SELECT job, total FROM order_jobs ORDER BY place"),
          effects_(db, "SELECT job, step, session FROM order_effects ORDER BY place"),
          note_(db,
                "INSERT INTO order_effects AS e (job, step, session, what)"
                " VALUES ($1, $2, $3, $4)"
                " ON CONFLICT (job, step) DO UPDATE SET runs = e.runs + 1")
    {
    }

    std::uint64_t add(const std::vector<job_row>& jobs) override
    {
        return repeated([&] { return db_.outside([&] { return add_all(jobs); }); });
    }
    std::vector<job_row> jobs() override
    {
        return repeated([&] {
            return db_.outside([&] {
                std::vector<job_row> all;
                const engines::rows r = jobs_.run();
                for (int i = 0; i != r.size(); ++i)
                    all.push_back({std::string(r.text(i, 0)), r.number<std::uint64_t>(i, 1), 0});
                return all;
            });
        });
    }
    std::vector<effect_row> effects() override
    {
        return repeated([&] {
            return db_.outside([&] {
                std::vector<effect_row> all;
                const engines::rows r = effects_.run();
                for (int i = 0; i != r.size(); ++i) {
                    all.push_back({std::string(r.text(i, 0)), r.number<std::uint64_t>(i, 1),
                                   std::string(r.text(i, 2))});
                }
                return all;
            });
        });
    }
    /// In the transaction of the step.
    void note(const effect_row& e, std::string_view what) override
    {
        note_.run(e.job, e.step, e.session, what);
    }
    waybill::fault_kind classify(const std::exception& e) const noexcept override
    {
        return engines::classify_postgres(e);
    }

private:
    [[nodiscard]] std::uint64_t add_all(const std::vector<job_row>& jobs)
    {
        engines::prepared add(db_,
                              "INSERT INTO order_jobs (job, total, checksum)"
                              " VALUES ($1, $2, $3) ON CONFLICT DO NOTHING");
        engines::prepared same(
            db_, "SELECT 1 FROM order_jobs WHERE job = $1 AND total = $2 AND checksum = $3");
        std::uint64_t known = 0;
        engines::postgres_store store(db_);
        auto tx = store.begin();
        if (!tx) throw engines::postgres_error(tx.error().text, "");
        for (const job_row& j : jobs) {
            if (add.run(j.job, j.total, j.checksum).touched() != 0) continue;
            ++known;
            if (same.run(j.job, j.total, j.checksum).empty())
                throw another_job(j.job, is_import(j.job), place_);
        }
        const auto end = tx->commit();
        if (!end || *end != waybill::commit_outcome::applied)
            throw engines::postgres_error("the jobs were not committed", "");
        return known;
    }

    engines::postgres& db_;
    std::string_view place_;
    engines::prepared jobs_;
    engines::prepared effects_;
    engines::prepared note_;
};

}  // namespace

std::unique_ptr<sessions_server> start_postgres(const options& o)
{
    return std::make_unique<postgres_server>(o);
}

databases open_postgres(const options& o)
{
    const std::string where = address_in(o);
    const auto db = std::make_shared<engines::postgres>(where);
    auto queue = std::make_unique<postgres_queue>(*db, where, options_of_queue);
    databases d;
    d.letters = std::make_unique<postgres_letters>(*db, *queue);
    d.tables =
        std::make_unique<postgres_tables>(*db, o.sessions == own_server ? "--db" : "database");
    d.queue = std::move(queue);
    d.connections = db;
    return d;
}

audit_rows read_postgres(const options& o)
{
    return repeated([&] {
        engines::postgres db(address_in(o));
        db.connect();
        audit_rows all;
        all.once = true;
        const auto number = [](const engines::rows& r, int i, int column) {
            return r.number<std::uint64_t>(i, column);
        };
        const auto text = [](const engines::rows& r, int i, int column) {
            return std::string(r.text(i, column));
        };
        const engines::rows jobs = db.exec("SELECT job, total, checksum FROM order_jobs");
        for (int i = 0; i != jobs.size(); ++i)
            all.jobs.push_back({text(jobs, i, 0), number(jobs, i, 1), number(jobs, i, 2)});
        const engines::rows effects =
            db.exec("SELECT job, step, runs, place, session, what FROM order_effects");
        for (int i = 0; i != effects.size(); ++i) {
            all.effects.push_back({text(effects, i, 0), number(effects, i, 1),
                                   number(effects, i, 2), number(effects, i, 3),
                                   text(effects, i, 4), effects.bytes(i, 5)});
        }
        const engines::rows letters = db.exec(
            "SELECT CASE generation WHEN 0 THEN session ELSE origin END, step, session, sequence,"
            " reason, text, body, size, checksum FROM step_letters");
        for (int i = 0; i != letters.size(); ++i) {
            all.letters.push_back({letters.bytes(i, 0), number(letters, i, 1), letters.bytes(i, 2),
                                   number(letters, i, 3), text(letters, i, 4), letters.bytes(i, 5),
                                   letters.bytes(i, 6), number(letters, i, 7),
                                   number(letters, i, 8)});
        }
        const engines::rows left = db.exec(
            "SELECT (SELECT count(*) FROM session_messages), (SELECT count(*) FROM session_dead),"
            " (SELECT count(*) FROM session_states WHERE state IS NOT NULL)");
        all.messages = number(left, 0, 0);
        all.dead = number(left, 0, 1);
        all.states = number(left, 0, 2);
        return all;
    });
}

}  // namespace order_pipeline

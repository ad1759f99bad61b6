// SPDX-License-Identifier: MIT
//
// The queue, the dead letters and the tables of the shop in SQLite.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../engines/sqlite.hpp"
#include "../engines/sqlite_sessions.hpp"
#include "../engines/sqlite_step_letters.hpp"
#include "audit_rows.hpp"
#include "shop_services.hpp"

namespace order_pipeline {

namespace {

engines::database& make_tables(engines::database& db)
{
    return db.exec(
        "CREATE TABLE IF NOT EXISTS jobs (place INTEGER PRIMARY KEY,"
        " job TEXT NOT NULL UNIQUE, checksum INTEGER NOT NULL,"
        " total INTEGER NOT NULL CHECK (total BETWEEN 1 AND 100000));"
        "CREATE TABLE IF NOT EXISTS effects (place INTEGER PRIMARY KEY AUTOINCREMENT,"
        " job TEXT NOT NULL, step INTEGER NOT NULL, session TEXT NOT NULL,"
        " what TEXT NOT NULL, runs INTEGER NOT NULL DEFAULT 1, UNIQUE (job, step))");
}

class sqlite_tables : public shop_tables {
public:
    explicit sqlite_tables(engines::database& db)
        : db_(make_tables(db)),
          note_(db_,
                "INSERT INTO effects (job, step, session, what) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (job, step) DO UPDATE SET runs = runs + 1")
    {
    }

    std::uint64_t add(const std::vector<job_row>& jobs) override
    {
        engines::statement add(
            db_, "INSERT OR IGNORE INTO jobs (job, total, checksum) VALUES (?, ?, ?)");
        engines::statement same(db_,
                                "SELECT 1 FROM jobs WHERE job = ? AND total = ? AND checksum = ?");
        std::uint64_t known = 0;
        db_.exec("BEGIN IMMEDIATE");
        for (const job_row& j : jobs) {
            add.run(j.job, j.total, j.checksum);
            if (sqlite3_changes(db_.handle()) != 0) continue;
            ++known;
            if (same.number(j.job, j.total, j.checksum)) continue;
            db_.exec("ROLLBACK");
            throw another_job(j.job, is_import(j.job));
        }
        db_.exec("COMMIT");
        return known;
    }
    std::vector<job_row> jobs() override
    {
        std::vector<job_row> all;
        engines::statement s(db_, "SELECT job, total FROM jobs ORDER BY place");
        s.each([&] { all.push_back({s.bytes(0), s.size(1), 0}); });
        return all;
    }
    std::vector<effect_row> effects() override
    {
        std::vector<effect_row> all;
        engines::statement s(db_, "SELECT job, step, session FROM effects ORDER BY place");
        s.each([&] { all.push_back({s.bytes(0), s.size(1), s.bytes(2)}); });
        return all;
    }
    void note(const effect_row& e, std::string_view what) override
    {
        note_.run(e.job, e.step, e.session, what);
    }
    waybill::fault_kind classify(const std::exception& e) const noexcept override
    {
        return engines::classify(e);
    }

    std::optional<std::string> letters_at() override
    {
        db_.exec("CREATE TABLE IF NOT EXISTS letters_at (address TEXT NOT NULL)");
        engines::statement at(db_, "SELECT address FROM letters_at");
        std::optional<std::string> found;
        at.each([&] { found = at.bytes(0); });
        return found;
    }
    void set_letters_at(const std::string& address) override
    {
        engines::statement(db_, "INSERT INTO letters_at VALUES (?)").run(address);
    }

private:
    engines::database& db_;
    engines::statement note_;
};

}  // namespace

databases open_sqlite(const options& o)
{
    struct files {
        explicit files(const std::string& folder)
            : queue(folder + "/queue.sqlite"), shop(folder + "/shop.sqlite")
        {
        }
        engines::database queue;
        engines::database shop;
    };
    const auto f = std::make_shared<files>(o.db);
    databases d;
    engines::session_options options = queue_options;
    if (!o.worker) options.lock = 10min;
    d.queue = std::make_unique<queue_on<engines::sqlite_sessions>>(f->queue, options);
    // Sessions that a killed run has locked are free at once: the folder lock, which this process has,
    // shows that no worker of that run is left.
    if (!o.worker) {
        f->queue.exec(
            "UPDATE sessions SET held_until = 0 WHERE held_until IS NOT NULL;"
            "UPDATE dead SET held_until = 0");
    }
    if (o.dead_letters.empty())
        d.letters = std::make_unique<letters_in<engines::sqlite_step_letters>>(f->shop);
    else d.letters = azure_letters(o.dead_letters);
    d.tables = std::make_unique<sqlite_tables>(f->shop);
    d.connections = f;
    return d;
}

audit_rows read_sqlite(const options& o)
{
    engines::database queue(o.db + "/queue.sqlite");
    engines::database shop(o.db + "/shop.sqlite");
    audit_rows all;
    engines::statement jobs(shop, "SELECT job, total, checksum FROM jobs");
    for (jobs.query(); jobs.step();)
        all.jobs.push_back({jobs.bytes(0), jobs.size(1), jobs.size(2)});
    engines::statement effects(shop, "SELECT job, step, runs, place, session, what FROM effects");
    for (effects.query(); effects.step();) {
        all.effects.push_back({effects.bytes(0), effects.size(1), effects.size(2), effects.size(3),
                               effects.bytes(4), effects.bytes(5)});
    }
    // A folder whose letters are in an Azure table may lack this table.
    if (engines::statement(shop, "SELECT 1 FROM sqlite_master WHERE name = 'step_letters'")
            .number()) {
        engines::statement letters(shop,
                                   "SELECT CASE generation WHEN 0 THEN session ELSE origin END,"
                                   " step, session, CAST(row_key AS INTEGER), reason, text, body,"
                                   " size, checksum FROM step_letters");
        for (letters.query(); letters.step();) {
            all.letters.push_back({letters.bytes(0), letters.size(1), letters.bytes(2),
                                   letters.size(3), letters.bytes(4), letters.bytes(5),
                                   letters.bytes(6), letters.size(7), letters.size(8)});
        }
    }
    const auto count = [&](const char* where) {
        const auto n =
            engines::statement(queue, std::string("SELECT count(*) FROM ") + where).number();
        return static_cast<std::uint64_t>(n.value_or(0));
    };
    all.messages = count("messages");
    all.dead = count("dead");
    all.states = count("sessions WHERE state IS NOT NULL");
    return all;
}

}  // namespace order_pipeline

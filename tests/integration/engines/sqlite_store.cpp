// SPDX-License-Identifier: MIT
//
// The store of the examples has the properties that process_batch relies on. It also handles a full
// disk, large values and unreadable rows.

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <engines/sqlite_leases.hpp>
#include <engines/sqlite_store.hpp>

#include "forwarding.hpp"
#include <waybill/ext/exceptions.hpp>
#include <waybill/testing/conformance.hpp>
#include <waybill/testing/outage_conformance.hpp>

namespace {

using waybill::fault;
using waybill::fault_kind;

int failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("%s\n", what.c_str());
}

// A store with its connection. Its wait for a lock is short, since most of the suite runs in one
// thread.
class connection : public engines_test::forwarding<engines::database, engines::sqlite_store> {
public:
    explicit connection(const std::string& path) : forwarding(opened(path)), path_(path) {}

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    static std::unique_ptr<engines::database> opened(const std::string& path)
    {
        auto db = std::make_unique<engines::database>(path);
        sqlite3_busy_timeout(db->handle(), 20);
        return db;
    }

    std::string path_;
};

static_assert(waybill::dead_letter_queue<connection> && waybill::crash_record_store<connection>);

const waybill::partition_key key{"orders", "billing", "0"};

struct event {
    std::uint64_t sequence;
    std::string body;
};

// A database with a table for effects.
struct simulation {
    engines::database db;
    engines::sqlite_store store;
    engines::statement effect;

    explicit simulation(const std::string& path)
        : db(path),
          store(db),
          effect(db.exec("CREATE TABLE effects (n INTEGER NOT NULL, body TEXT)"),
                 "INSERT INTO effects VALUES (?, ?)")
    {
        sqlite3_busy_timeout(db.handle(), 0);
    }
    std::int64_t count(const char* sql)
    {
        return engines::statement(db, sql).number().value_or(-1);
    }
    std::int64_t effects() { return count("SELECT count(*) FROM effects"); }
    void room_for(std::int64_t pages)
    {
        const std::int64_t most = count("PRAGMA page_count") + pages;
        db.exec(("PRAGMA max_page_count=" + std::to_string(most)).c_str());
    }
    template <class Handler>
    auto deliver(const std::vector<event>& events, Handler handler, bool savepoints = true)
    {
        waybill::batch_policy p;
        p.savepoints = savepoints;
        const auto stored = store.load(key);
        return process_batch(store, {key, waybill::position_of(*stored), 1, 7}, events, handler, {},
                             p);
    }
};

// The results of a transaction that SQLite has rolled back.
void lost(const std::string& path)
{
    simulation w(path);
    const auto down = [](const auto& r) {
        return !r && r.error().kind == fault_kind::infrastructure;
    };
    const waybill::dead_letter letter{.key = key, .at = {1, "1"}};
    for (const bool opened_again : {false, true}) {
        auto tx = *w.store.begin();
        check(!w.store.begin(), "lost: another transaction on the same connection");
        w.db.exec("ROLLBACK");
        try {
            w.effect.run(1, "outside");
            check(false, "lost: a write outside of the transaction goes through");
        } catch (const engines::sqlite_error& e) {
            check(!e.of_values(), "lost: a vetoed write blames its values");
        }
        if (opened_again) {
            w.db.exec("BEGIN");
            w.effect.run(1, "in another");
        }
        check(!tx.open() && !w.store.begin(), "lost: the transaction continues");
        check(down(tx.savepoint()) && down(tx.release_savepoint()) &&
                  down(tx.rollback_to_savepoint()),
              "lost: savepoints");
        check(down(w.store.advance(tx, key, {}, {1, ""}, 1)) &&
                  down(w.store.reset(tx, key, {1, ""}, 1)),
              "lost: checkpoints");
        check(down(w.store.put(tx, letter)) && down(w.store.remove(tx, key, 1)), "lost: letters");
        check(down(w.store.store_crash_record(tx, key, {})) &&
                  down(w.store.clear_crash_record(tx, key)),
              "lost: attempts");
        check(*tx.commit() == waybill::commit_outcome::not_applied, "lost: commit");
        check(!w.db.in_transaction() && w.effects() == 0, "lost: something stays");
    }
    {
        auto tx = *w.store.begin();
        w.effect.run(1, "a");
        try {
            w.db.exec("COMMIT");
            check(false, "lost: another transaction commits it");
        } catch (const engines::sqlite_error&) {
            check(w.effects() == 0, "lost: a part of it is committed");
        }
    }
    w.effect.run(1, "without any transaction");
    check(w.effects() == 1, "lost: the connection stays of use");
}

// A handler that catches the error of SQLite, and writes a shorter row.
void full_disk(const std::string& path, bool savepoints, bool catches_all)
{
    simulation w(path);
    w.room_for(200);
    std::vector<event> events;
    for (std::uint64_t n = 1; n != 7; ++n)
        events.push_back({n, std::string(n == 4 ? 2'000'000 : 20'000, 'x')});
    const auto stubborn = [&](auto&, const event& e) {
        try {
            w.effect.run(e.sequence, e.body);
        } catch (const engines::sqlite_error&) {
            try {
                w.effect.run(e.sequence, "cut");
            } catch (const engines::sqlite_error&) {
                if (!catches_all) throw;
            }
        }
    };
    for (int n = 0; n != 3; ++n) {
        const auto r =
            w.deliver(events, waybill::catching(stubborn, engines::classify), savepoints);
        check(r.outcome == waybill::batch_outcome::redeliver,
              "full disk: " + std::string(name(r.outcome)));
        check(w.effects() == 0 && w.count("SELECT count(*) FROM dead_letters") == 0,
              "full disk: something stays");
        check(!w.db.in_transaction(), "full disk: a transaction stays open");
    }
    w.room_for(2'000);
    const auto r = w.deliver(events, waybill::catching(stubborn, engines::classify), savepoints);
    check(r.handled == 6 && w.effects() == 6, "full disk: nothing is made up for");
}

// A full disk is never the fault of an event, at any statement that finds it.
void full_anywhere(const std::string& path)
{
    std::vector<event> events;
    for (std::uint64_t n = 1; n != 9; ++n) events.push_back({n, std::string(40'000, 'x')});
    for (int pages = 190; pages < 250; pages += 4) {
        simulation w(path + std::to_string(pages));
        // The statement inserts several rows and may break a rule. Then SQLite undoes only the
        // statement.
        w.db.exec(
            "CREATE TABLE lines (n INTEGER, line INTEGER NOT NULL, body TEXT, UNIQUE (n, line))");
        engines::statement three(
            w.db, "INSERT INTO lines SELECT ?1, column1, ?2 FROM (VALUES (1), (2), (3))");
        w.room_for(pages);
        const auto handle = [&](auto&, const event& e) { three.run(e.sequence, e.body); };
        const auto plain = w.deliver(events, waybill::catching(handle));
        const auto own = w.deliver(events, waybill::catching(handle, engines::classify));
        check(plain.dead_lettered == 0 && own.dead_lettered == 0,
              "a full disk: good events are parked");
    }
}

// A value that breaks a rule of a table is a permanent fault.
void refused(const std::string& path)
{
    simulation w(path);
    const auto parked =
        w.deliver({{1, "a"}, {2, "b"}},
                  waybill::catching(
                      [&](auto&, const event& e) {
                          if (e.sequence == 1)
                              w.db.exec("INSERT INTO effects VALUES (NULL, 'no number')");
                          else w.effect.run(e.sequence, e.body);
                      },
                      engines::classify));
    check(parked.dead_lettered == 1 && w.effects() == 1,
          "refused: an event that breaks a rule of the table");

    sqlite3_limit(w.db.handle(), SQLITE_LIMIT_LENGTH, 1'000'000);
    auto tx = *w.store.begin();
    waybill::dead_letter d{.key = key, .at = {9, "9"}, .body = std::string(2'000'000, 'x')};
    const auto large = w.store.put(tx, d);
    check(!large && large.error().kind == fault_kind::permanent,
          "refused: a letter that is too large");
    d.body = "small";
    check(w.store.put(tx, d) && *tx.commit() == waybill::commit_outcome::applied,
          "refused: and the transaction");
    w.db.exec(
        "CREATE TRIGGER no_letters BEFORE INSERT ON dead_letters BEGIN SELECT RAISE(ROLLBACK, "
        "'no'); END");
    auto again = *w.store.begin();
    const auto gone = w.store.put(again, d);
    check(!gone && gone.error().kind == fault_kind::infrastructure,
          "refused: a letter, and the transaction lost");
}

// Unreadable rows are errors with the place and the value of the row.
void unreadable(const std::string& path)
{
    simulation w(path);
    engines::sqlite_leases leases(w.db);
    const auto says = [](const auto& r, std::vector<std::string> all) {
        if (r) return check(false, "unreadable: a value where there is none: " + all.front());
        for (const std::string& part : all) {
            const std::string& text = r.error().text;
            check(text.find(part) != text.npos,
                  "unreadable: '" + part + "' is not in '" + text + "'");
        }
    };
    const auto put = [&](const char* table, const char* values) {
        w.db.exec(("INSERT OR REPLACE INTO " + std::string(table) +
                   " VALUES ('orders', 'billing', '0', " + values + ")")
                      .c_str());
    };
    const auto load = [&](const char* values) {
        put("checkpoints", values);
        return w.store.load(key);
    };
    says(load("'no number', '', 1"),
         {"sequence is 'no number'", "FROM checkpoints", "'billing'", "part = '0'"});
    {
        auto tx = *w.store.begin();
        says(w.store.advance(tx, key, {}, {1, ""}, 1), {"sequence is 'no number'"});
    }
    says(load("1e300, '', 1"), {"sequence is '1.0e+300'"});
    says(load("7, '', 'x'"), {"epoch is 'x'", "sequence is '7'"});
    says(load("7, x'00', 0.5"), {"epoch is '0.5'"});
    check(load("NULL, '', 1") && !*load("NULL, '', 1"),
          "unreadable: a checkpoint at the beginning");
    check((*load("-1, 'é', -1"))->at == waybill::position{~std::uint64_t{0}, "é"},
          "unreadable: the highest number");

    const auto attempted = [&](const char* values) {
        put("attempts", values);
        return w.store.load_crash_record(key);
    };
    says(attempted("'zz', 1, 1, 1, 1, 1"), {"sequence is 'zz'", "FROM attempts"});
    says(attempted("1, 2, 1, 4294967296, 1, 1"), {"deaths is '4294967296'"});
    says(attempted("1, 2, 1, -1, 1, 1"), {"deaths is '-1'"});
    check((*attempted("NULL, 2, 1, 4294967295, 1, 1"))->deaths == UINT32_MAX,
          "unreadable: the most deaths");

    const auto letter = [&](const char* values) {
        put("dead_letters", values);
        return w.store.find(key, 9);
    };
    check((*letter("9, '', 5, '', 'a text', 0, 1, NULL, 2, 0, 0"))->body == "a text",
          "unreadable: a letter");
    says(letter("9, '', 77, '', x'', 0, 0, 0, 0, 0, 0"),
         {"class is '77'", "FROM dead_letters", "sequence = 9"});
    says(w.store.list(key, {}, 10), {"class is '77'", "sequence is '9'", "part = '0'"});
    says(letter("9, '', 2, '', x'', -5, 0, 0, 0, 0, 0"), {"tries is '-5'"});
    says(letter("9, '', 2, '', x'', 0, 'noon', 0, 0, 0, 0"), {"occurred is 'noon'"});
    says(letter("9, '', 2, '', x'', 0, 0, 0, 200, 0, 0"), {"kept is '200'"});
    says(letter("9, '', 2, '', 3, 0, 0, 0, 0, 0, 0"), {"body is '3'"});
    says(letter("9, '', 2, '', x'', 0, 0, 0, 0, 0, 1e10"), {"checksum is '10000000000"});

    put("leases", "'a', 1, 'never', 1");
    auto tx = *w.store.begin();
    says(leases.epoch(tx, key), {"epoch is 'never'", "FROM leases"});
    says(leases.list("orders", "billing"), {"epoch is 'never'"});
    tx.rollback();

    // No statement is left half read. It would prevent all other writes to the file.
    engines::database second(path);
    second.exec("INSERT INTO effects VALUES (1, 'by another connection')");
    check(w.store.begin().has_value(), "unreadable: a statement of the store is left half read");

    engines::statement half(w.db, "SELECT sequence FROM dead_letters");
    half.query();
    check(half.step(), "half read: a row");
    second.exec("INSERT INTO effects VALUES (2, 'by another connection')");
    says(w.store.begin(), {"half read: SELECT sequence FROM dead_letters"});
}

}  // namespace

int main(int, char** argv)
{
    int stores = 0;
    const auto report = waybill::testing::conformance(
        [&] {
            return connection(std::string(argv[1]) + "/" + std::to_string(++stores) + ".sqlite");
        },
        [](const connection& c) { return connection(c.path()); },
        [](auto waits, auto commits) {
            std::thread one(waits);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            commits();
            one.join();
        });
    for (const std::string& rule : report.broken) check(false, "broken: " + rule);
    for (const std::string& rule : report.untested) check(false, "untested: " + rule);
    const auto down = waybill::testing::outage_conformance(
        [&] { return connection(std::string(argv[1]) + "/down.sqlite"); },
        [](const connection& c) {
            engines::database(c.path()).exec(
                "DROP TABLE checkpoints; DROP TABLE dead_letters; DROP TABLE attempts");
        });
    for (const std::string& rule : down.broken) check(false, rule);

    const std::string folder = std::string(argv[1]) + "/";
    lost(folder + "lost.sqlite");
    for (const bool savepoints : {true, false}) {
        for (const bool catches_all : {true, false}) {
            const std::string which = {savepoints ? 's' : 'r', catches_all ? 'a' : 'o'};
            full_disk(folder + "full_" + which + ".sqlite", savepoints, catches_all);
        }
    }
    full_anywhere(folder + "full_at_");
    refused(folder + "refused.sqlite");
    unreadable(folder + "unreadable.sqlite");
    std::printf("%d stores, %d rules broken\n", stores, failures);
    return failures == 0 && stores > 3 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
//
// Faults of SQLite: a full database file, a write lock that is held for longer than the busy
// timeout, and workers slower than their lock. The count is made by SQL on another connection, and
// each body is read back.
//
//     sqlite FOLDER

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <engines/sqlite.hpp>
#include <engines/sqlite_leases.hpp>
#include <engines/sqlite_store.hpp>
#include <engines/sqlite_work_queue.hpp>

#include "partition_owners.hpp"
#include "slow_workers.hpp"
#include "support.hpp"

namespace {

using namespace engines_test;

/// PRAGMA max_page_count of all workers. It belongs to a connection.
std::atomic<int> max_pages{1'000'000'000};

struct worker {
    worker(const std::string& file, int busy_ms) : db(file)
    {
        sqlite3_busy_timeout(db.handle(), busy_ms);
    }

    void insert(const std::string& partition, const std::string& body)
    {
        if (const int pages = max_pages; pages != pages_) {
            db.exec(("PRAGMA max_page_count = " + std::to_string(pages)).c_str());
            pages_ = pages;
        }
        insert_.run(partition, std::strtoull(body.c_str(), nullptr, 10), engines::blob{body});
    }
    static waybill::fault_kind classify(const std::exception& e) noexcept
    {
        return engines::classify(e);
    }

    engines::database db;
    engines::sqlite_store store{db};
    engines::sqlite_leases leases{db};

private:
    engines::statement insert_{db, "INSERT INTO effects (part, n, body) VALUES (?, ?, ?)"};
    int pages_ = 0;
};

std::string file_with_table(const std::string& path)
{
    engines::database db(path);
    db.exec(
        "CREATE TABLE effects (id INTEGER PRIMARY KEY AUTOINCREMENT, part TEXT NOT NULL,"
        " n INTEGER NOT NULL, body BLOB NOT NULL)");
    return path;
}

/// Counts the rows of a table on one connection.
class counter {
public:
    counter(const std::string& file, const std::string& table)
        : db_(file), count_(db_, "SELECT count(*) FROM " + table)
    {
    }
    std::uint64_t operator()() { return static_cast<std::uint64_t>(count_.number().value_or(0)); }

private:
    engines::database db_;
    engines::statement count_;
};

arrivals effects_of(const std::string& file, const std::vector<std::string>& events)
{
    engines::database db(file);
    engines::statement all(db, "SELECT body FROM effects ORDER BY id");
    arrivals found(events);
    all.each([&] { found.add(all.bytes(0)); });
    return found;
}

void full_file(const std::vector<std::string>& events, const std::string& folder)
{
    partition_owners owners(events, {});
    const std::string file = file_with_table(folder + "/full");
    counter count(file, "effects");
    max_pages = 4'000;  // 16 MB of about 35
    std::uint64_t last = 0;
    std::uint64_t at_limit = 0;
    auto changed = clock::now();
    owners.run([&](std::size_t) { return std::make_unique<worker>(file, 5'000); },
               [&] {
                   if (last == 0 || at_limit != 0 || clock::now() < changed + seconds(3)) return;
                   at_limit = last;
                   max_pages = 1'000'000'000;
               },
               [&] {
                   const std::uint64_t n = count();
                   if (n != last) changed = clock::now();
                   return last = n;
               },
               seconds(100));
    owners.report("file full (max_page_count), then lifted", effects_of(file, events),
                  at_least(at_limit, 1, "events before the limit"),
                  ", full after " + std::to_string(at_limit) + " events");
}

void busy(const std::vector<std::string>& events, const std::string& folder)
{
    partition_owners owners(events, {.batch = 16});
    const std::string file = file_with_table(folder + "/busy");
    counter count(file, "effects");
    engines::database other(file);
    std::uint64_t locks = 0;
    auto next = clock::now() + milliseconds(300);
    owners.run([&](std::size_t) { return std::make_unique<worker>(file, 200); },
               [&] {
                   if (clock::now() < next) return;
                   other.exec("BEGIN IMMEDIATE");
                   std::this_thread::sleep_for(seconds(1));
                   other.exec("ROLLBACK");
                   ++locks;
                   next = clock::now() + milliseconds(700);
               },
               [&] { return count(); }, seconds(100));
    owners.report(
        "write lock longer than the busy timeout", effects_of(file, events),
        at_least(locks, 2, "locks") + at_least(owners.faults(), 2 * locks, "faults of owners"),
        ", " + std::to_string(locks) + " locks of 1 s");
}

struct queue_of_thread {
    explicit queue_of_thread(const std::string& file)
        : db(std::make_unique<engines::database>(file)),
          queue(std::make_unique<engines::sqlite_work_queue>(*db))
    {
    }

    using message = engines::sqlite_work_queue::message;
    auto receive(waybill::duration lock) { return queue->receive(lock); }
    auto complete(const message& m) { return queue->complete(m); }
    auto renew(const message& m, waybill::duration lock) { return queue->renew(m, lock); }
    auto abandon(const message& m, bool failed) { return queue->abandon(m, failed); }
    auto defer(const message& m, waybill::duration delay, bool failed)
    {
        return queue->defer(m, delay, failed);
    }
    auto dead_letter(const message& m, std::string_view reason)
    {
        return queue->dead_letter(m, reason);
    }

    std::unique_ptr<engines::database> db;
    std::unique_ptr<engines::sqlite_work_queue> queue;
};

void slow(const std::vector<std::string>& events, const std::string& folder)
{
    const auto begin = clock::now();
    const std::string file = folder + "/work";
    {
        engines::database db(file);
        engines::sqlite_work_queue queue(db);
        db.exec("BEGIN IMMEDIATE");
        for (const std::string& body : events) queue.put(body);
        db.exec("COMMIT");
    }
    counter left(file, "work");
    constexpr milliseconds lock(400);
    slow_workers workers(events, lock, lock + milliseconds(200));
    workers.run(
        "lock shorter than the handler", begin, [&](std::size_t) { return queue_of_thread(file); },
        [&] { return left(); }, seconds(100));
}

}  // namespace

int main(int, char** argv)
{
    try {
        const auto events = make_events(event_count());
        full_file(events, argv[1]);
        busy(events, argv[1]);
        slow(events, argv[1]);
    } catch (const std::exception& e) {
        std::printf("sqlite: %s\n", e.what());
        return 1;
    }
    return failures == 0 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
//
// reliable_consumer: each event of a log becomes one invoice. Effects, dead letters and checkpoint
// are in one transaction. After the fix the dead letters are handled again.
//
//     reliable_consumer DB consume      the handler has no credit notes: negative totals fail
//     reliable_consumer DB reprocess    it supports them now, and handles the dead letters
//
// The events are in the table `log` (sequence, total). Killed with -9 at any point, the same
// command continues: tests/integration/articles_reliable_consumer.sh

#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "../engines/sqlite_store.hpp"
#include "../support/environment.hpp"
#include <waybill/consume.hpp>
#include <waybill/ext/exceptions.hpp>

namespace {

struct event {
    std::uint64_t sequence = 0;
    std::string body{};
};

}  // namespace

int main(int argc, char** argv)
{
    engines::database db(argc == 3 ? argv[1] : ":memory:");
    db.exec(
        "CREATE TABLE IF NOT EXISTS log (sequence INTEGER PRIMARY KEY, total TEXT NOT NULL);"
        "CREATE TABLE IF NOT EXISTS invoices (total INTEGER NOT NULL)");
    engines::statement read(db, "SELECT sequence, total FROM log WHERE sequence > ? LIMIT 3");
    engines::statement insert(db, "INSERT INTO invoices VALUES (?)");
    engines::sqlite_store store(db);
    support::standard_environment env;
    const bool fixed = argc == 3 && argv[2] == std::string_view("reprocess");
    //! [reliable_consumer]
    const auto handle = waybill::catching(
        [&](auto&, const auto& e) -> waybill::fault {
            if (!fixed && e.body.starts_with('-')) return waybill::permanent("total is negative");
            insert.run(std::stoll(e.body));
            return {};
        },
        engines::classify);

    waybill::assignment mine{{"orders", "billing", "0"}, {}, 1};
    const auto stored = store.load(mine.key);
    if (stored) mine.from = position_of(*stored);
    for (std::vector<event> events; stored; events.clear()) {
        read.each([&] { events.push_back({read.size(0), read.bytes(1)}); },
                  mine.from ? mine.from->sequence : 0);
        if (events.empty()) break;
        const auto r = waybill::process_batch(store, mine, events, handle, env.wall_now());
        if (r.outcome != waybill::batch_outcome::committed) return 1;
        mine.from = r.reached;
    }
    //! [reliable_consumer]
    if (fixed) std::cout << describe(waybill::reprocess_all(store, handle, env)) << '\n';
    return stored ? 0 : 1;
}

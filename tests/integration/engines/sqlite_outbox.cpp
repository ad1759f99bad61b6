// SPDX-License-Identifier: MIT
//
// The outbox of the examples on SQLite has the properties that a relay relies on, with concurrent
// claims of two threads.
//
//     sqlite_outbox FOLDER

#include <string>
#include <thread>
#include <vector>

#include <engines/sqlite_outbox.hpp>

#include "outbox_at.hpp"
#include <waybill/testing/outbox_conformance.hpp>

int main(int, char** argv)
{
    using box_at = engines_test::outbox_at<engines::database, engines::sqlite_outbox>;
    const std::string folder = argv[1];
    int made = 0;
    const auto make = [&] {
        return box_at(folder + "/outbox" + std::to_string(++made) + ".sqlite");
    };
    const auto again = [](const box_at& b) { return box_at(b.where()); };
    const auto race = [](auto f, auto g) {
        std::thread other(f);
        g();
        other.join();
    };
    const auto reasons = [](box_at& b) {
        std::vector<std::string> all;
        engines::statement dead(b.db(), "SELECT dead FROM outbox WHERE dead IS NOT NULL");
        dead.each([&] { all.push_back(dead.bytes(0)); });
        return all;
    };
    int wrong = engines_test::shown(
        "outbox", waybill::testing::outbox_conformance(make, again, race, reasons));

    // Another program holds the write lock for longer than this connection waits.
    box_at box(folder + "/outbox_busy.sqlite");
    sqlite3_busy_timeout(box.db().handle(), 10);
    engines::database other(box.where());
    other.exec("BEGIN IMMEDIATE");
    const box_at::claimed_rows claimed{.messages = {{}}, .token = 1, .numbers = {1}};
    wrong += engines_test::shown("outbox in an outage",
                                 waybill::testing::outbox_outage_conformance(box, claimed));
    return wrong == 0 ? 0 : 1;
}

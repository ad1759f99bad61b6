// SPDX-License-Identifier: MIT
//
// product_import: the lines of price lists, on SQLite. Messages have only a session id, and a mark
// on the last one. A line without a price is dead-lettered, and the rest of its list continues.
//
//     product_import shop.sqlite send march "nails;250" "screws;3,10" "glue;480"
//     product_import shop.sqlite
//
// A product and the count of its list are committed in one transaction: each line takes effect
// once, also if the process is killed.

#include <charconv>
#include <iostream>
#include <string>

#include "../engines/sqlite_sessions.hpp"
#include "../engines/sqlite_step_letters.hpp"
#include "../support/environment.hpp"
#include <waybill/ext/json/state_codec.hpp>

struct tally {
    int products = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(tally, products)

int main(int argc, char** argv)
{
    engines::database db(argc > 1 ? argv[1] : ":memory:");
    engines::sqlite_sessions queue(db);
    for (int n = 4; n < argc; ++n) {
        engines::session_message line{.session = argv[3], .body = argv[n]};
        line.id = line.session + "/" + std::to_string(n);  // a repeated send is dropped
        if (n + 1 == argc) line.properties["IsLastMessage"] = "true";
        if (const auto f = queue.send(line); !f.ok()) throw f.text;
    }
    if (argc > 2) return 0;
    engines::sqlite_step_letters dead_letters(db);
    db.exec("CREATE TABLE IF NOT EXISTS products (name TEXT, price INTEGER, number INTEGER)");
    engines::statement put(db, "INSERT INTO products VALUES (?, ?, ?)");
    const auto import_line = [&](auto& /*tx*/, tally& t, const waybill::pipeline::step& s) {
        const auto semicolon = s.body.find(';');
        const char* const end = s.body.data() + s.body.size();
        int price = 0;
        if (semicolon == s.body.npos ||
            std::from_chars(s.body.data() + semicolon + 1, end, price).ptr != end)
            return waybill::permanent(std::string(s.body) + " has no price");
        put.run(s.body.substr(0, semicolon), price, ++t.products);
        return waybill::fault{};
    };
    using mode = waybill::pipeline_policy::pipeline_mode;
    const auto report = waybill::run_session(queue, waybill::state_codec<tally>(), dead_letters,
                                             waybill::catching(import_line, engines::classify),
                                             {.pipeline = {.mode = mode::independent},
                                              .until_empty = true,
                                              .last_property = "IsLastMessage"},
                                             support::standard_environment());
    std::cout << describe(report) << '\n';
}

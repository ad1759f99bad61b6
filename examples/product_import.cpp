// SPDX-License-Identifier: MIT
//
// product_import: the lines of a price list, one step each. No step needs another one. Lines that
// cannot be read are dead-lettered, and the rest continues. The repaired lines are redriven.

#include <charconv>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "engines/sqlite_sessions.hpp"
#include "engines/sqlite_step_letters.hpp"
#include "support/environment.hpp"
#include "support/terminal.hpp"
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session.hpp>

namespace {

/// The state of an import.
struct tally {
    int products = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(tally, products)

std::map<std::string, int> prices;
bool commas_are_known = false;

/// "nails;250"
waybill::fault import_line(tally& t, const waybill::pipeline::step& s)
{
    std::string line(s.body);
    const auto comma = line.find(',');
    if (comma != line.npos && commas_are_known) line.erase(comma, 1);
    const auto semicolon = line.find(';');
    int price = 0;
    const char* end = line.data() + line.size();
    const auto read = std::from_chars(line.data() + semicolon + 1, end, price);
    if (semicolon == line.npos || read.ptr != end) {
        return waybill::permanent("\"" + line + "\" has no price");
    }
    prices[line.substr(0, semicolon)] = price;
    ++t.products;
    return {};
}

/// Runs the messages of the queue. False if the run ended for another reason than an empty queue.
bool run(engines::sqlite_sessions& queue, engines::sqlite_step_letters& dead_letters)
{
    using mode = waybill::pipeline_policy::pipeline_mode;
    const auto report =
        waybill::run_session(queue, waybill::state_codec<tally>(), dead_letters, import_line,
                             {.pipeline = {.mode = mode::independent}, .until_empty = true},
                             support::standard_environment());
    return report.ended == waybill::session_report::run_outcome::queue_empty;
}

}  // namespace

int main()
{
    support::wrap_lines(std::cout);
    engines::database db(":memory:");
    engines::sqlite_sessions queue(db);
    engines::sqlite_step_letters dead_letters(db);
    auto job = waybill::job::make("import-1", 5);
    for (const char* line : {"nails;250", "screws;3,10", "glue;480", "paint;12,00", "tape;190"}) {
        if (!job || !queue.send(job->next(), line).ok()) return 1;
    }
    if (!run(queue, dead_letters)) return 1;
    auto letters = dead_letters.list();
    if (!letters) return 1;
    std::cout << prices.size() << " of 5 products, and dead-lettered:\n";
    for (const auto& letter : *letters) std::cout << "  " << describe(letter) << '\n';

    commas_are_known = true;
    for (const auto& session : waybill::plan_redrive(*letters).sessions)
        std::cout << describe(session, *letters) << '\n';
    const auto send = [&](const auto& m) { return queue.send(m); };
    const auto redriven =
        waybill::redrive_all(dead_letters, {}, send, support::standard_environment());
    if (!redriven.ok() || !run(queue, dead_letters)) return 1;
    for (const auto& [name, price] : prices) std::cout << "  " << name << ' ' << price << '\n';
    const auto left = dead_letters.list();
    return prices.size() == 5 && left && left->empty() ? 0 : 1;
}

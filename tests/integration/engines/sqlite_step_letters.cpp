// SPDX-License-Identifier: MIT
//
// The table of pipeline dead letters returns the stored letters in the order of their keys. A call
// takes effect completely or not at all.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <engines/sqlite_step_letters.hpp>

#include <waybill/testing/pipeline_dead_letter_conformance.hpp>

namespace {

int failures = 0;

void check(bool holds, const char* what)
{
    if (holds) return;
    ++failures;
    std::printf("%s\n", what);
}

waybill::pipeline_dead_letter letter(const std::string& session, std::uint64_t sequence)
{
    waybill::pipeline_dead_letter l;
    l.properties = {session, 3, 2, 5, true};
    l.origin = {"order-1", ~std::uint64_t{0}, 7, 8};
    l.sequence = sequence;
    l.message_id = session + "/3";
    l.reason = waybill::dead_letter_reason::contradiction;
    l.cause = ~std::uint64_t{0} - 1;
    l.resume_at = 2;
    l.independent = true;
    l.last_redriven_step = 4;
    l.text = "no template";
    l.tries = 9;
    l.enqueued = waybill::wall_time::at(waybill::duration::nanoseconds(-1));
    l.dead_lettered_at = waybill::wall_time::highest();
    l.kept = waybill::dead_letter_body::summary;
    l.body = std::string("\0\xff{}", 4);
    l.size = 1'000'000;
    l.checksum = 4'000'000'000;
    l.state = std::string("\0\xff state", 8);
    l.state_omitted = true;
    l.origin.state = "before";
    l.origin.message_id = "order-1/3";
    return l;
}

}  // namespace

int main(int, char** argv)
{
    const std::string path = std::string(argv[1]) + "/letters.sqlite";
    engines::database db(path);
    engines::sqlite_step_letters letters(db);
    engines::database other_db(path);
    engines::sqlite_step_letters other(other_db);

    struct emptied : engines::sqlite_step_letters {
        explicit emptied(engines::database& d) : sqlite_step_letters(d)
        {
            d.exec("DELETE FROM step_letters");
        }
    };
    const auto report = waybill::testing::pipeline_dead_letter_conformance(
        [&] { return emptied(db); },
        [&](emptied&) { return engines::sqlite_step_letters(other_db); });
    for (const std::string& rule : report.broken) check(false, rule.c_str());
    check(report.untested.empty(), "each rule was tried");
    db.exec("DELETE FROM step_letters");

    check(letters.list()->empty(), "there is nothing");
    const std::vector<waybill::pipeline_dead_letter> all{
        letter("a", 9), letter("a", 10), letter("a", ~std::uint64_t{0}), letter("b", 1)};
    check(letters.write(std::vector{all[3], all[2], all[1], all[0]}).ok(), "written");
    check(*other.list() == all, "the rows read equal the rows written, step 9 before 10");

    const auto stored = [&](std::size_t n) { return (*letters.list())[n]; };
    waybill::pipeline_dead_letter again = all[1];
    again.text = "written again";
    check(other.upsert(again).ok() && stored(1) == again, "written again, it replaces itself");
    waybill::pipeline_dead_letter later = again;
    later.last_redriven_step = 0;
    check(other.upsert(later).ok() && stored(1) == again, "upsert keeps last_redriven_step");
    later.reason = waybill::dead_letter_reason::broker;
    later.text = "delivered ten times";
    check(other.upsert(later).ok() && stored(1) == again, "upsert keeps the reason of a pipeline");
    check(other.write({&later, 1}).ok() && stored(1) == later, "write replaces all fields");
    later.last_redriven_step = 5;
    later.resume_at = 3;
    later.properties.total = 6;
    check(other.mark({&later, 1}).ok() && stored(1) == later, "how far it was sent");
    waybill::pipeline_dead_letter less = later;
    less.last_redriven_step = 4;
    less.properties.total = 5;
    check(other.mark({&less, 1}).ok() && stored(1) == later, "mark does not lower the step");
    waybill::pipeline_dead_letter gone = letter("gone", 1);
    check(letters.mark({&gone, 1}).ok() && letters.list()->size() == all.size(),
          "mark writes no missing letter");
    later.message_id = "another";
    check(other.upsert(later).ok() && stored(1) == later, "another message is another letter");
    check(letters.list()->size() == 4, "and there is still one for each");

    check(letters.remove(std::vector{again, all[3], letter("c", 1)}).ok(),
          "one that is not there is removed");
    check(*other.list() == std::vector{all[0], all[2]}, "and those that are there");

    // Another connection writes: the call has no effect.
    sqlite3_busy_timeout(other_db.handle(), 0);
    db.exec("BEGIN IMMEDIATE");
    check(other.remove(all).kind == waybill::fault_kind::infrastructure,
          "a locked table is an infrastructure fault");
    db.exec("COMMIT");
    check(letters.list()->size() == 2, "and is as it was");

    // Rows that other tools have written.
    db.exec("UPDATE step_letters SET row_key = '9' WHERE row_key LIKE '%9'");
    check((*letters.list())[1].sequence == 9, "a key without zeros can be read");
    waybill::pipeline_dead_letter nine = (*letters.list())[1];
    nine.last_redriven_step = 9;
    check(letters.mark({&nine, 1}).ok() && (*letters.list())[1] == nine, "and marked");
    check(letters.remove({&nine, 1}).ok() && letters.list()->size() == 1, "and removed");
    check(letters.write({&nine, 1}).ok(), "written by us it has its zeros");
    db.exec("UPDATE step_letters SET row_key = 'nine' WHERE row_key LIKE '%9'");
    check(!letters.list() && letters.list().error().text.find("row key") != std::string::npos,
          "one that is no number is named");
    db.exec(
        "UPDATE step_letters SET row_key = '00000000000000000009', reason = 'bored' WHERE row_key "
        "= 'nine'");
    check(!letters.list(), "and so is a reason that there is not");
    db.exec("DROP TABLE step_letters");
    check(!letters.list() && !letters.upsert(all[0]).ok(), "without a table nothing works");
    std::printf("letters of steps: %d rules broken\n", failures);
    return failures == 0 ? 0 : 1;
}

// SPDX-License-Identifier: MIT

#include "closing.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "history.hpp"
#include "picture.hpp"
#include "report.hpp"

namespace autoscaler {

namespace {

/// Adds a flaw if the two runs differ.
void compare(const history& h, const run_so_far& run, std::vector<std::string>& flaws)
{
    for (std::size_t n = 0; n != run.made.size(); ++n) {
        if (run.made[n] == h.made[run.first + n]) continue;
        flaws.push_back(
            fmt::format("decision {} differs after a kill and a restart", run.first + n + 1));
        return;
    }
    if (!(run.known == h.known)) {
        flaws.emplace_back("the state at the end differs after a kill and a restart");
    }
}

}  // namespace

void report_decisions(const options& o, record_file& records, const std::vector<decided>& made)
{
    for (const decided& d : made) {
        if (!o.records.empty()) records.add(json_of(d));
        if (d.news || o.all) fmt::print("{}\n", line_of(d, o.all, !o.plain));
    }
    std::fflush(stdout);
}

int conclude(const options& o, const rules& r, std::span<const tick> ticks, const run_so_far& run)
{
    history h = replayed(ticks, r, run.start);
    std::vector<std::string> flaws = run.flaws;
    compare(h, run, flaws);
    for (std::string& f : flaws_of(h, ticks, r)) flaws.push_back(std::move(f));
    for (const auto& [why, what] : run.rejected_rows) h.rows.remarks[why] = what;

    fmt::print("\n{}{}", summary_of(h, ticks, r), run.remarks);
    if (flaws.empty()) {
        fmt::print(
            "checked: the decisions are the same after a kill before each of them; means "
            "and maxima are those\nof the rows; bounds and cooldowns are kept; no instance "
            "was removed while a metric for it was missing\n");
    }
    for (const std::string& f : flaws) support::say(fmt::format("autoscaler: wrong: {}\n", f));
    if (!flaws.empty()) fmt::print("{}", support::verdict_of(flaws));
    support::write_file("chart", o.chart, chart_of(h, r));
    return flaws.empty() ? 0 : 1;
}

}  // namespace autoscaler

// SPDX-License-Identifier: MIT
//
// lost_events: distinguishes lost events from sampled ones.
//
//     lines -> rows                  input.cpp      counts and names lines that are no rows
//     rows and events by bin         tables.cpp     bins, quantiles, a sliding window
//     changes as sentences           findings.cpp   phases of sampling, changes of the traffic
//     the same as a chart            picture.cpp
//     independent check              check.cpp      against a count of all events
//
// The row of a sampled event contains the number of events that it represents. A count of rows
// drops when sampling begins; a sum of weights does not.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "../support/cleanup.hpp"
#include "../support/input.hpp"
#include "../support/program.hpp"
#include "../support/terminal.hpp"
#include "findings.hpp"
#include "input.hpp"
#include "options.hpp"
#include "report.hpp"

namespace {

using namespace lost_events;
using support::complaint;
using waybill::duration;

/// Days if the rows span at least three. Otherwise the widest width with at least ten bins.
duration width_for(const telemetry& t)
{
    constexpr duration day = duration::seconds(86'400);
    const duration all = t.rows.back().at - t.rows.front().at;
    if (all >= day * 3) return day;
    for (const std::int64_t seconds : {3'600, 600, 60, 10}) {
        if (all >= duration::seconds(seconds * 10)) return duration::seconds(seconds);
    }
    return duration::seconds(1);
}

/// Bins of whole weeks begin on a Monday. All others are aligned to 1970-01-01, and so to midnight.
waybill::wall_time origin_for(duration width)
{
    constexpr std::int64_t day = 86'400'000'000'000;
    const bool weeks = width.count() % (7 * day) == 0;
    return waybill::wall_time::at(duration::nanoseconds(weeks ? 4 * day : 0));
}

int run(const options& o)
{
    support::end_on_signals();
    support::expect_input(o.input);
    if (!o.truth.empty()) support::expect_input(o.truth, "truth");
    support::expect_file("chart", o.chart, {{"the input", o.input}, {"the truth", o.truth}});
    telemetry t = read_telemetry(o.input, o.select);
    const std::vector<counted_minute> truth =
        o.truth.empty() ? std::vector<counted_minute>() : read_truth(o.truth);
    const std::string not_counted = rejections(t);
    const std::uint64_t taken = t.rows.size() + t.duplicates;
    if (t.rows.empty()) {
        support::say(not_counted);
        if (t.rejections.empty() && truth.empty() && t.others == 0) {
            fmt::print("{}\n", sentence({}));
            return 0;
        }
        throw complaint(
            fmt::format("{} has no row that can be counted: the reasons are above, and lost_events "
                        "--help lists the fields of a row",
                        t.name));
    }
    const std::string weeks = o.weekdays ? by_weekday(t, o.last) : std::string();
    if (o.last) keep_last(t, *o.last);

    const duration width = o.bin.value_or(width_for(t));
    binned_rows bins(width, origin_for(width));
    for (const row& r : t.rows) bins.add(r.at, r.value, r.weight);
    if (bins.losses().no_room != 0) {
        throw complaint(fmt::format("rows are in more than {} bins of {}: choose a wider --bin",
                                    support::grouped(bins.options().max_bins), span_text(width)));
    }
    const findings f = find(t.rows, bins);
    fmt::print("{}{}{}{}", tables(t, bins, support::coloured()), weeks, not_counted, evidence(f));

    verdict v;
    if (!truth.empty()) v = check(t, truth);
    if (v.wrong.empty()) fmt::print("{}", v.said);
    support::write_file("chart", o.chart, picture(t, bins, f, truth));
    for (const std::string& w : v.wrong) support::say(fmt::format("lost_events: {}\n", w));
    if (!v.wrong.empty()) {
        fmt::print("\n{}The weights are wrong: their sums differ from the counts of --truth.\n",
                   support::verdict_of(v.wrong));
        return 1;
    }
    const std::uint64_t bad = t.rejected_lines();
    const std::uint64_t lines = bad + taken + t.others;
    if (bad != 0) {
        fmt::print("\nAs far as the input could be read ({} of {} could not):",
                   support::grouped(bad), support::counted(lines, "line"));
    }
    fmt::print("\n{}\n", sentence(f));
    return 0;
}

int do_as_told(int argc, char** argv)
{
    const auto asked = options_in(argc, argv);
    if (const auto* o = std::get_if<options>(&asked)) return run(*o);
    const ending& end = std::get<ending>(asked);
    if (end.code == 0) fmt::print("{}", end.text);
    else support::say(end.text + "\n");
    return end.code;
}

}  // namespace

int main(int argc, char** argv)
{
    support::keep_standard_streams();
    support::wrap_lines();
    try {
        const int code = do_as_told(argc, argv);
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        support::say("lost_events: the standard output cannot be written\n");
    } catch (const std::exception& e) {
        support::say(fmt::format("lost_events: {}\n", e.what()));
    }
    return 1;
}

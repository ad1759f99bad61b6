// SPDX-License-Identifier: MIT

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "../support/input.hpp"
#include "../support/program.hpp"
#include "closing.hpp"
#include "run.hpp"
#include "state_file.hpp"
#include "trace.hpp"
#include <waybill/scaling/known_metrics.hpp>

namespace autoscaler {

namespace {

using support::complaint;

void expect_metrics(const options& o, const schedule& s, const rules& r)
{
    std::set<std::string> names;
    for (const row& x : s.rows) names.insert(x.metric);
    if (names.empty()) return;
    if (const auto bad = scaling::unknown_metric(r.policy, names)) {
        throw complaint(fmt::format("{}: {}", o.policy, scaling::describe(*bad)));
    }
}

/// The stored state. Throws a complaint unless it was made from the beginning of this trace.
stored last_time(const options& o, const schedule& s, const rules& r)
{
    if (o.state.empty()) return {};
    const std::optional<stored> kept = read_state(o.state, r);
    if (!kept) return {};
    const std::uint64_t n = kept->known.ticks;
    if (n == 0) return *kept;
    if (n > s.ticks.size() || s.ticks[n - 1].mark != kept->known.mark) {
        throw support::another_input(o.state, o.input, "state");
    }
    return *kept;
}

}  // namespace

int run_trace(const options& o, rules r)
{
    trace t = read_trace(o.input);
    r.source = t.name;
    const schedule s = schedule_of(std::move(t), o.every);
    expect_metrics(o, s, r);
    stored kept = last_time(o, s, r);
    record_file records(o.records, kept.record_bytes);

    run_so_far run{.first = kept.known.ticks, .rejected_rows = s.rejected_rows};
    for (std::size_t n = run.first; n != s.ticks.size(); ++n) {
        intake told_later;
        run.made.push_back(step(kept.known, r, s.ticks[n], told_later));
        report_decisions(o, records, run.made.back());
        kept.record_bytes = records.bytes();
        if (!o.state.empty()) write_state(o.state, text_of(kept, r), false);
        std::this_thread::sleep_for(std::chrono::milliseconds(o.pause_ms));
    }
    run.known = std::move(kept.known);
    if (run.first != 0) {
        run.remarks += fmt::format("this run made {}; the state had {} before\n",
                                   support::counted(run.made.size(), "decision"), run.first);
    }
    if (s.waiting != 0) {
        run.remarks += fmt::format("{} of {} after the last decision\n",
                                   support::counted(s.waiting, "row"), r.source);
    }
    return conclude(o, r, s.ticks, run);
}

}  // namespace autoscaler

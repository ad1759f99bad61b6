// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "report.hpp"

namespace lost_events {

namespace {

using support::grouped;

/// The accepted error of a sum of weights for a known number of events.
double allowed(const measured& m, double events, double one_in)
{
    const double n =
        m.points == 0 ? one_in : static_cast<double>(m.weight()) / static_cast<double>(m.points);
    return believed * std::sqrt(std::max(m.variance_of_weights, events * (n - 1)));
}

std::string difference(double d)
{
    const auto n = static_cast<std::uint64_t>(std::abs(d));
    return n == 0 ? "the same" : fmt::format("{} {}", grouped(n), d < 0 ? "fewer" : "more");
}

}  // namespace

verdict check(const telemetry& t, const std::vector<counted_minute>& truth)
{
    verdict v;
    // Minutes may begin at any second, but all at the same one.
    waybill::bins<measured> minutes(waybill::duration::seconds(60), truth.front().from);
    for (const row& r : t.rows) minutes.add(r.at, r.value, r.weight);
    measured all = measured::identity();
    for (const auto& b : minutes) all = measured::combine(all, b.measure);
    const double one_in = static_cast<double>(all.weight()) / static_cast<double>(all.points);

    double counted = 0;
    double chance = 0;
    std::uint64_t known = 0;
    for (const counted_minute& m : truth) {
        const auto b = minutes.at(m.from);
        const auto events = static_cast<double>(m.events);
        const double off = static_cast<double>(b.measure.weight()) - events;
        const double most = allowed(b.measure, events, one_in);
        counted += events;
        chance += most * most;
        known += b.measure.points;
        if (b.from != m.from) {
            v.wrong.push_back(
                fmt::format("the minute {} of --truth is not a whole number of minutes "
                            "after the first one",
                            moment(m.from, true)));
        } else if (std::abs(off) > most) {
            v.wrong.push_back(fmt::format(
                "in the minute from {} on {} events were counted, and the sum of the weights is "
                "{}; chance allows {:.0f} more or fewer",
                moment(m.from, true), grouped(m.events), grouped(b.measure.weight()), most));
        }
    }
    if (known != all.points) {
        v.wrong.push_back(fmt::format("{} are of minutes without a count",
                                      support::counted(all.points - known, "row")));
    }
    const double off = static_cast<double>(all.weight()) - counted;
    const double most = std::sqrt(chance);
    if (std::abs(off) > most) {
        v.wrong.push_back(
            fmt::format("{:.0f} events were counted, and the sum of the weights is "
                        "{}; chance allows {:.0f} more or fewer",
                        counted, grouped(all.weight()), most));
    }
    v.said = fmt::format(
        "checked: {} events were counted without sampling; the sum of the weights is {}, {}\n"
        "(chance allows {:.0f}). The same limit of {} standard deviations holds for each of {}.\n",
        grouped(static_cast<std::uint64_t>(counted)), grouped(all.weight()), difference(off), most,
        believed, support::counted(truth.size(), "minute"));
    return v;
}

}  // namespace lost_events

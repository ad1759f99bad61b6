// SPDX-License-Identifier: MIT

#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/program.hpp"
#include <waybill/core/time_text.hpp>
#include <waybill/ext/fmt.hpp>
#include <waybill/ext/json/scaling.hpp>
#include <waybill/scaling/known_metrics.hpp>

namespace autoscaler {

namespace {

/// One digit after the point, unless that changes the result of the comparison with the limit.
double rounded(const scaling::evidence& e)
{
    const double x = std::round(*e.value * 10) / 10;
    if (!e.limit) return x;
    return scaling::holds(x, e.how, *e.limit) == scaling::holds(*e.value, e.how, *e.limit)
               ? x
               : *e.value;
}

/// Whether this row is a reason of the decision.
bool decides(const scaling::decision& d, const scaling::evidence& e)
{
    using scaling::role;
    if (d.why == scaling::reason::unknown) return e.holds == scaling::tribool::unknown;
    if (e.part == role::target) return true;
    if (d.desired > d.from) return e.part == role::up && e.holds == scaling::tribool::yes;
    if (d.desired < d.from) {
        const bool fewer = e.part == role::down || e.part == role::projected;
        if (fewer && e.holds == scaling::tribool::yes) return true;
        return d.to == 0 && e.part == role::activation;
    }
    if (d.up == scaling::tribool::yes)
        return e.part == role::up && e.holds == scaling::tribool::yes;
    if (e.part == role::activation) return d.from == 0 || d.why == scaling::reason::active;
    return e.part == role::down && e.holds == scaling::tribool::no;
}

/// Shortens a decision for a line: only deciding rows, rounded values, whole seconds.
scaling::decision in_short(scaling::decision d)
{
    const auto whole = [](waybill::wall_time t) {
        const std::int64_t ns = t.since_epoch().count();
        const std::int64_t second = 1'000'000'000;
        return t - waybill::duration::nanoseconds((ns % second + second) % second);
    };
    std::erase_if(d.reasons, [&](const scaling::evidence& e) { return !decides(d, e); });
    for (scaling::evidence& e : d.reasons) {
        if (e.value) e.value = rounded(e);
        e.first = whole(e.first);
        e.last = whole(e.last);
    }
    return d;
}

}  // namespace

std::string line_of(const decided& d, bool in_full, bool coloured)
{
    const std::string said = fmt::format("{}: {}", d.resource, in_full ? d.what : in_short(d.what));
    if (!coloured) return said;
    switch (d.what.verdict) {
        case scaling::verdict::up: return "\x1b[32m" + said + "\x1b[0m";
        case scaling::verdict::down: return "\x1b[35m" + said + "\x1b[0m";
        case scaling::verdict::held: return "\x1b[2m" + said + "\x1b[0m";
        case scaling::verdict::steady: break;
    }
    return said;
}

std::string json_of(const decided& d)
{
    nlohmann::json j = d.what;
    j["resource"] = d.resource;
    return j.dump();
}

namespace {

using support::grouped;

/// 41.2, 8,812
std::string number(double x)
{
    if (x < 0 || x >= 1e15) return fmt::format("{:.6g}", x);
    if (x >= 1000) return grouped(static_cast<std::uint64_t>(x + 0.5));
    std::string s = fmt::format("{:.1f}", x);
    if (s.ends_with(".0")) s.resize(s.size() - 2);
    return s;
}

/// Mean and highest of at least one sample. Dividing before the sum avoids an overflow.
std::string figures_of(const std::map<waybill::wall_time, double>& samples)
{
    double mean = 0;
    double highest = samples.begin()->second;
    for (const auto& [at, value] : samples) {
        mean += value / static_cast<double>(samples.size());
        highest = std::max(highest, value);
    }
    return fmt::format("{}, {}", number(mean), number(highest));
}

/// The decisions on one resource, by verdict.
struct outcome {
    std::uint64_t ups = 0;
    std::uint64_t downs = 0;
    std::uint64_t steady = 0;
    std::map<std::string_view, std::uint64_t> held{};
    double instances = 0;  // the sum over all decisions
    std::uint64_t fewest = UINT64_MAX;
    std::uint64_t most = 0;

    void count(const scaling::decision& d)
    {
        switch (d.verdict) {
            case scaling::verdict::up: ++ups; break;
            case scaling::verdict::down: ++downs; break;
            case scaling::verdict::held: ++held[name(d.why)]; break;
            case scaling::verdict::steady: ++steady; break;
        }
        instances += static_cast<double>(d.from);
        fewest = std::min({fewest, d.from});
        most = std::max({most, d.from});
    }
    [[nodiscard]] std::uint64_t decisions() const
    {
        std::uint64_t n = ups + downs + steady;
        for (const auto& [why, times] : held) n += times;
        return n;
    }
};

std::string reasons_of(const outcome& o)
{
    std::string said;
    for (const auto& [why, times] : o.held) {
        said += fmt::format("{}{} {}", said.empty() ? "" : ", ", why, grouped(times));
    }
    return said.empty() ? "never" : said;
}

using table = std::vector<std::vector<std::string>>;

std::string printed(const table& t)
{
    std::vector<std::size_t> widths;
    for (const auto& line : t) {
        widths.resize(std::max(widths.size(), line.size()));
        for (std::size_t n = 0; n != line.size(); ++n) {
            widths[n] = std::max(widths[n], line[n].size());
        }
    }
    std::string out;
    for (const auto& line : t) {
        std::string said;
        for (std::size_t n = 0; n != line.size(); ++n) {
            said += fmt::format("{:<{}}", line[n], n + 1 == line.size() ? 0 : widths[n] + 2);
        }
        said.erase(said.find_last_not_of(' ') + 1);
        out += said + "\n";
    }
    return out;
}

}  // namespace

std::string summary_of(const history& h, std::span<const tick> ticks, const rules& r)
{
    std::map<std::string, outcome> outcomes;
    for (const auto& made : h.made) {
        for (const decided& d : made) outcomes[d.resource].count(d.what);
    }
    const std::vector<std::string_view> asked = scaling::metrics_of(r.policy);

    table t{{"resource", "decisions", "up", "down", "held", "instances"}};
    for (const std::string_view m : asked) t[0].push_back(fmt::format("{} (mean, highest)", m));
    for (const auto& [resource, o] : outcomes) {
        const std::uint64_t all = o.decisions();
        const double mean = o.instances / static_cast<double>(all);
        t.push_back({resource, grouped(all), grouped(o.ups), grouped(o.downs), reasons_of(o),
                     fmt::format("{} to {}, mean {}", o.fewest, o.most, number(mean))});
        for (const std::string_view m : asked) {
            const auto found = h.rows.samples.find({resource, std::string(m)});
            const bool none = found == h.rows.samples.end();
            t.back().push_back(none ? "unknown" : figures_of(found->second));
        }
    }
    std::string out = outcomes.empty() ? "no decision was made\n" : printed(t);
    std::uint64_t skipped = 0;
    for (const tick& x : ticks) skipped += x.skipped;
    if (skipped != 0) {
        out += fmt::format("{} left out, because there was no row for more than 1h\n",
                           support::counted(skipped, "decision"));
    }
    for (const auto& [why, what] : h.rows.remarks) {
        out += fmt::format("{}, first in line {}: {}\n", support::counted(what.rows, "row"),
                           what.first, why);
    }
    return out;
}

}  // namespace autoscaler

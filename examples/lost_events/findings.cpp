// SPDX-License-Identifier: MIT

#include "findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "../support/program.hpp"
#include <waybill/core/time_text.hpp>

namespace lost_events {

namespace {

constexpr double noteworthy = 0.1;          // relative to the rate before
constexpr double other_share = 0.3;         // difference of log2 of the weights: about a fifth
constexpr std::size_t shortest_phase = 20;  // rows
constexpr std::size_t fewest_rows = 10;
constexpr std::size_t most_bins = 65'536;  // limit of compared bins

/// The difference of any two times fits unsigned 64 bits; a duration would saturate.
double seconds_between(waybill::wall_time from, waybill::wall_time until)
{
    const auto ns = [](waybill::wall_time t) {
        return static_cast<std::uint64_t>(t.since_epoch().count());
    };
    if (until < from) return -seconds_between(until, from);
    return static_cast<double>(ns(until) - ns(from)) / 1e9;
}

/// Running sums of numbers and of their squares: mean and spread of a part take constant time.
class prefix_sums {
public:
    void add(double x)
    {
        sums_.push_back(sums_.back() + x);
        squares_.push_back(squares_.back() + x * x);
    }
    [[nodiscard]] std::size_t size() const { return sums_.size() - 1; }
    [[nodiscard]] double mean(std::size_t first, std::size_t last) const
    {
        return (sums_[last] - sums_[first]) / static_cast<double>(last - first);
    }
    /// The sum of the squared distances from the mean.
    [[nodiscard]] double spread(std::size_t first, std::size_t last) const
    {
        const double n = static_cast<double>(last - first);
        return std::max(0.0, squares_[last] - squares_[first] - n * square(mean(first, last)));
    }
    /// The cut with the largest weighted difference of the means. Each part has at least `least`
    /// numbers.
    [[nodiscard]] std::optional<std::size_t> cut(std::size_t first, std::size_t last,
                                                 std::size_t least) const
    {
        std::optional<std::size_t> best;
        double most = 0;
        for (std::size_t k = first + least; k + least <= last; ++k) {
            const double n = static_cast<double>(k - first);
            const double m = static_cast<double>(last - k);
            const double d = square(mean(first, k) - mean(k, last)) * n * m / (n + m);
            if (d > most) {
                most = d;
                best = k;
            }
        }
        return best;
    }

private:
    static double square(double x) { return x * x; }

    std::vector<double> sums_{0};
    std::vector<double> squares_{0};
};

/// Splits rows at the largest change of their weights, and then each part.
void part(const prefix_sums& logs, std::size_t first, std::size_t last,
          std::vector<std::size_t>& cuts, int depth = 12)
{
    if (depth == 0) return;
    const std::size_t least = std::clamp<std::size_t>(logs.size() / 10, 1, shortest_phase);
    const auto k = logs.cut(first, last, least);
    if (!k) return;
    const double n = static_cast<double>(*k - first);
    const double m = static_cast<double>(last - *k);
    const double apart = std::abs(logs.mean(first, *k) - logs.mean(*k, last));
    const double variance = (logs.spread(first, *k) + logs.spread(*k, last)) / (n + m);
    if (apart < other_share || apart < believed * std::sqrt(variance * (1 / n + 1 / m))) return;
    part(logs, first, *k, cuts, depth - 1);
    cuts.push_back(*k);
    part(logs, *k, last, cuts, depth - 1);
}

std::vector<phase> phases_of(const std::vector<row>& rows)
{
    prefix_sums logs;
    for (const row& r : rows) logs.add(std::log2(r.weight));
    std::vector<std::size_t> cuts;
    part(logs, 0, rows.size(), cuts);
    cuts.push_back(rows.size());
    std::vector<phase> found;
    std::size_t n = 0;
    for (const std::size_t end : cuts) {
        phase p{.from = rows[n].at, .until = end == rows.size() ? rows.back().at : rows[end].at};
        p.even = true;
        for (const std::uint32_t w = rows[n].weight; n != end; ++n) {
            p.sum = measured::combine(p.sum, measured::of(rows[n]));
            p.even = p.even && rows[n].weight == w;
        }
        found.push_back(p);
    }
    return found;
}

/// The index of the first phase after the largest change.
std::optional<std::size_t> largest_change(const std::vector<phase>& phases)
{
    std::optional<std::size_t> best;
    double most = 0;
    for (std::size_t n = 1; n < phases.size(); ++n) {
        const double d = std::abs(std::log2(phases[n].one_in() / phases[n - 1].one_in()));
        if (d > most) {
            most = d;
            best = n;
        }
    }
    return best;
}

double change(double before, double after)
{
    return before > 0 ? after / before - 1 : 0;
}

/// A lasting change of the events per second, by bins. Of the first and the last bin only the part
/// with rows counts.
std::optional<shift> traffic_of(const std::vector<row>& rows, const binned_rows& bins)
{
    struct part_of_time {
        waybill::wall_time from;
        double seconds;
        double events;
        double variance;
    };
    std::vector<part_of_time> parts;
    prefix_sums rates;
    const double width = static_cast<double>(bins.options().width.count()) / 1e9;
    for (const auto& b : bins.with_gaps()) {
        const auto from = std::max(b.from, rows.front().at);
        const auto until = std::min(b.until, rows.back().at);
        const double s = seconds_between(from, until);
        if (s < width / 5) continue;  // too short to be compared with the others
        const auto events = static_cast<double>(b.measure.weight());
        parts.push_back({from, s, events, events + b.measure.variance_of_weights});
        rates.add(events / s);
        if (parts.size() > most_bins) return {};
    }
    const auto k = rates.cut(0, parts.size(), 1);
    if (!k) return {};
    const std::size_t n = parts.size();
    const shift found{parts[*k].from, rates.mean(0, *k), rates.mean(*k, n)};
    const double apart = std::abs(found.after - found.before);
    double by_chance = 0;
    for (std::size_t i = 0; i != n; ++i) {
        const double of = static_cast<double>(i < *k ? *k : n - *k) * parts[i].seconds;
        by_chance += parts[i].variance / (of * of);
    }
    const double spread = rates.spread(0, *k) + rates.spread(*k, n);
    const double bins_differ = n == 2 ? 0 : std::sqrt(spread / static_cast<double>(n - 2));
    const bool lasting = apart > noteworthy * found.before && apart > 2 * bins_differ &&
                         apart > believed * std::sqrt(by_chance);
    return lasting ? std::optional(found) : std::nullopt;
}

std::string percent(double share)
{
    const double p = 100 * std::abs(share);
    if (p < 1) return "less than 1 %";
    if (share < 0 && p > 99 && p < 100) return "more than 99 %";
    return fmt::format("{:.0f} %", p);
}

std::string rounded(double n)
{
    if (n < 100 || n > 1e15) return fmt::format("{:.3g}", n);
    return support::grouped(static_cast<std::uint64_t>(n + 0.5));
}

std::string fell(double change)
{
    return fmt::format("{} by {}", change < 0 ? "fell" : "rose", percent(change));
}

}  // namespace

double phase::seconds() const
{
    return seconds_between(from, until);
}
double phase::one_in() const
{
    return static_cast<double>(sum.weight()) / static_cast<double>(sum.points);
}

std::string share_of(const phase& p)
{
    const double n = p.one_in();
    if (n == 1) return "every event";
    if (p.even) return fmt::format("one event in {:.0f}", n);
    return fmt::format("about one event in {:.1f}", n);
}

bool findings::events_changed() const
{
    return std::abs(event_change) > std::max(noteworthy, event_doubt);
}

bool findings::needs_dates() const
{
    return !phases.empty() && seconds_between(phases.front().from, phases.back().until) >= 86'400;
}

std::string moment(waybill::wall_time t, bool with_date, bool with_seconds)
{
    const std::string s = waybill::to_text(t);
    const std::size_t middle = s.find('T');
    const bool seconds = with_seconds || s.substr(middle + 7, 2) != "00";
    return (with_date ? s.substr(0, middle) + " " : "") + s.substr(middle + 1, seconds ? 8 : 5);
}

std::string when(waybill::wall_time t, bool with_date)
{
    const std::string s = moment(t, with_date);
    return with_date && s.ends_with(" 00:00") ? s.substr(0, s.size() - 6) : s;
}

std::string span_text(waybill::duration d)
{
    constexpr std::int64_t day = 86'400'000'000'000;
    if (d.count() == 0 || d.count() % day != 0) return waybill::to_text(d);
    return fmt::format("{}d", d.count() / day);
}

findings find(const std::vector<row>& rows, const binned_rows& bins)
{
    findings f;
    if (rows.empty()) return f;
    f.rows = rows.size();
    f.width = bins.options().width;
    f.phases = phases_of(rows);
    f.sampled = largest_change(f.phases);
    f.traffic = traffic_of(rows, bins);
    if (!f.sampled) return f;
    const phase& a = f.phases[*f.sampled - 1];
    const phase& b = f.phases[*f.sampled];
    const auto rate = [](std::uint64_t n, const phase& p) {
        return static_cast<double>(n) / std::max(p.seconds(), 1e-9);
    };
    f.raw_change = change(rate(a.sum.points, a), rate(b.sum.points, b));
    f.event_change = change(rate(a.sum.weight(), a), rate(b.sum.weight(), b));
    const auto doubt = [](const phase& p) {
        const auto events = static_cast<double>(p.sum.weight());
        return (events + p.sum.variance_of_weights) / (events * events);
    };
    const double between = f.traffic ? std::abs(seconds_between(b.from, f.traffic->at)) : 0;
    f.apart = between > static_cast<double>(bins.options().width.count()) / 1e9;
    f.event_doubt = believed * (1 + f.event_change) * std::sqrt(doubt(a) + doubt(b));
    return f;
}

std::string evidence(const findings& f)
{
    if (!f.sampled) return {};
    const auto rates = [&](const phase& p) {
        const double width = static_cast<double>(f.width.count()) / 1e9;
        const double parts = std::max(p.seconds(), 1e-9) / width;
        return fmt::format("{} rows and {} events",
                           rounded(static_cast<double>(p.sum.points) / parts),
                           rounded(static_cast<double>(p.sum.weight()) / parts));
    };
    return fmt::format("by {}: {} before, {} after; chance alone makes up to {:.0f} %.\n",
                       span_text(f.width), rates(f.phases[*f.sampled - 1]),
                       rates(f.phases[*f.sampled]), 100 * f.event_doubt);
}

std::string sentence(const findings& f)
{
    if (f.phases.empty()) return "There is no event.";
    if (f.rows < fewest_rows) {
        return fmt::format("There {} only, too few to compare before and after.",
                           f.rows == 1 ? "is 1 row" : fmt::format("are {} rows", f.rows));
    }
    const bool days = f.needs_dates();
    const auto at = [&](waybill::wall_time t) { return when(t, days); };
    const auto fewer = [](double change) { return change < 0 ? "fewer" : "more"; };

    if (!f.sampled) {
        const std::string all = share_of(f.phases.front()) + " was recorded";
        if (!f.traffic) {
            return fmt::format(
                "Nothing changed: {} all the time, and the number of events shows no lasting rise "
                "or fall.",
                all);
        }
        return fmt::format(
            "From {} on the events {}, and {} all the time: that is no sampling, "
            "there really were {}.",
            at(f.traffic->at), fell(f.traffic->change()), all, fewer(f.traffic->change()));
    }

    const phase& p = f.phases[*f.sampled];
    const bool to_the_end = *f.sampled + 1 == f.phases.size();
    std::string said =
        fmt::format("From {} {} {} was recorded; the raw count {}", at(p.from),
                    to_the_end ? "on" : "to " + at(p.until), share_of(p), fell(f.raw_change));
    const bool same_way = (f.raw_change < 0) == (f.event_change < 0);
    if (std::abs(f.event_change) < 0.01) said += ", while the events stayed within 1 %";
    else if (same_way) said += ", the events by " + percent(f.event_change);
    else said += ", while the events " + fell(f.event_change);

    // These figures contain a change of the traffic at the same time, but not one at another time.
    const std::string apart =
        f.apart ? fmt::format("from {} on there really were {} {}", at(f.traffic->at),
                              percent(f.traffic->change()), fewer(f.traffic->change()))
                : std::string();
    if (f.events_changed()) {
        const bool fewer_events = f.event_change < 0;
        said += !fewer_events      ? ": nothing was lost, "
                : f.raw_change < 0 ? ": sampling is only one cause, "
                                   : ": a larger share was recorded, ";
        if (f.apart) return said + apart + ".";
        return said + (fewer_events ? "there really were fewer." : "there were more.");
    }
    said += f.raw_change < 0 ? ": nothing was lost" : ": nothing was gained";
    return said + (f.apart ? ", but " + apart : std::string()) + ".";
}

}  // namespace lost_events

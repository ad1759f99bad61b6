// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "../support/svg.hpp"
#include "report.hpp"

namespace lost_events {

namespace {

namespace svg = support::svg;

/// A step for each bin; 0 for an empty one.
template <class Of>
std::vector<svg::point> steps(const binned_rows& bins, Of of)
{
    std::vector<svg::point> points;
    waybill::wall_time behind{};
    for (const auto& b : bins) {
        if (!points.empty() && behind != b.from) points.push_back({behind, 0});
        points.push_back({b.from, static_cast<double>(of(b.measure))});
        behind = b.until;
    }
    points.push_back({behind, svg::gap});
    return points;
}

/// The possible error of the sums through sampling.
std::vector<svg::range> doubts(const binned_rows& bins)
{
    std::vector<svg::range> ranges;
    for (const auto& b : bins) {
        const auto events = static_cast<double>(b.measure.weight());
        const double most = believed * std::sqrt(b.measure.variance_of_weights);
        if (most == 0) continue;
        const double least = std::max(0.0, events - most);
        ranges.push_back({b.from, least, events + most});
        ranges.push_back({b.until, least, events + most});
        ranges.push_back({b.until});
    }
    return ranges;
}

/// The recorded share, from a sliding window over the rows. The window is shorter than a bin, so
/// that a sudden change looks sudden.
std::vector<svg::point> shares(const telemetry& t, const binned_rows& bins)
{
    constexpr int looks = 480;
    waybill::sliding_window<waybill::weighted_stats<double>> window(
        {.span = bins.options().width * 0.2});
    std::vector<svg::point> points;
    const waybill::wall_time first = t.rows.front().at;
    const waybill::wall_time last = t.rows.back().at;
    std::size_t n = 0;
    for (int look = 0; look <= looks; ++look) {
        // Scales both ends: a duration may not hold their difference.
        const double part = look / double(looks);
        const waybill::wall_time now =
            look == looks ? last
                          : waybill::wall_time::at(first.since_epoch() * (1 - part) +
                                                   last.since_epoch() * part);
        for (; n != t.rows.size() && t.rows[n].at <= now; ++n) {
            window.insert(t.rows[n].at, t.rows[n].value, t.rows[n].weight);
        }
        const auto s = window.query(now);
        points.push_back({now, s.sampling_rate().value_or(svg::gap)});
    }
    return points;
}

}  // namespace

std::string picture(const telemetry& t, const binned_rows& bins, const findings& f,
                    const std::vector<counted_minute>& truth)
{
    const waybill::duration width = bins.options().width;
    double most = 0;
    for (const auto& b : bins) {
        const double doubt = believed * std::sqrt(b.measure.variance_of_weights);
        most = std::max(most, static_cast<double>(b.measure.weight()) + doubt);
    }
    most *= 1.06;

    svg::panel raw{.name = "rows recorded, by " + span_text(width), .highest = most};
    raw.series.push_back({.colour = svg::orange,
                          .points = steps(bins, [](const measured& m) { return m.points; }),
                          .as = svg::form::area});
    svg::panel weighted{.name = "events that they stand for", .lowest = 0.0, .highest = most};
    weighted.series.push_back({.colour = svg::blue,
                               .points = steps(bins, [](const measured& m) { return m.weight(); }),
                               .as = svg::form::area});
    if (auto ranges = doubts(bins); !ranges.empty()) {
        weighted.bands.push_back({fmt::format("{} standard deviations of sampling", believed),
                                  svg::purple, std::move(ranges)});
    }
    if (!truth.empty() && width == waybill::duration::seconds(60)) {
        svg::series counted{
            .name = "counted by the service itself", .colour = "#1c2733", .as = svg::form::dots};
        for (const counted_minute& m : truth) {
            counted.points.push_back({m.from + width * 0.5, static_cast<double>(m.events)});
        }
        weighted.series.push_back(std::move(counted));
    }
    svg::panel recorded{
        .name = "percent of the events that were recorded", .highest = 100.0, .height = 80};
    recorded.series.push_back({.colour = svg::green, .points = shares(t, bins)});

    for (std::size_t n = 1; n < f.phases.size(); ++n) {
        const phase& p = f.phases[n];
        const std::string from = when(p.from, f.needs_dates());
        raw.markers.push_back({p.from, fmt::format("{} from {} on", share_of(p), from)});
        weighted.markers.push_back({p.from});
        recorded.markers.push_back({p.from});
    }
    if (f.traffic) {
        const std::string what = f.traffic->change() < 0 ? "fewer events" : "more events";
        weighted.markers.push_back({f.traffic->at, what, svg::red});
    }
    svg::chart c{.title = "Did we lose events, or did we sample them?", .subtitle = sentence(f)};
    c.panels = {std::move(raw), std::move(weighted), std::move(recorded)};
    c.from = (*bins.begin()).from;
    for (const auto& b : bins) c.until = b.until;
    return svg::render(c);
}

}  // namespace lost_events

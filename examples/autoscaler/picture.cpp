// SPDX-License-Identifier: MIT

#include "picture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../support/svg.hpp"
#include <waybill/core/time_text.hpp>
#include <waybill/scaling/known_metrics.hpp>

namespace autoscaler {

namespace {

namespace svg = support::svg;
using waybill::wall_time;

constexpr std::size_t most_resources = 4;

/// The limit of a rule over time: it changes with the number of instances.
struct limit_line {
    std::string name{};
    const char* colour = svg::red;
    std::vector<svg::point> points{};

    /// Valid until the next value: a change adds two points for a vertical step.
    void add(wall_time at, double value)
    {
        if (!points.empty() && points.back().value != value) {
            points.push_back({at, points.back().value});
        }
        points.push_back({at, value});
    }
};

/// The panels of one resource.
class drawing {
public:
    drawing(const history& h, std::string resource, bool alone)
        : h_(h), resource_(std::move(resource)), alone_(alone)
    {
    }

    void add_to(svg::chart& c, const std::vector<std::string_view>& metrics) const
    {
        for (const std::string_view m : metrics) c.panels.push_back(panel_of(m));
        c.panels.push_back(instances());
    }

private:
    [[nodiscard]] std::string titled(std::string_view what) const
    {
        return alone_ ? std::string(what) : fmt::format("{}: {}", resource_, what);
    }

    template <class F>
    void each(F f) const
    {
        for (const auto& made : h_.made) {
            for (const decided& d : made) {
                if (d.resource == resource_) f(d);
            }
        }
    }

    [[nodiscard]] svg::panel panel_of(std::string_view metric) const
    {
        svg::series samples{.name = "sample", .colour = svg::grey, .as = svg::form::area};
        const auto found = h_.rows.samples.find({resource_, std::string(metric)});
        if (found != h_.rows.samples.end()) {
            for (const auto& [at, value] : found->second) samples.points.push_back({at, value});
        }

        svg::series mean{.name = "mean of the window", .colour = svg::blue};
        svg::series highest{.name = "highest", .colour = svg::purple, .as = svg::form::step};
        std::map<std::string, limit_line> limits;
        each([&](const decided& d) {
            const auto seen = std::find_if(d.seen.begin(), d.seen.end(),
                                           [&](const auto& s) { return s.metric == metric; });
            const bool there = seen != d.seen.end();
            mean.points.push_back({d.what.now, there ? seen->mean.value_or(svg::gap) : svg::gap});
            highest.points.push_back(
                {d.what.now, there ? seen->highest.value_or(svg::gap) : svg::gap});
            for (const scaling::evidence& e : d.what.reasons) add_limit(limits, d, e, metric);
        });
        svg::panel p{.name = titled(metric)};
        p.series = {std::move(samples), std::move(highest), std::move(mean)};
        for (auto& [order, l] : limits) {
            p.series.push_back({l.name, l.colour, std::move(l.points), svg::form::dashed});
        }
        add_changes(p, false);
        return p;
    }

    static void add_limit(std::map<std::string, limit_line>& limits, const decided& d,
                          const scaling::evidence& e, std::string_view metric)
    {
        if (e.metric != metric || !e.limit) return;
        const bool up = e.part == scaling::role::up || e.part == scaling::role::target;
        if (!up && e.part != scaling::role::down) return;
        const std::string says =
            fmt::format("{} if {} {}", up ? "up" : "down", name(e.what),
                        e.part == scaling::role::target ? "beyond" : name(e.how));
        limit_line& l = limits[(up ? "1" : "2") + says];
        l.name = says;
        l.colour = up ? svg::red : svg::green;
        l.add(d.what.now, *e.limit);
    }

    /// Marks each command; with text in the panel of instances.
    void add_changes(svg::panel& p, bool in_words) const
    {
        each([&](const decided& d) {
            if (!d.what.command) return;
            const bool up = d.what.verdict == scaling::verdict::up;
            const std::string words = fmt::format("{} to {}", d.what.from, d.what.to);
            p.markers.push_back(
                {d.what.now, in_words ? words : std::string(), up ? svg::red : svg::green});
        });
    }

    [[nodiscard]] svg::panel instances() const
    {
        svg::panel p{.name = titled("instances"), .lowest = 0, .height = 110};
        svg::series count{.name = "running", .colour = svg::blue, .as = svg::form::step};
        std::optional<svg::span> held;
        scaling::reason why = scaling::reason::nothing;
        each([&](const decided& d) {
            count.points.push_back({d.what.now, static_cast<double>(d.what.from)});
            count.points.push_back({d.what.now, static_cast<double>(d.after)});
            if (held) held->until = d.what.now;
            const bool goes_on =
                held && d.what.verdict == scaling::verdict::held && d.what.why == why;
            if (goes_on) return;
            if (held) add(p, *std::exchange(held, std::nullopt));
            if (d.what.verdict != scaling::verdict::held) return;
            why = d.what.why;
            held = svg::span{d.what.now, d.what.now, fmt::format("held: {}", name(why)),
                             colour_of(why)};
        });
        if (held) add(p, *held);
        p.series.push_back(std::move(count));
        add_changes(p, true);
        return p;
    }

    /// Adds the span twice, as a single layer is too pale.
    static void add(svg::panel& p, const svg::span& s)
    {
        p.spans.push_back(s);
        p.spans.push_back(s);
    }

    [[nodiscard]] static const char* colour_of(scaling::reason why)
    {
        switch (why) {
            case scaling::reason::cooldown: return svg::orange;
            case scaling::reason::flapping: return svg::purple;
            case scaling::reason::rate: return svg::red;
            case scaling::reason::stabilising: return svg::green;
            case scaling::reason::unknown: return "#000000";
            case scaling::reason::warming:
            case scaling::reason::pending: return svg::blue;
            case scaling::reason::failed:
            case scaling::reason::disabled:
            case scaling::reason::active: return "#8d6e00";
            case scaling::reason::bounds:
            case scaling::reason::nothing: break;
        }
        return svg::grey;
    }

    const history& h_;
    std::string resource_;
    bool alone_;
};

}  // namespace

std::string chart_of(const history& h, const rules& r)
{
    const std::size_t all = h.known.resources.size();
    svg::chart c{.title = fmt::format("When do I scale, and why? {}", r.source)};
    std::uint64_t decisions = 0;
    std::uint64_t times[4] = {};
    for (const auto& made : h.made) {
        for (const decided& d : made) {
            ++decisions;
            ++times[static_cast<std::size_t>(d.what.verdict)];
        }
    }
    const auto how_often = [&](scaling::verdict v) { return times[static_cast<std::size_t>(v)]; };
    c.subtitle = fmt::format(
        "A decision every {} on the last {}: {} decisions, {} up, {} down, {} held back. Red "
        "lines: limits for more instances. Green lines: limits for fewer.",
        waybill::to_text(r.every), waybill::to_text(r.window), decisions,
        how_often(scaling::verdict::up), how_often(scaling::verdict::down),
        how_often(scaling::verdict::held));
    if (all > most_resources) {
        c.subtitle += fmt::format(" These are the first {} of {} resources.", most_resources, all);
    }
    std::size_t n = 0;
    for (const auto& [resource, known] : h.known.resources) {
        if (++n > most_resources) break;
        drawing(h, resource, all == 1).add_to(c, scaling::metrics_of(r.policy));
    }
    return svg::render(c);
}

}  // namespace autoscaler

// SPDX-License-Identifier: MIT
//
// svg: time series as a chart in SVG, for any browser.
//
//     namespace svg = support::svg;
//     svg::chart c{.title = "Backlog and instances", .subtitle = "orders, ten minutes"};
//     c.panels.push_back({.name = "messages waiting",
//                         .series = {{.name = "mean", .colour = svg::blue, .points = {...}}},
//                         .levels = {{.value = 100, .name = "scale up", .colour = svg::red}},
//                         .markers = {{.at = t, .label = "3 to 5", .colour = svg::green}}});
//     support::write_file("chart", path, svg::render(c));
//
// Panels are stacked and share the time axis, which is UTC. The layers from back to front are
// spans, grid, bands, levels, series, markers. A legend above the plot has the names. Labels of
// markers are in separate rows between the two, so neither covers data.
//
// Equal charts give equal texts, byte for byte. Any text and any number is valid: characters that
// XML does not allow are replaced. A value that is not finite interrupts its line. A value outside
// of the panel's range is cut off at the edge.

#ifndef WAYBILL_EXAMPLES_SUPPORT_SVG_HPP
#define WAYBILL_EXAMPLES_SUPPORT_SVG_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "svg_layout.hpp"
#include <waybill/core/time.hpp>

namespace support::svg {

// Colours that most people can distinguish, on white and from each other.
inline constexpr const char* blue = "#1f6fb4";
inline constexpr const char* orange = "#d9730d";
inline constexpr const char* green = "#2e8540";
inline constexpr const char* red = "#c0392b";
inline constexpr const char* purple = "#7a4fa3";
inline constexpr const char* grey = "#7b8794";

inline constexpr double gap = std::numeric_limits<double>::quiet_NaN();

struct point {
    waybill::wall_time at{};
    double value = gap;
};

enum class form : std::uint8_t {
    line,
    step,  ///< A value is valid until the next one.
    area,  ///< A step, filled down to 0.
    dashed,
    dots,
};

struct series {
    std::string name{};
    std::string colour = blue;
    std::vector<point> points{};
    form as = form::line;
};

struct range {
    waybill::wall_time at{};
    double low = gap;
    double high = gap;
};

/// The area between two lines.
struct band {
    std::string name{};
    std::string colour = blue;
    std::vector<range> points{};
};

/// A shaded time interval, over the whole height.
struct span {
    waybill::wall_time from{};
    waybill::wall_time until{};
    std::string name{};
    std::string colour = grey;
};

/// A constant value, such as a threshold.
struct level {
    double value = 0;
    std::string name{};
    std::string colour = red;
};

/// An event. Its label should be short.
struct marker {
    waybill::wall_time at{};
    std::string label{};
    std::string colour = grey;
};

struct panel {
    std::string name{};
    std::vector<svg::series> series{};
    std::vector<svg::level> levels{};
    std::vector<svg::band> bands{};
    std::vector<svg::span> spans{};
    std::vector<svg::marker> markers{};
    std::optional<double> lowest{};   ///< Of the value axis. Default: min(0, lowest value).
    std::optional<double> highest{};  ///< Default: slightly above the highest value.
    double height = 150;              ///< Of the plot alone.
};

struct chart {
    std::string title{};
    std::string subtitle{};  ///< A long one is broken into lines.
    std::vector<panel> panels{};
    std::optional<waybill::wall_time> from{};  ///< Default: the first time in the data.
    std::optional<waybill::wall_time> until{};
    double width = 960;
};

namespace detail {

inline constexpr double left = 70;
inline constexpr double right = 26;
inline constexpr std::size_t most_label_rows = 6;
inline constexpr const char* black = "#1c2733";
inline constexpr const char* dark = "#44515e";

template <class Take>
void each_value(const panel& p, Take take)
{
    for (const svg::series& s : p.series) {
        for (const point& v : s.points) take(v.value);
    }
    for (const svg::band& b : p.bands) {
        for (const range& r : b.points) take(r.low), take(r.high);
    }
    for (const svg::level& l : p.levels) take(l.value);
}
template <class Take>
void each_time(const panel& p, Take take)
{
    for (const svg::series& s : p.series) {
        for (const point& v : s.points) take(v.at);
    }
    for (const svg::band& b : p.bands) {
        for (const range& r : b.points) take(r.at);
    }
    for (const svg::span& s : p.spans) take(s.from), take(s.until);
    for (const svg::marker& m : p.markers) take(m.at);
}

/// Writes the chart from top to bottom.
class writer {
public:
    explicit writer(const chart& c) : chart_(c) { find_times(); }

    [[nodiscard]] std::string text()
    {
        pen_.put_text(left, y_, chart_.title, 20, "start", black, " font-weight=\"600\"");
        for (const std::string& line : lines_of(chart_.subtitle, 14, chart_.width - left - right)) {
            pen_.put_text(left, y_ += 22, line, 14, "start", dark);
        }
        y_ += 12;
        for (std::size_t n = 0; n != chart_.panels.size(); ++n) {
            draw(chart_.panels[n], n, n + 1 == chart_.panels.size());
        }
        return fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
            "height=\"{1}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" role=\"img\">\n"
            "<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{3}</svg>\n",
            num(chart_.width), num(y_ + 14), escaped(chart_.title), pen_.text());
    }

private:
    void find_times()
    {
        std::optional<waybill::wall_time> first, last;
        for (const panel& p : chart_.panels) {
            each_time(p, [&](waybill::wall_time t) {
                first = first ? std::min(*first, t) : t;
                last = last ? std::max(*last, t) : t;
            });
        }
        plot_.x1 = chart_.width - right;
        plot_.from = seconds(chart_.from.value_or(first.value_or(waybill::wall_time())));
        plot_.until = seconds(chart_.until.value_or(last.value_or(waybill::wall_time())));
        plot_.until = std::max(plot_.until, plot_.from + 1);
    }
    void find_values(const panel& p)
    {
        double low = 0;
        double high = -1e300;
        each_value(p, [&](double v) {
            if (std::isfinite(v)) low = std::min(low, tamed(v)), high = std::max(high, tamed(v));
        });
        plot_.low = tamed(p.lowest.value_or(low));
        plot_.high = tamed(p.highest.value_or(high + (high - plot_.low) * 0.06));
        if (!(plot_.high > plot_.low)) plot_.high = plot_.low + 1 + std::abs(plot_.low);
    }

    void draw(const panel& p, std::size_t number, bool last)
    {
        find_values(p);
        y_ += 26;
        pen_.put_text(left, y_, p.name, 14, "start", black, " font-weight=\"600\"");
        draw_legend(p);
        std::vector<label> labels;
        for (const marker& m : p.markers) labels.push_back(label_of(m));
        const std::vector<std::size_t> rows = label_rows(labels, most_label_rows);
        std::size_t used = 0;
        for (const std::size_t r : rows) used = r < most_label_rows ? std::max(used, r + 1) : used;
        const double top = y_ + 10;
        plot_.top = top + static_cast<double>(used) * 16 + (used == 0 ? 0 : 3);
        plot_.bottom = plot_.top + p.height;
        pen_.put(
            "<clipPath id=\"p{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>"
            "</clipPath>",
            number, num(plot_.x0), num(plot_.top - 2), num(plot_.x1 - plot_.x0), num(p.height + 4));
        pen_.put("<g clip-path=\"url(#p{})\">", number);
        for (const svg::span& s : p.spans) {
            const double x = plot_.x(seconds(s.from));
            const double w = plot_.x(seconds(s.until)) - x;
            if (w > 0) pen_.put_rect(x, plot_.top, w, p.height, s.colour, 0.13);
        }
        pen_.put("</g>");
        draw_grid(last);
        pen_.put("<g clip-path=\"url(#p{})\">", number);
        for (const svg::band& b : p.bands) draw(b);
        for (const svg::level& l : p.levels) {
            const double y = plot_.y(tamed(l.value));
            if (std::isnan(y)) continue;
            pen_.put_line(plot_.x0, y, plot_.x1, y, l.colour, stroke(form::dashed));
        }
        for (const svg::series& s : p.series) draw(s);
        pen_.put("</g>");
        draw_markers(p.markers, labels, rows, top);
        y_ = plot_.bottom + (last ? 36 : 6);
    }

    /// Each name once, after the name of the panel; in further rows if they do not fit.
    void draw_legend(const panel& p)
    {
        double x = left + width_of(p.name, 14) * 1.1 + 24;
        std::vector<std::string> seen;
        const auto entry = [&](const std::string& name, const std::string& colour, form as,
                               bool filled) {
            if (name.empty() || std::find(seen.begin(), seen.end(), name) != seen.end()) return;
            seen.push_back(name);
            const double w = 26 + width_of(name, 12) + 18;
            if (x + w > chart_.width - right && x > left) {
                x = left;
                y_ += 18;
            }
            if (filled) pen_.put_rect(x, y_ - 10, 20, 11, colour, 0.3);
            else if (as == form::dots) pen_.put_dot(x + 10, y_ - 4, colour);
            else pen_.put_line(x, y_ - 4, x + 20, y_ - 4, colour, stroke(as));
            pen_.put_text(x + 26, y_, name, 12, "start", dark);
            x += w;
        };
        for (const svg::series& s : p.series) entry(s.name, s.colour, s.as, s.as == form::area);
        for (const svg::level& l : p.levels) entry(l.name, l.colour, form::dashed, false);
        for (const svg::band& b : p.bands) entry(b.name, b.colour, form::line, true);
        for (const svg::span& s : p.spans) entry(s.name, s.colour, form::line, true);
    }

    void draw_grid(bool last)
    {
        const double most = std::max(2.0, std::floor((plot_.bottom - plot_.top) / 28));
        for (const tick& t : value_ticks(plot_.low, plot_.high, most)) {
            const double y = plot_.y(t.value);
            pen_.put_line(plot_.x0, y, plot_.x1, y, "#e3e8ed");
            pen_.put_text(plot_.x0 - 8, y + 4, t.text, 12, "end", dark);
        }
        draw_times(last);
        pen_.put_line(plot_.x0, plot_.bottom, plot_.x1, plot_.bottom, "#9aa5b1");
    }

    void draw_times(bool last)
    {
        std::string date;
        const double most = (plot_.x1 - plot_.x0) / 82;
        for (const time_tick& t : time_ticks(plot_.from, plot_.until, most)) {
            const double x = plot_.x(t.at);
            pen_.put_line(x, plot_.top, x, plot_.bottom, "#eef1f4");
            if (!last) continue;
            pen_.put_line(x, plot_.bottom, x, plot_.bottom + 5, "#9aa5b1");
            const std::string& text = t.hour.empty() ? t.date : t.hour;
            const std::string below = t.date + (date.empty() ? " UTC" : "");
            const double edge = chart_.width - 4 - width_of(text, 12) / 2;
            pen_.put_text(std::min(x, edge), plot_.bottom + 19, text, 12, "middle", dark);
            const bool begins = !t.hour.empty() && t.date != date;
            if (begins) pen_.put_text(x, plot_.bottom + 34, below, 11, "middle", grey);
            date = t.date;
        }
    }

    [[nodiscard]] static const char* stroke(form as)
    {
        return as == form::dashed ? " stroke-width=\"1.5\" stroke-dasharray=\"7 4\""
                                  : " stroke-width=\"2\"";
    }
    void draw(const svg::series& s)
    {
        std::string line, area;
        const std::string ground = num(plot_.y(std::clamp(0.0, plot_.low, plot_.high)));
        const point* before = nullptr;
        for (const point& v : s.points) {
            const bool there = std::isfinite(v.value);
            const double x = plot_.x(seconds(v.at));
            const bool steps = s.as == form::step || s.as == form::area;
            if (before != nullptr && steps) {
                line += " H" + num(x);
                const double from = plot_.x(seconds(before->at));
                area += fmt::format("M{} {}V{}H{}V{}Z", num(from), ground,
                                    num(plot_.y(tamed(before->value))), num(x), ground);
            }
            if (there) {
                const std::string y = num(plot_.y(tamed(v.value)));
                if (s.as == form::dots) pen_.put_dot(x, plot_.y(tamed(v.value)), s.colour);
                else if (before == nullptr) line += fmt::format("M{} {}", num(x), y);
                else line += steps ? " V" + y : fmt::format(" L{} {}", num(x), y);
            }
            before = there ? &v : nullptr;
        }
        if (s.as == form::area) pen_.put_path(area, s.colour, 0.3, "none", "");
        pen_.put_path(line, "none", 1, s.colour, stroke(s.as));
    }

    void draw(const svg::band& b)
    {
        std::string upper, lower;
        const auto close = [&] {
            if (upper.empty()) return;
            const std::string around = "M" + std::exchange(upper, {}).substr(2);
            pen_.put_path(around + std::exchange(lower, {}) + "Z", b.colour, 0.2, "none", "");
        };
        for (const range& r : b.points) {
            if (!std::isfinite(r.low + r.high)) {
                close();
                continue;
            }
            const std::string x = num(plot_.x(seconds(r.at)));
            upper += fmt::format(" L{} {}", x, num(plot_.y(tamed(r.high))));
            lower = fmt::format(" L{} {}", x, num(plot_.y(tamed(r.low)))) + lower;
        }
        close();
    }

    /// Draws lines first, so that none crosses a label. The tooltip of a line is its label.
    void draw_markers(const std::vector<marker>& markers, const std::vector<label>& labels,
                      const std::vector<std::size_t>& rows, double top)
    {
        const auto base = [&](std::size_t n) { return top + 11 + 16.0 * double(rows[n]); };
        for (std::size_t n = 0; n != markers.size(); ++n) {
            const double x = plot_.x(seconds(markers[n].at));
            if (x < plot_.x0 - 0.5 || x > plot_.x1 + 0.5) continue;
            const double y = rows[n] < most_label_rows ? base(n) + 3 : plot_.top;
            pen_.put("<g><title>{}</title>", escaped(markers[n].label));
            pen_.put_line(x, y, x, plot_.bottom, markers[n].colour,
                          " stroke-width=\"1.5\" stroke-dasharray=\"2 3\"");
            pen_.put("</g>");
        }
        for (std::size_t n = 0; n != markers.size(); ++n) {
            if (rows[n] == most_label_rows) continue;
            pen_.put_text(labels[n].middle, base(n), markers[n].label, 12, "middle",
                          markers[n].colour,
                          " paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"4\"");
        }
    }
    [[nodiscard]] label label_of(const marker& m) const
    {
        const double half = width_of(m.label, 12) / 2;
        const double x = plot_.x(seconds(m.at));
        if (x < plot_.x0 - 0.5 || x > plot_.x1 + 0.5) return {};
        return {std::max(plot_.x0 + half, std::min(x, plot_.x1 - half)), half};
    }

    const chart& chart_;
    plot plot_{.x0 = left};
    double y_ = 36;
    pen pen_{};
};

}  // namespace detail

/// The chart as a file.
[[nodiscard]] inline std::string render(const chart& c)
{
    return detail::writer(c).text();
}

}  // namespace support::svg

#endif  // WAYBILL_EXAMPLES_SUPPORT_SVG_HPP

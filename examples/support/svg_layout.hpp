// SPDX-License-Identifier: MIT
//
// svg_layout: numbers and texts of a chart: coordinates, ticks and their labels, approximate widths
// of texts, and texts escaped for XML.

#ifndef WAYBILL_EXAMPLES_SUPPORT_SVG_LAYOUT_HPP
#define WAYBILL_EXAMPLES_SUPPORT_SVG_LAYOUT_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>

namespace support::svg::detail {

inline constexpr double letter = 0.56;  // the width of one, about, as a part of its height
inline constexpr int most_ticks = 100;

/// 12.5, 12, 0: at most one decimal, and never -0.
[[nodiscard]] inline std::string num(double x)
{
    std::string s = fmt::format("{:.1f}", x);
    if (s.ends_with(".0")) s.resize(s.size() - 2);
    return s == "-0" ? "0" : s;
}

/// How many bytes the UTF-8 character in front has; 0 if it is none that XML takes.
[[nodiscard]] inline std::size_t character(std::string_view s)
{
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(s[n]); };
    const unsigned first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || s.size() < size) return 0;
    unsigned code = first & (0xFFU >> (size + 1));
    for (std::size_t n = 1; n != size; ++n) {
        if ((byte(n) & 0xC0U) != 0x80) return 0;
        code = (code << 6U) | (byte(n) & 0x3FU);
    }
    const bool longer = (size == 3 && code < 0x800) || (size == 4 && code < 0x1'0000);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return longer || surrogate || code > 0x10'FFFF || (code & 0xFFFEU) == 0xFFFE ? 0 : size;
}

[[nodiscard]] inline std::string escaped(std::string_view s)
{
    std::string out;
    while (!s.empty()) {
        const std::size_t size = character(s);
        const char c = s.front();
        if (size == 0) out += static_cast<unsigned char>(c) < 0x80 ? ' ' : '?';
        else if (c == '&') out += "&amp;";
        else if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else if (c == '"') out += "&quot;";
        else out += s.substr(0, size);
        s.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

[[nodiscard]] inline double width_of(std::string_view s, double size)
{
    const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; };
    return static_cast<double>(std::count_if(s.begin(), s.end(), starts)) * size * letter;
}

/// Breaks a text at spaces, so that each line fits. A longer word has its own line.
[[nodiscard]] inline std::vector<std::string> lines_of(std::string_view s, double size, double most)
{
    std::vector<std::string> lines;
    while (!s.empty()) {
        const std::string word(s.substr(0, s.find(' ')));
        s.remove_prefix(std::min(s.size(), word.size() + 1));
        if (!lines.empty() && width_of(lines.back() + " " + word, size) <= most) {
            lines.back() += " " + word;
        } else if (!word.empty()) {
            lines.push_back(word);
        }
    }
    return lines;
}

/// A round number of about this size: 1, 2 or 5 times a power of ten.
[[nodiscard]] inline double round_step(double about)
{
    const double power = std::pow(10, std::floor(std::log10(about)));
    for (const double n : {1.0, 2.0, 5.0}) {
        if (about <= n * power * 1.0001) return n * power;
    }
    return 10 * power;
}

/// 1,200 or 0.25 or 3 M, with the decimals for ticks at distance `step`.
[[nodiscard]] inline std::string value_text(double value, double step)
{
    if (value == 0) return "0";
    if (step >= 1e13 || step < 1e-6) return fmt::format("{:.3g}", value);
    if (step >= 1e9) return value_text(value / 1e9, step / 1e9) + " G";
    if (step >= 1e6) return value_text(value / 1e6, step / 1e6) + " M";
    const int decimals = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
    std::string s = fmt::format("{:.{}f}", value, decimals);
    const std::size_t digits = s.front() == '-' ? 1 : 0;
    for (std::size_t at = std::min(s.find('.'), s.size()); at > digits + 3;) s.insert(at -= 3, ",");
    return s;
}

struct tick {
    double value = 0;
    std::string text{};
};

/// At most about `most` ticks, at round numbers.
[[nodiscard]] inline std::vector<tick> value_ticks(double low, double high, double most)
{
    std::vector<tick> ticks;
    const double step = round_step((high - low) / most);
    double n = std::ceil(low / step - 1e-9);
    for (; n * step <= high + step * 1e-9 && ticks.size() != most_ticks; ++n) {
        ticks.push_back({n * step, value_text(n * step, step)});
    }
    return ticks;
}

struct time_tick {
    double at = 0;
    std::string date{};
    std::string hour{};  ///< Empty if ticks are at least a day apart.
};

/// Ticks at whole multiples of a round number of seconds, minutes, hours or days.
[[nodiscard]] inline std::vector<time_tick> time_ticks(double from, double until, double most)
{
    constexpr double hour = 3'600;
    constexpr double day = 24 * hour;
    constexpr double steps[] = {1,        2,        5,         10,       15,      30,      60,
                                120,      300,      600,       900,      1'800,   hour,    2 * hour,
                                3 * hour, 6 * hour, 12 * hour, day,      2 * day, 7 * day, 14 * day,
                                28 * day, 91 * day, 182 * day, 365 * day};
    double step = steps[0];
    for (const double s : steps) {
        if ((until - from) / step > most) step = s;
    }
    while ((until - from) / step > most) step *= 2;
    const double origin = step >= 7 * day ? 4 * day : 0;  // weeks begin on Mondays
    double at = std::ceil((from - origin) / step - 1e-9) * step + origin;
    std::vector<time_tick> ticks;
    for (; at <= until + step * 1e-6 && ticks.size() != most_ticks; at += step) {
        const auto whole = static_cast<std::int64_t>(std::clamp(at, -1e10, 1e10));
        const std::string t =
            waybill::to_text(waybill::wall_time::at(waybill::duration::seconds(whole)));
        const std::size_t middle = t.find('T');
        ticks.push_back({at, t.substr(0, middle), t.substr(middle + 1, step < 60 ? 8 : 5)});
        if (step >= day) ticks.back().hour.clear();
    }
    return ticks;
}

/// Coordinates: seconds since the epoch from left to right, values from bottom to top.
struct plot {
    double from = 0;
    double until = 1;
    double x0 = 0;
    double x1 = 1;
    double low = 0;
    double high = 1;
    double top = 0;
    double bottom = 0;

    [[nodiscard]] double x(double second) const
    {
        return x0 + std::clamp((second - from) / (until - from), -0.5, 1.5) * (x1 - x0);
    }
    [[nodiscard]] double y(double value) const
    {
        return bottom - std::clamp((value - low) / (high - low), -0.5, 1.5) * (bottom - top);
    }
};

[[nodiscard]] inline double seconds(waybill::wall_time t)
{
    return static_cast<double>(t.since_epoch().count()) / 1e9;
}
/// Limits a value, so that the difference of two values is finite.
[[nodiscard]] inline double tamed(double v)
{
    return std::clamp(v, -1e300, 1e300);
}

/// Collects the drawing as text.
class pen {
public:
    template <class... A>
    void put(fmt::format_string<A...> how, A&&... what)
    {
        fmt::format_to(std::back_inserter(out_), how, std::forward<A>(what)...);
        out_ += '\n';
    }
    void put_text(double x, double y, std::string_view text, double size, const char* anchor,
                  std::string_view colour, const char* more = "")
    {
        put("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}>{}</text>",
            num(x), num(y), num(size), anchor, escaped(colour), more, escaped(text));
    }
    void put_line(double x0, double y0, double x1, double y1, std::string_view colour,
                  const char* more = "")
    {
        put("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\"{}/>", num(x0), num(y0),
            num(x1), num(y1), escaped(colour), more);
    }
    void put_rect(double x, double y, double w, double h, std::string_view colour, double opacity)
    {
        put("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" opacity=\"{}\"/>",
            num(x), num(y), num(w), num(h), escaped(colour), opacity);
    }
    void put_dot(double x, double y, std::string_view colour)
    {
        put("<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{}\"/>", num(x), num(y), escaped(colour));
    }
    void put_path(const std::string& d, std::string_view fill, double opacity,
                  std::string_view colour, const char* more)
    {
        if (d.empty()) return;
        put("<path d=\"{}\" fill=\"{}\" fill-opacity=\"{}\" stroke=\"{}\" "
            "stroke-linejoin=\"round\"{}/>",
            d, escaped(fill), opacity, escaped(colour), more);
    }

    [[nodiscard]] const std::string& text() const { return out_; }

private:
    std::string out_{};
};

struct label {
    double middle = 0;
    double half = 0;
};

/// The row of each label, so that none covers another one. Earlier labels have precedence. `rows`
/// for a label without a place, and for an empty one.
[[nodiscard]] inline std::vector<std::size_t> label_rows(const std::vector<label>& labels,
                                                         std::size_t rows)
{
    std::vector<std::size_t> found;
    for (std::size_t n = 0; n != labels.size(); ++n) {
        std::size_t row = labels[n].half == 0 ? rows : 0;
        const auto covers = [&](std::size_t o) {
            const double apart = std::abs(labels[o].middle - labels[n].middle);
            return found[o] == row && apart < labels[o].half + labels[n].half + 8;
        };
        for (std::size_t o = 0; o < n && row < rows;) {
            if (covers(o)) ++row, o = 0;
            else ++o;
        }
        found.push_back(row);
    }
    return found;
}

}  // namespace support::svg::detail

#endif  // WAYBILL_EXAMPLES_SUPPORT_SVG_LAYOUT_HPP

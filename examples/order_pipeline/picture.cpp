// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "../support/svg.hpp"
#include "dashboard.hpp"

namespace order_pipeline {

namespace {

namespace svg = support::svg;

constexpr double cell = 9;  // of a step, with its gap
constexpr double top = 108;
constexpr double margin = 28;
constexpr std::size_t most_notes = 20;
constexpr std::size_t longest_note = 150;  // in bytes
constexpr double note_size = 12;
constexpr double note_byte = 0.61 * note_size;  // an upper bound of the width of a byte

const char* colour_of(mark m)
{
    switch (m) {
        case mark::waiting: return "#e3e8ed";
        case mark::done: return svg::green;
        case mark::returned: return svg::blue;
        case mark::failed: return svg::red;
        case mark::after_failure: return svg::orange;
    }
    return svg::grey;
}

const char* meaning_of(mark m)
{
    switch (m) {
        case mark::waiting: return "waiting";
        case mark::done: return "done";
        case mark::returned: return "done after a redrive";
        case mark::failed: return "failed";
        case mark::after_failure: return "dead-lettered after it";
    }
    return "?";
}

/// The line of a job; a long one is cut between characters.
std::string note_of(const row& r)
{
    std::string line = line_of(r);
    if (line.size() <= longest_note) return line;
    std::size_t end = longest_note - 3;
    while (end != 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
    return line.substr(0, end) + "...";
}

std::string sums_of(const dashboard& b)
{
    std::uint64_t complete = 0;
    std::uint64_t stopped = 0;
    for (const row& r : b) {
        if (r.complete()) ++complete;
        if (r.count(mark::failed) != 0) ++stopped;
    }
    return fmt::format("{} of {} complete, {} with a step that failed", support::grouped(complete),
                       support::counted(b.size(), "job"), support::grouped(stopped));
}

}  // namespace

std::string picture(const dashboard& b)
{
    // A job is a strip, which continues in the next line if it is long. Strips are in columns.
    constexpr std::size_t widest = 60;
    std::size_t longest = 1;
    for (const row& r : b) longest = std::max(longest, std::min(r.marks.size(), widest));
    const double strip = static_cast<double>(longest) * cell + 14;
    std::size_t lines = 0;
    for (const row& r : b) lines += (r.marks.size() + widest - 1) / widest;
    const auto columns = std::max(1.0, std::floor(1'100 / strip));
    const double most = std::max(std::ceil(static_cast<double>(lines) / columns), 1.0);

    svg::detail::pen pen;
    double column = 0;
    double line = 0;
    double lowest = 0;
    for (const row& r : b) {
        if (line + std::ceil(static_cast<double>(r.marks.size()) / widest) > most && line != 0) {
            ++column;
            line = 0;
        }
        std::string what = r.job;
        if (r.session != r.job) what += ", redriven as " + r.session;
        if (!r.why.empty()) what += ": " + r.why;
        pen.put("<g><title>{}</title>", svg::detail::escaped(what));
        for (std::size_t n = 0; n != r.marks.size(); ++n) {
            if (n != 0 && n % widest == 0) ++line;
            pen.put_rect(margin + column * strip + static_cast<double>(n % widest) * cell,
                         top + line * cell, cell - 1.5, cell - 1.5, colour_of(r.marks[n]), 1);
        }
        pen.put("</g>");
        line += r.marks.size() > widest ? 1.5 : 1;
        lowest = std::max(lowest, line);
    }
    double x = margin;
    for (const mark m :
         {mark::done, mark::returned, mark::failed, mark::after_failure, mark::waiting}) {
        const std::string_view what = meaning_of(m);
        pen.put_rect(x, 78, 11, 11, colour_of(m), 1);
        pen.put_text(x + 17, 88, what, 13, "start", svg::detail::dark);
        x += 17 + svg::detail::width_of(what, 13) + 22;
    }
    pen.put_text(margin, 34, "Each job, step by step", 20, "start", svg::detail::black,
                 " font-weight=\"600\"");
    pen.put_text(margin, 58, sums_of(b), 14, "start", svg::detail::dark);
    double y = top + lowest * cell + 6;
    std::size_t said = 0;
    double widest_note = 0;
    for (const row& r : b) {
        if (r.complete() && !r.has_returned()) continue;
        if (++said > most_notes) break;
        const std::string note = note_of(r);
        widest_note = std::max(widest_note, static_cast<double>(note.size()) * note_byte);
        pen.put_text(margin, y += 17, note, note_size, "start", svg::detail::dark,
                     " font-family=\"monospace\" xml:space=\"preserve\"");
    }
    if (said > most_notes) {
        pen.put_text(margin, y += 17, "...", note_size, "start", svg::detail::dark);
    }
    const double width =
        std::max({margin + (column + 1) * strip, margin + widest_note, x, 700.0}) + margin;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" role=\"img\">\n"
        "<title>Each job, step by step</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}</svg>\n",
        svg::detail::num(width), svg::detail::num(y + margin), pen.text());
}

}  // namespace order_pipeline

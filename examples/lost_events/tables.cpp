// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "report.hpp"
#include <waybill/core/text.hpp>
#include <waybill/core/time_text.hpp>

namespace lost_events {

namespace {

using support::counted;
using support::grouped;

using waybill::duration;
constexpr duration day = duration::seconds(86'400);
constexpr std::size_t bar_letters = 40;
constexpr std::size_t most_operations = 10;

/// Replaces control characters by question marks.
std::string plain(std::string_view text, std::size_t most)
{
    std::string s(waybill::utf8_prefix(text, most));
    for (char& c : s) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F) c = '?';
    }
    return s;
}

std::string share(const measured& m)
{
    const double p = m.sampling_rate().value_or(0);
    return p < 0.1 ? fmt::format("{:.2g} %", p) : fmt::format("{:.1f} %", p);
}

std::string ms(std::optional<double> value)
{
    if (!value) return "-";
    return *value < 1e9 ? fmt::format("{:.2f}", *value) : fmt::format("{:.3g}", *value);
}

class writer {
public:
    writer(const telemetry& t, const binned_rows& bins, bool coloured)
        : telemetry_(t), bins_(bins), coloured_(coloured)
    {
    }

    [[nodiscard]] std::string text()
    {
        const waybill::wall_time first = telemetry_.rows.front().at;
        const waybill::wall_time last = telemetry_.rows.back().at;
        dates_ = last - first >= day ||
                 waybill::to_text(first).substr(0, 10) != waybill::to_text(last).substr(0, 10);
        measured all = measured::identity();
        for (const auto& b : bins_) all = measured::combine(all, b.measure);
        put("{}: {} stand for {}, {} to {} UTC\n\n", plain(telemetry_.name, 80),
            counted(all.points, "row"), counted(all.weight(), "event"), moment(first, true),
            moment(last, dates_));
        by_bin();
        by_day();
        by_operation();
        busiest();
        not_taken();
        return out_;
    }

private:
    template <class... A>
    void put(fmt::format_string<A...> how, A&&... what)
    {
        fmt::format_to(std::back_inserter(out_), how, std::forward<A>(what)...);
    }

    /// One bar for the rows of a bin and the events that they represent.
    [[nodiscard]] std::string bar(const measured& m, std::uint64_t most) const
    {
        const auto letters = [&](std::uint64_t n) {
            return static_cast<std::size_t>(
                static_cast<double>(n) * double(bar_letters) / static_cast<double>(most) + 0.5);
        };
        const std::size_t solid = letters(m.points);
        const std::string rest(letters(m.weight()) - solid, '.');
        const std::string dim = coloured_ && !rest.empty() ? "\x1b[2m" + rest + "\x1b[0m" : rest;
        return std::string(solid, '#') + dim;
    }
    void put_row(std::string_view label, std::size_t wide, const measured& m, std::uint64_t most)
    {
        put("{:<{}} {:>9} {:>13} {:>8}", label, wide, grouped(m.points), grouped(m.weight()),
            share(m));
        const std::string drawn = most == 0 ? "" : bar(m, most);
        put("{}{}\n", drawn.empty() ? "" : "  ", drawn);
    }
    void put_head(std::string_view label, std::size_t wide)
    {
        put("{:<{}} {:>9} {:>13} {:>8}", label, wide, "rows", "events", "recorded");
    }

    /// A duration may not hold the difference of two times.
    [[nodiscard]] std::uint64_t bins_between(waybill::wall_time a, waybill::wall_time b) const
    {
        const auto ns = static_cast<std::uint64_t>(b.since_epoch().count()) -
                        static_cast<std::uint64_t>(a.since_epoch().count());
        return ns / static_cast<std::uint64_t>(bins_.options().width.count());
    }

    void by_bin()
    {
        const duration width = bins_.options().width;
        const bool days = width >= day;
        const bool seconds = width.count() % duration::seconds(60).count() != 0;
        const auto label = [&](waybill::wall_time t) {
            return days ? when(t, true) : moment(t, dates_, seconds);
        };
        std::uint64_t most = 1;
        std::size_t wide = std::string_view("from").size();
        for (const auto& b : bins_) {
            most = std::max(most, b.measure.weight());
            wide = std::max(wide, label(b.from).size());
        }
        put_head(days ? "day" : "from", wide);
        put("  #: recorded   .: left out, and known by the weights\n");
        std::optional<waybill::wall_time> behind;
        for (const auto& b : bins_) {
            const std::uint64_t gap = behind ? bins_between(*behind, b.from) : 0;
            if (gap > 0) {
                put("{:<{}} {:>9}  {} without a row\n", label(*behind), wide, 0,
                    counted(gap, "bin"));
            }
            put_row(label(b.from), wide, b.measure, most);
            behind = b.until;
        }
    }

    void by_day()
    {
        if (bins_.options().width == day) return;
        waybill::bins<measured> daily(day);
        for (const row& r : telemetry_.rows) daily.add(r.at, r.value, r.weight);
        const std::size_t wide = 10;
        put("\n");
        put_head("day", wide);
        put("\n");
        for (const auto& b : daily) {
            put_row(moment(b.from, true).substr(0, wide), wide, b.measure, 0);
        }
    }

    void by_operation()
    {
        struct one {
            std::string name;
            measured sum = measured::identity();
            measured times = measured::identity();  // of the rows with a duration
            std::vector<waybill::weighted_sample<double>> samples{};
        };
        std::vector<one> all(telemetry_.operations.size() + 1);
        for (std::size_t n = 0; n != telemetry_.operations.size(); ++n) {
            all[n].name = plain(telemetry_.operations[n], 28);
        }
        all.back().name = "all operations";
        for (const row& r : telemetry_.rows) {
            for (one* o : {&all[r.operation], &all.back()}) {
                o->sum = measured::combine(o->sum, measured::of(r));
                if (!r.timed) continue;
                o->times = measured::combine(o->times, measured::of(r));
                o->samples.push_back(r);
            }
        }
        std::stable_sort(all.begin(), all.end() - 1, [](const one& a, const one& b) {
            return a.sum.weight() > b.sum.weight();
        });
        std::size_t wide = 10;
        for (const one& o : all) wide = std::max(wide, o.name.size());
        put("\n");
        put_head("operation", wide);
        put(" {:>9} {:>9} {:>9} {:>12}\n", "mean ms", "median", "99 %", "highest");
        const bool more = all.size() > most_operations + 1;
        if (more) all.erase(all.begin() + most_operations, all.end() - 1);
        if (all.size() == 2) all.pop_back();  // the total would equal the only line
        for (const one& o : all) {
            put("{:<{}} {:>9} {:>13} {:>8} {:>9} {:>9} {:>9} {:>12}\n", o.name, wide,
                grouped(o.sum.points), grouped(o.sum.weight()), share(o.sum), ms(o.times.mean()),
                ms(waybill::quantile(o.samples, 0.5)), ms(waybill::quantile(o.samples, 0.99)),
                (o.times.is_sampled() ? ">= " : "") + ms(o.times.highest()));
        }
        if (more) put("The other operations are in the last line only.\n");
        if (all.back().sum.is_sampled()) {
            put("Mean, median and 99 % are of the events. The highest is of the rows: of the "
                "events that\nwere left out one may have taken longer.\n");
        }
    }

    /// Queries a sliding window at each row.
    void busiest()
    {
        const duration width = bins_.options().width;
        waybill::sliding_window<waybill::weighted_stats<double>> window({.span = width});
        using summary = decltype(window)::summary;
        std::optional<summary> events;
        std::optional<summary> rows;
        for (const row& r : telemetry_.rows) {
            window.insert(r.at, r.value, r.weight);
            const summary now = window.query(r.at);
            if (!events || now.weight() > events->weight()) events = now;
            if (!rows || now.points > rows->points) rows = now;
        }
        put("\nThe busiest {} had {} ({:.3g} a second) and ended at {}.\nBy rows alone it would "
            "have had {} and ended at {}.\n",
            span_text(width), counted(events->weight(), "event"), events->rate().value_or(0),
            moment(events->now, dates_), grouped(rows->points), moment(rows->now, dates_));
    }

    void not_taken()
    {
        const telemetry& t = telemetry_;
        if (t.late != 0) {
            put("{} came after a later one; each is counted at its own time.\n",
                counted(t.late, "row"));
        }
        if (t.others != 0) {
            put("{} of other operations, and in no figure.\n", counted(t.others, "row"));
        }
        const auto untimed = static_cast<std::uint64_t>(
            std::count_if(t.rows.begin(), t.rows.end(), [](const row& r) { return !r.timed; }));
        if (untimed != 0) {
            put("{} without a duration: counted, but not in means and percentiles.\n",
                counted(untimed, "row"));
        }
        if (t.duplicates != 0) {
            put("{} occurred twice, equal in all fields, and {} counted once "
                "(--keep-duplicates counts both).\n",
                counted(t.duplicates, "row"), t.duplicates == 1 ? "is" : "are");
        }
    }

    const telemetry& telemetry_;
    const binned_rows& bins_;
    bool coloured_;
    bool dates_ = false;
    std::string out_{};
};

}  // namespace

std::string tables(const telemetry& t, const binned_rows& bins, bool coloured)
{
    return writer(t, bins, coloured).text();
}

void keep_last(telemetry& t, duration span)
{
    const waybill::bins<measured> days(day);
    const waybill::wall_time end = days.at(t.rows.back().at).until;
    std::erase_if(t.rows, [&](const row& r) { return end - r.at > span; });
}

std::string by_weekday(const telemetry& t, const std::optional<duration>& last)
{
    waybill::bins<measured> daily(day);
    for (const row& r : t.rows) daily.add(r.at, r.value, r.weight);
    const waybill::wall_time end = daily.at(t.rows.back().at).until;
    std::string out =
        fmt::format("\n{:<10} {:>13} {:>13} {:>9}\n", "day", "events", "a week before", "change");
    for (const auto& b : daily) {
        if (last && end - b.from > *last) continue;
        const std::uint64_t events = b.measure.weight();
        const std::uint64_t before = daily.at(b.from - day * 7).measure.weight();
        const std::string change =
            before == 0
                ? "-"
                : fmt::format(
                      "{:+.1f} %",
                      100 * (static_cast<double>(events) / static_cast<double>(before) - 1));
        out += fmt::format("{:<10} {:>13} {:>13} {:>9}\n", waybill::to_text(b.from).substr(0, 10),
                           grouped(events), before == 0 ? "no row" : grouped(before), change);
    }
    return out;
}

std::string rejections(const telemetry& t)
{
    using entry = std::pair<std::string, rejected>;
    std::vector<entry> all(t.rejections.begin(), t.rejections.end());
    std::sort(all.begin(), all.end(),
              [](const entry& a, const entry& b) { return a.second.first < b.second.first; });
    std::string out;
    for (const auto& [why, r] : all) {
        const std::string more =
            r.lines == 1 ? "" : fmt::format(", and {} more", grouped(r.lines - 1));
        out += fmt::format("not counted: line {}{}: {}\n", r.first, more, plain(why, 120));
    }
    return out;
}

}  // namespace lost_events

// SPDX-License-Identifier: MIT

#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "../support/terminal.hpp"
#include "known.hpp"
#include <waybill/ext/fmt.hpp>
#include <waybill/ext/json.hpp>

namespace send_batches {

namespace {

constexpr std::uint64_t most_bars = 40;
constexpr std::uint64_t most_odd = 30;
constexpr std::size_t most_lines = 10;
constexpr std::size_t width = 40;

using support::counted;
using support::grouped;

/// A text of a broker as one line of a terminal.
std::string short_line(std::string_view text)
{
    std::string s(waybill::utf8_prefix(text, 90));
    for (char& c : s) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return s;
}

/// A report of items, with the lines of the input instead of the numbers of items.
std::string by_line(const waybill::item_report& i, const line_numbers& numbers)
{
    const std::string said = waybill::describe(i);
    const std::uint64_t first = numbers.of(i.items.first);
    const std::string_view what = std::string_view(said).substr(said.find(':'));
    if (i.items.count == 1) return fmt::format("line {}{}", first, what);
    return fmt::format("lines {} to {}{}", first, numbers.of(i.items.end() - 1), what);
}

std::string_view note_on(bool guess)
{
    return guess ? "; this limit is a guess" : "";
}

}  // namespace

picture::picture(const options& o, std::uint64_t limit)
    : limit_(limit),
      coloured_(!o.plain && support::coloured()),
      moving_(!o.plain && isatty(1) == 1 && isatty(2) == 1)
{
    const std::string most = limit == waybill::unlimited ? "no limit" : grouped(limit);
    fmt::print("{:>5} {:>7} {:>11}  0{:>{}}\n", "batch", "lines", "bytes", most, width);
}

picture::~picture()
{
    if (moving_) say("\r\033[K");
    if (left_out_ != 0) fmt::print("  ... and {} more\n", grouped(left_out_));
    std::fflush(stdout);
}

std::string picture::bar(const sent& s) const
{
    const bool good = s.became == "accepted";
    const auto limit = static_cast<double>(limit_ == waybill::unlimited ? first_guess : limit_);
    const double share = static_cast<double>(s.bytes) / limit;
    const std::size_t filled =
        std::clamp<std::size_t>(static_cast<std::size_t>(share * width + 0.5), 1, width);
    std::string b(filled, good ? '#' : 'x');
    b += std::string(width - filled, '.');
    const std::string over = s.bytes > limit_ ? ">> " : "|  ";
    if (!coloured_) return b + over;
    return fmt::format("\033[{}m{}\033[0m{}", good ? 32 : s.became == "partial" ? 33 : 31, b, over);
}

void picture::show(const sent& s)
{
    const bool good = s.became == "accepted";
    items_ += good ? s.items : 0;
    if (moving_) say("\r\033[K");
    if (shown_ < most_bars || (!good && odd_ < most_odd)) {
        ++shown_;
        odd_ += good ? 0 : 1;
        std::string note(good ? "" : s.became);
        if (s.again) note += note.empty() ? "repeated unchanged" : ", repeated unchanged";
        if (!s.note.empty()) note += ": " + short_line(s.note);
        fmt::print("{:>5} {:>7} {:>11}  {}{}\n", s.number, grouped(s.items), grouped(s.bytes),
                   bar(s), note);
    } else {
        ++left_out_;
    }
    std::fflush(stdout);
    if (!moving_) return;
    say(fmt::format("{} sent, {}", counted(items_, "line"), counted(s.number, "request")));
}

void print(const options& o, const destination& to, const results& r)
{
    const std::string input =
        o.input == "-" ? "the standard input" : o.input.substr(o.input.find_last_of('/') + 1);
    fmt::print("{} from {} ({} bytes) into {}\n", counted(r.lines, "line"), input,
               grouped(r.input_bytes), to.name);
    if (r.lines == 0 && r.wrong.empty()) {
        fmt::print("nothing to do: there is no line in {}\n", input);
        return;
    }
    const auto row = [](std::string_view what, std::uint64_t n, const std::string& more = {}) {
        fmt::print("  {:<28}{:>10}{}\n", what, grouped(n), more);
    };
    row("batches sent", r.report.sends, fmt::format("   ({} needed)", grouped(r.fewest)));
    row("of these too large", r.report.refusals);
    if (r.partial != 0) row("accepted in part", r.partial);
    if (r.throttled != 0) row("throttled", r.throttled);
    if (r.failed != 0) row("failed", r.failed);
    if (r.unknown != 0) row("outcome unknown", r.unknown);
    if (r.report.maybe_twice != 0) row("lines possibly repeated", r.report.maybe_twice);
    if (r.report.unaccepted_bytes != 0) row("bytes sent, not accepted", r.report.unaccepted_bytes);
    row(to.caveat.empty() ? "lines accepted" : "lines published", r.report.accepted);
    fmt::print("known before: {}{}\n", r.begun, note_on(is_guess(r.begun)));
    fmt::print("learnt:       {}{}\n", r.learnt, note_on(!r.limit_told && is_guess(r.learnt)));
    std::size_t listed = 0;
    std::size_t not_listed = 0;
    for (const waybill::item_report& i : r.report.outcomes) {
        if (i.outcome == waybill::item_outcome::accepted) continue;
        if (++listed > most_lines) ++not_listed;
        else fmt::print("not accepted: {}\n", short_line(by_line(i, r.numbers)));
    }
    if (not_listed != 0) fmt::print("not accepted: and {} more\n", grouped(not_listed));
    if (r.report.stopped && r.report.taken != 0) {
        fmt::print("stopped: {}; no line after line {} was read\n", short_line(to.said()),
                   r.numbers.of(r.report.taken - 1));
    }
    if (!r.wrong.empty() || r.report.not_accepted != 0 || r.report.stopped) return;
    if (r.checked) {
        fmt::print("checked: each line is in the queue exactly once, {}\n",
                   r.in_order ? "in order" : "repeated lines after later ones");
        return;
    }
    const std::string_view done = to.caveat.empty() ? "accepted" : "published";
    if (r.unknown == 0) fmt::print("each line was {} once", done);
    else fmt::print("each line was {}; batches whose outcome was unknown were repeated", done);
    fmt::print("{}{}\n", to.caveat.empty() ? "" : "; ", to.caveat);
}

void write_report(const options& o, const destination& to, const results& r)
{
    if (o.report.empty()) return;
    nlohmann::json j = r.report;
    j["to"] = to.name;
    j["lines"] = r.lines;
    j["blank_lines"] = r.numbers.blank();
    for (std::size_t n = 0; n != r.report.outcomes.size(); ++n) {
        j["outcomes"][n]["first_line"] = r.numbers.of(r.report.outcomes[n].items.first);
    }
    j["input_bytes"] = r.input_bytes;
    j["fewest"] = r.fewest;
    j["partial"] = r.partial;
    j["throttled"] = r.throttled;
    j["failed"] = r.failed;
    j["unknown"] = r.unknown;
    j["limits"] = to.limit;
    j["known_before"] = r.begun;
    j["learnt"] = r.learnt;
    j["checked"] = r.checked;
    j["wrong"] = r.wrong;
    j["seconds"] = r.seconds;
    support::write_file("report", o.report, j.dump(2) + '\n');
}

}  // namespace send_batches

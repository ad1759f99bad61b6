// SPDX-License-Identifier: MIT

#include "report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <waybill/ext/fmt.hpp>
#include <waybill/ext/json.hpp>

namespace send_batches {

namespace {

constexpr std::uint64_t most_bars = 40;
constexpr std::uint64_t most_odd = 30;
constexpr std::size_t most_lines = 10;
constexpr std::size_t width = 40;

/// 8,812
std::string grouped(std::uint64_t n)
{
    std::string s = std::to_string(n);
    for (std::size_t at = s.size(); at > 3;) s.insert(at -= 3, 1, ',');
    return s;
}

std::string counted(std::uint64_t n, std::string_view what)
{
    return fmt::format("{} {}{}", grouped(n), what, n == 1 ? "" : "s");
}

/// One line of a terminal, whatever a broker says.
std::string short_line(std::string_view text)
{
    std::string s(waybill::utf8_prefix(text, 90));
    for (char& c : s) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return s;
}

}  // namespace

void say(const std::string& what)
{
    std::fputs(what.c_str(), stderr);
    std::fflush(stderr);
}

void expect_report(const options& o)
{
    if (o.report.empty()) return;
    errno = 0;
    if (!std::ofstream(o.report, std::ios::app)) {
        throw complaint(fmt::format("the report cannot be written to {}: {}", o.report,
                                    std::strerror(errno)));
    }
}

picture::picture(const options& o, std::uint64_t limit)
    : limit_(limit),
      coloured_(!o.plain && isatty(1) == 1),
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
        if (s.again) note += note.empty() ? "the same again" : ", the same again";
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
    const auto row = [](std::string_view what, std::uint64_t n, const std::string& more = {}) {
        fmt::print("  {:<28}{:>10}{}\n", what, grouped(n), more);
    };
    row("batches sent", r.report.sends, fmt::format("   ({} would do)", grouped(r.fewest)));
    row("of these too large", r.report.refusals);
    if (r.partial != 0) row("taken in part", r.partial);
    if (r.throttled != 0) row("throttled", r.throttled);
    if (r.failed != 0) row("failed", r.failed);
    if (r.unknown != 0) row("without an answer", r.unknown);
    if (r.report.resent_bytes != 0) row("bytes for nothing", r.report.resent_bytes);
    row("lines that it has", r.report.accepted);
    fmt::print("known before: {}\nlearnt:       {}\n", r.begun, r.learnt);
    std::size_t listed = 0;
    std::size_t not_listed = 0;
    for (const waybill::item_report& i : r.report.outcomes) {
        if (i.outcome == waybill::item_outcome::accepted) continue;
        if (++listed > most_lines) ++not_listed;
        else fmt::print("not there: {} (the first is 0)\n", short_line(waybill::text(i)));
    }
    if (not_listed != 0) fmt::print("not there: and {} more\n", grouped(not_listed));
    if (!r.wrong.empty() || r.report.not_accepted != 0 || r.report.stopped) return;
    if (r.checked) fmt::print("checked: each line is in the queue exactly once, in order\n");
    else if (r.unknown == 0) fmt::print("it has said of each line, once, that it has it\n");
    else fmt::print("it has said of each line that it has it; what had no answer was repeated\n");
}

void write_report(const options& o, const destination& to, const results& r)
{
    if (o.report.empty()) return;
    nlohmann::json j = r.report;
    j["to"] = to.name;
    j["lines"] = r.lines;
    j["blank_lines"] = r.blank;
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
    std::ofstream file(o.report);
    file << j.dump(2) << '\n' << std::flush;
    if (!file) throw complaint(fmt::format("the report cannot be written to {}", o.report));
}

}  // namespace send_batches

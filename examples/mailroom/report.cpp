// SPDX-License-Identifier: MIT

#include "report.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace mailroom {

namespace {

using support::counted;
using support::grouped;

std::string joined(const std::vector<std::string>& parts)
{
    std::string s;
    for (const std::string& p : parts) s += (s.empty() ? "" : ", ") + p;
    return s;
}

std::string deaths(const outcome& o)
{
    std::string s = fmt::format("killed {} with -9", counted(o.kills.size(), "time"));
    if (!o.kills.empty()) s += fmt::format(" (at {})", joined(o.kills));
    if (o.deaths != 0) s += fmt::format(", and {} by another process", counted(o.deaths, "time"));
    return s;
}

nlohmann::json figures(const contestant& c)
{
    const tally& t = c.how.counts;
    return {{"read", c.found.read},
            {"batches", t.batches},
            {"sends", t.sends},
            {"rejected", t.rejected},
            {"resent_bytes", t.unaccepted_bytes},
            {"applied", c.found.applied},
            {"dead_lettered", c.found.dead_lettered},
            {"duplicated", c.found.duplicated},
            {"lost", c.found.lost},
            {"worker_kills", c.how.kills.size() + c.how.deaths},
            {"peak_rss_kib", t.peak_rss_kib}};
}

}  // namespace

progress::progress(std::string who, std::uint64_t input_bytes)
    : who_(std::move(who)),
      bytes_(std::max<std::uint64_t>(input_bytes, 1)),
      terminal_(isatty(2) == 1)
{
}

progress::~progress()
{
    if (terminal_) say("\r\033[K");
    else if (shown_ != 0) say(fmt::format("{}: at the end, {}\n", who_, last_));
}

void progress::show(const tally& t)
{
    const std::uint64_t done = std::min(t.byte, bytes_);
    const std::string counts =
        fmt::format("{} queued, {} done, {} waiting", grouped(t.enqueued), grouped(t.applied),
                    grouped(t.enqueued - std::min(t.applied, t.enqueued)));
    if (!terminal_) {
        last_ = counts;
        if (done * 4 / bytes_ <= shown_) return;
        shown_ = done * 4 / bytes_;
        say(fmt::format("{}: {:3} % read, {}\n", who_, done * 100 / bytes_, counts));
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    constexpr std::uint64_t width = 30;
    const std::size_t filled = done * width / bytes_;
    say(fmt::format("\r\033[K{:<8} [{}{}] {:3} %  {}", who_, std::string(filled, '#'),
                    std::string(width - filled, '.'), done * 100 / bytes_, counts));
}

void print(const options& o, const results& r)
{
    const findings& f = r.waybill.found;
    const tally& t = r.waybill.how.counts;
    const std::string name = o.input.substr(o.input.find_last_of('/') + 1);
    fmt::print("{} from {} ({} bytes), through a queue that takes at most {} bytes a batch\n",
               counted(f.read, "event"), name, grouped(r.input_bytes), grouped(o.limit));
    if (f.read == 0) {
        fmt::print("nothing to do: there is no event in {}\n", o.input);
        return;
    }
    if (!t.worked && f.lost != 0) {
        fmt::print(
            "{} are lost: in {}, sink.sqlite does not belong to queue.sqlite; name another "
            "folder\n",
            counted(f.lost, "event"), o.db);
        return;
    }
    if (!t.worked) {
        fmt::print("nothing to do: {} already has {} events applied and {} as dead letters\n", o.db,
                   grouped(f.applied), grouped(f.dead_lettered));
        return;
    }
    if (!o.plain) fmt::print("the worker was {}\n", deaths(r.waybill.how));
    const auto row = [&](std::string_view what, auto value) {
        const std::string other = r.naive ? fmt::format("  {:>18}", value(*r.naive)) : "";
        fmt::print("  {:<30}{:>10}{}\n", what, value(r.waybill), other);
    };
    const contestant* const first = &r.waybill;
    row("", [&](const contestant& c) { return &c == first ? "waybill" : "as usually written"; });
    row(fmt::format("sends ({} needed)", grouped(f.optimum)),
        [](const contestant& c) { return grouped(c.how.counts.sends); });
    row("of these refused as too large",
        [](const contestant& c) { return grouped(c.how.counts.rejected); });
    row("events applied", [](const contestant& c) { return grouped(c.found.applied); });
    row("dead letters, each with reason",
        [](const contestant& c) { return grouped(c.found.dead_lettered); });
    row("events lost", [](const contestant& c) { return grouped(c.found.lost); });
    row("events doubled", [](const contestant& c) { return grouped(c.found.duplicated); });
    if (f.applied == 0) fmt::print("no line is an event that could be applied\n");
    if (f.wrong.empty() && f.lost == 0 && f.duplicated == 0) {
        fmt::print("checked: each event is in the sink exactly once, and all sums agree{}\n",
                   r.temporary ? "" : fmt::format("; see {}", o.db));
    }
}

void write_report(const options& o, const results& r)
{
    if (o.report.empty()) return;
    nlohmann::json j = figures(r.waybill);
    j["peak_rss_kib"] =
        std::max(r.waybill.how.counts.peak_rss_kib, peak_rss_kib());  // of any process
    j["input_bytes"] = r.input_bytes;
    j["limit"] = o.limit;
    j["blank_lines"] = r.waybill.found.blank;
    j["optimum"] = r.waybill.found.optimum;
    j["killed_at"] = r.waybill.how.kills;
    j["nothing_to_do"] = !r.waybill.how.counts.worked;
    j["wrong"] = r.waybill.found.wrong;
    j["seconds"] = r.seconds;
    if (r.naive) j["naive"] = figures(*r.naive);
    support::write_file("report", o.report, j.dump(2) + '\n');
}

}  // namespace mailroom

// SPDX-License-Identifier: MIT

#include "tally.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

#include "phases.hpp"

namespace mailroom {

namespace {

/// Removes and returns the first word.
std::string_view word(std::string_view& line)
{
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view w = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return w;
}

std::optional<std::uint64_t> number(std::string_view digits)
{
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc{} || end != digits.data() + digits.size()) return {};
    return n;
}

}  // namespace

void tally::take(std::string_view line)
{
    const std::string_view what = word(line);
    if (what == "holding") {
        holding = line;
        return;
    }
    const auto next = [&] { return number(word(line)).value_or(0); };
    if (what == "accepted") {
        ++sends;
        ++batches;
    } else if (what == "refused") {
        ++sends;
        ++rejected;
        unaccepted_bytes += next();
    } else if (what == "at") {
        byte = next();
        enqueued = next();
        applied = next();
    } else if (what == "worked") {
        worked = true;
    } else if (what == "memory") {
        peak_rss_kib = std::max(peak_rss_kib, next());
    }
}

std::uint64_t peak_rss_kib()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("VmHWM:")) continue;
        const std::size_t from = line.find_first_of("0123456789");
        if (from == std::string::npos) break;
        return number(std::string_view(line).substr(from, line.find(' ', from) - from)).value_or(0);
    }
    return 0;
}

std::optional<hold> hold_in(std::string_view text)
{
    const std::size_t mark = std::min(text.find_first_of(":@"), text.size());
    hold h{.phase = std::string(text.substr(0, mark))};
    if (std::find(std::begin(all_phases), std::end(all_phases), h.phase) == std::end(all_phases))
        return {};
    if (mark == text.size()) return h;
    const auto n = number(text.substr(mark + 1));
    if (!n) return {};
    (text[mark] == ':' ? h.nth : h.from) = *n;
    return h;
}

std::string text(const hold& h)
{
    return h.from != 0 ? h.phase + '@' + std::to_string(h.from)
                       : h.phase + ':' + std::to_string(h.nth);
}

}  // namespace mailroom

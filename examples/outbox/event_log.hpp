// SPDX-License-Identifier: MIT
//
// event_log: prints one line for each event and each decision of the relay. Of thousands of equal
// lines it prints a few, and their number.

#ifndef WAYBILL_EXAMPLES_OUTBOX_EVENT_LOG_HPP
#define WAYBILL_EXAMPLES_OUTBOX_EVENT_LOG_HPP

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "../support/program.hpp"

namespace outbox {

class event_log {
public:
    /// A quiet log writes nothing.
    explicit event_log(bool quiet) : quiet_(quiet) {}

    /// Prints a single event. It begins a new group of decisions.
    void event(std::string_view text)
    {
        close_chapter();
        line(text);
    }

    /// A decision about a mail; `kind` is its first word.
    void decision(const std::string& kind, std::string_view text)
    {
        constexpr std::uint64_t few = 2;
        const std::uint64_t n = ++chapter_[kind];
        if (n <= (kind == "sent" ? 1 : few)) line(fmt::format("  {} {}", kind, text));
        else ++untold_[kind];
    }

    void close_chapter()
    {
        std::string all;
        for (const auto& [kind, n] : untold_) {
            all += fmt::format("{}{} more {}", all.empty() ? "" : ", ", support::grouped(n), kind);
        }
        if (!all.empty()) line(fmt::format("  and {}", all));
        chapter_.clear();
        untold_.clear();
    }

private:
    void line(std::string_view text) const
    {
        if (quiet_) return;
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun_;
        fmt::print("{:6.2f} s  {}\n", since.count(), text);
        std::fflush(stdout);
    }

    bool quiet_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::map<std::string, std::uint64_t> chapter_{};
    std::map<std::string, std::uint64_t> untold_{};
};

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_EVENT_LOG_HPP

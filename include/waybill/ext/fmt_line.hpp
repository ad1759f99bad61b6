// SPDX-License-Identifier: MIT
//
// ext/fmt_line: helpers for the lines of ext/fmt, and the lines of core types.

#ifndef WAYBILL_EXT_FMT_LINE_HPP
#define WAYBILL_EXT_FMT_LINE_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <waybill/batch/sending.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>

namespace waybill::inline v0_2::detail::words {

/// `text` with its control characters (below 0x20, and 0x7F) as escapes, so that it stays one line.
[[nodiscard]] inline std::string one_line(std::string_view text)
{
    std::string shown;
    shown.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') shown += "\\n";
        else if (c == '\r') shown += "\\r";
        else if (c == '\t') shown += "\\t";
        else if (byte < 0x20 || byte == 0x7F) shown += fmt::format("\\x{:02x}", byte);
        else shown += c;
    }
    return shown;
}

/// "1 item", "2 items".
[[nodiscard]] inline std::string counted(std::uint64_t n, std::string_view one,
                                         std::string_view many)
{
    return fmt::format("{} {}", n, n == 1 ? one : many);
}
[[nodiscard]] inline std::string items(std::uint64_t n) { return counted(n, "item", "items"); }

/// "1 byte", "2 bytes", "unlimited bytes".
[[nodiscard]] inline std::string bytes(std::uint64_t n)
{
    if (n == unlimited) return "unlimited bytes";
    return counted(n, "byte", "bytes");
}

/// The name of an enumerator.
template <class E>
    requires requires(E e) { { name(e) } -> std::same_as<std::string_view>; }
[[nodiscard]] inline std::string line(E e)
{
    return std::string(name(e));
}

[[nodiscard]] inline std::string line(duration d)
{
    return to_text(d);
}
[[nodiscard]] inline std::string line(wall_time t)
{
    return to_text(t);
}

// The epoch of a steady clock has no meaning outside the process: the line shows the time since it.
[[nodiscard]] inline std::string line(steady_time t)
{
    return t == steady_time::highest() ? "never" : "steady " + to_text(t.since_epoch());
}

[[nodiscard]] inline std::string line(const fault& f)
{
    if (f.ok() && f.text.empty()) return "ok";
    std::string said(name(f.kind));
    if (!f.text.empty()) said += ": " + one_line(f.text);
    return said;
}

[[nodiscard]] inline std::string line(const config_error& e)
{
    return one_line(describe(e));
}

/// "5" or "5 to 9".
[[nodiscard]] inline std::string numbers(const item_range& r)
{
    if (r.count == 1) return fmt::format("{}", r.first);
    return fmt::format("{} to {}", r.first, r.end() - 1);
}

[[nodiscard]] inline std::string line(const item_range& r)
{
    if (r.count == 0) return "no items";
    return (r.count == 1 ? "item " : "items ") + numbers(r);
}

[[nodiscard]] inline std::string line(const item_ranges& parts)
{
    if (parts.items() == 0) return "no items";
    std::string said = parts.items() == 1 ? "item " : "items ";
    for (const item_range* r = parts.begin(); r != parts.end(); ++r) {
        if (r != parts.begin()) said += ", ";
        said += numbers(*r);
    }
    return said;
}

[[nodiscard]] inline std::string line(const partition_key& k)
{
    return fmt::format("{}/{}/{}", one_line(k.source), one_line(k.group), one_line(k.partition));
}

[[nodiscard]] inline std::string line(const position& p)
{
    if (p.offset.empty()) return fmt::format("{}", p.sequence);
    return fmt::format("{} (offset {})", p.sequence, one_line(p.offset));
}

[[nodiscard]] inline std::string line(const checkpoint& c)
{
    return fmt::format("at {}, epoch {}", line(c.at), c.epoch);
}

[[nodiscard]] inline std::string line(const assignment& a)
{
    const std::string from = a.from ? "after " + line(*a.from) : "from the beginning";
    return fmt::format("{} {}, epoch {}", line(a.key), from, a.epoch);
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_LINE_HPP

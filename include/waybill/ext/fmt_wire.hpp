// SPDX-License-Identifier: MIT
//
// ext/fmt_wire: limits, error codes and refusals of services as lines.

#ifndef WAYBILL_EXT_FMT_WIRE_HPP
#define WAYBILL_EXT_FMT_WIRE_HPP

#include <string>

#include <fmt/format.h>

#include <waybill/ext/fmt_line.hpp>
#include <waybill/ext/fmt_report.hpp>
#include <waybill/wire/error_codes.hpp>
#include <waybill/wire/refusal_text.hpp>
#include <waybill/wire/services.hpp>

namespace waybill::inline v0_2::detail::words {

/// Leaves out the note, which may be long.
[[nodiscard]] inline std::string line(const wire::service& s)
{
    return fmt::format("{}: {} ({} {}, {})", one_line(s.name), line(s.highest), line(s.evidence),
                       one_line(s.as_of), one_line(s.source));
}

[[nodiscard]] inline std::string line(const wire::error_code& c)
{
    std::string said = one_line(c.code);
    if (c.number) said += fmt::format(" ({})", *c.number);
    return said + ": " + line(c.means);
}

[[nodiscard]] inline std::string line(const wire::error_table& t)
{
    return fmt::format("{}: {} ({}, {})", one_line(t.service),
                       counted(t.codes.size(), "code", "codes"), one_line(t.as_of),
                       one_line(t.source));
}

[[nodiscard]] inline std::string line(const wire::refusal_numbers& n)
{
    const std::string limit = n.limit ? "the limit is " + bytes(*n.limit) : "no limit is named";
    if (!n.actual) return line(n.of) + ": " + limit;
    return fmt::format("{}: {} where {}", line(n.of), bytes(*n.actual), limit);
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_WIRE_HPP

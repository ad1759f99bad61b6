// SPDX-License-Identifier: MIT
//
// describe: services, error codes and refusals as text.

#ifndef WAYBILL_WIRE_DESCRIBE_HPP
#define WAYBILL_WIRE_DESCRIBE_HPP

#include <string>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/wire/detail/refusal_phrases.hpp>
#include <waybill/wire/error_codes.hpp>
#include <waybill/wire/refusal_text.hpp>
#include <waybill/wire/services.hpp>

namespace waybill::inline v0_2::detail::words {

/// Leaves out the note, which may be long.
template <>
struct line_of<wire::service> {
    static std::string text(const auto& s)
    {
        return concat(one_line(s.name), ": ", line(s.highest), " (", line(s.evidence), " ",
                      one_line(s.as_of), ", ", one_line(s.source), ")");
    }
};

template <>
struct line_of<wire::error_code> {
    static std::string text(const auto& c)
    {
        std::string result = one_line(c.code);
        if (c.number) result += concat(" (", *c.number, ")");
        return result + ": " + line(c.means);
    }
};

template <>
struct line_of<wire::error_table> {
    static std::string text(const auto& t)
    {
        return concat(one_line(t.service), ": ", counted(t.codes.size(), "code", "codes"), " (",
                      one_line(t.as_of), ", ", one_line(t.source), ")");
    }
};

template <>
struct line_of<wire::refusal_numbers> {
    static std::string text(const auto& n)
    {
        const std::string limit = n.limit ? "the limit is " + bytes(*n.limit) : "no limit is named";
        if (!n.actual) return line(n.of) + ": " + limit;
        return concat(line(n.of), ": ", bytes(*n.actual), " where ", limit);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_WIRE_DESCRIBE_HPP

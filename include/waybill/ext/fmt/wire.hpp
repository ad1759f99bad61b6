// SPDX-License-Identifier: MIT
//
// ext/fmt/wire: limits, error codes and refusals of services as lines.

#ifndef WAYBILL_EXT_FMT_WIRE_HPP
#define WAYBILL_EXT_FMT_WIRE_HPP

#include <string>

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/wire/error_codes.hpp>
#include <waybill/wire/detail/refusal_phrases.hpp>
#include <waybill/wire/refusal_text.hpp>
#include <waybill/wire/services.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<wire::answer> : enumerator_line {};
template <>
struct line_of<wire::dialect> : enumerator_line {};
template <>
struct line_of<wire::extent> : enumerator_line {};
template <>
struct line_of<wire::proof> : enumerator_line {};

/// Leaves out the note, which may be long.
template <>
struct line_of<wire::service> {
    template <class T>
    [[nodiscard]] static std::string text(const T& s)
    {
        return fmt::format("{}: {} ({} {}, {})", one_line(s.name), line(s.highest),
                           line(s.evidence), one_line(s.as_of), one_line(s.source));
    }
};

template <>
struct line_of<wire::error_code> {
    template <class T>
    [[nodiscard]] static std::string text(const T& c)
    {
        std::string result = one_line(c.code);
        if (c.number) result += fmt::format(" ({})", *c.number);
        return result + ": " + line(c.means);
    }
};

template <>
struct line_of<wire::error_table> {
    template <class T>
    [[nodiscard]] static std::string text(const T& t)
    {
        return fmt::format("{}: {} ({}, {})", one_line(t.service),
                           counted(t.codes.size(), "code", "codes"), one_line(t.as_of),
                           one_line(t.source));
    }
};

template <>
struct line_of<wire::refusal_numbers> {
    template <class T>
    [[nodiscard]] static std::string text(const T& n)
    {
        const std::string limit = n.limit ? "the limit is " + bytes(*n.limit) : "no limit is named";
        if (!n.actual) return line(n.of) + ": " + limit;
        return fmt::format("{}: {} where {}", line(n.of), bytes(*n.actual), limit);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_WIRE_HPP

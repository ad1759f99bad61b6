// SPDX-License-Identifier: MIT
//
// ext/fmt/detail/line: the formatter for all types that `describe` takes.

#ifndef WAYBILL_EXT_FMT_DETAIL_LINE_HPP
#define WAYBILL_EXT_FMT_DETAIL_LINE_HPP

#include <waybill/ext/fmt/detail/package.hpp>

#include <string_view>

#include <waybill/core/detail/line.hpp>

namespace waybill::inline v0_2::detail {

/// Formats the line of a value with the format specification of a string (fill, align, width).
template <class T>
struct line_formatter : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const T& value, Context& context) const
    {
        return fmt::formatter<std::string_view>::format(words::line(value), context);
    }
};

}  // namespace waybill::inline v0_2::detail

// Variants have full specialisations: {fmt} has a partial one for them.
template <waybill::detail::words::has_line T>
    requires(!waybill::detail::words::is_variant<T>)
struct fmt::formatter<T, char> : waybill::detail::line_formatter<T> {};

#endif  // WAYBILL_EXT_FMT_DETAIL_LINE_HPP

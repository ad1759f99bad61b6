// SPDX-License-Identifier: MIT
//
// ext/print: writes each value that `describe` takes to a std::ostream and, where the standard
// library has it, with std::format.
//
//     #include <waybill/ext/print.hpp>
//
//     std::cout << report << '\n';  // sent 47 requests, 1 too large; 1001 accepted, 1 not
//     std::format("{:>30}", machine.next());  // fill, align, width: as for a string
//
// Guarantees
//   1. The text is that of `describe`: one line, control characters as escapes.
//   2. An `operator<<` of the caller for a type of waybill takes precedence. A type that is only
//      convertible to one of waybill is not printed.
//   3. ext/fmt and fmt/ostream.h are not affected.

#ifndef WAYBILL_EXT_PRINT_HPP
#define WAYBILL_EXT_PRINT_HPP

#include <concepts>
#include <ostream>
#include <string>
#include <string_view>
#include <version>

#include <waybill/batch/describe.hpp>
#include <waybill/consume/describe.hpp>
#include <waybill/core/describe.hpp>
#include <waybill/lease/describe.hpp>
#include <waybill/queue/describe.hpp>
#include <waybill/retry/describe.hpp>
#include <waybill/scaling/describe.hpp>
#include <waybill/session/describe.hpp>
#include <waybill/tracking/describe.hpp>
#include <waybill/window/describe.hpp>
#include <waybill/wire/describe.hpp>

#ifdef __cpp_lib_format
#include <format>
#endif

namespace waybill::inline v0_2 {

namespace detail {

template <class T>
concept has_line_and_no_time = words::has_line<T> && !std::same_as<T, duration> &&
                               !std::same_as<T, wall_time> && !std::same_as<T, steady_time>;

}  // namespace detail

/// Writes the text of `describe(value)`.
template <detail::has_line_and_no_time T>
std::ostream& operator<<(std::ostream& to, const T& value)
{
    return to << detail::words::line(value);
}

// Times have an operator without constraints, which is deleted (core/time.hpp).
template <class Stream>
    requires std::derived_from<Stream, std::ostream>
std::ostream& operator<<(Stream& to, duration d)
{
    return to << detail::words::line(d);
}
template <class Stream>
    requires std::derived_from<Stream, std::ostream>
std::ostream& operator<<(Stream& to, wall_time t)
{
    return to << detail::words::line(t);
}
template <class Stream>
    requires std::derived_from<Stream, std::ostream>
std::ostream& operator<<(Stream& to, steady_time t)
{
    return to << detail::words::line(t);
}

// For argument-dependent lookup.
namespace scaling {
using v0_2::operator<<;
}
namespace wire {
using v0_2::operator<<;
}

#ifdef __cpp_lib_format
namespace detail {

/// Formats the line of a value with the format specification of a string.
template <class T>
struct std_line_formatter : std::formatter<std::string_view> {
    template <class Context>
    auto format(const T& value, Context& context) const
    {
        return std::formatter<std::string_view>::format(words::line(value), context);
    }
};

}  // namespace detail
#endif

}  // namespace waybill::inline v0_2

#ifdef __cpp_lib_format
template <waybill::detail::words::has_line T>
struct std::formatter<T, char> : waybill::detail::std_line_formatter<T> {};

// Ranges with a line: these take precedence over the formatter for ranges in C++23.
template <>
struct std::formatter<waybill::batch_sender::item_ranges, char>
    : waybill::detail::std_line_formatter<waybill::batch_sender::item_ranges> {};
template <class I>
struct std::formatter<waybill::chunk<I>, char>
    : waybill::detail::std_line_formatter<waybill::chunk<I>> {};
template <class T, class Items>
struct std::formatter<waybill::owned_chunk<T, Items>, char>
    : waybill::detail::std_line_formatter<waybill::owned_chunk<T, Items>> {};
#endif

#endif  // WAYBILL_EXT_PRINT_HPP

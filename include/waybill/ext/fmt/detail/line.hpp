// SPDX-License-Identifier: MIT
//
// ext/fmt/detail/line: the formatter for all types that have a line, and helpers to write lines.
//
// A header of ext/fmt specialises `line_of` for each type of its module. Function `text` there is a
// template, so that including the header instantiates nothing of {fmt}.

#ifndef WAYBILL_EXT_FMT_DETAIL_LINE_HPP
#define WAYBILL_EXT_FMT_DETAIL_LINE_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/core/batch_limits.hpp>

namespace waybill::inline v0_2::detail {

namespace words {

/// The line of a value: a specialisation has a static function `text` that returns it.
template <class T>
struct line_of;

template <class T>
[[nodiscard]] std::string line(const T& value)
{
    return line_of<T>::text(value);
}

/// The name of an enumerator.
struct enumerator_line {
    template <class E>
    [[nodiscard]] static std::string text(E e)
    {
        return std::string(name(e));
    }
};

/// The line of an action that a variant holds.
struct action_line {
    template <class Action>
    [[nodiscard]] static std::string text(const Action& action)
    {
        return std::visit([](const auto& a) { return line(a); }, action);
    }
};

/// `text` with its control characters (below 0x20, and 0x7F) as escapes, so that it stays one line.
[[nodiscard]] inline std::string one_line(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string shown;
    shown.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') shown += "\\n";
        else if (c == '\r') shown += "\\r";
        else if (c == '\t') shown += "\\t";
        else if (byte < 0x20 || byte == 0x7F) {
            shown += "\\x";
            shown += digits[byte / 16];
            shown += digits[byte % 16];
        } else shown += c;
    }
    return shown;
}

[[nodiscard]] inline std::string number(std::uint64_t n)
{
    return std::to_string(n);
}

/// "1 item", "2 items".
[[nodiscard]] inline std::string counted(std::uint64_t n, std::string_view one,
                                         std::string_view many)
{
    std::string text = number(n) + ' ';
    text += n == 1 ? one : many;
    return text;
}
[[nodiscard]] inline std::string events(std::uint64_t n)
{
    return counted(n, "event", "events");
}
[[nodiscard]] inline std::string items(std::uint64_t n)
{
    return counted(n, "item", "items");
}

/// "1 byte", "2 bytes", "unlimited bytes".
[[nodiscard]] inline std::string bytes(std::uint64_t n)
{
    if (n == unlimited) return "unlimited bytes";
    return counted(n, "byte", "bytes");
}

/// `count` numbers from `first` on, at least one: "5" or "5 to 9".
[[nodiscard]] inline std::string numbers(std::uint64_t first, std::uint64_t count)
{
    if (count == 1) return number(first);
    return number(first) + " to " + number(first + count - 1);
}

}  // namespace words

/// True for the exact types that have a line. Types convertible to them do not match: {fmt} itself
/// formats chrono durations.
template <class T>
concept has_line = requires { sizeof(words::line_of<T>); };

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

template <waybill::detail::has_line T>
struct fmt::formatter<T, char> : waybill::detail::line_formatter<T> {
};

#endif  // WAYBILL_EXT_FMT_DETAIL_LINE_HPP

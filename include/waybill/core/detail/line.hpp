// SPDX-License-Identifier: MIT
//
// detail/line: the line of a value, and helpers to write lines.
//
// The header `describe.hpp` of a module specialises `line_of` for each type of the module. Function
// `text` there is a template: it costs nothing until it is called.

#ifndef WAYBILL_CORE_DETAIL_LINE_HPP
#define WAYBILL_CORE_DETAIL_LINE_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2::detail {

namespace words {

/// True for the exact types that have a line. Types convertible to them have none.
template <class T>
concept has_line = requires { sizeof(line_of<T>); };

template <has_line T>
std::string line(const T& value)
{
    return line_of<T>::text(value);
}

/// The name of an enumerator.
template <named_enum E>
struct line_of<E> {
    static std::string text(E e) { return std::string(name(e)); }
};

template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<variant<T...>> = true;

/// The line of the action, event or result that a variant holds.
template <class... T>
    requires(has_line<T> && ...)
struct line_of<variant<T...>> {
    static std::string text(const variant<T...>& held)
    {
        return match(held, [](const auto& a) { return line(a); });
    }
};

/// `text` with its control characters (below 0x20, and 0x7F) as escapes, so that it stays one line.
template <class Text>
std::string one_line(const Text& text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string shown;
    for (const char c : std::string_view(text)) {
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

template <class T>
std::string described_line::text(const T& value)
{
    return one_line(describe(value));
}

/// Six significant digits. Defined in core/detail/decimal.hpp, which not every module pays for.
template <class N>
struct rounded_number;

template <class T>
void append(std::string& to, const T& part)
{
    if constexpr (std::is_floating_point_v<T>) to += rounded_number<T>::text(part);
    else if constexpr (std::is_integral_v<T> && sizeof(T) > 1) to += std::to_string(part);
    else if constexpr (has_line<T>) to += line(part);
    else to += part;
}

/// The parts one after the other: texts, numbers and values that have a line.
template <class... T>
std::string concat(const T&... parts)
{
    std::string result;
    (append(result, parts), ...);
    return result;
}

template <class N>
std::string number(N n)
{
    return std::to_string(n);
}

/// "1 item", "2 items".
template <class N>
std::string counted(N n, std::string_view one, std::string_view many)
{
    return concat(n, " ", n == 1 ? one : many);
}
template <class N>
std::string events(N n)
{
    return counted(n, "event", "events");
}
template <class N>
std::string items(N n)
{
    return counted(n, "item", "items");
}
template <class N>
std::string tries(N n)
{
    return counted(n, "try", "tries");
}

/// "1 byte", "2 bytes", "unlimited bytes".
template <class N>
std::string bytes(N n)
{
    if (n == unlimited) return "unlimited bytes";
    return counted(n, "byte", "bytes");
}

/// `count` numbers from `first` on, at least one: "5" or "5 to 9".
template <class N>
std::string numbers(N first, N count)
{
    if (count == 1) return number(first);
    return concat(first, " to ", first + count - 1);
}

/// Adds ", name value" to `to`, for true only the name, for a list its size. Adds nothing for
/// false, an empty text, an empty optional or list, a duration of zero, and no fault.
template <class T>
void add_field(std::string& to, std::string_view field, const T& value)
{
    if constexpr (requires {
                      value.has_value();
                      *value;
                  }) {
        if (value.has_value()) add_field(to, field, *value);
    } else if constexpr (std::same_as<T, bool>) {
        if (value) to += concat(", ", field);
    } else if constexpr (std::convertible_to<T, std::string_view>) {
        if (!std::string_view(value).empty()) to += concat(", ", field, " ", one_line(value));
    } else if constexpr (!has_line<T> && requires { value.size(); }) {
        if (value.size() != 0) to += concat(", ", value.size(), " ", field);
    } else if constexpr (std::same_as<T, fault_kind> || std::same_as<T, duration>) {
        if (value != T{}) to += concat(", ", field, " ", value);
    } else if constexpr (std::same_as<T, fault>) {
        if (!value.ok()) to += concat(", ", field, " ", value);
    } else {
        to += concat(", ", field, " ", value);
    }
}

template <class T, class... More>
void add_fields(std::string& to, std::string_view field, const T& value, const More&... more)
{
    add_field(to, field, value);
    if constexpr (sizeof...(More) != 0) add_fields(to, more...);
}

/// "accepted: attempt 3, actual 20": a title, then names and values of fields.
template <class... Fields>
std::string fields(std::string_view title, const Fields&... names_and_values)
{
    std::string all;
    if constexpr (sizeof...(Fields) != 0) add_fields(all, names_and_values...);
    if (all.empty()) return std::string(title);
    return concat(title, ":", std::string_view(all).substr(1));
}

}  // namespace words

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_LINE_HPP

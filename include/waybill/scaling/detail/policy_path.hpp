// SPDX-License-Identifier: MIT
//
// policy_path: writes the paths and values of a policy for its errors.

#ifndef WAYBILL_SCALING_DETAIL_POLICY_PATH_HPP
#define WAYBILL_SCALING_DETAIL_POLICY_PATH_HPP

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/evidence.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// The shortest decimal form of x: "100", "0.5", "1e-09", "NaN", "infinity". Independent of the
/// locale.
[[nodiscard]] inline std::string short_number(double x)
{
    if (!is_finite(x)) return x > 0 ? "infinity" : x < 0 ? "-infinity" : "NaN";
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

/// The text in double quotes. Not named `quoted`, since lookup would also find std::quoted.
[[nodiscard]] inline std::string in_quotes(std::string_view s)
{
    return '"' + std::string(s) + '"';
}

/// The name of the relation in a policy's JSON.
[[nodiscard]] constexpr std::string_view word_of(relation r) noexcept
{
    switch (r) {
        case relation::above: return "above";
        case relation::at_least: return "at_least";
        case relation::below: return "below";
        case relation::at_most: return "at_most";
    }
    return "?";
}

/// The name of the kind of rule in a policy's JSON. Empty for a comparison.
[[nodiscard]] constexpr std::string_view word_of(rule::kind k) noexcept
{
    switch (k) {
        case rule::kind::compare: return "";
        case rule::kind::all: return "all";
        case rule::kind::any: return "any";
        case rule::kind::at_least: return "of";
        case rule::kind::opposite: return "not";
    }
    return "?";
}

/// The path of a field of the object at `path`.
[[nodiscard]] inline std::string inside(std::string_view path, std::string_view segment)
{
    return std::string(path) + '/' + std::string(segment);
}

/// The path of the n-th item of the list at `path`, from 0.
[[nodiscard]] inline std::string numbered(std::string_view path, std::size_t n)
{
    return std::string(path) + '/' + std::to_string(n);
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_POLICY_PATH_HPP

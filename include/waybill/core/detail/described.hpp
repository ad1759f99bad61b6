// SPDX-License-Identifier: MIT
//
// detail/described: marks a type that has a function `describe` of its own (describe.hpp).
//
// The mark is beside the function. If it came later, an earlier call of `describe` would already
// have found that the type has no line.
//
// If the header with the text of a type is not included, `describe` is the deleted function in
// core/config_error.hpp. The error names the missing header.

#ifndef WAYBILL_CORE_DETAIL_DESCRIBED_HPP
#define WAYBILL_CORE_DETAIL_DESCRIBED_HPP

#include <string>

namespace waybill::inline v0_2::detail {

namespace words {

/// The line of a value: a specialisation has a static function `text` that returns it.
template <class T>
struct line_of;

/// The line of a type with a function `describe` of its own.
struct described_line {
    template <class T>
    static std::string text(const T& value);
};

}  // namespace words

/// "1 session", "2 sessions". A template, so that it costs nothing until it is called.
template <class N>
std::string counted_noun(N n, const char* noun)
{
    std::string result = std::to_string(n) + ' ' + noun;
    if (n != 1) result += 's';
    return result;
}

/// Every value converts to it, so that a real `describe` is the better match.
struct describe_needs_waybill_MODULE_describe_hpp {
    template <class T>
    constexpr describe_needs_waybill_MODULE_describe_hpp(const T&) noexcept;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_DESCRIBED_HPP

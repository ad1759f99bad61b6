// SPDX-License-Identifier: MIT
//
// detail/decimal: floating-point numbers in the lines of values.

#ifndef WAYBILL_CORE_DETAIL_DECIMAL_HPP
#define WAYBILL_CORE_DETAIL_DECIMAL_HPP

#include <charconv>
#include <concepts>
#include <string>

#include <waybill/core/detail/line.hpp>

namespace waybill::inline v0_2::detail {

namespace words {

/// The shortest decimal number that is read back as the same value; `decimals` of them if given.
template <std::floating_point N>
std::string decimal(N n, int decimals = -1)
{
    char digits[400];
    const N size = n < 0 ? -n : n;
    const bool plain = decimals >= 0 || size == 0 || (size >= N(1e-4) && size < N(1e16));
    const auto form = plain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto end = decimals < 0
                         ? std::to_chars(digits, digits + sizeof digits, n, form)
                         : std::to_chars(digits, digits + sizeof digits, n, form, decimals);
    return std::string(digits, end.ptr);
}

/// Six significant digits without zeros at the end, or the whole number if that has more.
template <std::floating_point N>
std::string rounded(N n)
{
    char digits[32];
    const N size = n < 0 ? -n : n;
    const bool whole = size >= N(1e5) && size < N(1e16);
    const auto form = whole ? std::chars_format::fixed : std::chars_format::general;
    return {digits, std::to_chars(digits, digits + sizeof digits, n, form, whole ? 0 : 6).ptr};
}

template <std::floating_point N>
struct rounded_number<N> {
    static std::string text(N n) { return rounded(n); }
};

}  // namespace words

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_DECIMAL_HPP

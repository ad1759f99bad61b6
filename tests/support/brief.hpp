// SPDX-License-Identifier: MIT
//
// brief: true if enumerations and properties take a smaller extent. tests/run is brief (it defines
// WAYBILL_TESTS_BRIEF), and so is each build with an address sanitizer, where tests run about
// thirty times as long. `tests/run all` takes the full extents once. Larger extents are test cases
// whose names begin with "deep: ". doctest skips them; only `tests/run deep` runs them.
//
// sanitized: true with an address sanitizer. It finds wrong memory accesses, and a few rounds find
// as many as a full run. So the longest tests take a quarter of the brief extent.

#ifndef WAYBILL_TESTS_SUPPORT_BRIEF_HPP
#define WAYBILL_TESTS_SUPPORT_BRIEF_HPP

#include <cstddef>  // the macros of the standard library

namespace tests_support {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

// In its debug mode, libc++ examines a whole set or map at each removal from it.
#if defined(_LIBCPP_HARDENING_MODE) && _LIBCPP_HARDENING_MODE == _LIBCPP_HARDENING_MODE_DEBUG
inline constexpr bool slow_removals = true;
#else
inline constexpr bool slow_removals = false;
#endif

#if defined(WAYBILL_TESTS_BRIEF)
inline constexpr bool brief = true;
#else
inline constexpr bool brief = sanitized;
#endif

/// The number of rounds of a test: `full`, or `few` in brief, or a quarter of `few` if sanitized.
template <class N>
constexpr N rounds(N few, N full)
{
    return sanitized ? few / 4 : brief ? few : full;
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_BRIEF_HPP

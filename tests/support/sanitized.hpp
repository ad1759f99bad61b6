// SPDX-License-Identifier: MIT
//
// sanitized: is this a build with an address sanitizer? Runs take some thirty times as long there,
// and what it looks for is in few runs as well, so enumerations take a smaller extent. So do further
// compilers (WAYBILL_TESTS_BRIEF): what was enumerated in full once is the same there.

#ifndef WAYBILL_TESTS_SUPPORT_SANITIZED_HPP
#define WAYBILL_TESTS_SUPPORT_SANITIZED_HPP

namespace tests_support {

#if defined(__SANITIZE_ADDRESS__) || defined(WAYBILL_TESTS_BRIEF)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_SANITIZED_HPP

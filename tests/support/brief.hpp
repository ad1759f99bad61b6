// SPDX-License-Identifier: MIT
//
// brief: true if enumerations and properties take a smaller extent. tests/run is brief (it defines
// WAYBILL_TESTS_BRIEF), and so is each build with an address sanitizer, where tests run about
// thirty times as long. `tests/run all` takes the full extents once.

#ifndef WAYBILL_TESTS_SUPPORT_BRIEF_HPP
#define WAYBILL_TESTS_SUPPORT_BRIEF_HPP

namespace tests_support {

#if defined(__SANITIZE_ADDRESS__) || defined(WAYBILL_TESTS_BRIEF)
inline constexpr bool brief = true;
#elif defined(__has_feature)
inline constexpr bool brief = __has_feature(address_sanitizer);
#else
inline constexpr bool brief = false;
#endif

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_BRIEF_HPP

// SPDX-License-Identifier: MIT
//
// Inlining attributes. A function has one only if a bench shows its effect with g++ or clang. Other
// compilers would warn about attributes of GNU, so the macros are empty for them.

#ifndef WAYBILL_CORE_DETAIL_INLINING_HPP
#define WAYBILL_CORE_DETAIL_INLINING_HPP

#ifdef __GNUC__
#define WAYBILL_ALWAYS_INLINE [[gnu::always_inline]]
#define WAYBILL_NOINLINE [[gnu::noinline]]
#else
#define WAYBILL_ALWAYS_INLINE
#define WAYBILL_NOINLINE
#endif

#endif

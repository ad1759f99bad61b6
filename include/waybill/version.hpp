// SPDX-License-Identifier: MIT
//
// version: the one place where the version is written; the package and the house rules read it here.
//
// Two waybills of different age may be linked into one program, since everything is in an inline
// namespace that carries major and minor. In one translation unit they cannot meet: guards would
// keep the parts of one and drop those of the other without a word. So this stops with words.

// Before the guard on purpose: a second, different version.hpp would never be read behind it.
#if defined(WAYBILL_VERSION) && WAYBILL_VERSION != 200
#error "two versions of waybill meet in this translation unit"
#endif

#ifndef WAYBILL_VERSION_HPP
#define WAYBILL_VERSION_HPP

#if !defined(__cpp_concepts)
#error "waybill needs C++20: compile with -std=c++20 or later"
#endif

#define WAYBILL_VERSION 200  // major * 10000 + minor * 100 + patch

#endif  // WAYBILL_VERSION_HPP

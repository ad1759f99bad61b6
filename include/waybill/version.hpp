// SPDX-License-Identifier: MIT
//
// version: the version of waybill. The CMake package and cmake/rules.cmake read it from this file.
//
// Different versions of waybill may be linked into one program: all declarations are in an inline
// namespace that contains the major and the minor version. One translation unit cannot contain two
// versions: include guards would silently mix headers of both. The check below makes this an error.

// This check precedes the guard, because the guard skips the rest of a second version.hpp.
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

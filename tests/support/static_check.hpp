// SPDX-License-Identifier: MIT
//
// STATIC_CHECK(condition): a static_assert. In the debug mode of libstdc++, whose containers are not
// constexpr, it is a test case.

#ifndef WAYBILL_TESTS_STATIC_CHECK_HPP
#define WAYBILL_TESTS_STATIC_CHECK_HPP

#include <doctest/doctest.h>

#ifdef _GLIBCXX_DEBUG
#define STATIC_CHECK(...)     \
    TEST_CASE(#__VA_ARGS__)   \
    {                         \
        CHECK((__VA_ARGS__)); \
    }
#else
#define STATIC_CHECK(...) static_assert((__VA_ARGS__))
#endif

#endif  // WAYBILL_TESTS_STATIC_CHECK_HPP

// SPDX-License-Identifier: MIT
//
// held: the value of a variant, which must have this type.
//
//     CHECK(held<wait_until>(machine.next(now)).time == later);

#ifndef WAYBILL_TESTS_SUPPORT_HELD_HPP
#define WAYBILL_TESTS_SUPPORT_HELD_HPP

#include <doctest/doctest.h>

#include <waybill/core/variant.hpp>

namespace tests_support {

template <class X, class... T>
X held(const waybill::variant<T...>& v)
{
    const X* const value = waybill::get_if<X>(&v);
    REQUIRE(value != nullptr);
    return *value;
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_HELD_HPP

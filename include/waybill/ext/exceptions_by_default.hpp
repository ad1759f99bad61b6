// SPDX-License-Identifier: MIT
//
// ext/exceptions_by_default: the kinds of faults that `catching` makes of exceptions if no other function is
// given. A function of the caller can use it for the exceptions that it does not know.

#ifndef WAYBILL_EXT_EXCEPTIONS_BY_DEFAULT_HPP
#define WAYBILL_EXT_EXCEPTIONS_BY_DEFAULT_HPP

#include <exception>
#include <new>
#include <system_error>

#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// The default `classify` of `catching`: std::bad_alloc and std::system_error (including errors of
/// files and streams) are `infrastructure`, all other exceptions `permanent`.
struct by_default {
    [[nodiscard]] fault_kind operator()(const std::exception& e) const noexcept
    {
        const bool system = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ||
                            dynamic_cast<const std::system_error*>(&e) != nullptr;
        return system ? fault_kind::infrastructure : fault_kind::permanent;
    }
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_EXCEPTIONS_BY_DEFAULT_HPP

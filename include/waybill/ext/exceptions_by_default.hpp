// SPDX-License-Identifier: MIT
//
// ext/exceptions_by_default: the `classify` that `catching` uses if the caller passes none. A
// `classify` of the caller may call it for all other exceptions.

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

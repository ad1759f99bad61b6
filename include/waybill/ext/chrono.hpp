// SPDX-License-Identifier: MIT
//
// chrono: `to_chrono()` of duration, steady_time and wall_time.
//
//     std::this_thread::sleep_until(until.to_chrono());
//
// It includes <chrono>, which the headers of the modules do not include, because it costs a quarter
// of a second of compile time per file. The conversion from <chrono> types needs no header.

#ifndef WAYBILL_EXT_CHRONO_HPP
#define WAYBILL_EXT_CHRONO_HPP

#include <chrono>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

template <>
struct to_chrono_needs_ext_chrono_hpp<duration> {
    using type = std::chrono::nanoseconds;
};

template <>
struct to_chrono_needs_ext_chrono_hpp<steady_time> {
    using type = std::chrono::steady_clock::time_point;
};

template <>
struct to_chrono_needs_ext_chrono_hpp<wall_time> {
    using type = std::chrono::system_clock::time_point;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_CHRONO_HPP

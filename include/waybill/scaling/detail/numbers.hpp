// SPDX-License-Identifier: MIT
//
// numbers: functions on numbers that the module shares with others, by their short names.

#ifndef WAYBILL_SCALING_DETAIL_NUMBERS_HPP
#define WAYBILL_SCALING_DETAIL_NUMBERS_HPP

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::scaling::detail {

using waybill::detail::greater;
using waybill::detail::is_finite;
using waybill::detail::lesser;

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_NUMBERS_HPP

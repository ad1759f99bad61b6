// SPDX-License-Identifier: MIT
//
// The door to wire/: how large is it really, and how large may it be.

#ifndef WAYBILL_WIRE_HPP
#define WAYBILL_WIRE_HPP

#include <waybill/version.hpp>
#include <waybill/wire/limits.hpp>

#endif  // WAYBILL_WIRE_HPP
